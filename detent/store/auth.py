"""Keys: their rows and the verbs of a store on them (a part of `store/protocol.py`).

The *stamp* is a random text. Every change of a key, a person, a session or a tenant replaces it in the same
transaction. Nodes read it every second, and forget the identities they know when it is another one.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

#: The setting that has the stamp.
STAMP: Final = "auth_stamp"
#: The setting that has the id of the first key of the installation.
FIRST_KEY: Final = "first_key"


class NewKey(NamedTuple):
    """A key to insert. `hash` is the SHA-256 of the whole key, in hex.

    It has either a role or scopes (a JSON list). `workflows` is a JSON list of the workflows that it may start, `None`
    for all."""

    id: str
    tenant: int
    name: str
    hash: str
    role: str | None
    scopes: str | None
    workflows: str | None
    created_by: str
    expires_at: int | None


class KeyRow(NamedTuple):
    """A key as stored. `used_at` is the day on which it was used last."""

    id: str
    tenant: int
    name: str
    hash: str
    role: str | None
    scopes: str | None
    workflows: str | None
    created_by: str
    expires_at: int | None
    created_at: int
    used_at: int | None
    revoked_at: int | None


class KeyChange(NamedTuple):
    """What a key that replaces another has of its own."""

    id: str
    hash: str
    created_by: str
    expires_at: int | None


class KeyStore(Protocol):
    """The verbs of keys."""

    async def auth_stamp(self) -> str:
        """Return the stamp of everything that identities are made of."""

    async def add_key(self, key: NewKey) -> bool:
        """Insert a key. Return False if its id is taken."""

    async def add_first_key(self, key: NewKey) -> bool:
        """Insert the first key of the installation and store its id in the setting `first_key`, in one transaction.

        Return False if the setting has the id of a key that exists. An id without a key is replaced: a node of an older
        release that died in between has left it."""

    async def key(self, key: str) -> KeyRow | None:
        """Return a key of any tenant, also one that has expired or was revoked. Only the authenticator uses this."""

    async def own_key(self, tenant: int, key: str) -> KeyRow | None:
        """Return a key of a tenant, also one that has expired or was revoked."""

    async def keys(self, tenant: int, *, limit: int, after: str | None = None) -> list[KeyRow]:
        """List the keys of a tenant by id, after that id."""

    async def revoke_key(self, tenant: int, key: str, *, at: int | None = None) -> KeyRow | None:
        """Revoke a key now, or at an instant. An earlier revocation stays. Return the key, `None` if it does not
        exist."""

    async def rotate_key(self, tenant: int, key: str, new: KeyChange, *, at: int) -> KeyRow | None:
        """Insert a key that may do the same as another, and revoke that one at an instant, in one transaction.

        Return the new key. Return `None` if the old one does not exist, or was revoked, or if the new id is taken."""

    async def use_key(self, key: str, at: int) -> None:
        """Record that a key is in use."""
