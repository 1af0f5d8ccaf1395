"""The tenants that a process knows: the limits of each, as the steps of its runs ask for them.

A step of the first tenant asks one truth value, `confines_default`, as long as that tenant has no list of actions. A
tenant that the process does not know yet has the limits of a new one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from detent.tenants.limits import INSTALLATION, TenantLimits, is_confined, read_limits, refusal

#: The code of a step that calls what its tenant may not use.
NOT_ALLOWED: Final = "action_not_allowed"
_UNKNOWN: Final = TenantLimits()


class KnownTenant(NamedTuple):
    """A tenant that has limits of its own."""

    id: int
    name: str
    limits: TenantLimits


class TenantRegistry:
    """The limits of tenants. Another thread may read it while it is replaced."""

    def __init__(self) -> None:
        self._known: dict[int, KnownTenant] = {}
        self.confines_default = False

    def replace(self, rows: Iterable[tuple[int, str, str | None]]) -> None:
        """Take over (id, name, stored settings) of the tenants that have settings."""
        self._take({id_: KnownTenant(id_, name, read_limits(settings)) for id_, name, settings in rows})

    def put(self, id_: int, name: str, settings: str | None) -> None:
        """Take over one tenant that this process has changed."""
        self._take({**self._known, id_: KnownTenant(id_, name, read_limits(settings))})

    def _take(self, known: dict[int, KnownTenant]) -> None:
        self._known = known
        self.confines_default = is_confined(INSTALLATION, self.limits(INSTALLATION))

    def limits(self, tenant: int) -> TenantLimits:
        """Return the limits of a tenant."""
        known = self._known.get(tenant)
        return _UNKNOWN if known is None else known.limits

    def is_confined(self, tenant: int) -> bool:
        """Return whether a tenant may use only what is allowed to it."""
        return tenant != INSTALLATION or self.confines_default

    def refusal(self, tenant: int, name: str) -> str | None:
        """Return why a tenant may not use a name, or None if it may."""
        if not self.is_confined(tenant) or self.limits(tenant).allowed.allow(name):
            return None
        known = self._known.get(tenant)
        return refusal("TENANT" if known is None else known.name, name)

    def may_see(self, tenant: int, connector: str) -> bool:
        """Return whether a tenant may use an action of a connector of the installation."""
        return not self.is_confined(tenant) or self.limits(tenant).allowed.allow_some(connector)

    def retentions(self) -> list[tuple[int, int]]:
        """Return (id, days) of the tenants whose runs have a retention of their own."""
        found = ((one.id, one.limits.retention_days) for one in self._known.values())
        return [(id_, days) for id_, days in found if days is not None]


class _Unconfined(TenantRegistry):
    """Confines no tenant: for executors that run without a store, as in tests of users."""

    def is_confined(self, tenant: int) -> bool:
        return False


UNCONFINED: Final[TenantRegistry] = _Unconfined()
