"""The rules of steps that are child runs: one child for each attempt, each end counted once, none left running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from detent.graph.model import Ending, StepKind
from detent.ids import RUN, parse, show
from detent.run.journal import Entry, EntryData, Kind, family_in
from detent.run.status import TERMINAL, Status
from detent.store.memory.store import MemoryStore
from detent.store.rows import CONTINUED, Flush, MessageKind, NewRun
from tests.sim.story import Story, Violation

#: The step of a run.
Place = tuple[bytes, str]
#: Entries that say how an attempt of their step ended.
_OVER: Final = (Kind.ENDED, Kind.RETRY, Kind.PAUSED)
#: What a child reads of who has cancelled it, if that was its parent.
BY_PARENT: Final = ", which started it and"


@dataclass(frozen=True, slots=True)
class Known:
    """A child run that the journal of its parent names."""

    place: Place
    detached: bool


class ChildRules:
    """Looks at every entry of such a step, and at every flush."""

    def __init__(self, model: MemoryStore, stories: dict[bytes, Story], count: Callable[[str], None]) -> None:
        self._model, self._stories, self._count = model, stories, count
        self.known: dict[bytes, Known] = {}
        self.current: dict[Place, bytes] = {}  # the child that a step waits for
        self.left: dict[bytes, None] = {}  # children that no step waits for any more, and that had not ended
        self._counted: set[bytes] = set()
        self._attempts: Counter[Place] = Counter()
        self._existed: frozenset[bytes] = frozenset()
        self.on_page: Callable[[NewRun], None] = lambda start: None  # a page of a map is started

    # -- the journal

    def entry(self, story: Story, entry: Entry, data: EntryData) -> bool:
        """Look at an entry that is durable now. Return whether it is about a step that is a child run."""
        self._check_cancel(story, entry, data)
        numbers = story.prepared.numbers
        step = story.prepared.steps[numbers[entry.step]] if entry.step in numbers else None
        if entry.step is None or step is None or step.kind is not StepKind.SUBWORKFLOW or step.items is not None:
            return False
        place = (story.row.id, entry.step)
        if entry.kind == Kind.STARTED:
            self._started(story, place, entry, data)
        elif entry.kind in _OVER and not data.released:
            self._ended(story, place, entry, data)
        return True

    def _check_cancel(self, story: Story, entry: Entry, data: EntryData) -> None:
        family = family_in(story.row.opening)
        if entry.kind != Kind.CANCELLED or BY_PARENT not in (data.by or ""):
            return
        self._count("child cancelled with its parent")
        if family is not None and family.detached:
            raise Violation("a detached child was cancelled with its parent")

    def _started(self, story: Story, place: Place, entry: Entry, data: EntryData) -> None:
        if data.child is None:
            raise Violation(f"{entry.step} was started without a child")
        child, before = parse(RUN, data.child), self.current.get(place)
        if child in self.known:
            raise Violation(f"{data.child} is the child of two attempts")
        if data.message is not None:
            row = self._model.table.get(child)
            if before is None or row is None or (row.new.origin, row.new.origin_kind) != (before, CONTINUED):
                raise Violation(f"{data.child} does not continue the child of {entry.step}")
            self._counted.add(before)
            self._count("child continued as another run")
        elif before is not None:
            raise Violation(f"attempt {entry.attempt} of {entry.step} has a second child")
        elif entry.attempt != self._attempts[place] + 1:
            raise Violation(f"{entry.step} has attempt {entry.attempt} after {self._attempts[place]}")
        detached = story.prepared.steps[story.prepared.numbers[place[1]]].is_detached
        self.known[child], self.current[place] = Known(place, detached), child

    def _ended(self, story: Story, place: Place, entry: Entry, data: EntryData) -> None:
        self._attempts[place] += entry.attempt > 0
        policy = story.prepared.graph.steps[story.prepared.numbers[place[1]]].retry
        if entry.kind == Kind.RETRY and data.by is None:
            self._count("child started again")
            if entry.attempt >= policy.attempts:
                raise Violation(f"{entry.step} is tried again after {entry.attempt} of {policy.attempts} attempts")
        child = self.current.pop(place, None)
        if data.message is not None:
            self._child_ended(place, child, entry, data)
            return
        if data.error is not None and data.error.code == "timeout":
            self._count("child did not end in time")
        if child is not None:
            self._leave(child)
        if entry.outcome == Ending.SUCCESS:
            self._detached(place, child)

    def _child_ended(self, place: Place, child: bytes | None, entry: Entry, data: EntryData) -> None:
        if child is None or child in self._counted:
            raise Violation(f"{place[1]} counts the end of a child that it does not wait for")
        self._counted.add(child)
        row = self._model.table[child]
        if row.status not in TERMINAL or (row.status == Status.COMPLETED) is not (entry.outcome == Ending.SUCCESS):
            raise Violation(f"{place[1]} ended {entry.outcome} and its child is {row.status}")
        output = msgspec.json.decode(row.output or b"null")
        if bytes(data.result) and msgspec.json.decode(data.result) != {"output": output, "run_id": show(RUN, child)}:
            raise Violation(f"{place[1]} has {bytes(data.result)!r}, and its child gave {row.output!r}")
        self._count(f"child {row.status}")

    def _detached(self, place: Place, child: bytes | None) -> None:
        if child is None or not self.known[child].detached:
            raise Violation(f"{place[1]} ended without its child")
        if child not in self._model.table:
            raise Violation(f"{place[1]} ended before its detached child was there")
        self._count("detached child started")

    def _leave(self, child: bytes) -> None:
        if not self.known[child].detached:
            self.left[child] = None

    # -- flushes

    def before(self, flush: Flush) -> None:
        self._existed = frozenset(start.id for start in flush.starts if start.id in self._model.table)

    def after(self, flush: Flush, *, is_written: bool, is_again: bool) -> None:
        for place in [place for place in self.current if place[1] in self._stories[place[0]].closed]:
            self._leave(self.current.pop(place))  # it ended with its run, or was given up
        if not is_written:
            return
        for start in flush.starts:
            if start.parent is not None and start.id in self._model.table:
                self._check_start(start, is_again=is_again)
        for message in flush.messages:
            story = self._stories.get(message.source)
            family = None if story is None else family_in(story.row.opening)
            if message.kind == MessageKind.CHILD and family is not None and family.detached:
                raise Violation("a detached child sent mail to its parent")
        for child in self.left:
            row = self._model.table.get(child)
            if row is not None and row.is_open() and not self._is_cancelled(child):
                raise Violation(f"{show(RUN, child)} runs on, and no step waits for it")

    def _check_start(self, start: NewRun, *, is_again: bool) -> None:
        if start.id in self._existed:
            if not is_again:
                raise Violation(f"the child {show(RUN, start.id)} was started twice")
            return
        self._count("child started")
        family = family_in(start.opening)
        if family is not None and family.page is not None:
            self.on_page(start)
            return
        known = self.known.get(self._first(start))
        if known is None or family is None:
            raise Violation("a child was started that is not in the journal of its parent")
        if known.place != (start.parent, family.step) or known.detached is not family.detached:
            raise Violation(f"a child of {known} was started as {family}")
        if start.origin_kind == CONTINUED:
            self.known.setdefault(start.id, known) if known.detached else None

    def _first(self, start: NewRun) -> bytes:
        """The first run of a chain of runs that continue each other."""
        while start.origin_kind == CONTINUED and start.origin is not None:
            start = self._model.table[start.origin].new
        return start.id

    def _is_cancelled(self, child: bytes) -> bool:
        mails = self._model.inbox.values()
        return any(mail.run == child and mail.kind == MessageKind.CANCEL for mail in mails)

    # -- the end

    def is_awaited(self, run: bytes) -> bool:
        """Whether a step of the run waits for a child that has not ended."""
        return any(place[0] == run and self._is_open(child) for place, child in self.current.items())

    def _is_open(self, child: bytes) -> bool:
        row = self._model.table.get(child)
        return row is not None and row.is_open()

    def outlived(self) -> list[bytes]:
        """The runs that go on although no step waits for them, or for the run that they continue."""
        return [
            run
            for run, row in self._model.table.items()
            if row.is_open() and row.new.parent is not None and self._first(row.new) in self.left
        ]
