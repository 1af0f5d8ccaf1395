"""The rules of runs that are done again: they keep exactly what they may, and never do it twice."""

from __future__ import annotations

from collections.abc import Callable

from detent.graph.model import Ending, StepKind
from detent.run.journal import Entry, EntryData, Kind, decode_data
from detent.run.outcomes import EMPTY_RESULT
from tests.sim.effects import Ledger
from tests.sim.story import Story, Violation

FINE = (Ending.SUCCESS, Ending.SKIPPED)
EDITED = b'"edited"'


class AgainRules:
    """Looks at the first entries of a retry or a fork."""

    def __init__(self, stories: dict[bytes, Story], ledger: Ledger, count: Callable[[str], None]) -> None:
        self._stories, self._ledger, self._count = stories, ledger, count

    def check_reused(self, story: Story, entry: Entry, data: EntryData) -> None:
        """What is taken over is what the other run had, or what somebody put in its place."""
        origin = self._stories[story.row.origin or b""]
        index = story.prepared.numbers[entry.step or ""]
        if entry.outcome == Ending.SKIPPED:
            if origin.closed.get(entry.step or "") != Ending.SKIPPED:
                raise Violation(f"{entry.step} is left out, and was not in the run before")
            self._count("step left out as in another run")
            return
        there = origin.prepared.numbers.get(entry.step or "", -1)
        had, given = origin.state().results.get(there, b""), bytes(data.result)
        # A sleep that somebody says was slept has nothing to say itself.
        edited = EDITED in given or (story.prepared.steps[index].kind is StepKind.SLEEP and given == EMPTY_RESULT)
        if given != had and not (story.row.origin_kind == "fork" and edited):
            raise Violation(f"{entry.step} was taken over with a result that it did not have")

    def check_opened(self, story: Story) -> None:
        """A retry takes over every success that rests on nothing but success, and no other step."""
        entries = [entry for entry in story.entries if entry.kind == Kind.REUSED]
        reused = [entry for entry in entries if decode_data(entry.data).map is None]
        taken = {entry.step for entry in reused if entry.outcome != Ending.SKIPPED}
        known = set(story.prepared.numbers)
        if story.row.origin_kind == "retry" and taken != self._sound(self._stories[story.row.origin or b""]) & known:
            raise Violation(f"a retry took over {sorted(map(str, taken))}")
        for step in taken:
            if self._ledger.of(story.row.id, step or ""):
                raise Violation(f"{step} was taken over and done again")
            self._count("result taken over from another run")

    def _sound(self, origin: Story) -> set[str | None]:
        """Found the slow way: whatever a step rests on, one by one."""
        state, steps = origin.state(), origin.prepared.steps
        ending = {step.name: state.ending[step.index] for step in steps}
        found: set[str | None] = set()
        for step in steps:
            below, unseen = set(), [step.name]
            while unseen:
                name = unseen.pop()
                below.add(name)
                unseen += [e.source for e in origin.prepared.graph.edges if e.target == name and e.source not in below]
            if ending[step.name] is Ending.SUCCESS and all(ending[name] in FINE for name in below):
                found.add(step.name)
        return found
