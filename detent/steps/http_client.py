"""The only HTTP client of Detent's steps: aiohttp behind the egress guard.

No proxy of the environment, no cookies, no redirects of its own, certificates always verified.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import BadHttpMessage
from aiohttp.resolver import ThreadedResolver

from detent.steps.egress import EgressGuard, GuardedResolver

_MOST_INFORMATIONAL_ANSWERS: Final = 16
_LONGEST_HEADER_LINE: Final = 8190
_MOST_HEADERS: Final = 128


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How many connections (`max_per_host` 0: no limit of its own) and how long; `ca_file` holds certificates to
    trust beside the system's."""

    max_connections: int = 1000
    max_per_host: int = 0
    connect_timeout: float = 10.0
    default_timeout: float = 30.0
    keep_alive: float = 15.0
    ca_file: Path | None = None


def open_session(
    settings: HttpSettings, guard: EgressGuard, resolver: AbstractResolver | None
) -> aiohttp.ClientSession:
    """A session on the running loop. `resolver` replaces the system's; its answers are checked all the same."""
    connector = _Connector(
        resolver=GuardedResolver(guard, resolver or ThreadedResolver()),
        # What is cached are answers that passed the guard, and only they are connected to.
        ttl_dns_cache=10,
        socket_factory=guard.open_socket,
        ssl=_tls(settings.ca_file),
        limit=settings.max_connections,
        limit_per_host=settings.max_per_host,
        keepalive_timeout=settings.keep_alive,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        skip_auto_headers=("Content-Type",),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=settings.connect_timeout),
        max_line_size=_LONGEST_HEADER_LINE,
        max_field_size=_LONGEST_HEADER_LINE,
        max_headers=_MOST_HEADERS,
    )


def _tls(ca_file: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    return context


class _Handler(ResponseHandler):
    """Ends a connection that sends informational answers (1xx) without end; aiohttp would read them for ever."""

    _informational = 0

    def feed_data(self, data: Any, size: int = 0) -> None:
        is_informational = 100 <= data[0].code < 200
        self._informational = self._informational + 1 if is_informational else 0
        if self._informational > _MOST_INFORMATIONAL_ANSWERS:
            self._refuse()
        else:
            super().feed_data(data, size)

    def _refuse(self) -> None:
        if self.exception() is None:
            self.set_exception(BadHttpMessage("too many informational answers"))
        if self.transport is not None:
            self.transport.abort()


class _Connector(aiohttp.TCPConnector):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        handler: type[ResponseHandler] = _Handler
        self._factory = functools.partial(handler, loop=asyncio.get_running_loop())
