"""The engines that run workflows in this process, for code of the user's that starts runs from inside it.

A process that was forked from one with an engine has none itself: its threads stayed behind.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from threading import get_ident
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Resident:
    """A composed application, and the loop and the thread it lives on."""

    app: Any
    database_url: str
    loop: asyncio.AbstractEventLoop
    process: int
    thread: int


_RESIDENTS: Final[list[Resident]] = []


def register_local(app: Any, database_url: str) -> Callable[[], None]:
    """Let it be found, on the running loop; gives the way out."""
    resident = Resident(app, database_url, asyncio.get_running_loop(), os.getpid(), get_ident())
    _RESIDENTS.append(resident)

    def move_out() -> None:
        if resident in _RESIDENTS:
            _RESIDENTS.remove(resident)

    return move_out


def resident(database_url: str | None) -> Resident | None:
    """The one that moved in last, of those on that database if one is named."""
    for one in reversed(_RESIDENTS):
        if one.process == os.getpid() and database_url in (None, one.database_url):
            return one
    return None
