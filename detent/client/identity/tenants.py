"""The operations on tenants: each function describes one call."""

from __future__ import annotations

from typing import Final

from detent.client.calls import JSON, PAGE, Call, Pages, given, json_body, one, page, url_path
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
