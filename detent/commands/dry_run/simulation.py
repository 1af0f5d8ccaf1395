"""Play a run without effects: the planner decides, and every attempt gets an answer at once.

Attempts take no time. A sleep, a pause between attempts or a wait moves the clock of the dry run to the next event.
Child runs and the pages of maps are runs beside it, under the same clock. The number of attempts, the size of what is
kept and the real time are limited; beyond a limit the dry run stops and says so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappop, heappush
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from detent.engine.children.family import ChildEnd, family_of
from detent.expressions import ExpressionError, masked
from detent.graph.ask import WaitAsk, read_ask
from detent.graph.model import Ending
from detent.ids import RUN, parse, show
from detent.instant import Instant, micros
from detent.planner.advance import advance, is_wanted, open_run
from detent.planner.calls import make_call
from detent.planner.judge import CONDITION_ERROR, TEMPLATE_ERROR
from detent.planner.maps import (
    COLLECT,
    MapError,
    counts_of,
    items_of,
    list_of_map,
    no_values,
    outer_values,
    page_counts,
    page_of,
    pages_open,
    result_of_map,
)
from detent.planner.prepared import Prepared
from detent.run import events
from detent.run.call import StepCall
from detent.run.journal import Family, Page
from detent.run.outcomes import Delegated, Done, Fail, Outcome, StepError
from detent.run.plan import Plan, RunEnd, StartAttempt
from detent.run.state import Phase, RunFacts, RunState
from detent.run.status import Status
from detent.steps.child_step import inherited
from detent.values.limits import INPUT_LIMIT, SIZE_LIMIT

#: How many attempts a dry run makes, those of children and items included.
MOST_ATTEMPTS: Final = 5_000
#: How many events the planner handles: timers, callbacks and ends of attempts.
MOST_EVENTS: Final = 50_000
#: How many bytes of requests and outputs a dry run keeps.
MOST_BYTES: Final = 4 * 1024 * 1024
#: How many real seconds a dry run may take.
MOST_SECONDS: Final = 5.0
#: How many items of a map are shown.
ITEMS_SHOWN: Final = 100
_BROKEN: Final = (TEMPLATE_ERROR, CONDITION_ERROR)
_CALLBACK: Final = "https://detent.invalid/wh/dry-run-"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class AnswerSource(StrEnum):
    """Where the answer to an effect comes from."""

    PINNED = "pinned"
    RUN = "run"
    EXAMPLE = "example"


class StepPlace(NamedTuple):
    """The step that an answer is for. `item` is the index of an item of a map; `depth` is 0 in the run itself."""

    prepared: Prepared
    workflow: str
    step: str
    item: int | None
    depth: int


class EffectAnswer(NamedTuple):
    """The outcome of an attempt, and where it comes from; `None`: the step has no effect, so it was not replaced."""

    outcome: Outcome
    source: AnswerSource | None


class WaitAnswer(NamedTuple):
    """The callback of a wait, so many seconds after the start of the run. Without a `result` none comes."""

    result: bytes | None
    after: float
    source: AnswerSource | None


class Effects(Protocol):
    """The answers of a dry run."""

    def attempt(self, place: StepPlace, call: StepCall) -> EffectAnswer:
        """Return the end of an attempt."""

    def child(self, place: StepPlace, call: StepCall) -> EffectAnswer | None:
        """Return the end of a child run that is not played, or `None` to play it."""

    def wait(self, place: StepPlace, ask: WaitAsk | None, due: Callable[[float], Instant]) -> WaitAnswer:
        """Return the callback of a wait. `due` is the time of a callback that comes so many seconds after the start."""


class DryWorkflow(NamedTuple):
    """A version of a workflow that can be played. `id` is empty if it is not stored."""

    name: str
    prepared: Prepared
    id: bytes = b""


class ChildRequest(NamedTuple):
    """A child run that the dry run wants to play. `depth` counts the runs above it, `path` has their workflows."""

    workflow: str
    version: int | None
    body: Any
    family: Family
    recursion: bool


#: A workflow to play, why it cannot be started, or `None` if it can only be answered.
ChildFound = DryWorkflow | StepError | None
Play = Generator[ChildRequest, ChildFound, "DryRunResult"]


@dataclass(slots=True)
class DryAttempt:
    """One attempt: its rendered request or parameters, and how it ended."""

    attempt: int
    at: Instant
    request: Any
    status: str
    source: AnswerSource | None
    error: StepError | None


@dataclass(slots=True)
class DryStep:
    """A step of a dry run. `source` is that of its last answer. A map has `items`, of which the first are kept."""

    name: str
    kind: str
    status: str
    attempts: list[DryAttempt] = field(default_factory=list)
    source: AnswerSource | None = None
    output: Any = None
    status_code: int | None = None
    error: StepError | None = None
    child: DryRunResult | None = None
    items: list[DryStep] = field(default_factory=list)
    counts: dict[str, int] | None = None


@dataclass(slots=True)
class DryRunResult:
    """What a run would do. `route` has the steps in the order of their ends: `name`, or `name:outcome` unless it
    succeeded."""

    workflow: str
    status: str
    began: Instant
    ended: Instant
    route: list[str]
    steps: list[DryStep]
    output: Any = None
    error: str | None = None
    problems: list[str] = field(default_factory=list)


class _Stopped(Exception):
    """A limit was reached."""


@dataclass(eq=False, slots=True)
class _Played:
    """One run of the dry run: the first one, a child, or a page of a map."""

    id: bytes
    workflow: DryWorkflow
    prepared: Prepared
    state: RunState
    parent: tuple[_Played, int] | None = None
    is_detached: bool = False
    depth: int = 0
    end: RunEnd | None = None
    ended_at: Instant = 0
    order: dict[int, None] = field(default_factory=dict)
    attempts: dict[int, list[DryAttempt]] = field(default_factory=dict)
    sources: dict[int, AnswerSource] = field(default_factory=dict)
    children: dict[str, _Played] = field(default_factory=dict)
    child_of: dict[int, str] = field(default_factory=dict)  # the last child of a step

    @property
    def name(self) -> str:
        return show(RUN, self.id)

    def place(self, index: int) -> StepPlace:
        page = self.prepared.page
        if page is None:
            return StepPlace(self.prepared, self.workflow.name, self.prepared.steps[index].name, None, self.depth)
        return StepPlace(self.workflow.prepared, self.workflow.name, page.step, page.first + index, self.depth)


class DryRun:
    """Plays one run. Use an object once: `play` returns a generator that asks for the workflows of children."""

    def __init__(self, effects: Effects, *, tenant: int, is_late: Callable[[], bool]) -> None:
        self._effects = effects
        self._tenant = tenant
        self._is_late = is_late
        self._now: Instant = 0
        self._began: Instant = 0
        self._last_id = 0
        self._attempts_left = MOST_ATTEMPTS
        self._events_left = MOST_EVENTS
        self._bytes_left = MOST_BYTES
        self._open: dict[bytes, _Played] = {}
        # Attempts to make, and with `None` runs to begin.
        self._todo: deque[tuple[_Played, StartAttempt | None]] = deque()
        self._callbacks: list[tuple[Instant, int, _Played, int, bytes]] = []

    def play(self, workflow: DryWorkflow, given: bytes, *, at: Instant, hero: tuple[str, str] | None = None) -> Play:
        """Play a run that begins at that time with that input. Yield each child to find; return the result."""
        self._now = self._began = at
        problems: list[str] = []
        facts = self._facts(workflow, given, self._new_id(), hero=hero)
        played = _Played(facts.id, workflow, workflow.prepared, workflow.prepared.new_state(facts))
        try:
            self._begin(played)
            while self._todo or self._goes_on():
                if self._todo:
                    one, start = self._todo.popleft()
                    if start is None:
                        self._begin(one)
                    else:
                        yield from self._attempt(one, start)
        except _Stopped as stop:
            problems.append(str(stop))
        result = self._result(played)
        result.problems = [*problems, *_problems(result)]
        return result

    # -- runs

    def _new_id(self) -> bytes:
        self._last_id += 1
        return self._last_id.to_bytes(16, "big")

    def _facts(
        self,
        workflow: DryWorkflow,
        given: bytes,
        id_: bytes,
        *,
        hero: tuple[str, str] | None = None,
        parent: bytes | None = None,
        family: Family | None = None,
        expires_at: Instant | None = None,
    ) -> RunFacts:
        duration = workflow.prepared.graph.max_duration
        return RunFacts(
            id=id_,
            tenant=self._tenant,
            workflow=workflow.name,
            input=given,
            started_at=self._now,
            expires_at=expires_at if duration is None else self._now + micros(duration),
            callback_url=lambda step: f"{_CALLBACK}{step}",
            hero=hero,
            parent=parent,
            workflow_id=workflow.id,
            family=family,
        )

    def _begin(self, played: _Played) -> None:
        self._open[played.id] = played
        _, plan = open_run(played.prepared, played.state, now=self._now)
        self._apply(played, plan)

    def _event(self, played: _Played, event: events.Event) -> None:
        if played.state.is_over:
            return
        self._events_left -= 1
        if self._events_left < 0:
            raise _Stopped(f"the dry run stopped after {MOST_EVENTS:,} events")
        if self._is_late():
            raise _Stopped("the dry run stopped because it took too long")
        self._apply(played, advance(played.prepared, played.state, event=event, now=self._now))

    def _apply(self, played: _Played, plan: Plan) -> None:
        """Do what a plan asks for. Starts are queued, so that a long chain of steps is no deep recursion."""
        for index, ending in enumerate(played.state.ending):
            if ending is not None:
                played.order.setdefault(index)
        for name, _, ask in plan.activate:
            self._activate(played, played.prepared.numbers[name], ask)
        for child, _ in plan.cancel:
            self._cancel(played, child)
        for index in plan.expire:
            self._event(played, events.WaitExpired(index))
        self._todo.extend((played, start) for start in plan.start)
        if plan.end is not None:
            self._has_ended(played, plan.end)

    def _activate(self, played: _Played, index: int, ask: str | None) -> None:
        answer = self._effects.wait(played.place(index), None if ask is None else read_ask(ask), self._due)
        if answer.source is not None:
            played.sources[index] = answer.source
        if answer.result is not None:
            self._count(answer.result)
            self._last_id += 1
            heappush(self._callbacks, (self._due(answer.after), self._last_id, played, index, answer.result))

    def _due(self, after: float) -> Instant:
        return max(self._now, self._began + micros(after))

    def _cancel(self, played: _Played, child: str) -> None:
        found = played.children.get(child)
        if found is not None:
            self._event(found, events.Cancelled(by=f"{played.name}, which started it"))

    def _has_ended(self, played: _Played, end: RunEnd) -> None:
        self._open.pop(played.id, None)
        played.end, played.ended_at = end, self._now
        if end.status is not Status.COMPLETED:
            for child in list(played.state.children):
                self._cancel(played, child)
        if played.parent is None or played.is_detached:
            return
        parent, index = played.parent
        said = ChildEnd(played.name, str(end.status), msgspec.Raw(end.output or b"null"), end.error)
        error, counts, spare = said.failure(), None, None
        if played.prepared.page is not None:
            counts, spare = page_counts(played.state), show(RUN, self._new_id())
            error = error and StepError("child", said.error or error.message)
        self._event(
            parent,
            events.ChildEnded(index, played.name, said.ending(), said.step_result(), error, 0, counts, spare),
        )

    # -- time

    def _goes_on(self) -> bool:
        """Move the clock to the next event and handle it. Return whether there was one."""
        wakes = [wake for one in self._open.values() if (wake := one.state.next_wake()) is not None]
        if self._callbacks:
            wakes.append(self._callbacks[0][0])
        if not wakes:
            return False
        self._now = max(self._now, min(wakes))
        while self._callbacks and self._callbacks[0][0] <= self._now:
            _, _, played, index, result = heappop(self._callbacks)
            self._event(played, events.Received(index, result))
        for played in list(self._open.values()):
            expires = played.state.facts.expires_at
            if expires is not None and expires <= self._now:
                self._event(played, events.Expired())
                continue
            for index in list(played.state.due(self._now)):
                self._event(played, events.Woke(index))
        return True

    # -- attempts

    def _attempt(self, played: _Played, start: StartAttempt) -> Generator[ChildRequest, ChildFound, None]:
        if played.state.is_over or not is_wanted(played.state, start):
            return
        index = start.step
        step, each = played.prepared.steps[index], played.prepared.graph.steps[index].each
        if start.on_record:
            pages = () if each is None else tuple(show(RUN, self._new_id()) for _ in range(pages_open(each)))
            child = show(RUN, self._new_id()) if each is None and step.is_child else None
            self._event(played, events.AttemptStarting(index, child, pages))
            if not is_wanted(played.state, start):
                return  # a map without items has ended
        if each is not None:
            outcome = self._map(played, index)
        else:
            outcome = yield from self._made(played, index, start.attempt)
        self._event(played, events.AttemptEnded(index, start.attempt, outcome, 0.0))

    def _made(self, played: _Played, index: int, number: int) -> Generator[ChildRequest, ChildFound, Outcome]:
        """Render the call of an attempt, and return its answer. A child is begun here."""
        self._attempts_left -= 1
        if self._attempts_left < 0:
            raise _Stopped(f"the dry run stopped after {MOST_ATTEMPTS:,} attempts")
        call = make_call(played.prepared, played.state, index)
        if isinstance(call, Fail):
            self._note(played, index, DryAttempt(number, self._now, None, "", None, None), call)
            return call
        call = msgspec.structs.replace(call, parameters=masked(call.parameters))  # a dry run opens no secret
        self._count(_encode(call.parameters))
        attempt = DryAttempt(number, self._now, call.parameters, "", None, None)
        place = played.place(index)
        ended: EffectAnswer | None = None
        if played.prepared.steps[index].is_child:
            ended = self._effects.child(place, call) or (yield from self._child(played, index, call))
        answer = ended or self._effects.attempt(place, call)
        attempt.source = answer.source
        if answer.source is not None:
            played.sources[index] = answer.source
        self._note(played, index, attempt, answer.outcome)
        return answer.outcome

    def _note(self, played: _Played, index: int, attempt: DryAttempt, outcome: Outcome) -> None:
        attempt.status = "success"
        if isinstance(outcome, Fail):
            attempt.status = "timeout" if outcome.timed_out else "failed"
            attempt.error = outcome.error
        if isinstance(outcome, Done | Fail):
            self._count(outcome.result)
        played.attempts.setdefault(index, []).append(attempt)

    def _count(self, data: bytes) -> None:
        self._bytes_left -= len(data)
        if self._bytes_left < 0:
            raise _Stopped(f"the dry run stopped: its requests and outputs have more than {MOST_BYTES:,} bytes")

    def _child(
        self, played: _Played, index: int, call: StepCall
    ) -> Generator[ChildRequest, ChildFound, EffectAnswer | None]:
        """Begin the child run of a step. Return `None` if the child can only be answered."""
        config = call.parameters
        is_detached, body = bool(config.get("detached")), config.get("input")
        facts = played.state.facts
        family = family_of(facts, played.prepared.steps[index].name, detached=is_detached)
        body = {} if body is None else body
        recursion = bool(config.get("recursion"))
        found = yield ChildRequest(str(config["workflow"]), config.get("version"), body, family, recursion)
        if found is None:
            return None
        if isinstance(found, StepError):
            return EffectAnswer(Fail(found, retry=False), None)
        given = _encode({"body": body, "headers": {}, "query": {}, **inherited(facts)})
        if len(given) > 2 * INPUT_LIMIT:
            return EffectAnswer(Fail(StepError("too_large", "the input of the child is too large"), retry=False), None)
        name = played.state.child_of[index].id
        child_facts = self._facts(found, given, parse(RUN, name), parent=facts.id, family=family)
        child = _Played(child_facts.id, found, found.prepared, found.prepared.new_state(child_facts))
        child.depth = played.depth + 1
        child.is_detached = is_detached
        self._add_child(played, index, child)
        if is_detached:
            return EffectAnswer(Done(_encode({"output": None, "run_id": name})), None)
        return EffectAnswer(Delegated(), None)

    def _add_child(self, played: _Played, index: int, child: _Played) -> None:
        """Queue a child. It begins after the attempt that starts it has ended, because it may end at once."""
        child.parent = played, index
        played.children[child.name] = child
        played.child_of[index] = child.name
        self._todo.append((child, None))

    def _map(self, played: _Played, index: int) -> Outcome:
        """Begin the pages of a map that are open and not begun, or end the map if all its pages have ended."""
        found = played.state.maps[index]
        if not found.open and not found.has_more():
            return self._collected(played, index)
        try:
            items = items_of(played.prepared, played.state, index)
            outer = outer_values(played.prepared, played.state, index)
        except MapError as problem:
            return Fail(problem.error, retry=False)
        except ExpressionError as error:
            return Fail(StepError(TEMPLATE_ERROR, error.message), retry=False)
        facts, step = played.state.facts, played.prepared.steps[index].name
        for name, number in found.open.items():
            if name in played.children:
                continue
            first = number * found.size
            page = Page(step, first, len(items[first : first + found.size]))
            body = {"items": items[first : first + found.size]}
            given = _encode({"body": body, "headers": {}, "query": {}, "outer": outer, **inherited(facts)})
            family = msgspec.structs.replace(family_of(facts, step), page=page)
            prepared = page_of(played.prepared, page)
            workflow = DryWorkflow(played.workflow.name, prepared, played.workflow.id)
            page_facts = self._facts(
                workflow, given, parse(RUN, name), parent=facts.id, family=family, expires_at=facts.expires_at
            )
            child = _Played(page_facts.id, played.workflow, prepared, prepared.new_state(page_facts))
            child.depth = played.depth
            self._add_child(played, index, child)
        return Delegated(len(found.pages))

    def _collected(self, played: _Played, index: int) -> Outcome:
        found, outputs, is_whole = played.state.maps[index], list[bytes](), True
        for number, name in enumerate(found.pages):
            end = played.children[name].end
            output = None if end is None else end.output
            if end is not None and end.output is None:
                if (end.error or "").startswith(COLLECT):
                    return Fail(StepError(TEMPLATE_ERROR, end.error or ""), retry=False)
                output = no_values(found, number) if end.status is not Status.COMPLETED else None
            is_whole = is_whole and output is not None
            outputs.append(output or b"[]")
        whole = list_of_map(outputs)
        return Done(result_of_map(found, whole if is_whole and len(whole) <= SIZE_LIMIT else None))

    # -- the result

    def _result(self, played: _Played) -> DryRunResult:
        state, end = played.state, played.end
        return DryRunResult(
            workflow=played.workflow.name,
            status=str(state.status),
            began=state.facts.started_at,
            ended=self._now if end is None else played.ended_at,
            route=[_on_route(played, index) for index in played.order],
            steps=[self._step(played, step.index) for step in played.prepared.steps],
            output=None if end is None or end.output is None else _decode(end.output),
            error=None if end is None else end.error,
        )

    def _step(self, played: _Played, index: int) -> DryStep:
        state, step, ending = played.state, played.prepared.steps[index], played.state.ending[index]
        raw = state.results.get(index)
        result = {} if raw is None else _decode(raw)
        made = DryStep(
            name=step.name,
            kind=str(step.kind),
            status=_phase(state.phase[index]) if ending is None else str(ending),
            attempts=played.attempts.get(index, []),
            source=played.sources.get(index),
            output=result.get("output", result.get("body")),
            status_code=result.get("status_code"),
            error=state.errors.get(index),
            counts=_counts(state, index, result),
        )
        child = played.children.get(played.child_of.get(index, ""))
        if child is not None and step.items is None:
            made.child = self._result(child)
        elif child is not None:
            made.items = self._items(played, index)
            made.source = next((one.source for one in made.items if one.source is not None), None)
        return made

    def _items(self, played: _Played, index: int) -> list[DryStep]:
        """Return the first items of a map, each named by its index."""
        found: list[DryStep] = []
        for name in played.state.maps[index].pages if index in played.state.maps else ():
            page = played.children[name]
            first = 0 if page.prepared.page is None else page.prepared.page.first
            for step in page.prepared.steps:
                if len(found) == ITEMS_SHOWN:
                    return found
                item = self._step(page, step.index)
                item.name = str(first + step.index)
                found.append(item)
        return found


def _counts(state: RunState, index: int, result: dict[str, Any]) -> dict[str, int] | None:
    """Return how many items a map has, and how they ended; `None` if the step is none or has not begun."""
    found = state.maps.get(index)
    if found is None:
        return {**result["items"], "pages": 0} if "items" in result else None
    return {**counts_of(found), "pages": len(found.pages)}


def _phase(phase: Phase) -> str:
    return "waiting" if phase in (Phase.WAITING, Phase.CHILD) else "running" if phase is Phase.RUNNING else "pending"


def _on_route(played: _Played, index: int) -> str:
    name, ending = played.prepared.steps[index].name, played.state.ending[index]
    return name if ending is Ending.SUCCESS else f"{name}:{ending}"


def _problems(result: DryRunResult, path: str = "") -> list[str]:
    """Return what is wrong with the workflow as far as the dry run can tell: expressions that have no value."""
    found = []
    for step in result.steps:
        place = f"{path}{step.name}"
        for one, name in ((step, place), *((item, f"{place}[{item.name}]") for item in step.items)):
            if one.error is not None and one.error.code in _BROKEN:
                found.append(f"{name}: {one.error.message}")
            if one.child is not None:
                found += _problems(one.child, f"{name}/")
    if result.error is not None and result.error.startswith("output: "):
        found.append(f"{path}{result.error}")
    return found
