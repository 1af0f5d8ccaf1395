"""The apps that run workflows in this process, so that user code in it can start runs without HTTP.

A forked process has no local app: the threads of the engine stay in the parent.
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
    """An app with its loop and its thread."""

    app: Any
    database_url: str
    loop: asyncio.AbstractEventLoop
    process: int
    thread: int


_RESIDENTS: Final[list[Resident]] = []


def register_local(app: Any, database_url: str) -> Callable[[], None]:
    """Register an app that runs on this loop. Return a function that removes it."""
    resident = Resident(app, database_url, asyncio.get_running_loop(), os.getpid(), get_ident())
    _RESIDENTS.append(resident)

    def remove() -> None:
        if resident in _RESIDENTS:
            _RESIDENTS.remove(resident)

    return remove


def resident(database_url: str | None) -> Resident | None:
    """Return the app that was registered last, of those on that database if one is named."""
    for one in reversed(_RESIDENTS):
        if one.process == os.getpid() and database_url in (None, one.database_url):
            return one
    return None
