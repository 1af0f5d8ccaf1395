"""People, sessions and handshakes: their rows and the verbs of a store on them (a part of `store/protocol.py`).

A change that takes a right away replaces the stamp of identities in the same transaction (see `store/auth.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class NewPerson(NamedTuple):
    """A person to insert. `name` is unique over all tenants; `password` is a hash, `None` if there is none."""

    id: bytes
    tenant: int
    name: str
    display_name: str
    email: str | None
    role: str
    password: str | None
    created_by: str


class PersonRow(NamedTuple):
    """A person as stored."""

    id: bytes
    tenant: int
    name: str
    display_name: str
    email: str | None
    role: str
    password: str | None
    created_by: str
    created_at: int
    changed_at: int
    disabled_at: int | None


class NewSession(NamedTuple):
    """A session to insert. `hash` is the SHA-256 of its cookie, in hex. `subject` is `person:ID`, `key:ID` or
    `oidc:ISSUER:SUBJECT`, and `identity` is what the login said about it, as JSON."""

    hash: str
    id: bytes
    tenant: int
    subject: str
    identity: str
    expires_at: int
    address: str | None
    agent: str | None


class SessionRow(NamedTuple):
    """A session as stored."""

    hash: str
    id: bytes
    tenant: int
    subject: str
    identity: str
    expires_at: int
    address: str | None
    agent: str | None
    created_at: int
    seen_at: int


class Handshake(NamedTuple):
    """What was begun in a browser, and is finished by a redirect from another server. `id` is the SHA-256 of its state,
    in hex."""

    id: str
    tenant: int
    kind: str
    data: str
    expires_at: int


def subject_of_person(person: bytes) -> str:
    """Return the subject of the sessions of a person."""
    return f"person:{person.hex()}"


class PersonStore(Protocol):
    """The verbs of people, sessions and handshakes."""

    async def active_tenant(self, name: str) -> int | None:
        """Return the id of a tenant by name, `None` if it does not exist or is suspended."""

    async def tenant_name(self, tenant: int) -> str | None:
        """Return the name of a tenant by its id, `None` if it does not exist."""

    async def add_person(self, person: NewPerson) -> bool:
        """Insert a person. Return False if the name is taken, in any tenant."""

    async def person(self, tenant: int, person: bytes) -> PersonRow | None:
        """Return a person of a tenant, `None` if it does not exist."""

    async def person_named(self, name: str, *, tenant: int | None = None) -> PersonRow | None:
        """Return a person of a tenant by name; of any tenant for a login, which does not know it yet."""

    async def people(self, tenant: int, *, limit: int, after: bytes | None = None) -> list[PersonRow]:
        """List the people of a tenant by id, after that id."""

    async def change_person(
        self, tenant: int, person: bytes, changes: Mapping[str, Any], *, end_sessions: bool
    ) -> PersonRow | None:
        """Change columns of a person, and end its sessions if that is asked. Return the person as it is then, `None`
        if it does not exist."""

    async def add_session(self, session: NewSession) -> None:
        """Insert a session, and delete those that have expired."""

    async def session(self, hash_: str) -> SessionRow | None:
        """Return a session of any tenant by the hash of its cookie. Only the authenticator uses this."""

    async def sessions(
        self, tenant: int, *, subject: str | None = None, limit: int, after: bytes | None = None
    ) -> list[SessionRow]:
        """List the sessions of a tenant, or of one subject, by id, after that id."""

    async def see_session(self, hash_: str, at: int) -> None:
        """Record that a session is in use."""

    async def end_session(self, tenant: int, session: bytes, *, subject: str | None = None) -> bool:
        """Delete a session of a tenant, or of one subject. Return False if it does not exist."""

    async def add_handshake(self, handshake: Handshake) -> None:
        """Insert a handshake, and delete those that have expired."""

    async def take_handshake(self, kind: str, handshake: str) -> Handshake | None:
        """Return a handshake and delete it, so that it is taken once. Return `None` if it does not exist, has expired
        or is of another kind."""
