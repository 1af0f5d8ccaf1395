"""Serve the API of a running app on a socket."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from ipaddress import ip_address
from typing import NamedTuple

import uvicorn
from litestar.types import ASGIApp

from detent.api.app import Api, api_caller, context_for
from detent.api.server.auditor import Auditor
from detent.api.server.fast_path import FastPath
from detent.api.server.guards import known_hosts
from detent.api.server.protocol import IDLE_SECONDS, LimitedHttpProtocol
from detent.app import App
from detent.auth.authenticator import LOCAL_PREFIX, IdentityWatch, RequestAuthenticator
from detent.auth.caller import Caller
from detent.auth.cookies import Cookies
from detent.auth.http_fetcher import HttpFetcher
from detent.auth.logins import Logins
from detent.auth.providers import Providers, build_providers
from detent.auth.sessions import Sessions
from detent.engine.background import Polling
from detent.errors import StoreError


class _Server(uvicorn.Server):
    """Uvicorn without its own signal handlers, because the process drains its engine first.

    It owns the event that says whether the server accepts connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    async def on_tick(self, counter: int) -> bool:
        """Check the deadlines of all connections once a second. Uvicorn calls this ten times a second."""
        if counter % 10 == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, LimitedHttpProtocol):
                    connection.look(now)
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Identities(NamedTuple):
    """What identifies the callers of an app, and signs people in."""

    authenticator: RequestAuthenticator
    logins: Logins
    providers: Providers


def _identities(app: App, loose: Caller | None, local_key: str) -> _Identities:
    """Build what identifies callers, as the settings say."""
    now, find_tenant = app.engine.time.now, app.store.active_tenant
    fetcher = HttpFetcher(ca_file=app.settings.ca_file)
    providers = build_providers(app.settings, app.base_url, fetcher, app.clock, now, find_tenant)
    sessions = Sessions(app.store, now)
    authenticator = RequestAuthenticator(
        app.store,
        app.clock,
        now,
        loose=loose,
        local_key=local_key,
        local=api_caller(),
        tokens=providers.tokens,
        sessions=sessions,
        cookie=Cookies.of_url(app.base_url).session,
    )
    logins = Logins(
        app.store,
        sessions,
        app.clock,
        now,
        passwords=app.commands.passwords,
        oidc=providers.oidc,
        find_tenant=find_tenant,
    )
    return _Identities(authenticator, logins, providers)


@asynccontextmanager
async def listening(
    app: App, sock: socket.socket, *, loose: bool = False, front: Callable[[ASGIApp, str], ASGIApp] | None = None
) -> AsyncIterator[None]:
    """Serve the API while the block runs. At the end, answer the requests in flight and stop.

    With `loose`, requests without credentials may do everything; the settings may say the same. `front` gets the API
    and its base URL, and returns what is served instead."""
    by_name = app.settings.allow_loose_auth
    # A page of another site has no credentials, so only a loose API must know its own names.
    hosts = known_hosts(app.base_url, loose=by_name or not loose)
    local_key = f"{LOCAL_PREFIX}{secrets.token_urlsafe(32)}"
    loose_caller = replace(api_caller(), via="loose") if loose or by_name else None
    authenticator, logins, providers = _identities(app, loose_caller, local_key)
    auditor = Auditor(app.store, app.engine.time.now, proxies=app.settings.trusted_proxies, gathers=True)
    context = context_for(app, authenticator, hosts=hosts, sign_in=logins, auditor=auditor)
    served: ASGIApp = FastPath(Api(context), context)
    config = uvicorn.Config(
        served if front is None else front(served, app.base_url),
        http=LimitedHttpProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        # Uvicorn would believe X-Forwarded-For of every peer on this machine. `trusted_proxies` says whom we believe.
        proxy_headers=False,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=IDLE_SECONDS,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        await server.is_up.wait()
        announce = getattr(app.store, "announce", None)
        if announce is not None:
            announce(app.local_url, local_key)
        pollers = (IdentityWatch(app.store, authenticator), auditor)
        watching = [asyncio.create_task(Polling(one).work()) for one in pollers]
        try:
            yield
        finally:
            for task in watching:
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)
            with suppress(StoreError):
                await auditor.flush()
    finally:
        await providers.close()
        await app.feeds.close()  # streams and long polls end now, so the shutdown does not wait for them
        server.should_exit = True
        await serving
