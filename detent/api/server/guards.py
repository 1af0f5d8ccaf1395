"""Guards beside the policy: refuse requests of foreign web pages, and throttle guessed tokens.

A web page in a browser on this machine can send requests to this API. `Sec-Fetch-Site` and `Origin` name the origin of
such a request. DNS rebinding, a foreign name that resolves to this machine, is detected by the `Host` header. Callback
URLs are open to every caller: their token is the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple, cast
from urllib.parse import urlsplit

from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from detent.clock import Clock, SystemClock
from detent.errors import Forbidden

#: Unknown tokens that one source may send in a window.
ALLOWED: Final = 60
WINDOW: Final = 60.0
_MOST_SOURCES: Final = 10_000


class Throttle:
    """A throttle for sources that guess tokens. It owns the count of unknown tokens per source address and minute.

    Valid tokens are never counted and never delayed."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._counts: Counter[str] = Counter()
        self._began = self._clock.monotonic()

    def count(self, source: str) -> float | None:
        """Count one unknown token of a source. Return the seconds to wait if there were too many, else `None`."""
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


class OwnNames(NamedTuple):
    """The host names that an API answers to, `None` for all; and the origin of its pages, as its base URL says it."""

    hosts: frozenset[str] | None
    origin: str | None = None


class OriginGuard:
    """Middleware that refuses requests of other origins. `names_of` returns the names of the API that a request was
    sent to."""

    def __init__(self, app: ASGIApp, names_of: Callable[[Scope], OwnNames]) -> None:
        self._app = app
        self._names_of = names_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].startswith(_OPEN):
            reason = reason_against(cast("HTTPScope", scope), self._names_of(scope))  # this API has no WebSocket routes
            if reason:
                raise Forbidden(reason)
        await self._app(scope, receive, send)


def reason_against(scope: HTTPScope, names: OwnNames) -> str | None:
    """Return why a request is refused, or `None` if it is allowed."""
    headers = dict(scope["headers"])
    host = _hostname(headers.get(b"host", b"").decode("latin-1"))
    if names.hosts is not None and host not in names.hosts:
        return f"this API does not answer to the name {host[:100]!r}; set DETENT_BASE_URL to the address of this API"
    if scope["method"] in _READS:
        return None
    if headers.get(b"sec-fetch-site") in _FOREIGN:
        return "a page of another site may not change anything here"
    origin = headers.get(b"origin", b"").decode("latin-1")
    # A proxy may pass another Host on than the browser sent, for instance one without the port.
    if origin and origin.lower() != names.origin and _netloc(origin) != headers.get(b"host", b"").decode("latin-1"):
        return (
            f"a page of another site, {origin[:100]!r}, may not change anything here; if it is the address of this API "
            "at its proxy, set DETENT_BASE_URL to it"
        )
    return None


def own_names(base_url: str, hosts: frozenset[str] | None) -> OwnNames:
    """Return the names of an API with this base URL that answers to these hosts."""
    parts = urlsplit(base_url)
    return OwnNames(hosts, f"{parts.scheme}://{parts.netloc}".lower())


def known_hosts(base_url: str, *, loose: bool) -> frozenset[str] | None:
    """Return the host names of this API: those of this machine, and that of its base URL. `None` if `loose`."""
    return None if loose else _LOCAL | {urlsplit(base_url).hostname or ""}


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


@lru_cache(maxsize=256)
def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
