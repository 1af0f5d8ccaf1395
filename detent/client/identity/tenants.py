"""The operations on tenants: each function describes one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType

from detent.client.calls import JSON, PAGE, Call, Pages, given, json_body, one, page, url_path
from detent.documents.answers import Json
from detent.documents.keys import DeletedTenant, TenantDocument

_PLACE: Final = "tenants"
_tenant: Final = one(TenantDocument)


def list_all(*, limit: int = PAGE) -> Pages[TenantDocument]:
    """Yield the tenants by name."""
    return Pages(Call("GET", url_path(_PLACE), page(TenantDocument), query=given(limit=limit)))


def get(tenant: str) -> Call[TenantDocument]:
    """Return a tenant by its name."""
    return Call("GET", url_path(_PLACE, tenant), _tenant)


def create(name: str) -> Call[TenantDocument]:
    """Create a tenant. It has no key yet: `keys.create` with its name as `tenant` makes one."""
    return Call("POST", url_path(_PLACE), _tenant, body=json_body({"name": name}), headers=JSON, repeatable=False)


def change(
    tenant: str,
    *,
    actions: Sequence[str] | UnsetType | None = UNSET,
    egress: Sequence[str] | UnsetType | None = UNSET,
    retention_days: int | UnsetType | None = UNSET,
    add_actions: Sequence[str] | UnsetType = UNSET,
    remove_actions: Sequence[str] | UnsetType = UNSET,
    add_egress: Sequence[str] | UnsetType = UNSET,
    remove_egress: Sequence[str] | UnsetType = UNSET,
) -> Call[TenantDocument]:
    """Change the limits of a tenant. What is not given stays, and `None` is the default. Lists are replaced; `add_` and
    `remove_` change single entries of them."""
    limits = {
        "actions": actions,
        "egress": egress,
        "retention_days": retention_days,
        "add_actions": add_actions,
        "remove_actions": remove_actions,
        "add_egress": add_egress,
        "remove_egress": remove_egress,
    }
    fields: dict[str, Json] = {}
    for name, value in limits.items():
        if not isinstance(value, UnsetType):
            fields[name] = list(value) if isinstance(value, Sequence) else value
    return Call("PATCH", url_path(_PLACE, tenant), _tenant, body=json_body(fields), headers=JSON)


def suspend(tenant: str) -> Call[TenantDocument]:
    """Refuse every request of a tenant, and let none of its triggers fire."""
    return Call("POST", url_path(_PLACE, tenant, "suspend"), _tenant)


def resume(tenant: str) -> Call[TenantDocument]:
    """Let a suspended tenant go on."""
    return Call("POST", url_path(_PLACE, tenant, "resume"), _tenant)


def export(tenant: str) -> Call[str]:
    """Return everything that a tenant has, as JSON lines."""
    return Call("GET", url_path(_PLACE, tenant, "export"), lambda answer: answer.body.decode())


def delete(tenant: str, *, confirm: str) -> Call[DeletedTenant]:
    """Delete a suspended tenant with everything it has. `confirm` is its name again."""
    return Call("DELETE", url_path(_PLACE, tenant), one(DeletedTenant), query=given(confirm=confirm))
