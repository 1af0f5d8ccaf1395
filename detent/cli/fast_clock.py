"""A clock that jumps: `detent run --fast` runs thirteen days of sleep in a moment.

The time of the loop and the clock of the engine are those of the machine plus one offset. So a jump looks like time
that has passed. The clock jumps when a run only waits, to the moment that the run waits for. A wait for a callback
without `--answer` first gets a few real seconds, because a service may be about to call.
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
    """Return the tuning of the one node. Its lease never ends, and a jump never interrupts an attempt in flight.

    Runs stay in memory. With `suspends`, a durable function is parked as soon as it has nothing in flight, which shows
    that it only waits."""
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
        """Move the clock forward to an instant. An instant in the past changes nothing."""
        self._loop.offset += max(0.0, (instant - self.wall()) / SECOND + 0.001)


class Jumper:
    """Reads each document of a run and moves the clock when the run only waits."""

    def __init__(self, clock: JumpingClock, answered: Collection[str], say: Callable[[str], None]) -> None:
        self._clock, self._answered, self._say = clock, answered, say
        self._patient_until: dict[str, float] = {}
        self._real = SystemClock()

    def look(self, document: Document, children: Sequence[Document] = ()) -> None:
        """Jump to the next moment that the run waits for, unless an attempt is in flight or a callback may arrive."""
        every = (document, *children)
        if any(_is_in_flight(step) for one in every for step in one["tasks"].values()):
            return
        times = [moment for one in every for moment in _moments(one)]
        if times:
            at, name, status = min(times)
            if status != "waiting" or self._is_given_up(name):
                self._clock.jump_to(at)

    def _is_given_up(self, name: str) -> bool:
        """Return whether a wait without an answer has had its real seconds."""
        if asked_name(name) in self._answered:
            return False
        if name not in self._patient_until:
            self._patient_until[name] = self._real.monotonic() + GRACE
            self._say(f"{name}: no --answer was given; after {GRACE:g} s without a callback the clock jumps")
        return self._real.monotonic() >= self._patient_until[name]


def _is_in_flight(step: Document) -> bool:
    """Return whether an attempt of the step runs here. A step with a child goes on as that run."""
    return step["status"] == "running" and step.get("child_run_id") is None


def asked_name(step: str) -> str:
    """Return the name under which a wait is answered: that of its step, or the one in the code of a durable
    function."""
    return name_of(step) if step.startswith("@") else step


def _moments(document: Document) -> list[tuple[int, str, str]]:
    """Return when the run goes on by itself, as (instant, step, status). No instant is after the expiry of the run."""
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
