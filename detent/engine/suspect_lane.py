"""The lane of suspect runs: a node runs their attempts one at a time, so that a crash identifies the culprit.

`planner/suspects.py` decides which runs are suspect, and after which delay an attempt is due.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from detent.engine.owned_run import OwnedRun
from detent.planner.suspects import is_suspect
from detent.run.plan import StartAttempt


class SuspectLane:
    """The suspect attempts that wait, by tenant, and the one that has its turn. Tenants take turns."""

    def __init__(self, begin: Callable[[OwnedRun, StartAttempt], bool]) -> None:
        """`begin` journals the start of an attempt, then begins it. It returns false if the attempt may not begin."""
        self._begin = begin
        self._waiting: dict[int, deque[tuple[OwnedRun, StartAttempt]]] = {}
        self._current: tuple[OwnedRun, StartAttempt] | None = None

    def __len__(self) -> int:
        """Return the number of attempts that wait or have their turn."""
        return sum(map(len, self._waiting.values())) + (self._current is not None)

    def add(self, run: OwnedRun, start: StartAttempt) -> None:
        """Queue an attempt until it has its turn."""
        run.is_in_lane = True
        self._waiting.setdefault(run.state.facts.tenant, deque()).append((run, start))
        self._go_on()

    def look_at(self, run: OwnedRun) -> None:
        """After a write of the run, end its turn if its attempt is no longer suspect.

        A durable function may continue for days after its first step has ended, and must not block the lane.
        """
        if self._current is not None and self._current[0] is run and not is_suspect(run.state, self._current[1].step):
            self.leave(run, self._current[1])

    def leave(self, run: OwnedRun, start: StartAttempt | None = None) -> None:
        """End the turn of this attempt, which is not in flight any more. Without an attempt: the run was released."""
        if self._current is not None and self._current[0] is run and start in (None, self._current[1]):
            self._current = None
            run.is_in_lane = False
            self._go_on()

    def _go_on(self) -> None:
        while self._current is None and self._waiting:
            tenant = next(iter(self._waiting))
            waiting = self._waiting.pop(tenant)
            self._current = waiting.popleft()
            if waiting:
                self._waiting[tenant] = waiting
            run, start = self._current
            run.is_in_lane = True
            if run.gone or not self._begin(run, start):
                self._current = None
                run.is_in_lane = False
