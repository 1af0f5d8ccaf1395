"""The models whose changes a listener of this process records: apart, because `detent doctor` loads little."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_names: Final[dict[str, None]] = {}


def add_recorded_models(names: Iterable[str]) -> None:
    """Remember models whose changes a listener records."""
    _names.update(dict.fromkeys(names))


def recorded_models() -> list[str]:
    """Return the models whose changes a listener of this process records."""
    return sorted(_names)
