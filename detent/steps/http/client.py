"""The HTTP client of actions: aiohttp behind the egress guard.

It follows no redirect, uses no proxy and no cookies, and always verifies certificates. So each request goes to the host
that the action has written.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver
from yarl import URL

from detent.catalog.connections import EnvironmentConnections, NamedConnection
from detent.steps.egress import EgressGuard, EgressPolicy
from detent.steps.http.step import HttpSettings, open_session
from detent.vault.secrets import SecretOpener

REQUEST_SECONDS: Final = 30.0


class GuardedHttp:
    """Sends requests of actions. `async with context.http.get(url) as response:` closes the response at its end."""

    def __init__(self, session: aiohttp.ClientSession, guard: EgressGuard) -> None:
        self._session = session
        self._guard = guard

    @asynccontextmanager
    async def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        data: Any = None,
        timeout: float = REQUEST_SECONDS,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request and yield its response. `json` is encoded as the body; `data` is sent as aiohttp sends it.

        Raise EgressDenied if the address is not allowed, and the errors of aiohttp."""
        target = URL(url)
        sent = {"Accept-Encoding": "identity", **(headers or {})}
        if json is not None:
            data = msgspec.json.encode(json)
            sent.setdefault("Content-Type", "application/json")
        self._guard.check_host(target.host or "", target.port or 0)
        with self._guard.towards(target.host or ""):
            response = await self._session.request(
                method,
                target,
                params=params,
                headers=sent,
                data=data,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=timeout),
            )
        async with response:
            yield response

    def get(self, url: str, **options: Any) -> Any:
        return self.request("GET", url, **options)

    def post(self, url: str, **options: Any) -> Any:
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Any) -> Any:
        return self.request("PUT", url, **options)

    def patch(self, url: str, **options: Any) -> Any:
        return self.request("PATCH", url, **options)

    def delete(self, url: str, **options: Any) -> Any:
        return self.request("DELETE", url, **options)


class ActionServices:
    """What actions use of their node: named connections, and sockets behind the egress guard.

    It owns the session of their HTTP client, which is opened when it is first used.
    """

    def __init__(
        self,
        policy: EgressPolicy | None = None,
        settings: HttpSettings | None = None,
        *,
        connections: EnvironmentConnections | None = None,
        resolver: AbstractResolver | None = None,
        secrets: SecretOpener | None = None,
    ) -> None:
        self.secrets = secrets
        self.policy = policy or EgressPolicy()
        self.connections = connections or EnvironmentConnections()
        self._guard = EgressGuard(self.policy)
        self._settings = settings or HttpSettings()
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    def connection(self, name: str) -> NamedConnection:
        """Return what the operator has set of a connection."""
        return self.connections.named(name)

    def http(self) -> GuardedHttp:
        """Return the HTTP client, on the running loop."""
        if self._session is None:
            self._session = open_session(self._settings, self._guard, self._resolver)
        return GuardedHttp(self._session, self._guard)

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """Return a connected socket. Raise EgressDenied or OSError."""
        return self._guard.connect(host, port, timeout)

    async def close(self) -> None:
        """Close the connections of the HTTP client."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
