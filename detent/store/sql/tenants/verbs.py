"""Tenants: the verbs are the same on every SQL database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import Delete, Select, Table, bindparam, delete, func, null, select, text, tuple_, update

from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.auth.keys import new_stamp
from detent.store.sql.compiler import InsertIfAbsent
from detent.store.sql.schema import metadata, run, setting, tenant, trigger, workflow
from detent.store.tenants import LAST_TENANT, EditSettings, Owned, TenantRow, TenantStatus, TenantStore

TENANT_OF_RUN: Final = select(run.c.tenant).where(run.c.id == bindparam("id"))
TENANT_OF_TRIGGER: Final = select(trigger.c.tenant).where(
    trigger.c.id == bindparam("id"), trigger.c.deleted_at.is_(None)
)
TENANT_OF_WORKFLOW: Final = select(workflow.c.tenant).where(
    workflow.c.id == bindparam("id"), workflow.c.deleted_at.is_(None)
)
_OWNED: Final = {Owned.RUN: TENANT_OF_RUN, Owned.TRIGGER: TENANT_OF_TRIGGER, Owned.WORKFLOW: TENANT_OF_WORKFLOW}
_ROWS: Final = select(*(tenant.c[name] for name in TenantRow._fields))
_BY_ID: Final = _ROWS.where(tenant.c.id == bindparam("id"))
_BY_NAME: Final = _ROWS.where(tenant.c.name == bindparam("name"))
_LIMITED: Final = _ROWS.where(tenant.c.settings.is_not(None))
_LIST: Final = _ROWS.where(tenant.c.name > bindparam("after")).order_by(tenant.c.name).limit(bindparam("limit"))
_LAST: Final = select(setting.c.value).where(setting.c.name == bindparam("name")).with_for_update()
_FIRST_LAST: Final = InsertIfAbsent(text("insert into setting (name, value) values (:name, :value)"), "name")
_SET_LAST: Final = (
    update(setting).where(setting.c.name == bindparam("known")).values({setting.c.value: bindparam("new")})
)
_GREATEST: Final = select(func.max(tenant.c.id))
_ADD: Final = InsertIfAbsent(
    text("insert into tenant (id, name, settings, created_at) values (:id, :name, :settings, :now)")
)
_SET_SETTINGS: Final = (
    update(tenant).where(tenant.c.id == bindparam("known")).values({tenant.c.settings: bindparam("new_settings")})
)
_SUSPEND: Final = update(tenant).where(tenant.c.id == bindparam("known")).values({tenant.c.status: text("'suspended'")})
_RESUME: Final = update(tenant).where(tenant.c.id == bindparam("known")).values({tenant.c.status: null()})
_DROP: Final = delete(tenant).where(tenant.c.id == bindparam("known"))


@cache
def owned_tables() -> dict[str, Table]:
    """Return the tables that have rows of tenants, by name. Rows that others refer to come last."""
    last = ("run", "workflow_version", "workflow", "api_key")
    names = [name for name, table in metadata.tables.items() if "tenant" in table.c]
    return {name: metadata.tables[name] for name in sorted(names, key=lambda one: (one in last, one))}


@cache
def _rows_of(table: Table, *, after: bool) -> Select[Any]:
    keys = list(table.primary_key.columns)
    query = select(table).where(table.c.tenant == bindparam("tenant"))
    if after:
        query = query.where(tuple_(*keys) > tuple_(*(bindparam(f"after_{key.name}") for key in keys)))
    return query.order_by(*keys).limit(bindparam("limit"))


@cache
def _keys_of(table: Table) -> Select[Any]:
    keys = list(table.primary_key.columns)
    return select(*keys).where(table.c.tenant == bindparam("tenant")).order_by(*keys).limit(bindparam("limit"))


@cache
def _delete_to(table: Table) -> Delete:
    """Return the statement that deletes the rows of a tenant up to a key."""
    keys = list(table.primary_key.columns)
    place = tuple_(*keys) <= tuple_(*(bindparam(f"last_{key.name}") for key in keys))
    return delete(table).where(table.c.tenant == bindparam("owner"), place)


class TenantVerbs(TenantStore):
    """The verbs of tenants."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def tenant_of(self, kind: Owned, id_: bytes) -> int | None:
        rows = await self._access.query(_OWNED[kind], {"id": id_})
        return int(rows[0][0]) if rows else None

    async def add_tenant(self, name: str, settings: str | None) -> TenantRow | None:
        now = await self._access.now()

        def add() -> Script[TenantRow | None]:
            yield _FIRST_LAST, {"name": LAST_TENANT, "value": "1"}
            [[last]] = yield _LAST, {"name": LAST_TENANT}
            [[greatest]] = yield _GREATEST, {}
            id_ = max(int(last), int(greatest or 0)) + 1
            if not (yield _ADD, {"id": id_, "name": name, "settings": settings, "now": now}):
                return None
            yield _SET_LAST, {"known": LAST_TENANT, "new": str(id_)}
            yield from new_stamp()
            return TenantRow(id_, name, TenantStatus.ACTIVE, settings, now)

        return await self._access.run_script(add)

    async def tenant(self, key: int | str) -> TenantRow | None:
        clause, values = (_BY_ID, {"id": key}) if isinstance(key, int) else (_BY_NAME, {"name": key})
        rows = await self._access.query(clause, values)
        return _row(rows[0]) if rows else None

    async def tenants(self, *, limit: int, after: str | None = None) -> list[TenantRow]:
        return [_row(row) for row in await self._access.query(_LIST, {"after": after or "", "limit": limit})]

    async def limited_tenants(self) -> list[TenantRow]:
        return [_row(row) for row in await self._access.query(_LIMITED, {})]

    async def change_tenant(
        self, tenant: int, *, status: TenantStatus | None = None, edit: EditSettings | None = None
    ) -> TenantRow | None:
        def change() -> Script[TenantRow | None]:
            rows = yield _BY_ID.with_for_update(), {"id": tenant}
            if not rows:
                return None
            if status is not None:
                yield _SUSPEND if status is TenantStatus.SUSPENDED else _RESUME, {"known": tenant}
            if edit is not None:
                yield _SET_SETTINGS, {"known": tenant, "new_settings": edit(_row(rows[0]).settings)}
            yield from new_stamp()
            [row] = yield _BY_ID, {"id": tenant}
            return _row(row)

        return await self._access.run_script(change)

    def owned_tables(self) -> Sequence[str]:
        return tuple(owned_tables())

    async def owned_rows(
        self, tenant: int, table: str, *, limit: int, after: tuple[Any, ...] | None = None
    ) -> tuple[list[Mapping[str, Any]], tuple[Any, ...] | None]:
        owned = owned_tables()[table]
        keys = [key.name for key in owned.primary_key.columns]
        values: dict[str, Any] = {"tenant": tenant, "limit": limit}
        if after is not None:
            values |= {f"after_{name}": value for name, value in zip(keys, after, strict=True)}
        names = [column.name for column in owned.c]
        found = await self._access.query(_rows_of(owned, after=after is not None), values)
        rows: list[Mapping[str, Any]] = [dict(zip(names, row, strict=True)) for row in found]
        return rows, tuple(rows[-1][name] for name in keys) if len(rows) == limit else None

    async def wipe_tenant(self, tenant: int, *, limit: int) -> int:
        count = 0
        for table in owned_tables().values():
            keys = [key.name for key in table.primary_key.columns]

            def wipe(table: Table = table, keys: list[str] = keys) -> Script[int]:
                rows = yield _keys_of(table), {"tenant": tenant, "limit": limit}
                if rows:
                    last = {f"last_{name}": value for name, value in zip(keys, rows[-1], strict=True)}
                    yield _delete_to(table), {"owner": tenant, **last}
                return len(rows)

            count += await self._access.run_script(wipe)
        return count

    async def drop_tenant(self, tenant: int) -> bool:
        def drop() -> Script[bool]:
            rows = yield _BY_ID.with_for_update(), {"id": tenant}
            if not rows or _row(rows[0]).status != TenantStatus.SUSPENDED:
                return False
            yield _DROP, {"known": tenant}
            yield from new_stamp()
            return True

        return await self._access.run_script(drop)


def _row(row: Any) -> TenantRow:
    id_, name, status, settings, created_at = row
    known = TenantStatus.ACTIVE if status is None else TenantStatus(_text(status))
    return TenantRow(id_, _text(name), known, settings, created_at)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
