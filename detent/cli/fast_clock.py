"""A clock that jumps: `detent run --fast` runs thirteen days of sleep in a moment.

The loop's time and the engine's clock are the machine's plus one offset, so nothing inside can tell a jump from time
that passed. The clock jumps when a run does nothing but wait, straight to the moment it waits for. A wait for a
callback that nobody will answer is given a few real seconds first, since a service may be about to call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any, Final

from detent.clock import SystemClock
from detent.engine.tuning import Tuning
from detent.instant import SECOND
from detent.run.call import name_of

Document = dict[str, Any]

GRACE: Final = 3.0
_YEARS: Final = 100 * 366 * 86400.0
_AT_ONCE: Final = 1e-6


def fast_tuning(*, suspends: bool) -> Tuning:
    """The one node's lease never ends, and an attempt in flight is never cut off by a jump. Runs stay in memory; but a
    durable function leaves it as soon as it has nothing in flight, which is how one can tell that it only waits."""
    return Tuning(lease=_YEARS, beat=_YEARS / 4, margin=1.0, park_after=_AT_ONCE if suspends else _YEARS)


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

    def look(self, document: Document, children: Sequence[Document] = ()) -> None:
        """Jump to the next thing the run waits for, unless something is being done or a callback may come."""
        every = (document, *children)
        if any(step["status"] == "running" for one in every for step in one["tasks"].values()):
            return
        times = [moment for one in every for moment in _moments(one)]
        if times:
            at, name, status = min(times)
            if status != "waiting" or self._is_given_up(name):
                self._clock.jump_to(at)

    def _is_given_up(self, name: str) -> bool:
        """Whether nobody will answer that wait step any more."""
        if asked_name(name) in self._answered:
            return False
        if name not in self._patient_until:
            self._patient_until[name] = self._real.monotonic() + GRACE
            self._say(f"{name}: no --answer was given; after {GRACE:g} s without a callback the clock jumps")
        return self._real.monotonic() >= self._patient_until[name]


def asked_name(step: str) -> str:
    """What a step waits for is called like it; what a durable function waits for, as its code says."""
    return name_of(step) if step.startswith("@") else step


def _moments(document: Document) -> list[tuple[int, str, str]]:
    """When something will happen to a run by itself, none of it after its end: instant, step, status."""
    steps = document["tasks"]
    times = [
        (_instant(when), name, step["status"])
        for name, step in steps.items()
        if (when := step.get("until") or step.get("next_at"))
    ]
    if document["expires_at"] is None:
        return times
    expires = _instant(document["expires_at"])
    waiting = [(expires, name, "waiting") for name, step in steps.items() if step["status"] == "waiting"]
    return [(min(at, expires), name, status) for at, name, status in times] + waiting


def _instant(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * SECOND)
