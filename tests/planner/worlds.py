"""Random graphs that use everything the model has, and random lives of their runs."""

from __future__ import annotations

import json
import random
from dataclasses import replace

from hypothesis import strategies as st

from detent.graph import codec
from detent.graph.model import (
    FAILURES,
    ON_ANY,
    ON_RAN,
    ON_SUCCESS,
    ContextSnapshot,
    Each,
    Edge,
    Ending,
    FailurePolicy,
    Graph,
    ItemFailure,
    Join,
    OnCrash,
    Overflow,
    Probe,
    Repeat,
    Retry,
    Route,
    Step,
    StepKind,
)
from detent.instant import SECOND
from detent.planner import Reuse, fork_plan, prepare, retry_plan
from detent.planner.context import SMALL
from detent.planner.maps import pages_open, result_of_map
from detent.run import events
from detent.run.outcomes import Cancel, Delegated, Done, Finish, Move, Outcome, Pause, Reattempt, Skip, StepError
from detent.run.state import MapState, Phase
from tests.planner.play import NOON, Play, answer, facts_of, failure


class SeededRandom(random.Random):
    """Chance that a failing example names by its seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._seed = seed

    def __repr__(self) -> str:
        return f"SeededRandom({self._seed})"


#: A seed for each example. `st.randoms` draws every number as a choice of its own, which costs ten times as much.
RANDOMS = st.integers(0, 2**64 - 1).map(SeededRandom)
ENDING_SETS = (ON_SUCCESS, ON_ANY, ON_RAN, FAILURES, frozenset({Ending.SKIPPED}), frozenset({Ending.TIMEOUT}))
POLICIES = (FailurePolicy.SETTLE, FailurePolicy.FAIL_FAST)
ALL_POLICIES = tuple(FailurePolicy)
REPEATS = (
    Repeat("result.status_code == 200", every=5.0),
    Repeat("result.status_code == 200", every=1.0, factor=2.0, give_up_after=20.0),
)
KINDS = (
    *(StepKind.ACTION, StepKind.ACTION, StepKind.HTTP, StepKind.SLEEP, StepKind.WAIT),
    *(StepKind.CONDITION, StepKind.SUBWORKFLOW),
)
MAPPED = (StepKind.ACTION, StepKind.HTTP, StepKind.SUBWORKFLOW)


def random_graph(rng: random.Random, *, most: int = 9, policies: tuple[FailurePolicy, ...] = POLICIES) -> Graph:
    """Edges point from lower to higher numbers, the written order is shuffled."""
    count = rng.randint(1, most)
    names = [f"s{number}" for number in range(count)]
    edges = [
        _edge(rng, source, target)
        for number, target in enumerate(names)
        for source in rng.sample(names[:number], min(number, rng.choice((0, 1, 1, 2, 3))))
    ]
    needs = {name: [edge.source for edge in edges if edge.target == name] for name in names}
    steps = [_step(rng, name, needs[name]) for name in names]
    rng.shuffle(steps)
    return Graph(
        tuple(steps),
        tuple(edges),
        on_failure=rng.choice(policies),
        max_duration=rng.choice((None, 1e6)),
        parallel=rng.choice((None, None, 1, 2, 3)),
    )


def with_limit(graph: Graph, rng: random.Random) -> Graph:
    """Let most steps read steps before them, and limit the bytes of what they can read."""
    before = {step.name: [edge.source for edge in graph.edges if edge.target == step.name] for step in graph.steps}
    steps = tuple(
        replace(step, config={"with": [f"{{{{ tasks.{name}.output }}}}" for name in before[step.name]]})
        if step.kind in (StepKind.ACTION, StepKind.HTTP) and rng.random() < 0.8
        else step
        for step in graph.steps
    )
    limit = ContextSnapshot(max_bytes=rng.choice((1, 20, 40, 2 * SMALL)), overflow=rng.choice(tuple(Overflow)))
    return replace(graph, steps=steps, context=limit)


def _edge(rng: random.Random, source: str, target: str) -> Edge:
    condition = rng.choice(_questions(source)) if rng.random() < 0.2 else None
    on = rng.choice(ENDING_SETS) if rng.random() < 0.4 else ON_ANY
    return Edge(
        source,
        target,
        on,
        condition,
        order=rng.randint(0, 2),
        false_on_error=rng.random() < 0.5,
        otherwise=rng.random() < 0.1,
        handles=rng.random() < 0.85,
    )


def _questions(source: str) -> tuple[str, ...]:
    """Conditions that are true, false, or cannot be answered."""
    return (f"tasks.{source}.status == 'success'", f"tasks.{source}.nothing.such == 1", "1 < 2", "1 > 2")


#: What happens to an attempt whose node died.
CRASH_RULES = (OnCrash.RETRY, OnCrash.RETRY, OnCrash.RETRY, OnCrash.FAIL, OnCrash.ASK, OnCrash.PROBE)


def _step(rng: random.Random, name: str, needs: list[str]) -> Step:
    kind = rng.choice(KINDS)
    on_crash = OnCrash.RETRY if kind is StepKind.SUBWORKFLOW else rng.choice(CRASH_RULES)
    guards = _questions(rng.choice(needs)) if needs else ("1 == 1", "1 == 2", "trigger.body.missing")
    return Step(
        name,
        kind,
        {"expression": rng.choice(guards)} if kind is StepKind.CONDITION else _config(rng, kind),
        guard=rng.choice(guards) if rng.random() < 0.25 else None,
        join=rng.choice(tuple(Join)),
        retry=Retry(attempts=rng.choice((1, 2, 3)), delay=rng.choice((0.0, 1.0, 60.0))),
        delay=rng.choice((0.0, 5.0)) if rng.random() < 0.15 else None,
        on_crash=on_crash,
        probe=Probe("bank.find") if on_crash is OnCrash.PROBE else None,
        timeout=rng.choice((None, 30.0)),
        repeat=rng.choice(REPEATS) if kind in (StepKind.ACTION, StepKind.HTTP) and rng.random() < 0.15 else None,
        route=rng.choice(tuple(Route)),
        each=_each(rng) if kind in MAPPED and rng.random() < 0.3 else None,
    )


def _each(rng: random.Random) -> Each:
    """A map over a few items. Its list may be empty, missing, too long or no list at all."""
    broken = rng.choice(("{{ trigger.body.missing }}", "{{ 5 }}", list(range(50))))
    items = broken if rng.random() < 0.1 else list(range(rng.choice((0, 1, 2, 5, 9, 20))))
    policy = rng.choice(tuple(ItemFailure))
    goes_on = policy is ItemFailure.CONTINUE
    return Each(
        items,
        parallel=rng.choice((1, 1, 2, 3, 4, 7, 30)),
        on_failure=policy,
        tolerate=rng.choice((0, 0, 1, 3)) if goes_on else 0,
        tolerate_share=rng.choice((0.0, 0.0, 0.2)) if goes_on else 0.0,
        max_items=40,
    )


def _config(rng: random.Random, kind: StepKind) -> dict[str, object]:
    broken = rng.random() < 0.1
    if kind is StepKind.SLEEP:
        return {"seconds": "{{ trigger.body.missing }}" if broken else rng.choice((0, 0.5, 30, "2m", "{{ 2 * 3 }}"))}
    if kind is StepKind.WAIT:
        timeout = "soon" if broken else rng.choice((None, 1, 3600))
        return {"timeout": timeout, "early": "buffer", **({"ask": ASK} if timeout == 3600 else {})}
    return {"with": "{{ trigger.body }}"}


#: What a wait asks that reminds and escalates.
ASK = {
    "is_approval": True,
    "title": "{{ 1 + 1 }}",
    "every": 600,
    "most": 3,
    "after": 900,
    "assignees": ["a"],
    "to": ["b"],
}
#: The body of a callback. It is large, so results leave memory after it.
PAYMENT = {"paid": True, "receipt": "x" * SMALL}


class World:
    """A run that random things happen to, until it ends. `trouble` adds crashes, pauses, cancels and expiry. The run
    begins at once, later, or with what it reuses of another."""

    def __init__(
        self,
        graph: Graph,
        rng: random.Random,
        *,
        trouble: float = 0.0,
        checks: bool = True,
        later: bool = False,
        reuse: Reuse | None = None,
    ) -> None:
        self.rng, self.trouble = rng, trouble
        opens_at = NOON + rng.randint(0, 60) * SECOND if later else None
        keeps = rng.random() < 0.5
        self.play = Play(
            prepare(graph), facts_of(graph), checks=checks, opens_at=opens_at, reuse=reuse, keeps_results=keeps
        )
        self.told: list[events.Event] = []
        self.codes = keeps  # its steps may be code that asks for another graph; such runs keep all results
        self.looks: dict[int, list[str]] = {}  # of an attempt of a map: the pages that had begun when it looked
        self.pages: set[str] = set()  # pages that were started
        self.over: dict[str, tuple[int, int]] = {}  # how the items of pages ended that were counted

    def live(self, most: int = 2_000) -> Play:
        """Answer every attempt until the run is over."""
        for _ in range(most):
            if self.play.state.is_over:
                return self.play
            self.once()
        raise AssertionError("the run does not end")

    def once(self) -> None:
        """One thing that must happen, or trouble."""
        if self.rng.random() > 1 - self.trouble:
            self._disturb()
        else:
            self.step()

    def step(self) -> None:
        """One thing that must happen sooner or later."""
        play, state = self.play, self.play.state
        if state.opens_at is not None:
            play.now = max(play.now, state.opens_at)
            self._tell(events.Opened())
            return
        busy = (Phase.RUNNING, Phase.WAITING, Phase.CHILD)
        choices = [index for index, phase in enumerate(state.phase) if phase in busy]
        if choices and (self.rng.random() < 0.8 or state.next_timer() is None):
            self._answer(self.rng.choice(choices))
        elif (due := state.next_timer()) is not None:
            play.now = max(play.now, due)
            for index in state.due(play.now):
                play.wake(index)
            play.expire_callbacks()
        else:
            assert state.paused_by is not None, f"nothing is left to happen: {play.statuses()}"
            self._tell(self._verdict() if state.doubts else events.Resumed("ann"))

    def _verdict(self) -> events.Event:
        """What a person says of a run that has an uncertain step."""
        result = self.rng.choice((None, b'{"output":1}'))
        resolved = events.Resolved(
            self.rng.choice(list(self.play.state.doubts)), self.rng.random() < 0.5, result, "ann"
        )
        return self.rng.choice((resolved, events.Resumed("ann")))

    def _answer(self, index: int) -> None:
        phase = self.play.state.phase[index]
        if phase is Phase.WAITING:
            self._tell(events.Received(index, answer(200, PAYMENT), 1))
            return
        if index in self.play.state.maps:
            self._go_on_with_map(index)
            return
        child = self.play.state.child_of.get(index)
        if child is not None and (phase is Phase.CHILD or self.rng.random() < 0.3):
            self._tell(self._news_of(index, child.id))
            return
        number = self.play.state.attempt_number(index)
        if index in self.play.state.probes:
            output = self.rng.choice(({"happened": True, "output": 1}, {"happened": False}, {"happened": None}))
            self._tell(events.AttemptEnded(index, number, Done(json.dumps({"output": output}).encode()), 1.0))
            return
        wants_more = self.trouble and self.rng.random() < 0.25
        outcome = self._flow_control() if wants_more else self._outcome()
        if child is not None:
            outcome = Delegated() if self.rng.random() < 0.8 else failure("not_found", retry=False)
        self._tell(events.AttemptEnded(index, number, outcome, 1.0))

    def _news_of(self, index: int, child: str) -> events.Event:
        """What a child tells its parent: its end, or that it continues as another run."""
        if self.rng.random() < 0.2:
            return events.ChildContinued(index, child, f"{child}x", 3)
        ending = self.rng.choice((Ending.SUCCESS, Ending.SUCCESS, Ending.FAILED, Ending.TIMEOUT, Ending.CANCELLED))
        error = None if ending is Ending.SUCCESS else StepError("child", f"{child} ended as {ending}")
        return events.ChildEnded(index, child, ending, b'{"output":1}' if error is None else b"{}", error, 3)

    def _go_on_with_map(self, index: int) -> None:
        """One thing that happens to a map: its attempt looks, starts pages or reports, or a page ends."""
        state = self.play.state
        found, is_running = state.maps[index], state.phase[index] is Phase.RUNNING
        each = self.play.prepared.graph.steps[index].each
        assert each is not None
        assert len(found.open) <= pages_open(each), "more pages are open at once than the map allows"
        ending = [page for page in found.open if page in self.pages]
        if ending and (not is_running or self.rng.random() < 0.4):
            self._end_page(index, found, self.rng.choice(ending))
        elif not is_running:
            raise AssertionError(f"a map waits for pages that were never started: {found}")
        elif index not in self.looks:
            self.looks[index] = list(found.pages)
            self.pages.update(found.open)  # a page that exists is not started again
        else:
            self._report(index, found, self.looks.pop(index))

    def _report(self, index: int, found: MapState, seen: list[str]) -> None:
        outcome: Outcome = Delegated(len(seen))
        if not found.has_more() and not found.open and seen == found.pages:
            outcome = Done(result_of_map(found, b"[]"))
        elif self.trouble and self.rng.random() < 0.1:
            outcome = failure("page_too_large", retry=False)
        self._tell(events.AttemptEnded(index, self.play.state.attempt_number(index), outcome, 1.0))

    def _end_page(self, index: int, found: MapState, page: str) -> None:
        size = min(found.size, found.count - found.open[page] * found.size)
        each = self.play.prepared.graph.steps[index].each
        assert each is not None
        failed = self.rng.choice((0, 0, 0, 0, self.rng.randint(0, size)))
        ending = Ending.FAILED if failed and each.on_failure is ItemFailure.STOP else Ending.SUCCESS
        counts: tuple[int, int] | None = (size - failed, failed)
        if self.trouble and self.rng.random() < 0.1:
            ending = self.rng.choice((Ending.CANCELLED, Ending.TIMEOUT, Ending.FAILED))
            counts = self.rng.choice((None, (0, 0), (size - 1, 0)))
        error = None if ending is Ending.SUCCESS else StepError("child", f"{page} ended as {ending}")
        before, spare = replace(found), self.play.new_run()
        self._tell(events.ChildEnded(index, page, ending, b"{}", error, 3, counts, spare))
        assert page not in self.over, "a page is counted twice"
        self.over[page] = (found.succeeded - before.succeeded, found.failed - before.failed)
        assert sum(self.over[page]) == size, "an item is not counted, or twice"

    def _flow_control(self) -> Outcome:
        """What code can ask for beside success and failure."""
        rng = self.rng
        error = rng.choice((None, StepError("exception", "ValueError: no")))
        match rng.randrange(12):
            case 0 | 1 | 2:
                return Skip(error, rng.choice((b"{}", b'{"state":{}}')))
            case 3 | 4 | 5:
                return Reattempt(rng.choice((0.0, 0.5, 60.0)), error)
            case 6 | 7:
                return Pause("its own code", error)
            case 8 | 9 | 10 if self.codes:
                return Move(codec.encode(random_graph(rng, policies=ALL_POLICIES)))
            case _:
                return rng.choice((Cancel("its own code", error), Finish(b'{"output":7}')))

    def _outcome(self) -> Outcome:
        if self.rng.random() < 0.6:
            return Done(self.rng.choice((b'{"output":1}', answer(200, {"none": None}), b"{}")))
        code = self.rng.choice(("http_status", "template_error"))
        retry = code != "template_error" and self.rng.random() < 0.7
        result = self.rng.choice((b"{}", answer(503)))
        return failure(code, retry=retry, timed_out=self.rng.random() < 0.3, result=result)

    def _disturb(self) -> None:
        play, rng = self.play, self.rng
        waits = [step.index for step in play.prepared.waits()]
        some = rng.choice((None, rng.randrange(len(play.prepared.steps))))
        match rng.randrange(18):
            case 0 | 1 | 2:
                self._tell(events.Paused("ann"))
            case 3 | 4 | 5:
                self._tell(events.Resumed("ann"))
            case 6 | 7 if waits:
                self._tell(events.Received(rng.choice(waits), answer(200), 2))
            case 8 | 9:
                self.looks.clear()
                play.crash(rng.choice((1, 2, 3)), rng.choice((0.0, 2.0, 300.0)))
            case 10:
                self.looks.clear()
                play.reload()
                self._tell(events.Resumed("ann") if play.state.paused_by is not None else events.Adopted("node"))
            case 11 if play.state.doubts:
                self._tell(self._verdict())
            case 12 if rng.random() < 0.2:
                self._tell(rng.choice((events.Cancelled("ann"), events.Expired(), events.Finished("ann"))))
            case 17 if play.state.begun or play.state.child_of or play.state.maps:
                some = rng.choice([*play.state.begun, *play.state.child_of, *play.state.maps])
                self.looks.pop(some, None)
                self._tell(events.Released(some))
            case 13 | 14:
                self._tell(events.Skipped(some, "ann"))
            case 15 | 16:
                self._tell(events.Reattempted(some, rng.choice((0.0, 5.0)), "ann"))

    def _tell(self, event: events.Event) -> None:
        self.told.append(event)
        plan = self.play.tell(event)
        for index in plan.stop:
            self.looks.pop(index, None)  # its attempt was stopped
        self.looks = {index: seen for index, seen in self.looks.items() if self._is_in_flight(index)}

    def _is_in_flight(self, index: int) -> bool:
        state = self.play.state
        return index in state.maps and state.phase[index] is Phase.RUNNING


def some_version(rng: random.Random, graph: Graph) -> tuple[Graph, dict[str, str]]:
    """A graph that differs in some places, and the new names of renamed steps."""
    steps, edges, names = list(graph.steps), list(graph.edges), dict[str, str]()
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(steps))
        step = steps[place]
        match rng.randrange(7):
            case 0 if len(steps) > 1:
                steps.pop(place)
                edges = [edge for edge in edges if step.name not in (edge.source, edge.target)]
            case 1 | 2:
                _add_step(rng, steps, edges)
            case 3:
                other = _unused(steps, "r")
                names = {**{old: other if new == step.name else new for old, new in names.items()}}
                names.setdefault(step.name, other)
                steps, edges = _renamed(steps, edges, step.name, other)
            case 4:
                steps[place] = replace(step, guard=rng.choice((None, "1 == 1", "1 == 2")))
            case 5 if edges:
                index = rng.randrange(len(edges))
                edges[index] = replace(edges[index], condition=rng.choice((None, "1 < 2", "1 > 2")))
            case _:
                steps[place] = replace(step, delay=rng.choice((None, 3.0)), retry=Retry(attempts=rng.randint(1, 3)))
    rng.shuffle(steps)
    known, there = {step.name for step in graph.steps}, {step.name for step in steps}
    names = {old: new for old, new in names.items() if old in known and new in there}
    return replace(graph, steps=tuple(steps), edges=tuple(edges)), names


def _add_step(rng: random.Random, steps: list[Step], edges: list[Edge]) -> None:
    """Add a step behind some steps, before one that is behind them, or alone."""
    name = _unused(steps, "n")
    steps.append(_step(rng, name, []))
    if edges and rng.random() < 0.4:
        edge = rng.choice(edges)
        edges += [Edge(edge.source, name, ON_ANY), Edge(name, edge.target, ON_ANY)]
    elif rng.random() < 0.8:
        edges.append(Edge(rng.choice(steps[:-1]).name, name, ON_ANY))


def _unused(steps: list[Step], letter: str) -> str:
    """A name that no step has, but one that is gone may have had it."""
    names = {step.name for step in steps}
    return next(name for number in range(1_000) if (name := f"{letter}{number}") not in names)


def _renamed(steps: list[Step], edges: list[Edge], old: str, new: str) -> tuple[list[Step], list[Edge]]:
    """Rename a step. Expressions that read it cannot be evaluated any more."""

    def name(one: str) -> str:
        return new if one == old else one

    return (
        [replace(step, name=name(step.name)) for step in steps],
        [replace(edge, source=name(edge.source), target=name(edge.target)) for edge in edges],
    )


def some_world(rng: random.Random, *, trouble: float = 0.2) -> World:
    """A run that begins at once; where there is trouble also later, or with what it reuses of one that lived before."""
    graph = random_graph(rng, policies=ALL_POLICIES if trouble else POLICIES)
    if not trouble or rng.random() < 0.4:
        return World(graph, rng, trouble=trouble)
    if rng.random() < 0.5:
        return World(graph, rng, trouble=trouble, later=True)
    origin = World(graph, rng, trouble=trouble, later=rng.random() < 0.2)
    for _ in range(rng.randint(1, 20)):
        if not origin.play.state.is_over:
            origin.step()
    return World(graph, rng, trouble=trouble, reuse=_reuse(rng, origin.play))


def _reuse(rng: random.Random, origin: Play) -> Reuse:
    prepared, state = origin.prepared, origin.complete()
    if rng.random() < 0.5:
        return retry_plan(prepared, state).over(prepared, origin.version)
    edited = rng.choice((None, b'{"output":2}'))
    return fork_plan(prepared, state, rng.randrange(len(prepared.steps)), edited).over(prepared, origin.version)
