"""A clock that jumps: `detent run --fast` runs thirteen days of sleep in a moment.

The loop's time and the engine's clock are the machine's plus one offset, so nothing inside can tell a jump from time
that passed. The clock jumps when a run does nothing but wait, straight to the moment it waits for. A wait for a
callback that nobody will answer is given a few real seconds first, since a service may be about to call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any, Final

from detent.clock import SystemClock
from detent.engine.tuning import Tuning
from detent.instant import SECOND

GRACE: Final = 3.0
_YEARS: Final = 100 * 366 * 86400.0

#: Runs stay in memory, the one node's lease never ends, and an attempt in flight is never cut off by a jump.
FAST_TUNING: Final = Tuning(lease=_YEARS, beat=_YEARS / 4, margin=1.0, park_after=_YEARS)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose time can be moved forward."""

    offset = 0.0

    def time(self) -> float:
        return super().time() + self.offset


class JumpingClock:
    """The engine's clock on a loop that jumps."""

    def __init__(self, loop: JumpingLoop) -> None:
        self._loop, self._system = loop, SystemClock()

    def wall(self) -> int:
        return self._system.wall() + int(self._loop.offset * SECOND)

    def monotonic(self) -> float:
        return self._loop.time()

    def jump_to(self, instant: int) -> None:
        """Make it that time, if it is not later already."""
        self._loop.offset += max(0.0, (instant - self.wall()) / SECOND + 0.001)


class Jumper:
    """Looks at each document of a run and jumps when there is nothing else to do."""

    def __init__(self, clock: JumpingClock, answered: Collection[str], say: Callable[[str], None]) -> None:
        self._clock, self._answered, self._say = clock, answered, say
        self._patient_until: dict[str, float] = {}
        self._real = SystemClock()

    def look(self, document: dict[str, Any]) -> None:
        """Jump to the next thing the run waits for, unless something is being done or a callback may come."""
        steps = document["tasks"]
        if any(step["status"] == "running" for step in steps.values()):
            return
        times = [
            (_instant(when), name, step["status"])
            for name, step in steps.items()
            if (when := step.get("until") or step.get("next_at"))
        ]
        expires = _instant(document["expires_at"]) if document["expires_at"] else None
        if expires is not None:
            times += [(expires, name, "waiting") for name in _waiting(steps)]
        if times:
            at, name, status = min(times)
            if status != "waiting" or self._is_given_up(name):
                self._clock.jump_to(at if expires is None else min(at, expires))

    def _is_given_up(self, name: str) -> bool:
        """Whether nobody will answer that wait step any more."""
        if name in self._answered:
            return False
        if name not in self._patient_until:
            self._patient_until[name] = self._real.monotonic() + GRACE
            self._say(f"{name}: no --answer was given; after {GRACE:g} s without a callback the clock jumps")
        return self._real.monotonic() >= self._patient_until[name]


def _waiting(steps: dict[str, Any]) -> list[str]:
    return [name for name, step in steps.items() if step["status"] == "waiting"]


def _instant(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * SECOND)
