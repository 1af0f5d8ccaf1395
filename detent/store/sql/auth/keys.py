"""Keys: the verbs are the same on every SQL database."""

from __future__ import annotations

import secrets
from typing import Final

from sqlalchemy import bindparam, select, text, update

from detent.store.auth import FIRST_KEY, STAMP, KeyChange, KeyRow, KeyStore, NewKey
from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.auth.schema import api_key
from detent.store.sql.compiler import InsertIfAbsent
from detent.store.sql.schema import setting

_COLUMNS: Final = tuple(api_key.c[name] for name in KeyRow._fields)
_KEY: Final = select(*_COLUMNS).where(api_key.c.id == bindparam("id"))
_OWN: Final = select(*_COLUMNS).where(api_key.c.tenant == bindparam("tenant"), api_key.c.id == bindparam("id"))
_KEYS: Final = (
    select(*_COLUMNS)
    .where(api_key.c.tenant == bindparam("tenant"), api_key.c.id > bindparam("after"))
    .order_by(api_key.c.id)
    .limit(bindparam("limit"))
)
_FIELDS: Final = (*NewKey._fields, "created_at")
_ADD: Final = InsertIfAbsent(
    text(f"insert into api_key ({', '.join(_FIELDS)}) values ({', '.join(f':{name}' for name in _FIELDS)})")
)
_REVOKE: Final = (
    update(api_key)
    .where(api_key.c.tenant == bindparam("owner"), api_key.c.id == bindparam("known"))
    .values({api_key.c.revoked_at: bindparam("at")})
)
_USE: Final = update(api_key).where(api_key.c.id == bindparam("known")).values({api_key.c.used_at: bindparam("at")})
_STAMP: Final = select(setting.c.value).where(setting.c.name == bindparam("name"))
_ADD_STAMP: Final = InsertIfAbsent(text("insert into setting (name, value) values (:name, :value)"), "name")
_CHANGE_STAMP: Final = (
    update(setting).where(setting.c.name == bindparam("known")).values({setting.c.value: bindparam("new")})
)
_REPLACE_NOTE: Final = (
    update(setting)
    .where(setting.c.name == bindparam("known"), setting.c.value == bindparam("old"))
    .values({setting.c.value: bindparam("new")})
)


def new_stamp() -> Script[None]:
    """Replace the stamp, as a part of the transaction that changes an identity."""
    value = secrets.token_hex(8)
    yield _ADD_STAMP, {"name": STAMP, "value": value}
    yield _CHANGE_STAMP, {"known": STAMP, "new": value}


class KeyVerbs(KeyStore):
    """The verbs of keys."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def auth_stamp(self) -> str:
        rows = await self._access.query(_STAMP, {"name": STAMP})
        return str(rows[0][0]) if rows else ""

    async def add_key(self, key: NewKey) -> bool:
        now = await self._access.now()

        def add() -> Script[bool]:
            rows = yield _ADD, {**key._asdict(), "created_at": now}
            return bool(rows)

        return await self._access.run_script(add)

    async def add_first_key(self, key: NewKey) -> bool:
        now = await self._access.now()

        def add() -> Script[bool]:
            if not (yield _ADD_STAMP, {"name": FIRST_KEY, "value": key.id}):
                [(noted,)] = yield _STAMP, {"name": FIRST_KEY}
                if (yield _KEY, {"id": noted}):
                    return False
                yield _REPLACE_NOTE, {"known": FIRST_KEY, "old": noted, "new": key.id}
                [(noted,)] = yield _STAMP, {"name": FIRST_KEY}
                if noted != key.id:  # another node has replaced it
                    return False
            rows = yield _ADD, {**key._asdict(), "created_at": now}
            return bool(rows)

        return await self._access.run_script(add)

    async def key(self, key: str) -> KeyRow | None:
        rows = await self._access.query(_KEY, {"id": key})
        return KeyRow(*rows[0]) if rows else None

    async def own_key(self, tenant: int, key: str) -> KeyRow | None:
        rows = await self._access.query(_OWN, {"tenant": tenant, "id": key})
        return KeyRow(*rows[0]) if rows else None

    async def keys(self, tenant: int, *, limit: int, after: str | None = None) -> list[KeyRow]:
        rows = await self._access.query(_KEYS, {"tenant": tenant, "after": after or "", "limit": limit})
        return [KeyRow(*row) for row in rows]

    async def revoke_key(self, tenant: int, key: str, *, at: int | None = None) -> KeyRow | None:
        now = await self._access.now()
        moment = now if at is None else at

        def revoke() -> Script[KeyRow | None]:
            rows = yield _OWN.with_for_update(), {"tenant": tenant, "id": key}
            if not rows:
                return None
            row = KeyRow(*rows[0])
            if row.revoked_at is not None and row.revoked_at <= moment:
                return row
            yield _REVOKE, {"owner": tenant, "known": key, "at": moment}
            yield from new_stamp()
            return row._replace(revoked_at=moment)

        return await self._access.run_script(revoke)

    async def rotate_key(self, tenant: int, key: str, new: KeyChange, *, at: int) -> KeyRow | None:
        now = await self._access.now()

        def rotate() -> Script[KeyRow | None]:
            rows = yield _OWN.with_for_update(), {"tenant": tenant, "id": key}
            row = KeyRow(*rows[0]) if rows else None
            if row is None or row.revoked_at is not None:
                return None
            made = row._replace(**new._asdict(), created_at=now, used_at=None)
            values = made._asdict()
            added = yield _ADD, {name: values[name] for name in _FIELDS}
            if not added:
                return None
            yield _REVOKE, {"owner": tenant, "known": key, "at": at}
            yield from new_stamp()
            return made

        return await self._access.run_script(rotate)

    async def use_key(self, key: str, at: int) -> None:
        await self._access.execute(_USE, {"known": key, "at": at})
