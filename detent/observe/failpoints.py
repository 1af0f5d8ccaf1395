"""Named places where a test can kill this process: `DETENT_FAILPOINT=after_effect:7` ends it with SIGKILL the seventh
time that place is reached. Several are separated by commas. Without the variable, reaching a place does nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Final, Literal, Never, get_args

VARIABLE: Final = "DETENT_FAILPOINT"

#: Every place there is.
Failpoint = Literal[
    "after_start",  # the run is durable, its sender has no answer
    "after_claim",  # the claim is durable, nothing was read yet
    "inside_recovery",  # a dead node's runs are in memory, their `adopted` entries are not written
    "before_effect",  # everything the attempt rests on is durable
    "after_effect",  # the outside world knows, the journal does not
    "before_flush",
    "after_flush",  # the journal knows, nothing that follows from it was begun
    "before_repeat",  # the epoch is raised, the flush of unknown fate was not sent again
    "after_delivery",  # a callback is durable, its sender has no answer
    "before_park",  # the run left memory, its row does not say so
    "after_firing",  # what fired a trigger is durable, its sender has no answer
    "after_slots",  # the slots of a schedule are taken, nothing was begun because of them
    "after_turn",  # a firing is begun, its run is not
    "after_fired_start",  # the run of a firing is durable, the firing does not say so
    "inside_drain",  # nothing new is begun, nothing was given up yet
]
FAILPOINTS: Final[tuple[str, ...]] = get_args(Failpoint)


def parse(text: str) -> dict[str, int]:
    """The places a text names, with the time at which each is deadly; ValueError if there is no such place."""
    places = {}
    for part in text.split(","):
        name, _, count = part.strip().partition(":")
        if name not in FAILPOINTS:
            raise ValueError(f"{VARIABLE}: there is no place {name!r}; there are {', '.join(FAILPOINTS)}")
        places[name] = int(count or 1)
    return places


def armed(text: str) -> Callable[[Failpoint], None]:
    """What `reach` is when the variable has this text."""
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
    raise AssertionError("a killed process goes on")


def _nothing(place: Failpoint) -> None:
    """Do nothing: no failure is configured."""


reach: Final[Callable[[Failpoint], None]] = armed(os.environ[VARIABLE]) if VARIABLE in os.environ else _nothing
