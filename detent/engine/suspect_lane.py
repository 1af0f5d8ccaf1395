"""The lane of suspect runs: this node makes their attempts one at a time, so that a crash names one of them.

Which runs are suspect, and after which delay an attempt is due, is decided by `planner/suspects.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from detent.engine.owned_run import OwnedRun
from detent.planner.suspects import is_suspect
from detent.run.plan import StartAttempt


class SuspectLane:
    """Attempts that wait for their turn, by tenant, and the run that has it. One tenant is served after the other."""

    def __init__(self, begin: Callable[[OwnedRun, StartAttempt], bool]) -> None:
        """`begin` puts the start of an attempt on record and then begins it; false if that is not wanted any more."""
        self._begin = begin
        self._waiting: dict[int, deque[tuple[OwnedRun, StartAttempt]]] = {}
        self._current: tuple[OwnedRun, StartAttempt] | None = None

    def __len__(self) -> int:
        """Attempts that wait, and the one that has its turn."""
        return sum(map(len, self._waiting.values())) + (self._current is not None)

    def add(self, held: OwnedRun, start: StartAttempt) -> None:
        """Let an attempt wait for its turn."""
        held.is_in_lane = True
        self._waiting.setdefault(held.state.facts.tenant, deque()).append((held, start))
        self._go_on()

    def look_at(self, held: OwnedRun) -> None:
        """Something of the run is durable: if the attempt that has its turn is not suspect any more, the next one gets
        it. A durable function may go on for days after its first step has ended."""
        if self._current is not None and self._current[0] is held and not is_suspect(held.state, self._current[1].step):
            self.leave(held, self._current[1])

    def leave(self, held: OwnedRun, start: StartAttempt | None = None) -> None:
        """This attempt of the run is not in flight any more. Without one: the run has left this node."""
        if self._current is not None and self._current[0] is held and start in (None, self._current[1]):
            self._current = None
            held.is_in_lane = False
            self._go_on()

    def _go_on(self) -> None:
        while self._current is None and self._waiting:
            tenant = next(iter(self._waiting))
            waiting = self._waiting.pop(tenant)
            self._current = waiting.popleft()
            if waiting:
                self._waiting[tenant] = waiting
            held, start = self._current
            held.is_in_lane = True
            if held.gone or not self._begin(held, start):
                self._current = None
                held.is_in_lane = False
