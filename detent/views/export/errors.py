"""Write the failures of a past run as code that fails in the same way in a test."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Document = Mapping[str, Any]

TIMEOUT: Final = "timeout"
_OF_DETENT: Final = "detent.steps.errors."
_THEN: Final = {"skipped": "skip", "paused": "pause", "cancelled": "cancel"}
#: Exceptions with another meaning when an answer raises them.
_PECULIAR: Final = (TimeoutError, StopIteration, StopAsyncIteration)
_NO_CODE: Final = "exception"
_PEOPLE: Final = "it failed"


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of Python code, and the import lines that it needs. Its `repr` is the code."""

    text: str
    imports: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return self.text


def call(name: str, *values: Any, **named: Any) -> Code:
    """Return the code of a call to a name of Detent. Keyword arguments that are None are omitted."""
    module = "detent" if name in ("Permanent", "RetryLater") else "detent.testing"
    given = [repr(value) for value in values]
    given += [f"{key}={value!r}" for key, value in named.items() if value is not None]
    inside = [line for value in values if isinstance(value, Code) for line in value.imports]
    return Code(f"{name}({', '.join(given)})", (f"from {module} import {name}", *inside))


def failure(status: str, error: Document | None, *, at_once: bool = False) -> Code:
    """Return an exception that makes a step of a definition or durable function, or a child, end as it did.

    With `at_once` the step is not retried first.
    """
    if error is None:
        error = {"code": _NO_CODE, "message": _PEOPLE}
    code, message = str(error["code"]), str(error["message"])
    if status == TIMEOUT or code == TIMEOUT:
        return Code(f"TimeoutError({message!r})")
    name, _, text = message.partition(": ")
    made = _builtin(name, text) if code == _NO_CODE and not at_once else None
    if made is not None and not issubclass(getattr(builtins, name), _PECULIAR):
        return made
    return call("Permanent", message, code=None if code == _NO_CODE else code)


def failure_of_class(attempt: Document) -> Code:
    """Return the exception of an attempt of a class step, whose policy depends on the class of the exception."""
    error = attempt["error"]
    detail = error["detail"]
    kind = str(detail.get("type", "")) if isinstance(detail, Mapping) else ""
    text = str(error["message"]).partition(": ")[2]
    code = None if error["code"] == _NO_CODE else str(error["code"])
    if kind == f"{_OF_DETENT}Permanent":
        return call("Permanent", text, code=code)
    if kind == f"{_OF_DETENT}RetryLater":
        return call("RetryLater", 0, text, code=code)
    if not kind or "<locals>" in kind or kind.startswith("__main__."):
        # No test can import this class, so the answer sets the outcome of the step instead.
        then = _THEN.get(attempt["status"])
        return call("Output", then=then) if then else call("Permanent", str(error["message"]))
    if "." not in kind:
        made = _builtin(kind, text)
        if made is not None:
            return made
        kind = f"builtins.{kind}"
    return call("raised", kind, text, code=code)


def _builtin(name: str, text: str) -> Code | None:
    """Return the code of a builtin exception with that name and text, or None."""
    kind = getattr(builtins, name, None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return None
    for argument in _arguments(text):
        try:
            if str(kind(argument)) == text:
                return Code(f"{name}({argument!r})")
        except Exception:  # noqa: BLE001 - it takes other arguments
            continue
    return None


def _arguments(text: str) -> list[Any]:
    try:
        return [text, ast.literal_eval(text)]  # some exceptions show the repr of their argument
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return [text]
