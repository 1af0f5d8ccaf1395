"""Rehearsal: what a run would have done in another graph, with the answers that it recorded.

The planner runs the new graph. Each attempt ends as the step of the same name ended in the recorded run. Nothing is
executed and nothing is written. A new step has no recorded result, so what follows from it stays open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from detent.expressions import ExpressionError, masked
from detent.graph.model import FAILURES, Ending
from detent.instant import iso
from detent.planner.advance import advance, open_run
from detent.planner.prepared import Prepared, PreparedEdge, PreparedStep
from detent.planner.scope import build_scope, in_context
from detent.run import events
from detent.run.journal import Entry, Kind
from detent.run.outcomes import EMPTY_RESULT, Done, Fail, Outcome, StepError
from detent.run.state import Phase, RunState

#: At most so many differences of parameters are reported of one run.
MOST_DIFFS: Final = 20
_LONGEST: Final = 200
_IDLE: Final = (Phase.PENDING, Phase.READY, Phase.ENDED)


class Detour(NamedTuple):
    """A step that would end otherwise, and the edge that leads there or not (None: no edge decides it)."""

    step: str
    was: str
    now: str
    edge: str | None


class Failure(NamedTuple):
    """A step that would fail, and why."""

    step: str
    message: str


class ParameterDiff(NamedTuple):
    """A rendered parameter that would differ, as JSON; None if one side does not have it."""

    step: str
    field: str
    old: str | None
    new: str | None


@dataclass(slots=True)
class Rehearsal:
    """What would differ. A run without detours and failures takes the same path."""

    detours: list[Detour] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    new_steps: list[str] = field(default_factory=list)
    diffs: list[ParameterDiff] = field(default_factory=list)

    def shape(self) -> tuple[object, ...]:
        """Return what makes two rehearsals alike: everything but the values of parameters."""
        where = tuple((diff.step, diff.field) for diff in self.diffs)
        return tuple(self.detours), tuple(self.failures), tuple(self.new_steps), where


def rehearse(
    old: Prepared, was: RunState, new: Prepared, names: Mapping[str, str], entries: Iterable[Entry]
) -> Rehearsal:
    """Return what the run would have done in the new graph. `was` is its recorded state in the old one.

    Its steps end in the order in which they ended in `entries`, the journal of the run: a failure that no edge takes
    skips the steps that ended after it, and not those before.
    """
    ended = {entry.step: entry.seq for entry in entries if entry.kind == Kind.ENDED and entry.step is not None}
    return _Rehearsing(old, was, new, names, ended).run()


class _Rehearsing:
    def __init__(
        self, old: Prepared, was: RunState, new: Prepared, names: Mapping[str, str], ended: Mapping[str, int]
    ) -> None:
        self._old, self._was, self._new = old, was, new
        self._now = was.facts.started_at
        self._at = iso(self._now)
        self._same = {}
        for step in old.steps:
            index = new.numbers.get(names.get(step.name, step.name))
            if index is not None:
                self._same[index] = step.index
        never = len(ended) and max(ended.values()) + 1
        # When each step ended. One that never did waits until the others have ended.
        self._ended_at = [never] * len(new.steps)
        for index, before in self._same.items():
            self._ended_at[index] = ended.get(old.steps[before].name, never)
        self._state = new.new_state(was.facts)
        self._state.parallel = None  # the recorded order decides which attempts were in flight at once
        self._left: set[int] = set()  # steps without a recorded end
        self._edges: dict[int, list[tuple[PreparedStep, PreparedEdge]]] | None = None
        self._found = Rehearsal()

    def run(self) -> Rehearsal:
        state = self._state
        open_run(self._new, state, now=self._now)
        for event in self._events():
            advance(self._new, state, event=event, now=self._now)
            if state.is_over:
                break
        self._compare()
        return self._found

    def _events(self) -> Iterator[events.Event]:
        """Yield the recorded end of each step that is active, until there is none. The caller applies each at once.

        The steps are passed in recorded order, again and again: after most events the next active step lies ahead.
        """
        is_done, places = False, sorted(self._new.order, key=self._ended_at.__getitem__)
        while not is_done:
            is_done = True
            for index in places:
                yield from self._delays()
                while (phase := self._state.phase[index]) not in _IDLE and index not in self._left:
                    event = self._event(index, phase)
                    if event is None:
                        self._left.add(index)
                        break
                    is_done = False
                    yield event
                    yield from self._delays()

    def _delays(self) -> Iterator[events.Event]:
        """Yield the ends of delays whose steps ran: a delay was over before a failure that would have skipped it."""
        timers = self._state.timers
        while timers:
            index = timers.pop()[1]
            before = self._same.get(index)
            has_run = before is not None and self._was.ending[before] not in (None, Ending.SKIPPED)
            if has_run and self._state.phase[index] is Phase.RETRYING and index not in self._state.looks:
                yield events.Woke(index)

    def _event(self, index: int, phase: Phase) -> events.Event | None:
        """Return the recorded end of an active step, or None if there is none."""
        if index in self._state.looks:
            message = "its recorded result is not what it repeats for, so it would look again"
            self._found.failures.append(Failure(self._new.steps[index].name, message))
            return None
        if phase in (Phase.SLEEPING, Phase.RETRYING):
            return events.Woke(index)
        before = self._same.get(index)
        ending = None if before is None else self._was.ending[before]
        if phase is Phase.RUNNING:
            failure = self._render(index, before)
            if failure is not None:
                return self._ended(index, Fail(failure, retry=False))
        if before is None or ending is None or (ending is Ending.SKIPPED and before not in self._was.left_out):
            if before is None:
                self._found.new_steps.append(self._new.steps[index].name)
            return None
        if ending is Ending.SKIPPED:
            return events.Skipped(index, "rehearsal")
        result = self._was.results.get(before, EMPTY_RESULT)
        if phase is Phase.WAITING:
            return events.Received(index, result) if ending is Ending.SUCCESS else events.WaitExpired(index)
        if ending is Ending.SUCCESS:
            return self._ended(index, Done(result))
        error = self._was.errors.get(before) or StepError("failed", "it failed")
        timed_out = ending is Ending.TIMEOUT
        return self._ended(index, Fail(error, retry=False, timed_out=timed_out, result=result))

    def _ended(self, index: int, outcome: Outcome) -> events.Event:
        return events.AttemptEnded(index, self._state.attempt_number(index), outcome, 0.0)

    def _render(self, index: int, before: int | None) -> StepError | None:
        """Compare the parameters of an attempt with those of the recorded run. Return the error of a template."""
        place = self._new.steps[index].name if before is None else self._old.steps[before].name
        try:
            new = self._parameters(self._new, self._state, index, place)
        except ExpressionError as error:
            return StepError("template_error", error.message)
        if before is None or self._was.ending[before] is None:
            return None
        try:
            old = self._parameters(self._old, self._was, before, place)
        except ExpressionError:
            return None
        room = MOST_DIFFS - len(self._found.diffs)
        for path, one, other in list(_differences(old, new, ""))[:room]:
            self._found.diffs.append(ParameterDiff(self._new.steps[index].name, path, one, other))
        return None

    def _parameters(self, prepared: Prepared, state: RunState, index: int, place: str) -> Any:
        """Return what an attempt sends, or of a map its list: what its items send depends on the item."""
        items = prepared.steps[index].items
        config = prepared.steps[index].config if items is None else items
        rendered = config.source
        if not config.is_constant:
            scope = in_context(build_scope(prepared, state), state, self._now, place)
            rendered = masked(config.render({**scope, "attempt": {"number": 1, "at": self._at}}))
        return rendered if items is None else {"for_each": rendered}

    def _compare(self) -> None:
        for index in self._new.order:
            step, ending = self._new.steps[index], self._state.ending[index]
            before = self._same.get(index)
            was = None if before is None else self._was.ending[before]
            if ending is None or before is None:
                if ending in FAILURES:
                    self._failed(index)
                continue
            if ending in FAILURES and was not in FAILURES:
                self._failed(index)
            elif was is not None and (ending is Ending.SKIPPED) is not (was is Ending.SKIPPED):
                self._found.detours.append(Detour(step.name, str(was), str(ending), self._edge(index)))

    def _failed(self, index: int) -> None:
        error = self._state.errors.get(index)
        self._found.failures.append(Failure(self._new.steps[index].name, "" if error is None else error.message))

    def _edge(self, index: int) -> str | None:
        """Return the first incoming edge that is not taken, for a step that is skipped, or that is taken otherwise."""
        is_skipped = self._state.ending[index] is Ending.SKIPPED
        for step, edge in self._incoming().get(index, ()):
            is_taken = self._state.ending[step.index] in edge.on and edge.index not in self._state.not_taken
            if is_taken is not is_skipped:
                return f"{step.name} -> {self._new.steps[index].name}"
        return None

    def _incoming(self) -> dict[int, list[tuple[PreparedStep, PreparedEdge]]]:
        """Return the edges into each step, built when they are asked for first."""
        if self._edges is None:
            self._edges = {}
            for step in self._new.steps:
                for edge in step.outgoing:
                    self._edges.setdefault(edge.target, []).append((step, edge))
        return self._edges


def _differences(old: Any, new: Any, path: str) -> Iterator[tuple[str, str | None, str | None]]:
    if type(old) is type(new) and isinstance(old, str | int | float) and old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            place = f"{path}.{key}" if path else str(key)
            if key in old and key in new:
                yield from _differences(old[key], new[key], place)
            else:
                yield place, _text(old[key]) if key in old else None, _text(new[key]) if key in new else None
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, f"{path}[{number}]")
    elif _text(old) != _text(new):
        yield path, _text(old), _text(new)


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
