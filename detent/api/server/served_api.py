"""The API of a running app with all that identifies its callers: what a listener serves, or a host application mounts.

`open_api` builds it, and runs its pollers: one learns of changed keys, one writes the audit of refused requests.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import NamedTuple

from litestar.types import ASGIApp

from detent.api.app import Api, api_caller, context_for
from detent.api.server.auditor import Auditor
from detent.api.server.fast_path import FastPath
from detent.api.server.guards import known_hosts
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
from detent.views.feeds import Feeds

#: Gets the API and its base URL, and returns what is served instead.
Front = Callable[[ASGIApp, str], ASGIApp]


class ServedApi(NamedTuple):
    """An API that is open. `local_key` is the key of this machine's operator: it is stored beside a database file.
    Closing its `feeds` ends streams and long polls."""

    application: ASGIApp
    local_key: str
    feeds: Feeds


@asynccontextmanager
async def open_api(
    app: App, *, loose: bool = False, front: Front | None = None, feeds: Feeds | None = None
) -> AsyncIterator[ServedApi]:
    """Yield the API of an app until the block ends.

    With `loose`, requests without credentials may do everything; the settings may say the same. `feeds` are those of
    the app, unless others are given."""
    by_name = app.settings.allow_loose_auth
    feeds = feeds or app.feeds
    # A page of another site has no credentials, so only a loose API must know its own names.
    hosts = known_hosts(app.base_url, loose=by_name or not loose)
    local_key = f"{LOCAL_PREFIX}{secrets.token_urlsafe(32)}"
    loose_caller = replace(api_caller(), via="loose") if loose or by_name else None
    authenticator, logins, providers = _identities(app, loose_caller, local_key)
    auditor = Auditor(app.store, app.engine.time.now, proxies=app.settings.trusted_proxies, gathers=True)
    context = context_for(app, authenticator, hosts=hosts, sign_in=logins, auditor=auditor, feeds=feeds)
    served: ASGIApp = FastPath(Api(context), context)
    pollers = (IdentityWatch(app.store, authenticator), auditor)
    watching = [asyncio.create_task(Polling(one).work()) for one in pollers]
    try:
        yield ServedApi(served if front is None else front(served, app.base_url), local_key, feeds)
    finally:
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        with suppress(StoreError):
            await auditor.flush()
        await providers.close()


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
