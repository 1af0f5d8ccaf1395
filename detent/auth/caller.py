"""The caller of a command: the tenant whose rows it may read and change, its name, and its scopes."""

from __future__ import annotations

from dataclasses import dataclass

from detent.auth.scopes import ALL_SCOPES, Scope, least_role
from detent.errors import Forbidden
from detent.run.initiator import Principal
from detent.settings import DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller. Commands that are bound to it read and change rows of its tenant only.

    `name` is the value of `by` in a journal entry: `api`, `key ci (k3x9...)`, or `trigger trg_...`. `via` says how it
    was identified: `local`, `loose`, `key`, `token` or `session`. `workflows` are the only ones that it may start,
    `None` for all. `principal` is on whose behalf its runs are started; `None` is the system. `address` and
    `correlation` are those of the request. `role` is the one that it was given, if it was, and `expires_at` when its
    key or token ends, as far as that is known."""

    tenant: int
    name: str
    scopes: frozenset[Scope] = ALL_SCOPES
    via: str = "local"
    workflows: frozenset[str] | None = None
    principal: Principal | None = None
    address: str | None = None
    correlation: str | None = None
    role: str | None = None
    expires_at: int | None = None

    def may(self, scope: Scope) -> bool:
        """Return whether the caller has a scope."""
        return scope in self.scopes

    def require(self, scope: Scope) -> None:
        """Raise Forbidden unless the caller has a scope."""
        if scope not in self.scopes:
            raise Forbidden(
                f"this needs the scope {scope}, which {self.name!r} does not have; the role {least_role(scope)} has it"
            )

    def require_installation(self, what: str) -> None:
        """Raise Forbidden for a caller of another tenant than the first one: what all tenants share is not its own."""
        if self.tenant != DEFAULT_TENANT:
            raise Forbidden(f"{what} belongs to the installation, and a tenant cannot change it")

    def require_start(self, asked: str, *known: str) -> None:
        """Raise Forbidden unless the caller may start the workflow that it asked for; `known` are its name and id.

        The message has only what the caller sent, so that it does not say whether the workflow exists."""
        if self.workflows is not None and self.workflows.isdisjoint((asked, *known)):
            raise Forbidden(
                f"{self.name!r} may not start the workflow {asked[:200]!r}; it may start only those of its key"
            )


def tenant_word(tenant: int) -> str:
    """Return how documents write a tenant whose name they do not read."""
    return "default" if tenant == DEFAULT_TENANT else str(tenant)


def local_caller(name: str) -> Caller:
    """Return a caller of the default tenant, which every installation has. It may do everything."""
    return Caller(DEFAULT_TENANT, name)
