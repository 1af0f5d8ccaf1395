"""Errors as user code really makes them: without their beginnings, with attributes that raise, with texts that are
none."""

from __future__ import annotations

import asyncio
from enum import Enum, IntEnum
from typing import Any

from detent.steps.actions import ActionError, Permanent, RetryLater


class Declined(Permanent):
    """The usual mistake: no `super().__init__()`."""

    def __init__(self, card: str) -> None:
        self.card = card


class Later(RetryLater):
    def __init__(self, when: str) -> None:
        self.when = when


class Raising(RetryLater):
    """Everything that is asked of it raises, and not even an Exception."""

    def __init__(self) -> None:
        pass

    @property
    def code(self) -> Any:  # type: ignore[override]
        raise SystemExit(3)

    @property
    def seconds(self) -> Any:  # type: ignore[override]
        raise GeneratorExit

    def __str__(self) -> str:
        raise KeyboardInterrupt

    def __repr__(self) -> str:
        raise KeyboardInterrupt


class Disguised(Exception):
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("who knows")


class Noted(ValueError):
    def __init__(self) -> None:
        super().__init__("noted")
        self.__notes__ = 5  # type: ignore[assignment]


class Gone(Enum):
    GONE = 404


class Number(IntEnum):
    GONE = 410


class Word(str, Enum):  # noqa: UP042 - as it was written before StrEnum, which is another thing
    GONE = "gone"


class Text(str):  # noqa: SLOT000 - as people write it
    """A text that does not let itself be cut or written."""

    def __getitem__(self, _: Any) -> Any:
        raise RuntimeError("no")

    def encode(self, *_: Any, **__: Any) -> bytes:
        raise RuntimeError("no")

    def __str__(self) -> str:
        raise RuntimeError("no")


def misnamed() -> Exception:
    kind = type("Bad", (Exception,), {})
    kind.__qualname__ = "Bad\udc00Name"
    kind.__module__ = 5  # type: ignore[assignment]
    error: Exception = kind("hm")
    return error


def long_chain() -> Exception:
    error: Exception | None = None
    for number in range(2_000):
        after = ValueError(number)
        after.__cause__ = error
        error = after
    assert error is not None
    return error


#: name -> (what makes the error, the code it is kept with)
ODD: dict[str, tuple[Any, str]] = {
    "no beginning": (lambda: Declined("4242"), "exception"),
    "no beginning, later": (lambda: Later("soon"), "exception"),
    "all raises": (Raising, "exception"),
    "disguised": (Disguised, "exception"),
    "notes": (Noted, "exception"),
    "misnamed": (misnamed, "exception"),
    "long chain": (long_chain, "exception"),
    "group": (lambda: ExceptionGroup("many", [ValueError(1)] * 3_000), "exception"),
    "surrogate": (lambda: ActionError("a\ud800b", code="c\ud800d"), "c?d"),
    "nul": (lambda: ActionError("a\0b", code="c\0d"), "c\ufffdd"),
    "number": (lambda: Permanent("gone", code=404), "404"),  # type: ignore[arg-type]
    "enum": (lambda: Permanent("gone", code=Gone.GONE), "404"),  # type: ignore[arg-type]
    "int enum": (lambda: Permanent("gone", code=Number.GONE), "410"),  # type: ignore[arg-type]
    "word": (lambda: Permanent("gone", code=Word.GONE), "gone"),
    "text": (lambda: Permanent("gone", code=Text("gone")), "gone"),
    "no code": (lambda: Permanent("gone", code=None), "exception"),  # type: ignore[arg-type]
    "empty code": (lambda: Permanent("gone", code=""), "exception"),
    "code is an object": (lambda: Permanent("gone", code=Raising()), "(cannot be shown)"),  # type: ignore[arg-type]
    "message is a number": (lambda: Permanent(404), "exception"),  # type: ignore[arg-type]
    "long": (lambda: Permanent("x" * 5_000_000, code="y" * 5_000_000), "y" * 128),
    "generator exit": (GeneratorExit, "exception"),
    "system exit": (SystemExit, "exception"),
    "interrupt": (KeyboardInterrupt, "exception"),
    "cancelled": (asyncio.CancelledError, "exception"),
    "stop": (StopIteration, "exception"),
    "stop async": (StopAsyncIteration, "exception"),
}
NAMES = sorted(ODD)

#: What is said to be a number of seconds, and what it counts as.
SECONDS: list[tuple[Any, float | None]] = [
    (float("nan"), None),
    (float("inf"), 366 * 86_400.0),
    (float("-inf"), 0.0),
    (-1e300, 0.0),
    (10**400, None),
    ("soon", None),
    ("90", 90.0),
    (None, None),
    (object(), None),
]
