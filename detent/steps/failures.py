"""What is kept of an exception of the user's code: its message and its traceback, as text that any store takes."""

from __future__ import annotations

import traceback
from typing import Final

LONGEST_MESSAGE: Final = 1000
LONGEST_TRACEBACK: Final = 8 * 1024


def message_of(error: BaseException) -> str:
    """The error's message, even where asking for it fails."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - an exception whose __str__ raises is still a failure of its code
        text = "(its message cannot be shown)"
    return _storable(text[:LONGEST_MESSAGE])


def traceback_of(error: BaseException) -> str:
    """The end of the traceback, which names the place."""
    try:
        text = "".join(traceback.format_exception(error))
    except BaseException:  # noqa: BLE001 - as above
        return ""
    return _storable(text)[-LONGEST_TRACEBACK:]


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
