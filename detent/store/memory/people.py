"""The people, sessions and handshakes of the memory store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from detent.store.identity.people import Handshake, NewPerson, NewSession, PersonRow, SessionRow, subject_of_person
from detent.store.memory.auth import MemoryKeys
from detent.store.tenants import TenantStatus


class MemoryPeople(MemoryKeys):
    """The verbs of people, sessions and handshakes, with the same guarantees as in a database."""

    async def active_tenant(self, name: str) -> int | None:
        rows = self.tenants_by_id.values()
        return next((row.id for row in rows if row.name == name and row.status == TenantStatus.ACTIVE), None)

    async def tenant_name(self, tenant: int) -> str | None:
        row = self.tenants_by_id.get(tenant)
        return None if row is None else row.name

    async def add_person(self, person: NewPerson) -> bool:
        if any(person.name == row.name for row in self.persons.values()):
            return False
        now = self.clock.wall()
        self.persons[person.id] = PersonRow(*person, created_at=now, changed_at=now, disabled_at=None)
        return True

    async def person(self, tenant: int, person: bytes) -> PersonRow | None:
        row = self.persons.get(person)
        return row if row is not None and row.tenant == tenant else None

    async def person_named(self, name: str, *, tenant: int | None = None) -> PersonRow | None:
        rows = (row for row in self.persons.values() if row.name == name)
        return next((row for row in rows if tenant in (None, row.tenant)), None)

    async def people(self, tenant: int, *, limit: int, after: bytes | None = None) -> list[PersonRow]:
        rows = (self.persons[id_] for id_ in sorted(self.persons) if id_ > (after or b""))
        return [row for row in rows if row.tenant == tenant][:limit]

    async def change_person(
        self, tenant: int, person: bytes, changes: Mapping[str, Any], *, end_sessions: bool
    ) -> PersonRow | None:
        row = self.persons.get(person)
        if row is None or row.tenant != tenant:
            return None
        row = self.persons[person] = row._replace(**changes, changed_at=self.clock.wall())
        if end_sessions:
            subject = subject_of_person(person)
            for hash_, each in list(self.open_sessions.items()):
                if (each.tenant, each.subject) == (tenant, subject):
                    del self.open_sessions[hash_]
        self.new_stamp()
        return row

    async def add_session(self, session: NewSession) -> None:
        now = self.clock.wall()
        self.open_sessions = {key: row for key, row in self.open_sessions.items() if row.expires_at > now}
        self.open_sessions[session.hash] = SessionRow(*session, created_at=now, seen_at=now)

    async def session(self, hash_: str) -> SessionRow | None:
        return self.open_sessions.get(hash_)

    async def sessions(
        self, tenant: int, *, subject: str | None = None, limit: int, after: bytes | None = None
    ) -> list[SessionRow]:
        rows = sorted(self.open_sessions.values(), key=lambda row: row.id)
        return [
            row for row in rows if row.tenant == tenant and subject in (None, row.subject) and row.id > (after or b"")
        ][:limit]

    async def see_session(self, hash_: str, at: int) -> None:
        row = self.open_sessions.get(hash_)
        if row is not None:
            self.open_sessions[hash_] = row._replace(seen_at=at)

    async def end_session(self, tenant: int, session: bytes, *, subject: str | None = None) -> bool:
        for hash_, row in self.open_sessions.items():
            if (row.tenant, row.id) == (tenant, session) and subject in (None, row.subject):
                del self.open_sessions[hash_]
                self.new_stamp()
                return True
        return False

    async def add_handshake(self, handshake: Handshake) -> None:
        now = self.clock.wall()
        self.handshakes = {key: each for key, each in self.handshakes.items() if each.expires_at > now}
        self.handshakes[handshake.id] = handshake

    async def take_handshake(self, kind: str, handshake: str) -> Handshake | None:
        found = self.handshakes.get(handshake)
        if found is None or found.kind != kind:
            return None
        del self.handshakes[handshake]
        return found if found.expires_at > self.clock.wall() else None
