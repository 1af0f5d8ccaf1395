"""What the requests to one app share: its commands, bound to the caller, its feeds and its throttles.

The routes are the same for every app of a process, so they are built once and own nothing. `Api` puts the context of
its app into the scope of each request, and the request kit reads it there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from litestar.types import Scope

from detent.api.server.guards import Throttle
from detent.auth.caller import Caller
from detent.commands import Commands
from detent.triggers.commands import TriggerCommands
from detent.views.feeds import Feeds
from detent.views.live import LiveHub

_KEY: Final = "detent"


@dataclass(frozen=True)
class ApiContext:
    """What the requests to one app share.

    `outage` returns why the engine takes no work, or `None`. `check` raises StoreError if the database does not answer.
    `hosts` are the host names of the API; `None` allows all."""

    caller: Caller
    commands: Commands
    triggers: TriggerCommands
    feeds: Feeds
    live: LiveHub
    outage: Callable[[], str | None]
    check: Callable[[], Awaitable[object]]
    hosts: frozenset[str] | None
    guesses: Throttle = field(default_factory=Throttle)
    forgeries: Throttle = field(default_factory=Throttle)


def put_context(scope: Scope, context: ApiContext) -> None:
    """Put the context of an app into the scope of a request."""
    scope.setdefault("state", {})[_KEY] = context


def context_of(scope: Scope) -> ApiContext:
    """Return the context of the app that a request was sent to."""
    found: ApiContext = scope["state"][_KEY]
    return found
