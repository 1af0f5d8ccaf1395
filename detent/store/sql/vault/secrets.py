"""Secrets: the verbs are the same on every SQL database."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import bindparam, delete, select, text, update

from detent.store.secrets import NewSecret, SecretRow, SecretStore
from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.compiler import InList, InsertIfAbsent
from detent.store.sql.schema import run as run_table
from detent.store.sql.vault.schema import secret

_COLUMNS: Final = tuple(secret.c[name] for name in SecretRow._fields)
_OWN: Final = secret.c.tenant == bindparam("tenant")
_SECRET: Final = select(*_COLUMNS).where(_OWN, secret.c.name == bindparam("name"))
_NAMED: Final = select(*_COLUMNS).where(_OWN, InList(secret.c.name, "names", ids=False))
_SECRETS: Final = (
    select(*_COLUMNS).where(_OWN, secret.c.name > bindparam("after")).order_by(secret.c.name).limit(bindparam("limit"))
)
_CHANGED: Final = (
    select(*_COLUMNS)
    .where(secret.c.updated_at >= bindparam("since"))
    .order_by(secret.c.updated_at, secret.c.tenant, secret.c.name)
    .limit(bindparam("limit"))
)
_VERSION: Final = select(secret.c.version).where(_OWN, secret.c.name == bindparam("name")).with_for_update()
_ADD: Final = InsertIfAbsent(
    text(
        f"insert into secret ({', '.join(SecretRow._fields)})"
        f" values ({', '.join(f':{name}' for name in SecretRow._fields)})"
    ),
    "name",
)
_KNOWN: Final = secret.c.tenant == bindparam("owner"), secret.c.name == bindparam("known")
_REPLACE: Final = (
    update(secret)
    .where(*_KNOWN)
    .values(
        {
            secret.c.version: bindparam("version"),
            secret.c.sealed: bindparam("sealed"),
            secret.c.hosts: bindparam("hosts"),
            secret.c.updated_at: bindparam("at"),
            secret.c.updated_by: bindparam("by"),
        }
    )
)
_RESEAL: Final = update(secret).where(*_KNOWN).values({secret.c.sealed: bindparam("sealed")})
_TENANT: Final = select(run_table.c.tenant).where(run_table.c.id == bindparam("id"))
_DROP: Final = delete(secret).where(*_KNOWN)


class SecretVerbs(SecretStore):
    """The verbs of secrets."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def put_secret(self, new: NewSecret) -> bool:
        now = await self._access.now()
        hosts = json.dumps(list(new.hosts)) if new.hosts else None

        def put() -> Script[bool]:
            rows = yield _VERSION, {"tenant": new.tenant, "name": new.name}
            if new.version != (rows[0][0] if rows else 0) + 1:
                return False
            if rows:
                values = {"version": new.version, "sealed": new.sealed, "hosts": hosts, "at": now, "by": new.updated_by}
                yield _REPLACE, {"owner": new.tenant, "known": new.name, **values}
                return True
            values = {**new._asdict(), "hosts": hosts, "created_at": now, "updated_at": now}
            return bool((yield _ADD, values))

        return await self._access.run_script(put)

    async def secret(self, tenant: int, name: str) -> SecretRow | None:
        rows = await self._access.query(_SECRET, {"tenant": tenant, "name": name})
        return _row(rows[0]) if rows else None

    async def secrets_named(self, tenant: int, names: Collection[str]) -> list[SecretRow]:
        if not names:
            return []
        return [_row(row) for row in await self._access.query(_NAMED, {"tenant": tenant, "names": list(names)})]

    async def secrets(self, tenant: int, *, limit: int, after: str | None = None) -> list[SecretRow]:
        values = {"tenant": tenant, "after": after or "", "limit": limit}
        return [_row(row) for row in await self._access.query(_SECRETS, values)]

    async def reseal_secret(self, tenant: int, name: str, version: int, sealed: bytes) -> bool:
        def reseal() -> Script[bool]:
            rows = yield _VERSION, {"tenant": tenant, "name": name}
            if not rows or rows[0][0] != version:
                return False
            yield _RESEAL, {"owner": tenant, "known": name, "sealed": sealed}
            return True

        return await self._access.run_script(reseal)

    async def drop_secret(self, tenant: int, name: str) -> bool:
        def drop() -> Script[bool]:
            rows = yield _VERSION, {"tenant": tenant, "name": name}
            if rows:
                yield _DROP, {"owner": tenant, "known": name}
            return bool(rows)

        return await self._access.run_script(drop)

    async def tenant_of_run(self, run: bytes) -> int | None:
        rows = await self._access.query(_TENANT, {"id": run})
        return rows[0][0] if rows else None

    async def changed_secrets(self, since: int, *, limit: int) -> list[SecretRow]:
        return [_row(row) for row in await self._access.query(_CHANGED, {"since": since, "limit": limit})]


def _row(row: Any) -> SecretRow:
    tenant, name, version, sealed, hosts, created_at, updated_at, updated_by = row
    known = () if hosts is None else tuple(json.loads(hosts))
    return SecretRow(tenant, _text(name), version, bytes(sealed), known, created_at, updated_at, updated_by)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
