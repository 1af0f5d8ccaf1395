"""A world around one durable function: things come in, time passes, it is told to stop, and its process dies."""

from __future__ import annotations

import json
import random
from typing import Any

from detent.graph.model import Ending
from detent.run.call import name_of, signal_key
from detent.run.outcomes import EMPTY_RESULT, Outcome, StepError, Suspend
from detent.run.start import StartRequest
from detent.run.state import Checkpoint, Operation
from tests.python.function.ports import Port, Record, Stage
from tests.python.function.programs import make_program, played

MOST_ATTEMPTS = 2_000


class LivelyPort(Port):
    """Whenever the function rests, something from outside may come in before the next moment does."""

    def __init__(self, record: Record, rng: random.Random, crash_after: int | None) -> None:
        super().__init__(record, delay=lambda: rng.choice((1, 1, 2, 9)), crash_after=crash_after)
        self._rng = rng
        self._stops_at = rng.choice((None, None, rng.randint(0, 8)))
        self.longest = rng.choice((0, 3_000_000, 10_000_000))

    async def start_child(self, key: str, child: StartRequest) -> str:
        if key not in self.record.operations:
            self.begin(Operation(key, None, f"child-{key}", 0, None, self.now()))
        self.record.children.setdefault(key, child)
        return f"child-{key}"

    def let_time_pass(self) -> bool:
        if self._stops_at is not None:
            self._stops_at -= 1
            if self._stops_at < 0:
                self.stops, self._stops_at = True, None
                assert self._listener is not None
                self._listener.look()
                return True
        came = from_outside(self.record, self._rng) if self._rng.random() < 0.4 else None
        if came is None:
            return super().let_time_pass()
        self.come_in(came)
        return True


def from_outside(record: Record, rng: random.Random) -> Checkpoint | None:
    """Something that may come in now: an answer, the end of a child, or a signal."""
    ended = set(record.route())
    open_ = [key for key in sorted({*record.places, *record.children}) if key not in ended and "never" not in key]
    signals = [key for key in record.operations if key.startswith("@ask:")]
    if signals and rng.random() < 0.7:
        return _signal(record, name_of(rng.choice(signals)))
    if open_:
        key = rng.choice(open_)
        if key in record.operations or key in record.places:
            return _answer(key, rng)
    return _signal(record, rng.choice("ab")) if rng.random() < 0.2 else None


def _answer(key: str, rng: random.Random) -> Checkpoint:
    value = rng.randint(0, 9)
    if key.startswith("@wait:"):
        return _success(key, {"body": value})
    if value < 2:
        return Checkpoint(key, Ending.FAILED, EMPTY_RESULT, StepError("child", "it failed"), 0)
    return _success(key, {"output": value})


def _signal(record: Record, name: str) -> Checkpoint:
    number = record.signals[name] = record.signals.get(name, 0) + 1
    return _success(signal_key(name, number), {"output": number})


def _success(key: str, value: Any) -> Checkpoint:
    return Checkpoint(key, Ending.SUCCESS, json.dumps(value).encode(), None, 0)


class Life:
    """One run of a random program, from its start to its end."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.program = make_program(self.rng)
        self.stage = Stage(played, program=self.program)

    async def live(self) -> Outcome:
        """Attempt after attempt, each on what the one before left on record. What it ends with."""
        record, rng = self.stage.record, self.rng
        for _ in range(MOST_ATTEMPTS):
            crash_after = record.writes + rng.randint(0, 12) if rng.random() < 0.5 else None
            outcome = await self.stage.attempt(LivelyPort(record, rng, crash_after))
            if outcome is not None and not isinstance(outcome, Suspend):
                return outcome
            came = from_outside(record, rng)
            if came is not None and rng.random() < 0.5:
                record.add(came)
            elif isinstance(outcome, Suspend) and outcome.until is not None:
                record.now = max(record.now, outcome.until)
        raise AssertionError("it never ends")
