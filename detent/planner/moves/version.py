"""Moves of a run in flight to another version of its workflow.

A move is sound if the journal of the run could have been written by the new graph. So what is known of the run is
replayed through that graph: each step that ended must be decided there, and must end as it did. Each active step must
become active there. It keeps its attempts, its time and its child. New steps that become active begin at once.

Everything else is refused with the reasons. The journal entry of a move names the versions and not the graph. A fold
runs the same replay with the recorded answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import msgspec

from detent.expressions import Expression, Scope, Template
from detent.graph.model import Edge, Ending, Graph, StepKind
from detent.instant import Instant
from detent.planner.judge import CONDITION_ERROR, Judge, LiveJudge
from detent.planner.prepared import Prepared, PreparedEdge, PreparedStep
from detent.planner.settle import Settling
from detent.run.journal import REFUSED, CarriedEntry, Decided, Entry, EntryData, Kind, decode_data, encode_data
from detent.run.outcomes import StepError
from detent.run.plan import Activated
from detent.run.state import Phase, RunState

#: A refusal names at most this many reasons.
MOST_REASONS: Final = 20
#: The error code of a journalled refusal.
MOVE_REFUSED: Final = "move_refused"
_NO_NAMES: Final[Mapping[str, str]] = {}
_CODE: Final = (StepKind.PYTHON, StepKind.FUNCTION)
_WORDS: Final = {
    Phase.READY: "about to run",
    Phase.RUNNING: "running",
    Phase.RETRYING: "waiting for its next attempt",
    Phase.SLEEPING: "sleeping",
    Phase.WAITING: "waiting for its callback",
    Phase.UNCERTAIN: "uncertain",
    Phase.CHILD: "waiting for its child run",
}


class MoveWish(NamedTuple):
    """A version to move a run to. `was` is the run's version. `names` has the new names of renamed steps."""

    version: int
    was: int
    names: Mapping[str, str] = _NO_NAMES
    by: str = "unknown"


class MoveReason(NamedTuple):
    """Why a run cannot be moved: the step (None: the whole run) and the words."""

    step: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The run cannot be moved now."""

    reasons: tuple[MoveReason, ...]
    read_values: bool = False  # as in Movable

    def in_words(self) -> str:
        """Return all reasons as one text."""
        return "; ".join(reason.message for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class Movable:
    """The run can be moved. `state` is its state in the new graph, and `begins` has the new steps that become active.

    `opened` has the waits that need a callback, and `closed` those whose callback is of no use any more. `read_values`:
    a condition or a duration was evaluated, so another run of the same shape may have another answer.
    """

    state: RunState
    decided: Decided
    begins: tuple[str, ...]
    activated: tuple[Activated, ...]
    opened: tuple[PreparedStep, ...]
    closed: tuple[str, ...]
    read_values: bool = False


def check_move(old: Prepared, state: RunState, new: Prepared, wish: MoveWish, now: Instant) -> Movable | Refused:
    """Return the run as it would be in the new graph, or why it cannot be moved. The given state is not changed."""
    blocked = _cannot_move(old, state, new, wish)
    if blocked:
        return Refused(tuple(blocked[:MOST_REASONS]))
    moved, replay = _begin(old, state, new, wish)
    judge = _MoveJudge(old, state, new, moved, now, replay.known)
    replay.run(judge, now)
    reasons = replay.problems(wish.version)
    if reasons:
        return Refused(tuple(reasons[:MOST_REASONS]), judge.read_values)
    before, after = _wait_names(old, wish.names), new.wait_steps
    return Movable(
        moved,
        judge.decided,
        tuple(replay.begins),
        tuple(replay.activated),
        tuple(step for name, step in after.items() if name not in old.wait_steps and name not in state.old_waits),
        (*(name for name, mapped in before.items() if name != mapped or mapped not in after), *replay.closed),
        judge.read_values,
    )


def plan_move(
    old: Prepared, state: RunState, new: Prepared, wish: MoveWish, now: Instant
) -> tuple[Entry, Movable | Refused]:
    """Build the journal entry of a move, or of its refusal. A refusal changes only the number of the last entry."""
    found = check_move(old, state, new, wish, now)
    if isinstance(found, Refused):
        return refuse_move(state, wish, found.in_words(), now), found
    data = _data(wish)
    if not found.decided.is_empty():
        data.decided = found.decided
    found.state.seq += 1
    return _entry(found.state, None, data, now), found


def refuse_move(state: RunState, wish: MoveWish, words: str, now: Instant) -> Entry:
    """Build the journal entry of a refused move, with the words that users read."""
    data = _data(wish)
    data.error = StepError(MOVE_REFUSED, words)
    state.seq += 1
    return _entry(state, REFUSED, data, now)


def _data(wish: MoveWish) -> EntryData:
    return EntryData(by=wish.by, version=wish.version, was=wish.was, names=dict(wish.names))


def moved_by(old: Prepared, was: RunState, new: Prepared, data: EntryData, judge: Judge, now: Instant) -> RunState:
    """Return the state after an entry of a move, with the recorded answers of that move."""
    assert data.version is not None
    assert data.was is not None
    state, replay = _begin(old, was, new, MoveWish(data.version, data.was, data.names))
    replay.run(judge, now)
    return state


def versions_in(entries: Iterable[Entry]) -> list[int]:
    """Return the versions of a run that was moved between versions: the one it began with, then those after it.

    The list is empty for a run that never was.
    """
    found: list[int] = []
    for entry in entries:
        if entry.kind == Kind.MOVED and entry.outcome != REFUSED:
            data = decode_data(entry.data)
            if data.version is not None and data.was is not None:
                found += [data.version] if found else [data.was, data.version]
    return found


def _entry(state: RunState, outcome: str | None, data: EntryData, now: Instant) -> Entry:
    facts = state.facts
    return Entry(facts.tenant, facts.id, state.seq, now, Kind.MOVED, None, 0, outcome, encode_data(data))


def _cannot_move(old: Prepared, state: RunState, new: Prepared, wish: MoveWish) -> list[MoveReason]:
    """Return what forbids any replay."""
    version, names = wish.version, wish.names
    is_code = any(step.kind in _CODE for prepared in (old, new) for step in prepared.steps)
    if is_code or state.moved_graph is not None:
        return [MoveReason(None, "its workflow is Python code: such a run moves by itself when its code changes")]
    if old.page is not None:
        return [MoveReason(None, f"the run is a page of the map '{old.page.step}'; move the run that has the map")]
    if state.is_over:
        return [MoveReason(None, f"the run has ended ({state.status}); retry it on version {version} instead")]
    if version == wish.was:
        return [MoveReason(None, f"the run has version {version} already")]
    if state.failing:
        failed = old.steps[state.failures[0]].name
        words = "the run is failing and begins nothing new; retry it on that version when it has ended"
        return [MoveReason(failed, f"'{failed}' has failed: {words}")]
    found = [
        MoveReason(name, f"'{name}' cannot be renamed: the run has no step of that name")
        for name in names
        if name not in old.numbers
    ]
    found += [
        MoveReason(name, f"'{name}' cannot become '{mapped}': version {version} has no step of that name")
        for name, mapped in names.items()
        if mapped not in new.numbers
    ]
    # The name is part of the idempotency key, so a second step of that name could repeat the effect of the first.
    found += [
        MoveReason(name, f"'{name}' cannot become '{mapped}': the run had a step of that name before, and it has ended")
        for name, mapped in names.items()
        if mapped in state.left_behind
    ]
    counts: dict[str, list[str]] = {}
    for step in old.steps:
        counts.setdefault(names.get(step.name, step.name), []).append(step.name)
    found += [
        MoveReason(before[0], f"'{before[0]}' and '{before[1]}' would both become '{mapped}'")
        for mapped, before in counts.items()
        if len(before) > 1
    ]
    return found or [*_lost(old, state, new, wish), *_closed(old, state, new, wish)]


def _lost(old: Prepared, state: RunState, new: Prepared, wish: MoveWish) -> list[MoveReason]:
    """Return the active steps and the received callbacks that the new graph has no place for."""
    found = []
    for step in old.steps:
        index, name, phase = step.index, step.name, state.phase[step.index]
        mapped = wish.names.get(name, name)
        target = new.numbers.get(mapped)
        if phase in (Phase.PENDING, Phase.ENDED):
            if index in state.early and (target is None or new.steps[target].kind is not StepKind.WAIT):
                words = f"its callback has arrived already, and version {wish.version} has no wait of that name"
                found.append(MoveReason(name, f"'{name}' cannot be left behind: {words}"))
            continue
        is_now = f"'{name}' is {_WORDS.get(phase, phase.name.lower())}"
        if target is None:
            found.append(MoveReason(name, f"{is_now}, and version {wish.version} has no step of that name"))
        elif new.steps[target].kind is not step.kind:
            kinds = f"it is of kind {step.kind}, and of kind {new.steps[target].kind} in version {wish.version}"
            found.append(MoveReason(name, f"{is_now}: {kinds}"))
        elif index in state.maps and new.graph.steps[target].each != old.graph.steps[index].each:
            found.append(MoveReason(name, f"{is_now}: its items have begun, and version {wish.version} has others"))
        elif index in state.probes and new.graph.steps[target].probe != old.graph.steps[index].probe:
            words = f"its probe is asked whether it happened, and version {wish.version} has another probe"
            found.append(MoveReason(name, f"{is_now}: {words}"))
        elif mapped != name and phase is Phase.WAITING:
            found.append(MoveReason(name, f"{is_now}: it cannot be renamed, because its name is part of the URL"))
    return found


def _closed(old: Prepared, state: RunState, new: Prepared, wish: MoveWish) -> list[MoveReason]:
    """Return the waits that the run had before and has not now: their callbacks are closed and cannot be opened again.

    A wait that ended in an earlier version needs no callback.
    """
    return [
        MoveReason(name, f"'{name}' was a wait of this run before, and its URL is closed; give the wait another name")
        for name in new.wait_steps
        if name in state.old_waits and name not in old.wait_steps and name not in state.left_behind
    ]


def _wait_names(old: Prepared, names: Mapping[str, str]) -> dict[str, str]:
    return {name: names.get(name, name) for name in old.wait_steps}


class _Known(NamedTuple):
    """What is known of a step when its run is moved: its index in the old graph, or how it ended in an earlier one."""

    old: int | None
    phase: Phase
    ending: Ending | None
    error: StepError | None
    result: bytes | None
    explicit: bool  # its own code or a user skipped it


def _begin(old: Prepared, was: RunState, new: Prepared, wish: MoveWish) -> tuple[RunState, _Replay]:
    """Build the state for the new graph before anything is decided in it, and the replay that decides it."""
    names, numbers = wish.names, new.numbers
    state = new.new_state(was.facts)
    state.moved_to, state.moved_version = new, wish.version
    state.blobs = was.blobs
    state.seq, state.status, state.opens_at = was.seq, was.status, was.opens_at
    state.adoptions, state.stalled, state.suspect_until = was.adoptions, was.stalled, was.suspect_until
    state.paused_by, state.paused_at = was.paused_by, was.paused_at
    same = {step.index: numbers[mapped] for step in old.steps if (mapped := names.get(step.name, step.name)) in numbers}
    if was.paused_step is not None:
        state.paused_step = same.get(was.paused_step)
    state.early = {same[index]: result for index, result in was.early.items() if index in same}
    state.reused = {same[index]: result for index, result in was.reused.items() if index in same}
    state.reused_skips = {same[index]: None for index in was.reused_skips if index in same}
    state.reused_maps = {same[index]: past for index, past in was.reused_maps.items() if index in same}
    state.children = {
        child: same[owner] if isinstance(owner, int) else owner
        for child, owner in was.children.items()
        if not isinstance(owner, int) or owner in same
    }
    state.unsure, state.cancelled = frozenset(state.children), was.cancelled
    state.old_waits = was.old_waits.union(old.wait_steps)
    known = {}
    for step in old.steps:
        how = _known(was, step.index)
        if step.index in same:
            known[same[step.index]] = how
        elif how.ending is not None:
            state.left_behind[step.name] = _carried(how)
    for name, carried in was.left_behind.items():
        if name in numbers and numbers[name] not in known:
            known[numbers[name]] = _from_before(carried)
        elif name not in numbers:
            state.left_behind.setdefault(name, carried)
    return state, _Replay(old, was, new, state, known)


def _known(was: RunState, index: int) -> _Known:
    explicit = index in was.left_out
    return _Known(
        index, was.phase[index], was.ending[index], was.errors.get(index), was.results.get(index), explicit=explicit
    )


def _carried(how: _Known) -> CarriedEntry:
    carried = CarriedEntry(str(how.ending), error=how.error, explicit=how.explicit)
    if how.result is not None:
        carried.result = msgspec.Raw(how.result)
    return carried


def _from_before(carried: CarriedEntry) -> _Known:
    result = bytes(carried.result) or None
    return _Known(None, Phase.ENDED, Ending(carried.ending), carried.error, result, explicit=carried.explicit)


@dataclass(slots=True)
class _Replay:
    """One replay of what is known of a run through a new graph."""

    old: Prepared
    was: RunState
    new: Prepared
    state: RunState
    known: dict[int, _Known]
    begins: list[str] = field(default_factory=list)
    activated: list[Activated] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)  # waits that ended without a callback
    refused: list[MoveReason] = field(default_factory=list)

    def run(self, judge: Judge, now: Instant) -> None:
        """Decide everything that can be decided in the new graph."""
        if self.state.opens_at is not None:
            return  # nothing of the run was decided yet
        settling = _Replaying(self, judge, now)
        settling.open()
        self.activated = settling.activated
        self.closed = settling.closed
        was, same = self.was, {how.old: index for index, how in self.known.items() if how.old is not None}
        # The order in which steps became ready, and in which attempts began, is kept.
        before = [same[index] for index in was.ready if index in same]
        after = [index for index in self.state.ready if index not in before]
        self.state.ready = dict.fromkeys(index for index in (*before, *after) if index in self.state.ready)
        self.state.begun = {same[index]: number for index, number in was.begun.items() if index in same}

    def problems(self, version: int) -> list[MoveReason]:
        """Return why the replay does not hold."""
        found = list(self.refused)
        for index, known in self.known.items():
            if known.old is None or known.phase is Phase.ENDED:
                continue
            if self.new.steps[index].has_ask and not self.old.steps[known.old].has_ask:
                name = self.new.steps[index].name
                words = f"checks its answers in version {version}, and the run has given out its address already"
                found.append(MoveReason(name, f"'{name}' {words}"))
        if self.state.failing and not found:
            failed = self.new.steps[self.state.failures[-1]].name
            words = f"has failed, and in version {version} no edge takes its failure: the run would fail"
            found.append(MoveReason(failed, f"'{failed}' {words}"))
        if found or self.state.opens_at is not None:
            return found
        for index in self.new.order:
            how = self.known.get(index)
            if how is None or how.phase is Phase.PENDING or self.state.phase[index] is not Phase.PENDING:
                continue
            name = self.new.steps[index].name
            blocker = next((one for one in self.new.order if one != index and self._blocks(one, index)), None)
            has = f"ended {how.ending}" if how.phase is Phase.ENDED else f"is {_WORDS.get(how.phase, 'active')}"
            by = "a step" if blocker is None else f"'{self.new.steps[blocker].name}'"
            found.append(MoveReason(name, f"'{name}' {has}, but in version {version} {by} must end before it"))
        return found

    def _blocks(self, index: int, target: int) -> bool:
        is_before = any(edge.target == target for edge in self.new.steps[index].outgoing)
        return is_before and self.state.phase[index] is not Phase.ENDED


class _Replaying(Settling):
    """A pass of decisions in which steps that ended end as they did, and active steps stay as they are."""

    def __init__(self, replay: _Replay, judge: Judge, now: Instant) -> None:
        super().__init__(replay.new, replay.state, judge, now)
        self._replay = replay

    def _decide(self, step: PreparedStep) -> None:
        how = self._replay.known.get(step.index)
        if how is None or how.phase is Phase.PENDING:
            self._decide_new(step)
        elif how.phase is Phase.ENDED:
            self._decide_ended(step, how)
        else:
            self._decide_active(step, how)

    def _decide_new(self, step: PreparedStep) -> None:
        """Decide a step that the run had not reached."""
        state, index = self._state, step.index
        super()._decide(step)
        if state.phase[index] is not Phase.ENDED:
            self._replay.begins.append(step.name)
        elif index in state.errors:
            self._refuse(step, f"'{step.name}' would fail at once: {state.errors[index].message}")

    def _decide_ended(self, step: PreparedStep, how: _Known) -> None:
        verdict = self._verdict(step)
        was_skipped = how.ending is Ending.SKIPPED
        if isinstance(verdict, StepError):
            if how.error is None or how.error.code != CONDITION_ERROR:
                self._refuse(step, f"a condition before '{step.name}' cannot be evaluated: {verdict.message}")
        elif verdict and was_skipped and not how.explicit:
            self._refuse(step, f"'{step.name}' was skipped, and would run")
        elif not verdict and not was_skipped:
            self._refuse(step, f"'{step.name}' has run, and would be skipped")
        elif step.question is not None and how.ending is Ending.SUCCESS and self._answers_otherwise(step, how):
            self._refuse(step, f"'{step.name}' was answered, and would be answered otherwise")
        self._end_as_it_did(step, how)

    def _answers_otherwise(self, step: PreparedStep, how: _Known) -> bool:
        old = self._replay.old
        if step.first_of or how.old is None or _question(old, how.old) == _question(self._replay.new, step.index):
            return False
        return how.result != (b'{"output":true}' if self._judge.answers(step) is True else b'{"output":false}')

    def _end_as_it_did(self, step: PreparedStep, how: _Known) -> None:
        state, index = self._state, step.index
        assert how.ending is not None
        if how.result is not None:
            state.results[index] = how.result
        if how.explicit:
            state.left_out[index] = None
        self._end(index, how.ending, how.error)
        if how.error is not None:
            state.errors[index] = how.error  # the error of a step that was skipped on purpose
        self._keep(index, how)

    def _decide_active(self, step: PreparedStep, how: _Known) -> None:
        verdict = self._verdict(step)
        if isinstance(verdict, StepError):
            self._refuse(step, f"a condition before '{step.name}' cannot be evaluated: {verdict.message}")
        elif not verdict:
            self._refuse(step, f"'{step.name}' is {_WORDS.get(how.phase, 'active')}, and would be skipped")
        else:
            self._stay_active(step, how)

    def _stay_active(self, step: PreparedStep, how: _Known) -> None:
        """Let a step go on as it was: its attempts count, and its time is not set again."""
        state, was, index = self._state, self._replay.was, step.index
        assert how.old is not None
        old = how.old
        if how.phase in (Phase.READY, Phase.RUNNING, Phase.CHILD):
            # A step with a child looks again whether the child exists: its start may have been held for the move.
            state.phase[index] = Phase.READY
            state.ready[index] = None
        else:
            state.phase[index] = how.phase
        if old in was.until and state.phase[index] is not Phase.READY:
            state.set_timer(index, state.phase[index], was.until[old])
        if state.phase[index] is Phase.WAITING and step.agenda is not None:
            if old in was.noted:
                state.noted[index] = was.noted[old]
            note = step.agenda.note(was.since[old], was.noted.get(old, 0))
            state.set_note(index, None if note is None else note.at)
        if how.error is not None:
            state.errors[index] = how.error
        if how.result is not None:
            state.results[index] = how.result
        if old in was.doubts:
            state.doubts[index] = was.doubts[old]
        if old in was.probes:
            state.probes[index] = was.probes[old]
        if old in was.refuted:
            state.refuted[index] = was.refuted[old]
        if old in was.strikes:
            state.strikes[index] = was.strikes[old]
        if old in was.retried_at:
            state.retried_at[index] = was.retried_at[old]
        if old in was.child_of:
            state.child_of[index] = was.child_of[old]
        self._keep(index, how)

    def _keep(self, index: int, how: _Known) -> None:
        if how.old is None:
            return
        state, was = self._state, self._replay.was
        state.since[index] = was.since[how.old]
        state.attempts[index] = was.attempts[how.old]
        state.adoptions_before[index] = was.adoptions_before[how.old]
        if how.old in was.looks:
            state.looks[index] = was.looks[how.old]
        if how.old in was.maps:
            found = was.maps[how.old]
            state.maps[index] = replace(found, pages=list(found.pages), open=dict(found.open))

    def _refuse(self, step: PreparedStep, words: str) -> None:
        self._replay.refused.append(MoveReason(step.name, words))


class _MoveJudge(LiveJudge):
    """A judge that keeps the answers which the run has already: those of conditions that are the same in both graphs.

    A condition that reads the time must not be answered again.
    """

    def __init__(
        self,
        old: Prepared,
        was: RunState,
        new: Prepared,
        state: RunState,
        now: Instant,
        known: Mapping[int, _Known],
    ) -> None:
        super().__init__(new, state, now)
        self.read_values = False
        self._old, self._was, self._known = old, was, known
        self._speaks_alike = _language(old.graph) == _language(new.graph)
        self._sources = {edge.index: step.index for step in new.steps for edge in step.outgoing}

    def scope(self, compiled: Expression | Template, place: str) -> Scope:
        self.read_values = True
        return super().scope(compiled, place)

    def takes(self, edge: PreparedEdge) -> bool | StepError:
        answer = self._answered(edge)
        if answer is None:
            return super().takes(edge)
        self.decided.edges[edge.index] = answer
        return answer

    def _answered(self, edge: PreparedEdge) -> bool | None:
        """Return the answer that the run has, or None if it has none."""
        source = self._known.get(self._sources[edge.index])
        target = self._known.get(edge.target)
        if not self._speaks_alike or source is None or source.old is None or target is None or target.old is None:
            return None
        if source.phase is not Phase.ENDED:
            return None
        new = self._prepared.graph.edges[edge.index]
        for before in self._old.steps[source.old].outgoing:
            if before.target != target.old or _asks(self._old.graph.edges[before.index]) != _asks(new):
                continue
            if source.ending not in before.on:
                return None
            if before.index not in self._was.not_taken:
                return True
            was_asked = not self._old.steps[source.old].first_match and not before.otherwise
            is_broken = before.target in self._was.edge_errors or _is_broken(target)
            return False if was_asked and not is_broken else None
        return None

    def passes(self, step: PreparedStep) -> bool | StepError:
        how = self._known.get(step.index)
        if how is None or how.old is None or not self._speaks_alike or not _has_passed(how):
            return super().passes(step)
        is_same = self._old.graph.steps[how.old].guard == self._prepared.graph.steps[step.index].guard
        return True if is_same else super().passes(step)


def _has_passed(how: _Known) -> bool:
    """Return whether a step was decided to run."""
    return how.phase is not Phase.PENDING and how.ending is not Ending.SKIPPED and not _is_broken(how)


def _is_broken(how: _Known) -> bool:
    return how.error is not None and how.error.code == CONDITION_ERROR


def _asks(edge: Edge) -> tuple[str | None, bool]:
    return edge.condition, edge.false_on_error


def _question(prepared: Prepared, index: int) -> tuple[object, ...]:
    return prepared.graph.steps[index].config.get("expression"), *_language(prepared.graph)


def _language(graph: Graph) -> tuple[str, int, Mapping[str, object]]:
    """Return what decides the meaning of an expression beside its text."""
    return graph.scope, graph.language, graph.vars
