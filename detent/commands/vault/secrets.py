"""Secrets of a tenant: set, list, rotate, delete. No command returns a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from detent.auth.scopes import Scope
from detent.commands.context import CommandPart
from detent.errors import Conflict, InvalidInput, NotFound, Problem
from detent.expressions import is_secret_name
from detent.store.secrets import NewSecret, SecretRow
from detent.values.fields import shown
from detent.vault.credential import open_parts, seal_parts
from detent.vault.redaction import SHORTEST_SECRET
from detent.vault.secrets import LARGEST_SECRET, label_of

_PAGE: Final = 500
_TRIES: Final = 5


class Rotation(NamedTuple):
    """What a rotation did. `key` is the id of the key that seals now, and `sealed` how many boxes it has sealed."""

    key: str
    sealed: int
    current: int


class SecretCommands(CommandPart):
    """The secrets of a tenant."""

    async def set(self, name: str, value: str, hosts: Sequence[str] | None = None) -> SecretRow:
        """Set a secret, and return what is known of it. `None` leaves its hosts as they are.

        Raise InvalidInput for a value that cannot be redacted, and NoEncryptionKey if this process cannot seal."""
        self._caller.require(Scope.SECRETS)
        _check(name, value)
        vault = self._engine.secrets.vault
        for _ in range(_TRIES):
            known = await self._store.secret(self._tenant, name)
            version = 1 if known is None else known.version + 1
            kept = tuple(hosts) if hosts is not None else () if known is None else known.hosts
            sealed = vault.seal(label_of(self._tenant, name, version), value.encode())
            new = NewSecret(self._tenant, name, version, sealed, kept, self._caller.name)
            if await self._store.put_secret(new):
                self._engine.secrets.redact(self._tenant, value)
                return await self.get(name)
        raise Conflict(f"the secret {name!r} is being changed by other requests; try again")

    async def get(self, name: str) -> SecretRow:
        """Return what is known of a secret. Raise NotFound."""
        self._caller.require(Scope.SECRETS)
        row = await self._store.secret(self._tenant, name) if is_secret_name(name) else None
        if row is None:
            raise _missing(name)
        return row

    async def find(self, *, limit: int, after: str | None = None) -> list[SecretRow]:
        """Return secrets by name, those after `after`."""
        self._caller.require(Scope.SECRETS)
        return await self._store.secrets(self._tenant, limit=limit, after=after)

    async def delete(self, name: str) -> SecretRow:
        """Delete a secret, and return what was known of it. Raise NotFound. Its value stays redacted."""
        row = await self.get(name)
        if not await self._store.drop_secret(self._tenant, name):
            raise _missing(name)
        return row

    async def rotate(self) -> Rotation:
        """Seal every secret and credential of the tenant with the first key. Raise CannotOpen if a key is missing."""
        self._caller.require(Scope.SECRETS)
        vault = self._engine.secrets.vault
        key, sealed, current = vault.key_id(), 0, 0
        after: str | None = None
        while rows := await self._store.secrets(self._tenant, limit=_PAGE, after=after):
            for row in rows:
                if vault.is_current(row.sealed):
                    current += 1
                    continue
                label = label_of(self._tenant, row.name, row.version)
                box = vault.seal(label, vault.open(label, row.sealed))
                # A secret that was set meanwhile has a new version, which the first key has sealed.
                sealed += await self._store.reseal_secret(self._tenant, row.name, row.version, box)
            after = rows[-1].name
        credentials = await self._rotate_credentials()
        return Rotation(key, sealed + credentials[0], current + credentials[1])

    async def _rotate_credentials(self) -> tuple[int, int]:
        """Seal every credential with the first key. Return how many were sealed, and how many had that key."""
        vault, sealed, current = self._engine.secrets.vault, 0, 0
        after: str | None = None
        while listed := await self._store.credentials(self._tenant, limit=_PAGE, after=after):
            for name in [row.name for row in listed]:
                row = await self._store.credential(self._tenant, name)
                if row is None or vault.is_current(row.sealed):
                    current += row is not None
                    continue
                parts = open_parts(vault, self._tenant, name, row.version, row.sealed)
                box = seal_parts(vault, self._tenant, name, row.version, parts)
                # One that was renewed meanwhile has a new version, which the first key has sealed.
                sealed += await self._store.reseal_credential(self._tenant, name, row.version, box)
            after = listed[-1].name
        return sealed, current


def _check(name: str, value: str) -> None:
    problems = []
    if not is_secret_name(name):
        message = f"{shown(name)} cannot be the name of a secret; it has letters, digits, _ and -, and no digit first"
        problems.append(Problem("name", message))
    size = len(value.encode("utf-8", "surrogatepass"))
    if size < SHORTEST_SECRET:
        message = f"has {size} bytes; at least {SHORTEST_SECRET} are needed, or it would be in other texts by chance"
        problems.append(Problem("value", message))
    elif size > LARGEST_SECRET:
        problems.append(Problem("value", f"has {size:,} bytes; at most {LARGEST_SECRET:,} are allowed"))
    elif value != value.encode("utf-8", "replace").decode():
        problems.append(Problem("value", "has half a surrogate pair in it"))
    if problems:
        raise InvalidInput("the secret cannot be set", problems)


def _missing(name: str) -> NotFound:
    return NotFound(f"there is no secret {name[:200]!r}; `detent secrets list` shows their names")
