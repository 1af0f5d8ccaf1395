"""Workflow classes and durable functions in other tenants than the first.

They are code of the nodes, so they belong to the installation. The first tenant has the row of each. Another tenant
gets a copy when it is first started there or gets a trigger, if its list of actions allows `workflow:NAME`. A copy is
renewed when the first tenant has a newer version. An id of the first tenant's row means nothing in another tenant.
"""

from __future__ import annotations

from typing import Final

from detent.engine.cache import Startable, WorkflowCache
from detent.errors import NotAllowed, NotFound, NotStartable
from detent.forms.compile import is_code
from detent.graph import codec
from detent.ids import WORKFLOW, InvalidId, NewId, parse
from detent.store.protocol import Store
from detent.store.rows import NewVersion, WorkflowRow
from detent.tenants.limits import INSTALLATION, WORKFLOW_PREFIX
from detent.tenants.registry import TenantRegistry

_AUTHOR: Final = "detent"
_MOST_KNOWN: Final = 10_000


class CodeWorkflows:
    """Finds startable workflows of tenants, and makes the copies of those that are code."""

    def __init__(self, store: Store, workflows: WorkflowCache, tenants: TenantRegistry, new_id: NewId) -> None:
        self._store = store
        self._workflows = workflows
        self._tenants = tenants
        self._new_id = new_id
        self._renewed: dict[tuple[int, str], tuple[int, int]] = {}  # the versions of the original and its copy

    async def startable(self, tenant: int, key: str) -> Startable:
        """Return a workflow of a tenant as `WorkflowCache.startable` does. Raise NotAllowed if it is code that the
        tenant may not use."""
        if not self._tenants.is_confined(tenant):
            return await self._workflows.startable(tenant, key)
        try:
            ready = await self._workflows.startable(tenant, key)
        except NotFound:
            original = await self.original(tenant, key)
            if original is None:
                raise
            await self._copy(tenant, original)
            return await self._workflows.startable(tenant, key)
        if not any(one.startswith(WORKFLOW_PREFIX) for one in ready.code):
            return ready
        self._refuse(tenant, ready.name)
        return ready if tenant == INSTALLATION else await self._newest(tenant, ready)

    async def adopt(self, tenant: int, name: str) -> None:
        """Make the row of code in a tenant that may use it and has none. Raise NotAllowed if the tenant may not."""
        original = await self.original(tenant, name)
        if original is not None:
            await self._copy(tenant, original)

    async def original(self, tenant: int, name: str) -> WorkflowRow | None:
        """Return the row of code that another tenant than the first can start by this name; `None` if there is none.
        Raise NotAllowed if the tenant may not use it."""
        if tenant == INSTALLATION or _is_id(name):
            return None
        try:
            row = await self._workflows.row(INSTALLATION, name)
        except NotFound:
            return None
        if not is_code(row.form) or row.status != "active":
            return None
        self._refuse(tenant, row.name)
        return row

    def _refuse(self, tenant: int, name: str) -> None:
        refused = self._tenants.refusal(tenant, WORKFLOW_PREFIX + name)
        if refused is not None:
            raise NotAllowed(refused)

    async def _newest(self, tenant: int, ready: Startable) -> Startable:
        """Renew a copy if the original has another version than the one that it was made of."""
        try:
            base = await self._workflows.startable(INSTALLATION, ready.name)
        except (NotFound, NotStartable):
            return ready  # no node has this code any more, or the operator has disabled it for the first tenant
        key, versions = (tenant, ready.name), (base.version, ready.version)
        if self._renewed.get(key) == versions:
            return ready
        original = await self.original(tenant, ready.name)
        if original is None:
            return ready
        await self._copy(tenant, original)
        newest = await self._workflows.current(tenant, ready.name)
        if len(self._renewed) >= _MOST_KNOWN:
            self._renewed.clear()
        self._renewed[key] = (base.version, newest.version)
        return newest

    async def _copy(self, tenant: int, original: WorkflowRow) -> None:
        """Save a copy. If the tenant has it already, this changes nothing."""
        stored = await self._store.version(INSTALLATION, original.id, original.version)
        known = await self._store.workflow(tenant, original.name)
        if stored is None or (known is not None and not is_code(known.form)):
            return
        version = NewVersion(
            tenant=tenant,
            id=self._new_id(),
            name=original.name,
            enabled=True if known is None else known.enabled,
            source=original.source,
            graph=original.graph,
            checksum=stored.checksum,
            language=codec.decode(original.graph).language,
            author=_AUTHOR,
            **original.facts()._asdict(),
        )
        await self._store.save_workflow(version, replace=True)


def _is_id(key: str) -> bool:
    try:
        parse(WORKFLOW, key)
    except InvalidId:
        return False
    return True
