"""The limits of a tenant: the actions that it may use, the hosts that it may reach, and how long its runs are stored.

Without a list of actions the first tenant may use everything. Every other tenant may use `core.` actions, http steps
and its own connectors. A list allows more: `slack.*`, `billing.charge`, `workflow:Invoice` (a class or a durable
function), `connection:reports` (a named connection of the operator), or `*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

import msgspec

from detent.settings import DEFAULT_TENANT
from detent.values.fields import shown
from detent.values.limits import ID_LIMIT

#: The tenant that owns what belongs to the installation: the code of nodes, and the connections of the operator.
INSTALLATION: Final = DEFAULT_TENANT
MOST_ACTIONS: Final = 500
MOST_EGRESS: Final = 500
MOST_DAYS: Final = 3_650
CORE_PREFIX: Final = "core."
WORKFLOW_PREFIX: Final = "workflow:"
CONNECTION_PREFIX: Final = "connection:"
EVERYTHING: Final = "*"
_PATTERN: Final = re.compile(
    r"\*"
    r"|[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*(\.\*)?"
    r"|workflow:(\*|[^\s*@\x00-\x1f\x7f]{1,200})"
    r"|connection:(\*|[A-Za-z0-9_.-]{1,100})"
)


class TenantLimits(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """The limits of a tenant as they are stored. `None` is the default of each.

    `actions` are names and patterns. `egress` are hosts and networks, written as in the setting `egress_allow`; the
    rules of the installation count too. `retention_days` replaces the retention of the installation, for all ended
    runs."""

    actions: tuple[str, ...] | None = None
    egress: tuple[str, ...] | None = None
    retention_days: int | None = None

    @cached_property
    def allowed(self) -> AllowedNames:
        """Return what the list of actions allows."""
        return AllowedNames(self.actions or ())

    def encode(self) -> str:
        """Return the text that is stored."""
        return msgspec.json.encode(self).decode()


class AllowedNames:
    """Tells whether names and patterns allow a name. `core.` actions are always allowed."""

    def __init__(self, patterns: Iterable[str]) -> None:
        given = set(patterns)
        self._is_all = EVERYTHING in given
        self._names = frozenset(one for one in given if not one.endswith("*"))
        self._prefixes = tuple(one[:-1] for one in given if one.endswith("*") and one != EVERYTHING)

    def allow(self, name: str) -> bool:
        """Return whether a name is allowed."""
        return self._is_all or name in self._names or name.startswith((CORE_PREFIX, *self._prefixes))

    def allow_some(self, connector: str) -> bool:
        """Return whether an action of a connector may be allowed."""
        begin = f"{connector}."
        return self.allow(begin) or any(one.startswith(begin) for one in (*self._names, *self._prefixes))


def read_limits(stored: str | None) -> TenantLimits:
    """Return the limits of a stored text. Fields of newer code are left out."""
    return _NONE if stored is None else msgspec.json.decode(stored, type=TenantLimits)


def is_confined(tenant: int, limits: TenantLimits) -> bool:
    """Return whether a tenant may use only what is allowed to it."""
    return tenant != INSTALLATION or limits.actions is not None


def pattern_problem(pattern: Any) -> str | None:
    """Return what is wrong with a pattern of actions, or None."""
    if not isinstance(pattern, str) or len(pattern) > ID_LIMIT or not _PATTERN.fullmatch(pattern):
        said = shown(pattern) if isinstance(pattern, str) else "it"
        return (
            f"{said} is not a name or a pattern of actions; write billing.charge, slack.*, workflow:Name, "
            "connection:NAME or *"
        )
    return None


def refusal(tenant: str, name: str) -> str:
    """Return the message for a name that a tenant may not use, with what to do."""
    kind = "workflow" if name.startswith(WORKFLOW_PREFIX) else "connection"
    said = name.partition(":")[2] if ":" in name else name
    what = f"the {kind} {said!r}" if ":" in name else f"the action {said!r}"
    return (
        f"the tenant {tenant!r} may not use {what}; an instance admin allows it with "
        f"`detent tenants set {tenant} --allow {name}`"
    )


_NONE: Final = TenantLimits()
