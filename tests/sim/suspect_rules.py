"""The rules of suspect runs, counted from outside: strikes, delays, one attempt at a time, and turns by tenant."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from detent.engine.tuning import Tuning
from detent.graph.model import OnCrash
from detent.instant import micros
from detent.run.journal import Entry, EntryData, Kind
from detent.run.state import RunState
from tests.sim.effects import Effect
from tests.sim.store import DatabaseClock
from tests.sim.story import Story, Violation

#: Entries that say how an attempt of their step ended.
OVER = (Kind.ENDED, Kind.RETRY, Kind.PAUSED, Kind.CANCELLED)
#: The runs that wait for their turn on a node, with their tenants.
Waiting = Sequence[tuple[int, bytes]]


class SuspectRules:
    """Counts again what the planner counts. `only_stops`: nothing happens in this world but graceful stops."""

    def __init__(self, clock: DatabaseClock, tuning: Tuning, count: Callable[[str], None], *, only_stops: bool) -> None:
        self._clock, self._tuning, self._count, self._only_stops = clock, tuning, count, only_stops
        self.waiting_on: Callable[[bytes], Waiting] = lambda node: ()
        self._flying: dict[bytes, tuple[Effect, Story, str]] = {}  # by node, the last suspect attempt
        self._turns: dict[bytes, list[tuple[int, Waiting]]] = {}

    # -- what the journal says

    def entry(self, story: Story, entry: Entry, data: EntryData) -> None:
        """Look at an entry that is durable now."""
        step = entry.step or ""
        if entry.kind == Kind.STARTED:
            if data.child is None and story.prepared.steps[story.prepared.numbers[step]].on_crash is OnCrash.RETRY:
                story.alone[step] = None
                self._count("suspect attempt started")
        elif entry.kind in OVER and step:
            story.alone.pop(step, None)
            if not data.released:
                story.strikes.pop(step, None)
            else:
                self._count("suspect attempt released")
        elif entry.kind == Kind.MOVED and data.version is None:
            story.alone.clear()
            story.strikes.clear()
        elif entry.kind == Kind.ADOPTED:
            self._adopted(story, entry, data)

    def _adopted(self, story: Story, entry: Entry, data: EntryData) -> None:
        state, before = story.state(), story.state_before()
        must_not_repeat = [i for i in before.begun if story.prepared.steps[i].on_crash is not OnCrash.RETRY]
        if self._only_stops and not must_not_repeat:
            raise Violation("a run was adopted though every node that had it stopped gracefully")
        struck = list(story.alone)
        story.alone.clear()
        for step in struck:
            story.strikes[step] = story.strikes.get(step, 0) + 1
            self._count("suspect was struck")
        blamed = [name for name, error in data.crashed.items() if error.code == "poison"]
        for step in blamed:
            if story.strikes.pop(step, 0) < self._tuning.poison_after or step not in struck:
                raise Violation(f"{step} was blamed before it was in flight at {self._tuning.poison_after} crashes")
        self._compare(story, state)
        self._delay(story, state, struck, entry.at)

    def _compare(self, story: Story, state: RunState) -> None:
        names = [step.name for step in story.prepared.steps]
        counted = {name: strikes for name, strikes in story.strikes.items() if name not in story.closed}
        found = {names[index]: strikes for index, strikes in state.strikes.items()}
        if found != counted:
            raise Violation(f"the strikes are {counted}, and the journal adds up to {found}")
        if any(strikes >= self._tuning.poison_after for strikes in counted.values()):
            raise Violation(f"a step is not blamed after its strikes: {counted}")

    def _delay(self, story: Story, state: RunState, struck: Sequence[str], at: int) -> None:
        """No attempt of a suspect run begins at once, and one that was struck begins later each time. One with strikes
        lets those with fewer go first after every crash."""
        longest = self._tuning.poison_delay
        story.not_before = at + micros(min(longest, 1.0)) if state.stalled >= 2 else 0
        for step, strikes in story.strikes.items():
            delay = min(longest, 4.0**strikes) if step in struck else min(longest, 1.0) * (1 + strikes)
            story.later[step] = max(story.later.get(step, 0), at + micros(delay))

    def parked(self, story: Story) -> None:
        """Its node gave the run up: nothing of it is in flight."""
        story.alone.clear()

    # -- what happens outside

    def begins(self, story: Story, step: str, node: bytes, effect: Effect) -> None:
        """An attempt is about to act on the outside world."""
        if not self._is_suspect(story, step):
            return
        self._count("suspect attempt began")
        due = max(story.not_before, story.later.get(step, 0) if step in story.strikes else 0)
        if self._clock.highest() < due:
            raise Violation(f"{step} is suspect and began {due - self._clock.highest()} microseconds too soon")
        other, whose, other_step = self._flying.get(node, (None, None, ""))
        if other is not None and whose is not None and not other.is_over and self._is_suspect(whose, other_step):
            raise Violation(f"{step} began while the suspect {other_step} was in flight on the same node")
        self._flying[node] = (effect, story, step)
        self._check_turn(story.row.tenant, node)

    def _is_suspect(self, story: Story, step: str) -> bool:
        return step not in story.closed and (story.state().stalled >= 2 or step in story.strikes)

    def _check_turn(self, tenant: int, node: bytes) -> None:
        """A tenant whose attempt waits is served at the latest after two of another one: it may have come to wait
        while the first of them was being put on record."""
        waiting, turns = self.waiting_on(node), self._turns.setdefault(node, [])
        if len(turns) > 1 and all(before == tenant for before, _ in turns[-2:]):
            passed_over = [one for one in waiting if one[0] != tenant and all(one in seen for _, seen in turns[-2:])]
            if passed_over:
                raise Violation(f"tenant {tenant} has its third turn while {passed_over} wait")
        if {other for other, _ in waiting} - {tenant}:
            self._count("suspects of two tenants waited")
        turns.append((tenant, waiting))
