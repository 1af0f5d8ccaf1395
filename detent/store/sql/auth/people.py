"""People, sessions and handshakes: the verbs are the same on every SQL database."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from sqlalchemy import Update, bindparam, delete, select, text, update

from detent.store.identity.people import (
    Handshake,
    NewPerson,
    NewSession,
    PersonRow,
    PersonStore,
    SessionRow,
    subject_of_person,
)
from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.auth.keys import new_stamp
from detent.store.sql.auth.schema import handshake, person, session
from detent.store.sql.compiler import InsertIfAbsent
from detent.store.sql.schema import tenant

_FIRST: Final = b"\x00" * 16


def _insert(table: str, *names: str) -> str:
    return f"insert into {table} ({', '.join(names)}) values ({', '.join(f':{name}' for name in names)})"


_TENANT_NAME: Final = select(tenant.c.name).where(tenant.c.id == bindparam("id"))
_ACTIVE_TENANT: Final = select(tenant.c.id).where(tenant.c.name == bindparam("name"), tenant.c.status.is_(None))
_PEOPLE: Final = select(*(person.c[name] for name in PersonRow._fields))
_PERSON: Final = _PEOPLE.where(person.c.tenant == bindparam("tenant"), person.c.id == bindparam("id"))
_PERSON_NAMED: Final = _PEOPLE.where(person.c.name == bindparam("name"))
_PERSON_OF_TENANT: Final = _PEOPLE.where(person.c.tenant == bindparam("tenant"), person.c.name == bindparam("name"))
_PEOPLE_OF_TENANT: Final = (
    _PEOPLE.where(person.c.tenant == bindparam("tenant"), person.c.id > bindparam("after"))
    .order_by(person.c.id)
    .limit(bindparam("limit"))
)
_ADD_PERSON: Final = InsertIfAbsent(text(_insert("person", *NewPerson._fields, "created_at", "changed_at")))

_SESSIONS: Final = select(*(session.c[name] for name in SessionRow._fields))
_SESSION: Final = _SESSIONS.where(session.c.hash == bindparam("hash"))
_OF_TENANT: Final = session.c.tenant == bindparam("tenant")
_OF_SUBJECT: Final = session.c.subject == bindparam("subject")
_SESSIONS_OF_TENANT: Final = (
    _SESSIONS.where(_OF_TENANT, session.c.id > bindparam("after")).order_by(session.c.id).limit(bindparam("limit"))
)
_SESSIONS_OF_SUBJECT: Final = _SESSIONS_OF_TENANT.where(_OF_SUBJECT)
_ADD_SESSION: Final = text(_insert("session", *NewSession._fields, "created_at", "seen_at"))
_SEE_SESSION: Final = (
    update(session).where(session.c.hash == bindparam("known")).values({session.c.seen_at: bindparam("at")})
)
_OWN_SESSION: Final = select(session.c.subject).where(_OF_TENANT, session.c.id == bindparam("id")).with_for_update()
_END_SESSION: Final = delete(session).where(_OF_TENANT, session.c.id == bindparam("id"))
_END_SESSIONS: Final = delete(session).where(_OF_TENANT, _OF_SUBJECT)
_DROP_SESSIONS: Final = delete(session).where(session.c.expires_at <= bindparam("now"))

_HANDSHAKE: Final = (
    select(*(handshake.c[name] for name in Handshake._fields))
    .where(handshake.c.id == bindparam("id"), handshake.c.kind == bindparam("kind"))
    .with_for_update()
)
_ADD_HANDSHAKE: Final = text(_insert("handshake", *Handshake._fields))
_TAKE_HANDSHAKE: Final = delete(handshake).where(handshake.c.id == bindparam("id"))
_DROP_HANDSHAKES: Final = delete(handshake).where(handshake.c.expires_at <= bindparam("now"))


@cache
def _change_person(columns: frozenset[str]) -> Update:
    """Build the update of these columns."""
    return (
        update(person)
        .where(person.c.tenant == bindparam("owner"), person.c.id == bindparam("known"))
        .values({person.c[name]: bindparam(f"new_{name}") for name in sorted(columns)})
    )


class PersonVerbs(PersonStore):
    """The verbs of people, sessions and handshakes."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def active_tenant(self, name: str) -> int | None:
        rows = await self._access.query(_ACTIVE_TENANT, {"name": name})
        return int(rows[0][0]) if rows else None

    async def tenant_name(self, tenant: int) -> str | None:
        rows = await self._access.query(_TENANT_NAME, {"id": tenant})
        return str(rows[0][0]) if rows else None

    async def add_person(self, person: NewPerson) -> bool:
        now = await self._access.now()

        def add() -> Script[bool]:
            rows = yield _ADD_PERSON, {**person._asdict(), "created_at": now, "changed_at": now}
            return bool(rows)

        return await self._access.run_script(add)

    async def person(self, tenant: int, person: bytes) -> PersonRow | None:
        rows = await self._access.query(_PERSON, {"tenant": tenant, "id": person})
        return PersonRow(*rows[0]) if rows else None

    async def person_named(self, name: str, *, tenant: int | None = None) -> PersonRow | None:
        if tenant is None:
            rows = await self._access.query(_PERSON_NAMED, {"name": name})
        else:
            rows = await self._access.query(_PERSON_OF_TENANT, {"name": name, "tenant": tenant})
        return PersonRow(*rows[0]) if rows else None

    async def people(self, tenant: int, *, limit: int, after: bytes | None = None) -> list[PersonRow]:
        values = {"tenant": tenant, "after": after or _FIRST, "limit": limit}
        return [PersonRow(*row) for row in await self._access.query(_PEOPLE_OF_TENANT, values)]

    async def change_person(
        self, tenant: int, person: bytes, changes: Mapping[str, Any], *, end_sessions: bool
    ) -> PersonRow | None:
        columns = {**changes, "changed_at": await self._access.now()}

        def change() -> Script[PersonRow | None]:
            rows = yield _PERSON.with_for_update(), {"tenant": tenant, "id": person}
            if not rows:
                return None
            values = {f"new_{name}": value for name, value in columns.items()}
            yield _change_person(frozenset(columns)), {**values, "owner": tenant, "known": person}
            if end_sessions:
                yield _END_SESSIONS, {"tenant": tenant, "subject": subject_of_person(person)}
            yield from new_stamp()
            return PersonRow(*rows[0])._replace(**columns)

        return await self._access.run_script(change)

    async def add_session(self, session: NewSession) -> None:
        now = await self._access.now()

        def add() -> Script[None]:
            yield _DROP_SESSIONS, {"now": now}
            yield _ADD_SESSION, {**session._asdict(), "created_at": now, "seen_at": now}

        await self._access.run_script(add)

    async def session(self, hash_: str) -> SessionRow | None:
        rows = await self._access.query(_SESSION, {"hash": hash_})
        return SessionRow(*rows[0]) if rows else None

    async def sessions(
        self, tenant: int, *, subject: str | None = None, limit: int, after: bytes | None = None
    ) -> list[SessionRow]:
        values: dict[str, Any] = {"tenant": tenant, "after": after or _FIRST, "limit": limit}
        if subject is None:
            rows = await self._access.query(_SESSIONS_OF_TENANT, values)
        else:
            rows = await self._access.query(_SESSIONS_OF_SUBJECT, {**values, "subject": subject})
        return [SessionRow(*row) for row in rows]

    async def see_session(self, hash_: str, at: int) -> None:
        await self._access.execute(_SEE_SESSION, {"known": hash_, "at": at})

    async def end_session(self, tenant: int, session: bytes, *, subject: str | None = None) -> bool:
        def end() -> Script[bool]:
            rows = yield _OWN_SESSION, {"tenant": tenant, "id": session}
            if not rows or subject not in (None, rows[0][0]):
                return False
            yield _END_SESSION, {"tenant": tenant, "id": session}
            yield from new_stamp()
            return True

        return await self._access.run_script(end)

    async def add_handshake(self, handshake: Handshake) -> None:
        now = await self._access.now()

        def add() -> Script[None]:
            yield _DROP_HANDSHAKES, {"now": now}
            yield _ADD_HANDSHAKE, handshake._asdict()

        await self._access.run_script(add)

    async def take_handshake(self, kind: str, handshake: str) -> Handshake | None:
        now = await self._access.now()

        def take() -> Script[Handshake | None]:
            rows = yield _HANDSHAKE, {"id": handshake, "kind": kind}
            if not rows:
                return None
            yield _TAKE_HANDSHAKE, {"id": handshake}
            found = Handshake(*rows[0])
            return found if found.expires_at > now else None

        return await self._access.run_script(take)
