"""An exception of a class that the code under test knows, made without knowing how that class is made."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def raised(place: str, message: str = "", *, code: str | None = None) -> Exception:
    """An exception of the class at that place, such as `shop.errors.CardDeclined`, which says `message`. Its
    constructor is not called; `code` is what an error of an action shows."""
    kind = _found(place)
    try:
        error = kind.__new__(kind, message)
    except Exception:  # noqa: BLE001 - a class that is made in its own way: at least the name is the same
        error = type(kind.__name__, (Exception,), {})(message)
    if code is not None:
        error.code = code
    made: Exception = error
    return made


def _found(place: str) -> Any:
    parts = place.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            found: Any = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for name in parts[end:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(f"there is no {place!r}")
