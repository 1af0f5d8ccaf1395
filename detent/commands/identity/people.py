"""People of a tenant and sessions of browsers: add, change and disable people, list and end sessions.

A caller cannot make more of a person than it is itself: neither by a role with scopes that the caller lacks, nor by the
password of a person that has such scopes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from detent.auth.passwords import check_password
from detent.auth.scopes import SCOPES, Role, Scope, scopes_of
from detent.auth.sessions import is_live
from detent.commands.context import CommandPart
from detent.errors import Forbidden, InvalidInput, NameTaken, NotFound, Problem
from detent.ids import PERSON, SESSION, InvalidId, parse
from detent.store.audit import note_audit
from detent.store.identity.people import NewPerson, PersonRow, SessionRow
from detent.values.fields import shown

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,127}")
_MESSAGE: Final = "the person cannot be saved"


class PersonRequest(NamedTuple):
    """What a caller says of a new person. Without a password the person cannot sign in with one."""

    name: str
    role: str
    display_name: str | None = None
    email: str | None = None
    password: str | None = None


class PersonCommands(CommandPart):
    """The people of a tenant who sign in with a name and a password."""

    async def create(self, new: PersonRequest) -> PersonRow:
        """Add a person. Raise InvalidInput, NameTaken, or Forbidden for a role beyond that of the caller."""
        self._caller.require(Scope.KEYS)
        name = new.name.strip().lower()
        if not _NAME.fullmatch(name):
            message = f"must have 1 to 128 letters, digits or ._@+- and begin with a letter or digit, not {shown(name)}"
            raise InvalidInput(_MESSAGE, [Problem("name", message)])
        self._check_role(new.role)
        note_audit(name, role=new.role)
        password = None if new.password is None else await self._hash(new.password)
        person = NewPerson(
            self._engine.new_id(),
            self._tenant,
            name,
            new.display_name or name,
            new.email,
            new.role,
            password,
            self._caller.name,
        )
        if not await self._store.add_person(person):
            raise NameTaken(f"there is a person named {name!r} already; choose another name")
        row = await self._store.person(self._tenant, person.id)
        assert row is not None
        return row

    async def find(self, *, limit: int, after: bytes | None = None) -> list[PersonRow]:
        """List people in the order in which they were added, after that id."""
        self._caller.require(Scope.KEYS)
        return await self._store.people(self._tenant, limit=limit, after=after)

    async def get(self, key: str) -> PersonRow:
        """Return a person by id or name. Raise NotFound."""
        self._caller.require(Scope.KEYS)
        try:
            row = await self._store.person(self._tenant, parse(PERSON, key))
        except InvalidId:
            row = await self._store.person_named(key.strip().lower(), tenant=self._tenant)
        if row is None:
            raise NotFound(f"there is no person {shown(key)}")
        return row

    async def change(self, key: str, changes: Mapping[str, Any]) -> PersonRow:
        """Change a person: `role`, `display_name`, `email`, `password` or `disabled`. A new password and disabling end
        the person's sessions."""
        row = await self.get(key)
        if not scopes_of(row.role) <= self._caller.scopes:
            raise Forbidden(f"{row.name!r} has the role {row.role}, which may do more than {self._caller.name!r}")
        values = {name: value for name, value in changes.items() if name in ("role", "display_name", "email")}
        if "role" in changes:
            self._check_role(changes["role"])
        if "password" in changes:
            values["password"] = await self._hash(changes["password"])
        if "disabled" in changes and changes["disabled"] != (row.disabled_at is not None):
            values["disabled_at"] = self._context.now() if changes["disabled"] else None
        ends = "password" in values or values.get("disabled_at") is not None
        changed = await self._store.change_person(self._tenant, row.id, values, end_sessions=ends)
        if changed is None:
            raise NotFound(f"there is no person {shown(key)}")
        return changed

    def _check_role(self, role: str) -> None:
        if role not in SCOPES:
            message = f"must be one of {', '.join(Role)}, not {shown(role)}"
            raise InvalidInput(_MESSAGE, [Problem("role", message)])
        if not scopes_of(role) <= self._caller.scopes:
            raise Forbidden(
                f"{self._caller.name!r} may not grant the role {role}, which may do more than it may itself"
            )

    async def _hash(self, password: str) -> str:
        return await self._context.passwords.hash(check_password(password))


class SessionCommands(CommandPart):
    """The sessions of a tenant. A caller sees and ends its own; those of others need `keys:manage`."""

    async def find(self, *, subject: str | None, limit: int, after: bytes | None = None) -> list[SessionRow]:
        """List the sessions of a subject, or of everyone, in the order in which they began, after that id."""
        if subject is None:
            self._caller.require(Scope.KEYS)
        now, found = self._context.now(), list[SessionRow]()
        while len(found) < limit:
            rows = await self._store.sessions(self._tenant, subject=subject, limit=limit, after=after)
            found += (row for row in rows if is_live(row, now))
            if len(rows) < limit:
                break
            after = rows[-1].id
        return found[:limit]

    async def end(self, key: str, *, subject: str | None) -> None:
        """End a session by its id. Raise NotFound if it does not exist, or is not that of the subject and the caller
        may not end those of others."""
        own = None if self._caller.may(Scope.KEYS) else subject or ""
        try:
            has_ended = await self._store.end_session(self._tenant, parse(SESSION, key), subject=own)
        except InvalidId:
            has_ended = False
        if not has_ended:
            raise NotFound(f"there is no session {shown(key)}")
