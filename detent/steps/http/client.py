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
from detent.steps.credentials.action_connections import HostBinding
from detent.steps.egress import EgressGuard, EgressPolicy, TenantEgress
from detent.steps.errors import Permanent
from detent.steps.http.step import HttpSettings, SessionPool
from detent.steps.payloads.blobs import BlobPort
from detent.tenants.limits import CONNECTION_PREFIX
from detent.tenants.registry import NOT_ALLOWED, UNCONFINED, TenantRegistry
from detent.vault.secrets import SecretOpener

REQUEST_SECONDS: Final = 30.0


class GuardedHttp:
    """Sends requests of actions. `async with context.http.get(url) as response:` closes the response at its end."""

    def __init__(self, sessions: SessionPool, tenant: int, binding: HostBinding | None = None) -> None:
        self._sessions = sessions
        self._tenant = tenant
        self._binding = binding

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

        Raise EgressDenied if the address is not allowed, and the errors of aiohttp. Raise Permanent if the request
        carries a stored credential to a host that it does not allow."""
        target = URL(url)
        if self._binding is not None:
            self._binding.check(target, params, headers, json, data)
        sent = {"Accept-Encoding": "identity", **(headers or {})}
        if json is not None:
            data = msgspec.json.encode(json)
            sent.setdefault("Content-Type", "application/json")
        with self._sessions.lease(self._tenant) as session:
            session.guard.check_host(target.host or "", target.port or 0)
            with session.guard.towards(target.host or ""):
                response = await session.client.request(
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

    It owns the sessions of their HTTP client, which are opened when they are first used.
    """

    def __init__(
        self,
        policy: EgressPolicy | None = None,
        settings: HttpSettings | None = None,
        *,
        connections: EnvironmentConnections | None = None,
        resolver: AbstractResolver | None = None,
        secrets: SecretOpener | None = None,
        tenants: TenantRegistry = UNCONFINED,
        blobs: BlobPort | None = None,
    ) -> None:
        self.secrets = secrets
        self.blobs = blobs or BlobPort()
        self.connections = connections or EnvironmentConnections()
        self._tenants = tenants
        self._egress = TenantEgress(policy or EgressPolicy(), tenants)
        self._sessions = SessionPool(self._egress, settings or HttpSettings(), resolver)

    def connection(self, name: str, *, tenant: int, connector: str) -> NamedConnection:
        """Return what the operator has set of a connection. Raise Permanent if the tenant may not use it: that of the
        connector whose action it calls is allowed with the action."""
        refused = None if name == connector else self._tenants.refusal(tenant, CONNECTION_PREFIX + name)
        if refused is not None:
            raise Permanent(refused, code=NOT_ALLOWED)
        return self.connections.named(name)

    def http(self, tenant: int, binding: HostBinding | None = None) -> GuardedHttp:
        """Return the HTTP client of a tenant, on the running loop. `binding` says where a credential may be sent."""
        return GuardedHttp(self._sessions, tenant, binding)

    def connect(self, tenant: int, host: str, port: int, timeout: float) -> socket.socket:
        """Return a connected socket. Raise EgressDenied or OSError."""
        return EgressGuard(self._egress.of(tenant)).connect(host, port, timeout)

    async def close(self) -> None:
        """Close the connections of the HTTP client."""
        await self._sessions.close()
