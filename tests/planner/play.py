"""Plays a run by hand: events in, statuses out. After every event the fold of the journal must be the live state."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from detent.forms.graph.form import compile_graph
from detent.forms.steps.form import compile_steps
from detent.graph.model import Graph, StepKind
from detent.instant import SECOND, micros
from detent.planner import Prepared, Reuse, advance, begin_again, fold, open_later, open_run, prepare
from detent.planner.advance import take_ready
from detent.planner.calls import make_call
from detent.planner.maps import pages_open
from detent.planner.moves.code import graph_of as moved_to
from detent.planner.moves.version import Movable, MoveWish, Refused, plan_move
from detent.planner.scope import status_word
from detent.run import events
from detent.run.call import StepCall
from detent.run.journal import Entry, EntryData, decode_data, encode_opening
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.run.plan import NOTHING, Plan, RunEnd
from detent.run.state import Phase, RunFacts, RunState
from tests.forms.graphs import document

NOON = 1_790_000_000 * SECOND
RUN = bytes(range(16))


def url_of(step: str) -> str:
    return f"https://detent.example/wh/{step}"


def facts_of(graph: Graph, given: Mapping[str, Any] | None = None) -> RunFacts:
    raw = json.dumps({"body": {}, **(given or {})}).encode()
    expires = None if graph.max_duration is None else NOON + micros(graph.max_duration)
    return RunFacts(RUN, 1, "orders", raw, NOON, expires, url_of)


def answer(status_code: int, body: Any = None, headers: Mapping[str, str] | None = None) -> bytes:
    """The result of an HTTP step."""
    return json.dumps({"status_code": status_code, "headers": dict(headers or {}), "body": body}).encode()


def failure(code: str = "http_status", **given: Any) -> Fail:
    return Fail(StepError(code, f"it failed with {code}"), **given)


def settled(state: RunState, woken: frozenset[int] = frozenset()) -> dict[str, Any]:
    """A state without what is volatile: what runs is only ready to a fold, and a step that was woken for its next
    attempt still waits for it there, since waking writes nothing."""
    phases = [Phase.READY if phase is Phase.RUNNING else phase for phase in state.phase]
    mapped = {index for index in state.maps if state.phase[index] is not Phase.ENDED}
    started = set(state.child_of) | mapped
    for index in woken - started:
        assert phases[index] in (Phase.READY, Phase.RETRYING)
        phases[index] = Phase.READY
    for index in started:
        # Whether the attempt that starts its child has begun or ended is not in the journal. Another one is harmless.
        assert phases[index] in (Phase.READY, Phase.RETRYING, Phase.CHILD)
        phases[index] = Phase.CHILD
    names = (
        *("status", "ending", "taken", "undecided", "attempts", "since", "results", "errors"),
        *(
            "early",
            "notes",
            "noted",
            "edge_errors",
            "not_taken",
            "retried_at",
            "failures",
            "open",
            "seq",
            "adoptions",
            "stalled",
            "failing",
            "paused_by",
        ),
        *("strikes", "suspect_until", "readers", "let_go", "readable", "readable_bytes", "dropped", "last"),
        "gathered",
        *("paused_at", "paused_step", "opens_at", "reused", "reused_maps", "reused_skips", "left_out", "doubts"),
        *("probes", "refuted"),
        *(
            "is_finished",
            "finisher",
            "carried",
            "left_behind",
            "passed",
            "undelayed",
            "moved_graph",
            "moved_version",
            "old_waits",
        ),
        *("history", "operations", "child_of", "maps", "children", "cancelled", "unsure", "looks"),
    )
    return {
        **{name: getattr(state, name) for name in names},
        "let_go": sorted(state.let_go),
        "phase": phases,
        "adoptions_before": state.adoptions_before,
        "until": {index: until for index, until in state.until.items() if index not in woken | started},
        "begun": list(state.begun.items()),
    }


@dataclass
class Play:
    """One run. Steps are named; `now` only moves when the test moves it. It begins at once, or at `opens_at`, or with
    what it reuses of another run."""

    prepared: Prepared
    facts: RunFacts
    state: RunState = field(init=False)
    now: int = NOON
    entries: list[Entry] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    woken: set[int] = field(default_factory=set)
    active: dict[str, int | None] = field(default_factory=dict)
    asks: dict[str, str] = field(default_factory=dict)
    expiring: list[int] = field(default_factory=list)
    started: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)  # attempts that nobody wants any more
    version: Prepared = field(init=False)  # the graph it began with
    versions: dict[int, Prepared] = field(default_factory=dict)  # those it was moved to
    ended: RunEnd | None = None
    checks: bool = True
    opens_at: int | None = None
    reuse: Reuse | None = None
    child_ids: Iterator[int] = field(default_factory=count)
    cancelled: list[str] = field(default_factory=list)  # child runs that no step waits for any more
    keeps_results: bool = True

    def __post_init__(self) -> None:
        self.version = self.prepared
        self.state = self.prepared.new_state(self.facts, keeps_results=self.keeps_results)
        if self.reuse is not None:
            decided = open_later(self.prepared, self.state, at=self.now)
            self.entries, plan = begin_again(self.prepared, self.state, self.reuse, self.now)
        elif self.opens_at is not None:
            decided, plan = open_later(self.prepared, self.state, at=self.opens_at), NOTHING
        else:
            decided, plan = open_run(self.prepared, self.state, now=self.now)
        self.opening = encode_opening(decided)
        self._carry_out(plan)

    @property
    def status(self) -> str:
        return str(self.state.status)

    @property
    def output(self) -> Any:
        assert self.ended is not None
        return None if self.ended.output is None else json.loads(self.ended.output)

    def number(self, step: str) -> int:
        return self.prepared.numbers[step]

    def statuses(self) -> dict[str, str]:
        """What each step reads: the ending's word, or the phase in lower case."""
        found = {}
        for name, index in self.prepared.numbers.items():
            found[name] = status_word(self.prepared, self.state, index) or self.state.phase[index].name.lower()
        return found

    def error(self, step: str) -> StepError:
        return self.state.errors[self.number(step)]

    def until(self, step: str) -> float:
        """Seconds from now until the time the step waits for."""
        until = self.state.until[self.number(step)]
        assert until is not None
        return (until - self.now) / SECOND

    def data(self, place: int = -1) -> EntryData:
        return decode_data(self.entries[place].data)

    def tell(self, event: events.Event) -> Plan:
        """Let an event happen, and hold the fold to the state it leads to."""
        was_over = self.state.is_over
        plan = advance(self.prepared, self.state, event=event, now=self.now)
        assert not (was_over and plan is not NOTHING), "an event after the end planned something"
        if plan.moved is not None:
            self.state, self.prepared = plan.moved, moved_to(self.version, plan.moved)
            self.woken.clear()
        self.stopped.extend(self.prepared.steps[index].name for index in plan.stop)
        self._carry_out(plan)
        return plan

    def _carry_out(self, plan: Plan) -> None:
        self.plans.append(plan)
        if plan.entry is not None:
            self.entries.append(plan.entry)
        self.active.update({name: until for name, until, _ in plan.activate})
        self.asks.update({name: ask for name, _, ask in plan.activate if ask is not None})
        self.expiring.extend(plan.expire)
        self.cancelled.extend(child for child, _ in plan.cancel)
        if plan.end is not None:
            assert self.ended is None, "the run ended twice"
            self.ended = plan.end
        self.woken = {index for index in self.woken if self.state.phase[index] in (Phase.READY, Phase.RUNNING)}
        if self.checks:
            self.check_fold()
        most = self.prepared.graph.parallel
        assert most is None or self.state.running <= most, "more attempts at once than the graph allows"
        for start in plan.start:
            assert runs_code(self.prepared.steps[start.step].kind), "a sleep or a wait was started as an attempt"
            self.started.append(self.prepared.steps[start.step].name)
            if start.on_record:
                self.tell(self._starting(start.step))

    def _starting(self, index: int) -> events.AttemptStarting:
        each = self.prepared.graph.steps[index].each
        if each is not None:
            return events.AttemptStarting(index, pages=tuple(self.new_run() for _ in range(pages_open(each))))
        is_child = self.prepared.steps[index].kind is StepKind.SUBWORKFLOW
        return events.AttemptStarting(index, self.new_run() if is_child else None)

    def new_run(self) -> str:
        return f"run_{next(self.child_ids)}"

    def check_fold(self) -> None:
        woken = frozenset(self.woken)
        assert settled(self._fold(keeps_results=self.state.keeps_results), woken) == settled(self.state, woken)

    def complete(self) -> RunState:
        """The state with all results, as a command reads it from the journal."""
        return self._fold(keeps_results=True)

    def _fold(self, *, keeps_results: bool) -> RunState:
        keeps_results = keeps_results or bool(self.versions)
        given = self.version, self.facts, self.opening, self.entries, self.versions
        return fold(*given, keeps_results=keeps_results)

    # -- what happens to steps

    def call(self, step: str) -> StepCall | Fail:
        """The call of the attempt that is running."""
        assert self.state.phase[self.number(step)] is Phase.RUNNING, f"{step} does not run"
        return make_call(self.prepared, self.state, self.number(step))

    def parameters(self, step: str) -> Any:
        call = self.call(step)
        assert isinstance(call, StepCall), call
        return call.parameters

    def attempt(self, step: str, outcome: Outcome, ms: float = 1.0) -> Plan:
        index = self.number(step)
        return self.tell(events.AttemptEnded(index, self.state.attempt_number(index), outcome, ms))

    def succeed(self, step: str, status_code: int = 200, body: Any = None, **headers: str) -> Plan:
        return self.attempt(step, Done(answer(status_code, body, headers)))

    def give(self, step: str, output: Any) -> Plan:
        return self.attempt(step, Done(json.dumps({"output": output}).encode()))

    def fail(self, step: str, status_code: int | None = None, body: Any = None, **given: Any) -> Plan:
        result = b"{}" if status_code is None else answer(status_code, body)
        return self.attempt(step, failure(**{"retry": False, "result": result, **given}))

    def carry_out(self, step: str) -> StepCall:
        """Begin the attempt as the engine does: a template that cannot be filled in ends it."""
        call = self.call(step)
        if isinstance(call, Fail):
            self.attempt(step, call)
            raise AssertionError(call.error.message)
        return call

    def begin(self, step: str) -> None:
        """Begin an attempt whose template cannot be filled in."""
        call = self.call(step)
        assert isinstance(call, Fail)
        self.attempt(step, call)

    def sleep(self, seconds: float) -> None:
        """Let time pass, and wake what is due in between at its time."""
        end = self.now + micros(seconds)
        while (due := self.state.next_timer()) is not None and due <= end:
            self.now = max(self.now, due)
            for index in self.state.due(self.now):
                self.wake(index)
        self.now = end

    def wake(self, index: int) -> None:
        if self.state.phase[index] is Phase.RETRYING:
            self.woken.add(index)
        self.tell(events.Woke(index))

    def expire_callbacks(self) -> None:
        """The store has expired every callback it was asked to."""
        expiring, self.expiring = self.expiring, []
        for index in expiring:
            self.tell(events.WaitExpired(index))

    def receive(self, step: str, body: Any = None, message: int = 1) -> Plan:
        result = json.dumps({"status_code": 200, "headers": {}, "body": body}).encode()
        return self.tell(events.Received(self.number(step), result, message))

    # -- what happens to the run

    def open(self) -> Plan:
        """The time the run was to begin at has come."""
        assert self.state.opens_at is not None
        self.now = max(self.now, self.state.opens_at)
        return self.tell(events.Opened())

    def resolve(self, step: str, *, happened: bool, result: bytes | None = None, by: str = "ann") -> Plan:
        return self.tell(events.Resolved(self.number(step), happened, result, by))

    def pause(self, by: str = "ann") -> Plan:
        return self.tell(events.Paused(by))

    def resume(self, by: str = "ann") -> Plan:
        return self.tell(events.Resumed(by))

    def cancel(self, by: str = "ann") -> Plan:
        return self.tell(events.Cancelled(by))

    def expire(self) -> Plan:
        return self.tell(events.Expired())

    def skip(self, step: str | None = None, by: str = "ann") -> Plan:
        return self.tell(events.Skipped(None if step is None else self.number(step), by))

    def reattempt(self, step: str | None = None, wait: float = 0.0, by: str = "ann") -> Plan:
        return self.tell(events.Reattempted(None if step is None else self.number(step), wait, by))

    def finish(self, by: str = "ann") -> Plan:
        return self.tell(events.Finished(by))

    def reload(self, *, keeps_results: bool | None = None) -> None:
        """Another node reads the run from its journal, after this one gave it up."""
        keeps = self.keeps_results if keeps_results is None else keeps_results
        self.state = self._fold(keeps_results=keeps)
        self.prepared = moved_to(self.version, self.state)
        self.woken.clear()

    def move_to(self, graph: Graph, names: Mapping[str, str] | None = None) -> Movable | Refused:
        """Move the run to another version as the engine does: nothing is in flight, and then it is read again."""
        self.reload(keeps_results=True)
        number = 2 + len(self.versions)
        wish = MoveWish(number, self.state.moved_version or 1, names or {}, "ann")
        entry, found = plan_move(self.prepared, self.state, prepare(graph), wish, self.now)
        self.entries.append(entry)
        if isinstance(found, Movable):
            self.versions[number] = prepare(graph)
            self.state, self.prepared = found.state, moved_to(self.version, found.state)
            self.active.update({name: until for name, until, _ in found.activated})
        self.check_fold()
        self.reload()
        if self.state.opens_at is None:
            self._carry_out(Plan(None, take_ready(self.prepared, self.state), [], []))
        return found

    def crash(self, poison_after: int = 5, poison_delay: float = 300.0) -> Plan:
        """The node dies, and another one adopts the run."""
        self.started.clear()
        self.reload()
        return self.tell(events.Adopted("another node", poison_after, poison_delay))

    def strike(self, step: str, times: int = 1, poison_after: int = 5) -> None:
        """The node dies while this step of a suspect run is in flight, so often, and no other step is tried."""
        for _ in range(times):
            if self.number(step) not in self.state.begun:
                self.now += micros(self.until(step))
                self.wake(self.number(step))
            self.crash(poison_after)


def play(graph: Graph, given: Mapping[str, Any] | None = None, **begins: Any) -> Play:
    return Play(prepare(graph), facts_of(graph, given), **begins)


def play_again(origin: Play, reuse: Reuse, **given: Any) -> Play:
    """A run of the same version with the same input that begins with what it reuses of another."""
    return Play(
        origin.version, origin.facts, now=origin.now, reuse=reuse.over(origin.prepared, origin.version), **given
    )


def play_steps(tasks: Mapping[str, Any], given: Mapping[str, Any] | None = None, **document: Any) -> Play:
    """A run of a workflow in the steps form. A step without a kind is an HTTP request."""
    return play(graph_of(tasks, **document), given)


def play_graph(*nodes: Mapping[str, Any], trigger: Any = None, spec: Any = None, **fields: Any) -> Play:
    """A run of a workflow in the graph form that begins with its first node."""
    given = {"body": {} if trigger is None else trigger, **({} if spec is None else {"spec": spec})}
    return play(compile_graph(document(*map(dict, nodes), **fields)).graph, given)


def graph_of(tasks: Mapping[str, Any], **document: Any) -> Graph:
    kinds = ("url", "sleep", "wait_for_webhook", "approve", "first_of", "action")
    whole = {
        name: dict(step) if any(kind in step for kind in kinds) else {"url": f"https://shop.example/{name}", **step}
        for name, step in tasks.items()
    }
    return compile_steps({"name": "orders", "tasks": whole, **document}).graph


def runs_code(kind: StepKind) -> bool:
    return kind not in (StepKind.SLEEP, StepKind.WAIT, StepKind.CONDITION)
