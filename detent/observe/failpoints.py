"""Failpoints: named places where a test can kill this process.

`DETENT_FAILPOINT=after_effect:7` sends SIGKILL to this process the seventh time that place is reached. Several are
separated by commas. Without the variable, reaching a place does nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Final, Literal, Never, get_args

VARIABLE: Final = "DETENT_FAILPOINT"

#: Every failpoint, and what is durable there.
Failpoint = Literal[
    "after_start",  # the run is durable, its sender has no answer
    "after_claim",  # the claim is durable, nothing was read yet
    "inside_recovery",  # a dead node's runs are in memory, their `adopted` entries are not written
    "before_effect",  # everything the attempt depends on is durable
    "after_effect",  # the effect has happened, the journal does not have it
    "before_flush",
    "after_flush",  # the journal has it, nothing that follows from it was started
    "before_repeat",  # the epoch is raised, the flush with an unknown result was not sent again
    "after_delivery",  # a callback is durable, its sender has no answer
    "before_park",  # the run left memory, its row is not updated
    "after_firing",  # the firing is durable, its sender has no answer
    "after_slots",  # the slots of a schedule are taken, their firings were not processed
    "after_turn",  # a firing is claimed, its run is not started
    "after_fired_start",  # the run of a firing is durable, the firing is still open
    "after_event",  # an entity event is durable, its sender has no answer and no rule was matched
    "after_match",  # its rules are known, none of their runs was started
    "after_event_starts",  # the runs of an entity event are durable, the event has not ended
    "after_take",  # events that another process left are taken, none was matched
    "after_token_answer",  # a provider has issued tokens, the row has the old ones and the lease
    "inside_drain",  # no new work is accepted, nothing was released yet
]
FAILPOINTS: Final[tuple[str, ...]] = get_args(Failpoint)


def parse(text: str) -> dict[str, int]:
    """Return the failpoints that a text names, each with the visit at which it kills.

    Raise ValueError for an unknown name."""
    places = {}
    for part in text.split(","):
        name, _, count = part.strip().partition(":")
        if name not in FAILPOINTS:
            raise ValueError(f"{VARIABLE}: there is no failpoint {name!r}; there are {', '.join(FAILPOINTS)}")
        places[name] = int(count or 1)
    return places


def armed(text: str) -> Callable[[Failpoint], None]:
    """Return the `reach` function for this value of the variable."""
    left = parse(text)

    def count(place: Failpoint) -> None:
        if place in left:
            left[place] -= 1
            if left[place] == 0:
                _die(place)

    return count


def _die(place: str) -> Never:
    os.write(2, f"failpoint {place}\n".encode())
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("a killed process continues")


def _nothing(place: Failpoint) -> None:
    """Do nothing: no failpoint is armed."""


reach: Final[Callable[[Failpoint], None]] = armed(os.environ[VARIABLE]) if VARIABLE in os.environ else _nothing
