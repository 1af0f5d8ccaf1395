"""Keys: create, list, rotate and revoke them. A key may do at most what its maker may do."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

import msgspec

from detent.auth import keys
from detent.auth.keys import MadeKey, make_key
from detent.auth.scopes import ALL_SCOPES, LIMITABLE, SCOPES, Role, Scope, scopes_of
from detent.commands.context import CommandPart
from detent.errors import Conflict, Forbidden, InvalidInput, NotFound, Problem, Unavailable
from detent.instant import SECOND, Instant
from detent.store.audit import note_audit
from detent.store.auth import KeyChange, KeyRow, NewKey

LONGEST_NAME: Final = 100
MOST_WORKFLOWS: Final = 100
#: Seconds that a rotated key stays valid beside the new one.
USUAL_GRACE: Final = 86_400.0
LONGEST_GRACE: Final = 90 * 86_400.0
_ATTEMPTS: Final = 5
#: How much the clocks of a node and the database may differ. A key that was revoked now is not shown as rotated.
_MOMENT: Final = SECOND
_MESSAGE: Final = "the key cannot be created"


class KeyRequest(NamedTuple):
    """A key to create. It has a role or scopes. `workflows` are the only ones that it may start, `None` for all.
    `tenant` is the name of the tenant that it is of, `None` for that of the caller."""

    name: str
    role: str | None = None
    scopes: tuple[str, ...] = ()
    workflows: tuple[str, ...] | None = None
    expires_at: Instant | None = None
    tenant: str | None = None


class CreatedKey(NamedTuple):
    """A key that was created now. The whole key is stored nowhere, so this is the only time it is seen."""

    row: KeyRow
    key: str


class KeyCommands(CommandPart):
    """The keys of a tenant."""

    async def create(self, asked: KeyRequest) -> CreatedKey:
        """Create a key. Raise Forbidden if it could do more than the caller, and InvalidInput with every problem."""
        self._caller.require(Scope.KEYS)
        role, scopes = self._check(asked)
        self._require_all(scopes_of(role, scopes), f"a key with {_described(role, scopes)}")
        tenant = self._tenant if asked.tenant is None else await self._tenant_named(asked.tenant)
        store = self._store if tenant == self._tenant else self._context.store
        for _ in range(_ATTEMPTS):
            made = make_key()
            note_audit(made.id, name=asked.name, may=_described(role, scopes))
            if await store.add_key(self._new(asked, tenant, role, scopes, made)):
                row = await store.own_key(tenant, made.id)
                assert row is not None
                return CreatedKey(row, made.key)
        raise Unavailable("no free id was found for the key; try again")

    async def get(self, key: str) -> KeyRow:
        """Return a key by its id. Raise NotFound if there is none."""
        self._caller.require(Scope.KEYS)
        row = await self._store.own_key(self._tenant, key) if len(key) <= len("dk_") + 8 else None
        if row is None:
            raise _missing(key)
        return row

    async def list_all(self, *, limit: int, after: str | None = None) -> list[KeyRow]:
        """Return keys by id, those after `after`, also expired and revoked ones."""
        self._caller.require(Scope.KEYS)
        return await self._store.keys(self._tenant, limit=limit, after=after)

    async def rotate(self, key: str, *, grace: float = USUAL_GRACE, expires_at: Instant | None = None) -> CreatedKey:
        """Create a key that may do the same as another, which stays valid for `grace` seconds.

        The new key expires at `expires_at`, else it lives as long as the old one did. Raise Forbidden if it could do
        more than the caller, and Conflict if the old key is not valid any more."""
        row = await self.get(key)
        scopes = keys.scopes_of_row(row)
        self._require_all(scopes, f"the key {row.name!r}")
        now = self._context.now()
        if row.revoked_at is not None or not keys.is_valid(row, now):
            raise Conflict(f"the key {row.id} is {state_of(row, now)} and cannot be rotated; create another one")
        if expires_at is None and row.expires_at is not None:
            expires_at = now + (row.expires_at - row.created_at)
        for _ in range(_ATTEMPTS):
            made = make_key()
            note_audit(new=made.id)
            change = KeyChange(made.id, made.hash, self._caller.name, expires_at)
            new = await self._store.rotate_key(self._tenant, row.id, change, at=now + round(grace * SECOND))
            if new is not None:
                return CreatedKey(new, made.key)
            if (await self.get(key)).revoked_at is not None:
                raise Conflict(f"the key {row.id} was rotated or revoked at the same time")
        raise Unavailable("no free id was found for the key; try again")

    async def revoke(self, key: str) -> KeyRow:
        """Revoke a key now. Every node refuses it within two seconds. A revoked key stays revoked."""
        row = await self.get(key)
        revoked = await self._store.revoke_key(self._tenant, row.id)
        if revoked is None:
            raise _missing(key)
        return revoked

    def now(self) -> Instant:
        """Return the time for which the states of keys are shown."""
        return self._context.now()

    async def _tenant_named(self, name: str) -> int:
        """Return the tenant of that name. Raise NotFound. Only a caller that manages tenants makes keys of others."""
        self._caller.require(Scope.TENANTS)
        row = await self._context.store.tenant(name)
        if row is None:
            raise NotFound(f"there is no tenant {name[:80]!r}")
        return row.id

    def _new(self, asked: KeyRequest, tenant: int, role: str | None, scopes: Collection[str], made: MadeKey) -> NewKey:
        return NewKey(
            id=made.id,
            tenant=tenant,
            name=asked.name,
            hash=made.hash,
            role=role,
            scopes=None if role is not None else _text(sorted(scopes)),
            workflows=None if asked.workflows is None else _text(asked.workflows),
            created_by=self._caller.name,
            expires_at=asked.expires_at,
        )

    def _check(self, asked: KeyRequest) -> tuple[str | None, tuple[str, ...]]:
        """Return the role and the scopes of a new key. Raise InvalidInput with every problem."""
        problems: list[Problem] = []
        role, scopes = asked.role, asked.scopes
        if role is None and not scopes and asked.workflows is not None:
            scopes = (Scope.EXECUTE,)
        if (role is None) == (not scopes):
            problems.append(Problem("role", f"write a role ({', '.join(Role)}) or scopes, and not both"))
        if role is not None and role not in SCOPES:
            problems.append(Problem("role", f"{role[:100]!r} is not a role; write {', '.join(Role)}"))
        unknown = [scope for scope in scopes if scope not in ALL_SCOPES]
        if unknown:
            problems.append(Problem("scopes", f"{unknown[0][:100]!r} is not a scope; write {', '.join(Scope)}"))
        if asked.workflows is not None and not problems:
            problems.extend(_limit_problems(scopes_of(role, scopes), asked.workflows))
        if asked.expires_at is not None and asked.expires_at <= self._context.now():
            problems.append(Problem("expires_at", "is over already; write an instant that is to come"))
        if problems:
            raise InvalidInput(_MESSAGE, problems)
        return role, tuple(scopes)

    def _require_all(self, scopes: frozenset[Scope], what: str) -> None:
        """Raise Forbidden unless the caller has all of these scopes, for every workflow."""
        missing = sorted(scopes - self._caller.scopes)
        if missing:
            raise Forbidden(f"{self._caller.name!r} may not make {what}: it lacks {', '.join(missing)} itself")
        if self._caller.workflows is not None:
            raise Forbidden(f"{self._caller.name!r} may start only some workflows and may not make keys")


def state_of(row: KeyRow, now: Instant) -> str:
    """Return `active`, `rotated` (valid until its revocation), `expired` or `revoked`."""
    if row.revoked_at is not None and row.revoked_at <= now + _MOMENT:
        return "revoked"
    if row.expires_at is not None and row.expires_at <= now:
        return "expired"
    return "active" if row.revoked_at is None else "rotated"


def _limit_problems(scopes: frozenset[Scope], workflows: Collection[str]) -> list[Problem]:
    if not workflows:
        return [Problem("workflows", "is empty; leave it out for a key that may start all workflows")]
    if Scope.EXECUTE not in scopes:
        return [Problem("workflows", f"a key without the scope {Scope.EXECUTE} starts no workflows")]
    beyond = sorted(scopes - LIMITABLE)
    if beyond:
        return [Problem("workflows", f"a key for some workflows cannot have {', '.join(beyond)}, which is for all")]
    return []


def _described(role: str | None, scopes: Collection[str]) -> str:
    return f"the role {role}" if role is not None else f"the scopes {', '.join(sorted(scopes))}"


def _text(words: Collection[str]) -> str:
    return msgspec.json.encode(list(words)).decode()


def _missing(key: str) -> NotFound:
    return NotFound(f"there is no key {key[:11]!r}")
