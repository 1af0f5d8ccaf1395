"""A graph prepared for planning: names are numbers, expressions are compiled, look-ups are lists.

It is built once per version, shared by all its runs, and never changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from detent.expressions import (
    SECRETS,
    SECRETS_LANGUAGE,
    Expression,
    Reference,
    Template,
    compile_expression,
    compile_template,
)
from detent.graph.ask import ASK, Agenda, agenda_of, asks_people
from detent.graph.model import (
    GRAPH_SCOPE,
    ContextSnapshot,
    Edge,
    Ending,
    FailurePolicy,
    Graph,
    Join,
    OnCrash,
    Probe,
    Route,
    Step,
    StepKind,
)
from detent.run.journal import Page
from detent.run.state import Gathered, RunFacts, RunState

#: The kinds whose code may read the result of any step.
_READS_ANY: Final = (StepKind.PYTHON, StepKind.FUNCTION)


@dataclass(frozen=True, slots=True)
class PreparedEdge:
    index: int
    target: int
    on: frozenset[Ending]
    condition: Expression | None
    false_on_error: bool
    otherwise: bool
    handles: bool


@dataclass(frozen=True, slots=True)
class PreparedStep:
    index: int
    name: str
    kind: StepKind
    config: Template
    guard: Expression | None
    needs_all: bool
    incoming: int
    outgoing: tuple[PreparedEdge, ...]
    first_match: bool
    on_record: bool  # its start is journalled before its effect
    on_crash: OnCrash
    timeout: float | None
    delay: float | None
    accepts_early: bool  # a wait stores a callback that arrives before the wait is active
    has_ask: bool  # a wait that says what it asks, and checks what it receives
    asks_people: bool  # a wait with an approval, a form or buttons
    agenda: Agenda | None  # of a wait that reminds, escalates, or whose end of time becomes a decision
    first_of: tuple[int, ...]  # of a step that ends the waits and sleeps which lose
    question: Expression | None  # of a condition step
    is_child: bool  # it goes on as a child run
    is_detached: bool  # a child run that the step does not wait for
    items: Template | None  # of a map: its list
    collect: Template | None  # of a map: what is gathered of each item
    until: Expression | None  # of a step that is repeated: whether its result is as wanted
    rerender: bool
    asks: Step | None  # its probe, as a step with the same parameters
    reads: tuple[int, ...]  # the steps whose results it reads until it has ended
    secrets: tuple[str, ...]  # the names of the secrets that it sends
    sensitive: bool  # its result is sealed


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared graph. `order` lists each step after the steps it depends on."""

    graph: Graph
    steps: tuple[PreparedStep, ...]
    numbers: dict[str, int]
    order: tuple[int, ...]
    output: Template | None
    wait_steps: dict[str, PreparedStep]
    child_steps: tuple[int, ...]  # steps that go on as child runs
    page: Page | None = None  # this is the graph of a page of a map
    readers: tuple[int, ...] | None = None  # how many steps read the result of each; None: any code may read it
    ranks: tuple[int, ...] | None = None  # the place of each step in `order`, unless the graph has an output
    context: ContextSnapshot | None = None
    is_sensitive: bool = False  # results of steps are sealed
    races: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # the other members of each `first_of`

    def new_state(self, facts: RunFacts, *, keeps_results: bool = True) -> RunState:
        """Build the state of a run before anything is decided.

        Without `keeps_results`, results leave memory when no step can read them any more (`planner/context.py`), and
        those of a page when their values are collected (`planner/maps.py`).
        """
        state = RunState(facts, undecided=[step.incoming for step in self.steps], parallel=self.graph.parallel)
        is_page = self.page is not None
        state.keeps_results = keeps_results or (self.readers is None and not is_page)
        if is_page and not keeps_results:
            state.gathered = Gathered()
        if self.graph.context is not None and self.readers is not None:
            state.readers = list(self.readers)
        return state

    def waits(self) -> list[PreparedStep]:
        return list(self.wait_steps.values())


def callback_of(step: PreparedStep) -> tuple[str, bool, str | None]:
    """Return the facts of a wait's callback before the wait is active: name, whether it takes early answers, and its
    ask, which is not rendered yet."""
    return step.name, step.accepts_early, "" if step.has_ask else None


def prepare(graph: Graph) -> Prepared:
    """Compile every expression of a checked graph, in the revision of the language that the graph has."""
    numbers = {step.name: index for index, step in enumerate(graph.steps)}
    outgoing = _outgoing(graph, numbers)
    incoming = [0] * len(graph.steps)
    for edge in graph.edges:
        incoming[numbers[edge.target]] += 1
    steps = tuple(
        _prepare_step(graph, index, incoming[index], outgoing[index], numbers) for index in range(len(graph.steps))
    )
    output = None if graph.output is None else compile_template(graph.output, graph.language)
    waits = {step.name: step for step in steps if step.kind is StepKind.WAIT}
    children = tuple(index for index, step in enumerate(graph.steps) if _has_children(step))
    order = _order(steps)
    is_sensitive = any(step.sensitive for step in steps)
    races = _races(steps)
    prepared = Prepared(graph, steps, numbers, order, output, waits, children, is_sensitive=is_sensitive, races=races)
    # Code may read any result, and so may the graph that it is moved to after an edit. Only its failures pause runs.
    is_code = graph.on_failure is FailurePolicy.PAUSE or any(step.kind in _READS_ANY for step in steps)
    return prepared if is_code else _with_readers(prepared)


def _races(steps: tuple[PreparedStep, ...]) -> Mapping[int, tuple[int, ...]]:
    """Return the other members of the races that each step is in. A step may be in several."""
    found: dict[int, dict[int, None]] = {}
    for step in steps:
        for member in step.first_of:
            found.setdefault(member, {}).update(dict.fromkeys(one for one in step.first_of if one != member))
    return {member: tuple(others) for member, others in found.items()}


def _prepare_step(
    graph: Graph, index: int, incoming: int, outgoing: list[PreparedEdge], numbers: dict[str, int]
) -> PreparedStep:
    step, language = graph.steps[index], graph.language
    config = compile_template(dict(step.config), language)
    guard = None if step.guard is None else compile_expression(step.guard, language=language)
    is_condition, each = step.kind is StepKind.CONDITION, step.each
    question = compile_expression(step.config["expression"], language=language) if is_condition else None
    items = None if each is None else compile_template(each.items, language)
    collect = None if each is None or each.collect is None else compile_template(each.collect, language)
    until = None if step.repeat is None else compile_expression(step.repeat.until, language=language)
    compiled = (config, guard, question, items, collect, until, *(edge.condition for edge in outgoing))
    return PreparedStep(
        index=index,
        name=step.name,
        kind=step.kind,
        config=config,
        guard=guard,
        needs_all=step.join is Join.ALL,
        incoming=incoming,
        outgoing=tuple(outgoing),
        first_match=step.route is Route.FIRST_MATCH,
        on_record=step.on_crash is not OnCrash.RETRY or _has_children(step),
        on_crash=step.on_crash,
        timeout=step.timeout,
        delay=step.delay,
        accepts_early=step.config.get("early") != "reject",
        has_ask=step.kind is StepKind.WAIT and ASK in step.config,
        asks_people=step.kind is StepKind.WAIT and asks_people(step.config),
        agenda=agenda_of(step.config) if step.kind is StepKind.WAIT else None,
        first_of=tuple(numbers[name] for name in step.config.get("first_of", ())) if is_condition else (),
        question=question,
        is_child=step.kind is StepKind.SUBWORKFLOW,
        is_detached=step.kind is StepKind.SUBWORKFLOW and bool(step.config.get("detached")),
        rerender=step.rerender,
        asks=_probe_of(step),
        items=items,
        collect=collect,
        until=until,
        reads=tuple(sorted(_reads(numbers, *compiled) - {index})),
        secrets=_secrets(config),
        sensitive=step.sensitive,
    )


def _secrets(config: Template) -> tuple[str, ...]:
    """Return the names of the secrets in the parameters of a step. In an older graph the name is one of the scope."""
    if config.language < SECRETS_LANGUAGE:
        return ()
    paths = (reference.path for reference in config.references)
    return tuple(sorted({str(path[1]) for path in paths if path[0] == SECRETS}))


def _probe_of(step: Step) -> Step | None:
    if step.probe is None:
        return None
    return replace(step, config=probe_config(step.probe, step.config), probe=None)


def probe_config(probe: Probe, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config of a step that calls the probe of another step with its parameters."""
    pinned = {} if probe.version is None else {"version": probe.version}
    given = {name: value for name, value in config.items() if name not in ("action", "version")}
    return {**given, "action": probe.action, **pinned}


def _reads(numbers: dict[str, int], *compiled: Template | Expression | None) -> set[int]:
    """Return the steps whose results these expressions read. The name of a step is never computed."""
    found = set()
    for one in compiled:
        if one is None:
            continue
        for reference in one.references:
            match reference.path:
                case ("steps" | "tasks", str(name), *_) | ("context", "data", str(name), *_) if name in numbers:
                    found.add(numbers[name])
                case _:
                    pass
    return found


def _with_readers(prepared: Prepared) -> Prepared:
    """Add how many steps read each result. The output of the workflow reads results until the run has ended."""
    steps, output = prepared.steps, prepared.output
    readers = [0] * len(steps)
    for step in steps:
        for index in step.reads:
            readers[index] += 1
    leaves = {step.index for step in steps if not step.outgoing}
    for index in leaves if output is None else _reads(prepared.numbers, output):
        readers[index] += 1
    ranks = None
    if output is None:
        place = {index: rank for rank, index in enumerate(prepared.order)}
        ranks = tuple(place[index] for index in range(len(steps)))
    usual = ContextSnapshot() if prepared.graph.scope == GRAPH_SCOPE else None
    return replace(prepared, readers=tuple(readers), ranks=ranks, context=prepared.graph.context or usual)


def _has_children(step: Step) -> bool:
    return step.kind is StepKind.SUBWORKFLOW or step.each is not None


def _outgoing(graph: Graph, numbers: dict[str, int]) -> list[list[PreparedEdge]]:
    outgoing: list[list[PreparedEdge]] = [[] for _ in graph.steps]
    for index, edge in sorted(enumerate(graph.edges), key=_by_order):
        condition = None if edge.condition is None else compile_expression(edge.condition, language=graph.language)
        outgoing[numbers[edge.source]].append(
            PreparedEdge(
                index, numbers[edge.target], edge.on, condition, edge.false_on_error, edge.otherwise, edge.handles
            )
        )
    return outgoing


def _by_order(pair: tuple[int, Edge]) -> tuple[bool, int, int]:
    return pair[1].otherwise, pair[1].order, pair[0]


def _order(steps: tuple[PreparedStep, ...]) -> tuple[int, ...]:
    left = [step.incoming for step in steps]
    order = [step.index for step in steps if not step.incoming]
    for index in order:
        for edge in steps[index].outgoing:
            left[edge.target] -= 1
            if not left[edge.target]:
                order.append(edge.target)
    return tuple(order)


# Whether expressions read inside the payloads of a run, so that a blob is worth reading.


def reads_inside(prepared: Prepared) -> bool:
    """Return whether an expression may read a part of a body or an output, and not only the whole of it."""
    is_graph = prepared.graph.scope == GRAPH_SCOPE
    return any(_goes_on(one, is_graph=is_graph) for one in _references(prepared))


def _goes_on(reference: Reference, *, is_graph: bool) -> bool:
    if "[" in reference.text:  # a key may be computed, which is not in the path
        return True
    match reference.path:
        case ("trigger", *rest):
            return len(rest) > (0 if is_graph else 1)
        case ("$input", *rest):
            return bool(rest)
        case ("tasks" | "steps", _, *rest):
            return len(rest) > 1
        case ("context", "data", _, *rest):
            return bool(rest)
        case ("result", *rest):
            return len(rest) > 1
    return False


def _references(prepared: Prepared) -> Iterator[Reference]:
    compiled: list[Template | Expression | None] = [prepared.output]
    for step in prepared.steps:
        compiled += [step.config, step.guard, step.question, step.until, step.items, step.collect]
        compiled += [edge.condition for edge in step.outgoing]
    for one in compiled:
        if one is not None:
            yield from one.references
