"""A function that said how its run ends is leaving: from then on it may tidy up, and nothing else.

What it asks for while it deals with that (in a `finally`, or an `except` that caught it) is still done. It has left
when it goes on as if nothing had been said; or when a task of its own said so and has ended, and the function itself
has not noticed.
"""

from __future__ import annotations

import asyncio
import sys

from detent.python.function.loop import FunctionTask


class Leaving:
    """`asked` is what was raised to say so, in the task `said_by`; `main` is the function itself."""

    def __init__(self, asked: BaseException, said_by: asyncio.Task[object] | None, main: FunctionTask) -> None:
        self._asked, self._said_by, self._main = asked, said_by, main
        self._main_waits_for = _waits_for(main)
        self._went_on = False

    def asked_for_more(self) -> None:
        """The function asks for an operation."""
        task = asyncio.current_task()
        responsible = self._said_by if self._said_by is not None and not self._said_by.done() else self._main
        if task is responsible and not _is_about(sys.exc_info()[1], self._asked):
            self._went_on = True

    def has_left(self) -> bool:
        """To be asked whenever the function rests: whether there is nothing more to tidy up."""
        if self._went_on or self._said_by is None:
            return True
        if not self._said_by.done():
            self._main_waits_for = _waits_for(self._main)
            return False
        return _waits_for(self._main) is self._main_waits_for


def _waits_for(task: FunctionTask) -> object:
    return task._fut_waiter  # type: ignore[attr-defined]  # noqa: SLF001 - nothing else tells where a task stands


def _is_about(error: BaseException | None, asked: BaseException) -> bool:
    """Whether this error is that one, came up while that one was dealt with, or carries it in a group."""
    seen: set[int] = set()
    left = [error]
    while left:
        one = left.pop()
        if one is asked:
            return True
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        left += [one.__context__, one.__cause__]
        if isinstance(one, BaseExceptionGroup):
            left += one.exceptions
    return False
