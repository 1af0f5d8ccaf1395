"""Conversations that go on until a run has ended."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from detent.client.calls import Conversation, Pause, Terms
from detent.client.documents import Json, RunDocument
from detent.client.errors import RunFailed, StillRunning
from detent.client.runs import poll
from detent.client.spelling import Seconds, seconds

LONGEST_POLL: Final = 20.0
#: A server that does not keep its answer back is asked this often.
_SHORTEST_ROUND: Final = 0.25


@dataclass(frozen=True, slots=True)
class Waiting:
    """The run once it has ended; StillRunning when the time is over."""

    run: str
    timeout: float

    def talk(self, terms: Terms) -> Conversation[RunDocument]:
        until = terms.now() + self.timeout
        while True:
            begun = terms.now()
            found = yield from poll(self.run, max(0.0, min(LONGEST_POLL, until - begun))).talk(terms)
            if found.is_over:
                return found
            if terms.now() >= until:
                raise StillRunning(found)
            early = min(_SHORTEST_ROUND - (terms.now() - begun), until - terms.now())
            if early > 0:
                yield Pause(early)


@dataclass(frozen=True, slots=True)
class Resulting:
    """The output of the run once it has completed; RunFailed if it ended in another way. One that went on as a new run
    gives what the last of them gives."""

    waiting: Waiting

    def talk(self, terms: Terms) -> Conversation[Json]:
        until, waiting = terms.now() + self.waiting.timeout, self.waiting
        while True:
            run = yield from waiting.talk(terms)
            if run.status != "completed":
                raise RunFailed(run)
            match run.output:
                case {"continued_as": str(follower), **others} if not others and follower.startswith("run_"):
                    waiting = Waiting(follower, max(0.0, until - terms.now()))
                case output:
                    return output


def wait(run: str, timeout: Seconds | None = None) -> Waiting:
    """The run once it has ended, however it ended. StillRunning if that takes longer than `timeout` seconds."""
    return Waiting(run, math.inf if timeout is None else seconds(timeout))


def result(run: str, timeout: Seconds | None = None) -> Resulting:
    """The output of the run once it has completed. RunFailed if it ended in another way; StillRunning if that takes
    longer than `timeout` seconds."""
    return Resulting(wait(run, timeout))
