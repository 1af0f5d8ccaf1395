"""Durable functions are run again and again: whoever asks Detent for something from inside one would ask each time."""

from __future__ import annotations

import asyncio


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def must_be_outside(what: str) -> None:
    """NotInFunction if the caller is the code of a durable function itself; a step of one may do this."""
    # Asked of the loop, so that what makes functions durable is not loaded by those who have none.
    refuse = getattr(running_loop(), "refuse", None)
    if refuse is not None:
        refuse(what)
