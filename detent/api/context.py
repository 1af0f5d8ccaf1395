"""What the requests to one app share, and the commands of the caller of each request.

The routes are the same for every app of a process, so they are built once and own nothing. `Api` puts the context of
its app into the scope of each request. The guard puts the caller's commands there, and the request kit reads both.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from litestar.types import Scope

from detent.api.server.auditor import Auditor
from detent.api.server.guards import OwnNames, Throttle
from detent.auth.authenticator import Authenticator
from detent.auth.caller import Caller
from detent.auth.cookies import Cookies
from detent.auth.logins import Logins
from detent.commands import Commands, EngineCommands
from detent.triggers.commands import EngineTriggers, TriggerCommands
from detent.views.feeds import Feeds
from detent.views.live import LiveHub

_KEY: Final = "detent"
_CALLER_KEY: Final = "detent_caller"
_PREFIX_KEY: Final = "detent_prefix"
#: Callers whose commands are kept. They cost a few dozen objects each.
_MOST_CALLERS: Final = 1_000


@dataclass(frozen=True, slots=True)
class CallerCommands:
    """The commands of one caller."""

    caller: Caller
    commands: Commands
    triggers: TriggerCommands


@dataclass(frozen=True)
class ApiContext:
    """What the requests to one app share.

    `outage` returns why the engine takes no work, or `None`. `check` raises StoreError if the database does not answer.
    `names` are the host names and the origin of the API. `public` is the caller of addresses that are their own key.
    `build_hub` builds the source of the live streams of a tenant. `logins` is `None` in a process that serves no
    browsers."""

    authenticator: Authenticator
    engine_commands: EngineCommands
    engine_triggers: EngineTriggers
    public: Caller
    feeds: Feeds
    build_hub: Callable[[Commands, Feeds], LiveHub]
    outage: Callable[[], str | None]
    check: Callable[[], Awaitable[object]]
    names: OwnNames
    auditor: Auditor
    logins: Logins | None = None
    cookies: Cookies = Cookies(is_secure=False)  # noqa: RUF009 - it is frozen
    guesses: Throttle = field(default_factory=Throttle)
    forgeries: Throttle = field(default_factory=Throttle)
    _bound: dict[int, CallerCommands] = field(default_factory=dict)
    _hubs: dict[int, LiveHub] = field(default_factory=dict)

    def bound(self, caller: Caller) -> CallerCommands:
        """Return the commands of a caller. Those of the last callers are kept."""
        found = self._bound.get(id(caller))  # the authenticator returns the same object until it forgets
        if found is None or found.caller is not caller:
            if len(self._bound) >= _MOST_CALLERS:
                self._bound.clear()
            found = CallerCommands(
                caller, self.engine_commands.for_caller(caller), self.engine_triggers.for_caller(caller)
            )
            self._bound[id(caller)] = found
        return found

    def live(self, tenant: int) -> LiveHub:
        """Return the source of the live streams of a tenant, which its readers share."""
        found = self._hubs.get(tenant)
        if found is None:
            commands = self.engine_commands.for_caller(Caller(tenant, "stream"))
            found = self._hubs[tenant] = self.build_hub(commands, self.feeds)
        return found


def put_context(scope: Scope, context: ApiContext) -> None:
    """Put the context of an app into the scope of a request."""
    scope.setdefault("state", {})[_KEY] = context


def put_prefix(scope: Scope) -> None:
    """Move the prefix below which a host application serves us out of the place where the web framework reads it.

    The path of our requests does not have the prefix. The framework would cut it out of the path once more."""
    scope["state"][_PREFIX_KEY] = scope["root_path"]
    scope["root_path"] = ""


def prefix_of(scope: Scope) -> str:
    """Return the prefix below which a host application serves us, such as `/detent`; empty without one."""
    prefix: str = scope["state"].get(_PREFIX_KEY, "")
    return prefix


def context_of(scope: Scope) -> ApiContext:
    """Return the context of the app that a request was sent to."""
    found: ApiContext = scope["state"][_KEY]
    return found


def put_caller(scope: Scope, bound: CallerCommands) -> None:
    """Put the commands of its caller into the scope of a request."""
    scope["state"][_CALLER_KEY] = bound


def caller_of(scope: Scope) -> CallerCommands:
    """Return the commands of the caller of a request."""
    found: CallerCommands = scope["state"][_CALLER_KEY]
    return found
