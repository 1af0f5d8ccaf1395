"""Names the step that blocks the event loop of its node.

An `async` step that calls a function which waits, or computes for long, stops every other run of its node. A thread
looks twice a second whether the loop still runs. If it does not, the thread notes which task runs and where. The loop
reports that when it runs again. No step pays for it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

from detent.observe import emit
from detent.steps.logs.attempt_log import AttemptLog

#: Seconds for which a loop may be blocked before it is reported.
LIMIT: Final = 1.0
_LOOK: Final = 0.5
_OURS: Final = f"{Path(__file__).parents[2]}{os.sep}"
#: The local variables of Detent's own frames that may have the log of the attempt whose code they run.
_LOCALS: Final = ("log", "context", "self")


#: Returns what is known of the attempt of a task, or of the log that one of its frames has.
FindAttempt = Callable[[asyncio.Task[Any] | None, AttemptLog | None], dict[str, Any] | None]


def _find_nothing(task: asyncio.Task[Any] | None, log: AttemptLog | None) -> None:
    """Return None: there is no node yet."""


class LoopWatch:
    """A thread that watches one loop. `touch` is called regularly on that loop, and reports the step that blocked it.
    `find` is that of the current node."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._touched = 0.0
        self._found: dict[str, Any] | None = None
        self.find: FindAttempt = _find_nothing
        self._stop = threading.Event()

    def start(self) -> None:
        """Watch the running loop."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._touched = self._monotonic()
        threading.Thread(target=self._work, name="detent-loop-watch", daemon=True).start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()

    def touch(self) -> None:
        """Note that the loop runs. If a step has blocked it, report that."""
        now, found = self._monotonic(), self._found
        seconds = now - self._touched
        self._touched = now
        if found is not None:
            self._found = None
            emit("step.blocked", **found, seconds=round(seconds, 1))

    def _work(self) -> None:
        while not self._stop.wait(_LOOK):
            if self._touched and self._found is None and self._monotonic() - self._touched > LIMIT:
                self._found = self._look()

    def _look(self) -> dict[str, Any] | None:
        """Return the step that the loop runs now. It may go on at any moment, so everything here may fail."""
        with suppress(Exception):
            task = asyncio.current_task(self._loop)
            frame = sys._current_frames().get(self._thread)  # noqa: SLF001 - nothing else returns the frames of another thread
            found = self.find(task, _log_in(frame))
            return None if found is None else {**found, "at": _place_of(frame)}
        return None


def _log_in(frame: FrameType | None) -> AttemptLog | None:
    while frame is not None:
        if frame.f_code.co_filename.startswith(_OURS):
            values = frame.f_locals
            for name in _LOCALS:
                found = values.get(name)
                log = found if isinstance(found, AttemptLog) else getattr(found, "attempt_log", None)
                if isinstance(log, AttemptLog):
                    return log
        frame = frame.f_back
    return None


def _place_of(frame: FrameType | None) -> str:
    """Return the innermost line that is not Detent's."""
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
