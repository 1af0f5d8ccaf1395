"""Tenants in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from detent.store.memory.tables import MemoryTables
from detent.store.tenants import EditSettings, Owned, TenantRow, TenantStatus

_TABLES: Final = ("alert", "api_key", "dead_letter", "firing", "journal", "run", "trigger", "workflow")


class MemoryTenants(MemoryTables):
    """The verbs of tenants."""

    async def tenant_of(self, kind: Owned, id_: bytes) -> int | None:
        match kind:
            case Owned.RUN:
                run = self.table.get(id_)
                return None if run is None else run.new.tenant
            case Owned.TRIGGER:
                rule = self.rules.get(id_)
                return None if rule is None or rule.deleted_at is not None else rule.new.tenant
            case Owned.WORKFLOW:
                saved = self.saved.get(id_)
                return None if saved is None or saved.deleted_at is not None else saved.new.tenant

    async def add_tenant(self, name: str, settings: str | None) -> TenantRow | None:
        if any(row.name == name for row in self.tenants_by_id.values()):
            return None
        self.last_tenant += 1
        row = TenantRow(self.last_tenant, name, TenantStatus.ACTIVE, settings, self.clock.wall())
        self.tenants_by_id[row.id] = row
        self.new_stamp()
        return row

    async def tenant(self, key: int | str) -> TenantRow | None:
        if isinstance(key, int):
            return self.tenants_by_id.get(key)
        return next((row for row in self.tenants_by_id.values() if row.name == key), None)

    async def tenants(self, *, limit: int, after: str | None = None) -> list[TenantRow]:
        rows = sorted(self.tenants_by_id.values(), key=lambda row: row.name)
        return [row for row in rows if row.name > (after or "")][:limit]

    async def limited_tenants(self) -> list[TenantRow]:
        return [row for row in self.tenants_by_id.values() if row.settings is not None]

    async def change_tenant(
        self, tenant: int, *, status: TenantStatus | None = None, edit: EditSettings | None = None
    ) -> TenantRow | None:
        row = self.tenants_by_id.get(tenant)
        if row is None:
            return None
        row = row._replace(status=status or row.status, settings=row.settings if edit is None else edit(row.settings))
        self.tenants_by_id[tenant] = row
        self.new_stamp()
        return row

    def owned_tables(self) -> Sequence[str]:
        return _TABLES

    async def owned_rows(
        self, tenant: int, table: str, *, limit: int, after: tuple[Any, ...] | None = None
    ) -> tuple[list[Mapping[str, Any]], tuple[Any, ...] | None]:
        first = 0 if after is None else int(after[0])
        rows = list(self._rows_of(tenant, table))[first : first + limit]
        return rows, (first + limit,) if len(rows) == limit else None

    def _rows_of(self, tenant: int, table: str) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a table that a process in memory has: what tests and trials look at."""
        match table:
            case "run":
                rows: Iterator[Any] = (row.new for row in self.table.values())
            case "journal":
                rows = (entry for run in self.table for entry in self.sorted_entries(run))
            case "workflow":
                rows = (saved.new for saved in self.saved.values())
            case "trigger":
                rows = (rule.new for rule in self.rules.values())
            case "firing":
                rows = iter(self.fired.values())
            case "dead_letter":
                rows = iter(self.dead.values())
            case "alert":
                rows = iter(self.raised.values())
            case "api_key":
                rows = iter(self.api_keys.values())
            case _:
                rows = iter(())
        return (row._asdict() for row in rows if row.tenant == tenant)

    async def wipe_tenant(self, tenant: int, *, limit: int) -> int:
        runs = {id_ for id_, row in self.table.items() if row.new.tenant == tenant}
        every: list[tuple[dict[Any, Any], Any]] = [
            (self.table, lambda key, row: row.new.tenant),
            (self.saved, lambda key, row: row.new.tenant),
            (self.rules, lambda key, row: row.new.tenant),
            *((table, lambda key, row: row.tenant) for table in (self.fired, self.dead, self.raised, self.api_keys)),
            (self.waits, lambda key, row: row.tenant),
            (self.events, lambda key, row: row.tenant),
            (self.action_texts, lambda key, row: row.tenant),
            *((table, lambda key, row: row.tenant) for table in (self.persons, self.open_sessions, self.audit_rows)),
            (self.handshakes, lambda key, row: row.tenant),
            *((table, lambda key, row: row.tenant) for table in (self.blobs_by_id, self.uploads)),
            *((table, lambda key, row: row[0]) for table in (self.chunks, self.uses)),
            (self.entries, lambda key, row: tenant if key in runs else None),
            (self.results, lambda key, row: tenant if key[0] in runs else None),
            (self.layouts, lambda key, row: tenant if key in self.saved and _of(self.saved[key]) == tenant else None),
            *(
                (table, lambda key, row: key[0])
                for table in (
                    *(self.workflow_texts, self.template_sets_by_id, self.document_texts, self.entities_by_name),
                    *(self.services, self.actions_by_id, self.links, self.reservations, self.sealed_secrets),
                    *(self.credentials_by_name, self.awaiting),
                )
            ),
        ]
        doomed = [(table, key) for table, owner in every for key, row in table.items() if owner(key, row) == tenant]
        for table, key in doomed:
            del table[key]
        return len(doomed)

    async def drop_tenant(self, tenant: int) -> bool:
        row = self.tenants_by_id.get(tenant)
        if row is None or row.status != TenantStatus.SUSPENDED:
            return False
        del self.tenants_by_id[tenant]
        self.new_stamp()
        return True


def _of(saved: Any) -> int:
    return int(saved.new.tenant)
