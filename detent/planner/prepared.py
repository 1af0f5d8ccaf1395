"""A graph prepared for planning: names are numbers, expressions are compiled, look-ups are lists.

It is built once per version, shared by all its runs, and never changes.
"""

from __future__ import annotations

from dataclasses import dataclass

from detent.expressions import Expression, Template, compile_expression, compile_template
from detent.graph.model import Edge, Ending, Graph, Join, OnCrash, Route, Step, StepKind
from detent.run.journal import Page
from detent.run.state import RunFacts, RunState


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
    question: Expression | None  # of a condition step
    is_child: bool  # it goes on as a child run
    is_detached: bool  # a child run that the step does not wait for
    items: Template | None  # of a map: its list
    collect: Template | None  # of a map: what is gathered of each item
    until: Expression | None  # of a step that is repeated: whether its result is as wanted
    rerender: bool


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

    def new_state(self, facts: RunFacts) -> RunState:
        """Build the state of a run before anything is decided."""
        return RunState(facts, undecided=[step.incoming for step in self.steps], parallel=self.graph.parallel)

    def waits(self) -> list[PreparedStep]:
        return list(self.wait_steps.values())


def prepare(graph: Graph) -> Prepared:
    """Compile every expression of a checked graph, in the revision of the language that the graph has."""
    numbers = {step.name: index for index, step in enumerate(graph.steps)}
    outgoing = _outgoing(graph, numbers)
    incoming = [0] * len(graph.steps)
    for edge in graph.edges:
        incoming[numbers[edge.target]] += 1
    steps = tuple(
        PreparedStep(
            index=index,
            name=step.name,
            kind=step.kind,
            config=compile_template(dict(step.config), graph.language),
            guard=None if step.guard is None else compile_expression(step.guard, language=graph.language),
            needs_all=step.join is Join.ALL,
            incoming=incoming[index],
            outgoing=tuple(outgoing[index]),
            first_match=step.route is Route.FIRST_MATCH,
            on_record=step.on_crash is not OnCrash.RETRY or _has_children(step),
            on_crash=step.on_crash,
            timeout=step.timeout,
            delay=step.delay,
            accepts_early=step.config.get("early") != "reject",
            question=compile_expression(step.config["expression"], language=graph.language)
            if step.kind is StepKind.CONDITION
            else None,
            is_child=step.kind is StepKind.SUBWORKFLOW,
            is_detached=step.kind is StepKind.SUBWORKFLOW and bool(step.config.get("detached")),
            rerender=step.rerender,
            items=None if step.each is None else compile_template(step.each.items, graph.language),
            collect=None
            if step.each is None or step.each.collect is None
            else compile_template(step.each.collect, graph.language),
            until=None if step.repeat is None else compile_expression(step.repeat.until, language=graph.language),
        )
        for index, step in enumerate(graph.steps)
    )
    output = None if graph.output is None else compile_template(graph.output, graph.language)
    waits = {step.name: step for step in steps if step.kind is StepKind.WAIT}
    children = tuple(index for index, step in enumerate(graph.steps) if _has_children(step))
    return Prepared(graph, steps, numbers, _order(steps), output, waits, children)


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
