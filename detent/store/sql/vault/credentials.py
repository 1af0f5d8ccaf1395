"""The verbs of credentials, the same on every SQL database."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import bindparam, delete, null, or_, select, text, update

from detent.instant import micros
from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.compiler import InList, InsertIfAbsent
from detent.store.sql.vault.schema import credential, credential_waiter
from detent.store.vault.credentials import AwaitingRun, CredentialRow, CredentialStore, NewCredential

_ROW: Final = tuple(credential.c[name] for name in CredentialRow._fields)
_SEALED: Final = CredentialRow._fields.index("sealed")
_LISTED: Final = (*_ROW[:_SEALED], *_ROW[_SEALED + 1 :])
_OWN: Final = (credential.c.tenant == bindparam("tenant"), credential.c.name == bindparam("name"))
_ITS: Final = (credential.c.tenant == bindparam("its_tenant"), credential.c.name == bindparam("its_name"))
ONE: Final = select(*_ROW).where(*_OWN)
LISTED: Final = (
    select(*_LISTED)
    .where(credential.c.tenant == bindparam("tenant"), credential.c.name > bindparam("after"))
    .order_by(credential.c.name)
    .limit(bindparam("limit"))
)
STATES: Final = select(credential.c.name, credential.c.state).where(
    credential.c.tenant == bindparam("tenant"), InList(credential.c.name, "names", ids=False)
)
LOCK: Final = (
    select(credential.c.version, credential.c.refresher, credential.c.refresh_until).where(*_OWN).with_for_update()
)
ADD: Final = InsertIfAbsent(
    text(
        """insert into credential (tenant, name, kind, config, sealed, version, state, created_at, updated_at,
                                   updated_by)
           values (:tenant, :name, :kind, :config, :sealed, :version, :state, :now, :now, :updated_by)"""
    ),
    "name",
)
_NO_LEASE: Final = {credential.c.refresher: null(), credential.c.refresh_until: null()}
REPLACE: Final = (
    update(credential)
    .where(*_ITS)
    .values(
        {
            **{
                credential.c[name]: bindparam(f"new_{name}")
                for name in ("kind", "config", "sealed", "version", "state", "updated_by")
            },
            credential.c.updated_at: bindparam("now"),
            credential.c.reason: null(),
            credential.c.expires_at: null(),
            **_NO_LEASE,
        }
    )
)
DROP: Final = delete(credential).where(*_OWN)
LEASE: Final = (
    update(credential)
    .where(*_ITS)
    .values({credential.c.refresher: bindparam("by"), credential.c.refresh_until: bindparam("until")})
)
RENEW: Final = (
    update(credential)
    .where(*_ITS)
    .values(
        {
            credential.c.sealed: bindparam("new_sealed"),
            credential.c.version: bindparam("new_version"),
            credential.c.state: bindparam("new_state"),
            credential.c.expires_at: bindparam("new_expiry"),
            credential.c.reason: null(),
            **_NO_LEASE,
        }
    )
)
REFUSE: Final = (
    update(credential)
    .where(*_ITS)
    .values({credential.c.state: bindparam("new_state"), credential.c.reason: bindparam("why"), **_NO_LEASE})
)
RESEAL: Final = update(credential).where(*_ITS).values({credential.c.sealed: bindparam("new_sealed")})
AWAIT: Final = InsertIfAbsent(
    text("insert into credential_waiter (tenant, name, run, at) values (:tenant, :name, :run, :now)"), "run"
)
_SAME: Final = (credential.c.tenant == credential_waiter.c.tenant) & (credential.c.name == credential_waiter.c.name)
AWAITING: Final = (
    select(*(credential_waiter.c[name] for name in AwaitingRun._fields))
    .select_from(credential_waiter.outerjoin(credential, _SAME))
    .where(or_(credential.c.state == bindparam("ready"), credential.c.state.is_(None)))
    .order_by(credential_waiter.c.at, credential_waiter.c.run)
    .limit(bindparam("limit"))
)
FORGET: Final = delete(credential_waiter).where(
    credential_waiter.c.tenant == bindparam("tenant"),
    credential_waiter.c.name == bindparam("name"),
    credential_waiter.c.run == bindparam("run"),
)
_READY: Final = "ready"
_RECONNECT: Final = "reconnect"


class CredentialVerbs(CredentialStore):
    """The verbs of credentials."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def put_credential(self, new: NewCredential) -> bool:
        now = await self._access.now()

        def put() -> Script[bool]:
            known = yield LOCK, {"tenant": new.tenant, "name": new.name}
            if not known:
                return new.version == 1 and bool((yield ADD, {**new._asdict(), "now": now}))
            if known[0][0] != new.version - 1:
                return False
            values = {f"new_{name}": value for name, value in new._asdict().items()}
            yield REPLACE, {**values, "its_tenant": new.tenant, "its_name": new.name, "now": now}
            return True

        return await self._access.run_script(put)

    async def credential(self, tenant: int, name: str) -> CredentialRow | None:
        rows = await self._access.query(ONE, {"tenant": tenant, "name": name})
        return CredentialRow(*rows[0]) if rows else None

    async def credentials(self, tenant: int, *, limit: int, after: str | None = None) -> list[CredentialRow]:
        rows = await self._access.query(LISTED, {"tenant": tenant, "after": after or "", "limit": limit})
        return [CredentialRow._make((*row[:_SEALED], b"", *row[_SEALED:])) for row in rows]

    async def credential_states(self, tenant: int, names: Collection[str]) -> dict[str, str]:
        if not names:
            return {}
        rows = await self._access.query(STATES, {"tenant": tenant, "names": sorted(names)})
        return {row[0]: row[1] for row in rows}

    async def drop_credential(self, tenant: int, name: str) -> bool:
        values = {"tenant": tenant, "name": name}

        def drop() -> Script[bool]:
            if not (yield LOCK, values):
                return False
            yield DROP, values
            return True

        return await self._access.run_script(drop)

    async def lease_credential(self, tenant: int, name: str, version: int, *, by: bytes, seconds: float) -> bool:
        now = await self._access.now()

        def lease() -> Script[bool]:
            known = yield LOCK, {"tenant": tenant, "name": name}
            if not known or known[0][0] != version:
                return False
            until = known[0][2]
            # A lease of the far future was taken while the clock of the database was wrong.
            if until is not None and now < until <= now + _LONGEST_LEASE:
                return False
            values = {"its_tenant": tenant, "its_name": name, "by": by, "until": now + micros(seconds)}
            yield LEASE, values
            return True

        return await self._access.run_script(lease)

    async def release_credential(self, tenant: int, name: str, version: int, *, by: bytes, pause: float) -> None:
        now = await self._access.now()

        def release() -> Script[None]:
            known = yield LOCK, {"tenant": tenant, "name": name}
            if known and known[0][0] == version and known[0][1] == by:
                yield LEASE, {"its_tenant": tenant, "its_name": name, "by": None, "until": now + micros(pause)}

        await self._access.run_script(release)

    async def renew_credential(
        self, tenant: int, name: str, version: int, *, sealed: bytes, expires_at: int | None
    ) -> bool:
        values = {"new_sealed": sealed, "new_version": version + 1, "new_state": _READY, "new_expiry": expires_at}
        return await self._change(RENEW, tenant, name, version, values)

    async def refuse_credential(self, tenant: int, name: str, version: int, *, reason: str) -> bool:
        return await self._change(REFUSE, tenant, name, version, {"new_state": _RECONNECT, "why": reason})

    async def reseal_credential(self, tenant: int, name: str, version: int, sealed: bytes) -> bool:
        return await self._change(RESEAL, tenant, name, version, {"new_sealed": sealed})

    async def _change(self, clause: Any, tenant: int, name: str, version: int, values: dict[str, Any]) -> bool:
        """Change a credential if it has this version."""

        def change() -> Script[bool]:
            known = yield LOCK, {"tenant": tenant, "name": name}
            if not known or known[0][0] != version:
                return False
            yield clause, {**values, "its_tenant": tenant, "its_name": name}
            return True

        return await self._access.run_script(change)

    async def await_credential(self, tenant: int, name: str, run: bytes) -> None:
        now = await self._access.now()
        await self._access.execute(AWAIT, {"tenant": tenant, "name": name, "run": run, "now": now})

    async def awaiting_runs(self, *, limit: int) -> list[AwaitingRun]:
        rows = await self._access.query(AWAITING, {"ready": _READY, "limit": limit})
        return [AwaitingRun(*row) for row in rows]

    async def forget_awaiting(self, runs: Sequence[AwaitingRun]) -> None:
        def forget() -> Script[None]:
            for one in sorted(runs):
                yield FORGET, {"tenant": one.tenant, "name": one.name, "run": one.run}

        if runs:
            await self._access.run_script(forget)


#: No lease is longer than ten minutes.
_LONGEST_LEASE: Final = micros(600)
