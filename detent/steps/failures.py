"""What is kept of an exception of the user's code: its kind, message and traceback, as text that any store takes.

Nothing here raises or trusts the exception: its class, its attributes and its texts are the user's too.
"""

from __future__ import annotations

import traceback
from typing import Final

from detent.run.plain_text import UNSHOWN, plain_text

LONGEST_KIND: Final = 200
LONGEST_MESSAGE: Final = 1000
LONGEST_TRACEBACK: Final = 8 * 1024


def told_of(error: BaseException) -> str:
    """`ValueError: no funds`."""
    return f"{kind_of(error)}: {message_of(error)}"


def kind_of(error: BaseException) -> str:
    """The name of its class."""
    try:
        return plain_text(type(error).__name__, LONGEST_KIND)
    except BaseException:  # noqa: BLE001 - a class of a metaclass that raises
        return UNSHOWN


def place_of(error: BaseException) -> str:
    """The name of its class with its module, unless that is Python's own."""
    try:
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    except BaseException:  # noqa: BLE001 - as above
        name = UNSHOWN
    return plain_text(name, LONGEST_KIND)


def message_of(error: BaseException) -> str:
    """The error's message, even where asking for it fails."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - an exception whose __str__ raises is still a failure of its code
        text = "(its message cannot be shown)"
    return plain_text(text, LONGEST_MESSAGE)


def traceback_of(error: BaseException) -> str:
    """The end of the traceback, which names the place."""
    try:
        text = "".join(traceback.format_exception(error))
    except BaseException:  # noqa: BLE001 - as above
        return ""
    return plain_text(text[-LONGEST_TRACEBACK:], LONGEST_TRACEBACK)
