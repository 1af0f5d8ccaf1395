"""Keeps web pages of other origins away from an API without authentication.

A page that a person visits can send requests to this machine. Browsers say where a request comes from
(`Sec-Fetch-Site`, `Origin`), and a page that makes its own name point here is known by the name it asks for (`Host`).
Callback URLs are open to everybody: their token is the key.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import Final, cast
from urllib.parse import urlsplit

from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from detent.clock import Clock, SystemClock
from detent.errors import Forbidden

# Slows down whoever tries callback tokens that nobody made. Good tokens are never counted, nor held up.


ALLOWED: Final = 60
WINDOW: Final = 60.0
_MOST_SOURCES: Final = 10_000


class Throttle:
    """Counts unknown tokens by source address, a minute at a time."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._counts: Counter[str] = Counter()
        self._began = self._clock.monotonic()

    def count(self, source: str) -> float | None:
        """Note one more. Gives the seconds to wait if there were too many."""
        now = self._clock.monotonic()
        if now - self._began >= WINDOW or len(self._counts) > _MOST_SOURCES:
            self._counts.clear()
            self._began = now
        self._counts[source] += 1
        return self._began + WINDOW - now if self._counts[source] > ALLOWED else None


_OPEN: Final = ("/wh/", "/webhook/", "/health/")
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_FOREIGN: Final = frozenset({b"cross-site", b"same-site"})
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class OriginGuard:
    """Middleware. `hosts` are the names this API is reached by; null lets every name in."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].startswith(_OPEN):
            reason = reason_against(cast("HTTPScope", scope), self._hosts)  # there are no sockets here
            if reason:
                raise Forbidden(reason)
        await self._app(scope, receive, send)


def reason_against(scope: HTTPScope, hosts: frozenset[str] | None) -> str | None:
    """Why a request is not let in; null if it is."""
    headers = dict(scope["headers"])
    host = _hostname(headers.get(b"host", b"").decode("latin-1"))
    if hosts is not None and host not in hosts:
        return f"this API does not answer to the name {host[:100]!r}; DETENT_BASE_URL names it"
    if scope["method"] in _READS:
        return None
    origin = headers.get(b"origin")
    foreign = origin is not None and _netloc(origin) != headers.get(b"host", b"").decode("latin-1")
    if foreign or headers.get(b"sec-fetch-site") in _FOREIGN:
        return "a page of another site may not change anything here"
    return None


def known_hosts(base_url: str, *, loose: bool) -> frozenset[str] | None:
    """The names of this API: those of this machine and that of its address."""
    return None if loose else _LOCAL | {urlsplit(base_url).hostname or ""}


def _netloc(origin: bytes) -> str:
    try:
        return urlsplit(origin.decode("latin-1")).netloc
    except ValueError:
        return ""


@lru_cache(maxsize=256)
def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
