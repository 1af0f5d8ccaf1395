"""How values are written in addresses and queries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote

from detent.errors import InvalidInput

API: Final = "/api/v1"

Seconds = float | timedelta
When = datetime | timedelta | str


def place(*parts: str) -> str:
    """A path below the API, each part of it escaped."""
    return "/".join([API, *(quote(part, safe="") for part in parts)])


def seconds(span: Seconds) -> float:
    return span.total_seconds() if isinstance(span, timedelta) else float(span)


def duration(span: Seconds) -> str:
    return f"{max(0, round(seconds(span) * 1000))}ms"


def instant(when: datetime | str) -> str:
    """ISO 8601 in UTC, as Detent itself writes it. Without a time zone it could be any of 24 instants: refused."""
    if isinstance(when, str):
        return when
    if when.tzinfo is None:
        raise InvalidInput(f"{when!r} has no time zone; write for example datetime(..., tzinfo=UTC)")
    return when.astimezone(UTC).isoformat().replace("+00:00", "Z")


def moment(when: When) -> str:
    """An instant, or a time from now."""
    return duration(when) if isinstance(when, timedelta) else instant(when)


def pairs(labels: Mapping[str, str]) -> list[str]:
    return [_pair(key, value) for key, value in labels.items()]


def hero_text(hero: tuple[str, str] | str) -> str:
    return hero if isinstance(hero, str) else _pair(*hero)


def _pair(key: str, value: str) -> str:
    if ":" in key:
        raise InvalidInput(f"{key!r} has a colon, and would be read as {key.partition(':')[0]!r}")
    return f"{key}:{value}"


def header_text(text: str) -> str:
    """A text that may stand in a header."""
    if not text.isascii() or not text.isprintable():
        raise InvalidInput(f"{text[:100]!r} cannot stand in a header; use letters, digits and signs of ASCII")
    return text


def given(**values: str | int | bool | None) -> list[tuple[str, str]]:
    """A query of what is not null."""
    return [(name, _text(value)) for name, value in values.items() if value is not None]


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def repeated(name: str, values: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, value) for value in values]


def server_url(url: str | None) -> str:
    """The address of the server: as given, else DETENT_URL, else that of `detent serve` on this machine."""
    chosen = (url or os.environ.get("DETENT_URL") or "http://127.0.0.1:8080").rstrip("/")
    if not chosen.startswith(("http://", "https://")):
        raise InvalidInput(f"{chosen!r} is no address; write for example http://127.0.0.1:8080")
    return chosen
