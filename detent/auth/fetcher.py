"""Read small documents of the identity provider that the operator has set: key sets, discovery, answers to a login."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class FetchFailed(Exception):
    """An address cannot be read. The text says why; it is for the log, not for callers."""


class Fetched(NamedTuple):
    """An answer: its status and its whole body."""

    status: int
    body: bytes


class Fetcher(Protocol):
    """Reads an address of the identity provider."""

    async def fetch(
        self, url: str, *, limit: int, form: Mapping[str, str] | None = None, basic: tuple[str, str] | None = None
    ) -> Fetched:
        """Return the answer to a GET, or to a POST of a form. `basic` are a name and a password for the server.

        Raise FetchFailed if there is no answer in time, if it is larger than `limit`, or if it is a redirect."""
