"""API keys: `dk_<8 letters>_<43 letters>`. The first part finds the row, and the whole key is compared by its hash.

A key has 256 random bits, so a fast hash is enough: a slow one protects only secrets that can be guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import Final, NamedTuple

import msgspec

from detent.auth.caller import Caller
from detent.auth.scopes import Scope, scopes_of
from detent.errors import Unauthenticated
from detent.run.initiator import Principal
from detent.store.auth import KeyRow

PREFIX: Final = "dk_"
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
_ID_LETTERS: Final = 8
_KEY: Final = re.compile(r"dk_([a-z0-9]{8})_([A-Za-z0-9_-]{43})", re.ASCII)
#: What is refused says no more than this, so that a guess learns nothing.
_REFUSED: Final = "the API key is not valid: it is unknown, expired or revoked; `detent keys create` makes another"
_no_row: Final = "0" * 64


class MadeKey(NamedTuple):
    """A new key: its id, the whole key, which is shown once, and the hash to store."""

    id: str
    key: str
    hash: str


def make_key() -> MadeKey:
    """Make a new key."""
    id_ = "".join(secrets.choice(_LETTERS) for _ in range(_ID_LETTERS))
    key = f"{PREFIX}{id_}_{secrets.token_urlsafe(32)}"
    return MadeKey(id_, key, hash_of(key))


def hash_of(key: str) -> str:
    """Return the hash of a key, as it is stored."""
    return hashlib.sha256(key.encode()).hexdigest()


def id_of(key: str) -> str:
    """Return the public part of a key. Raise Unauthenticated if it does not have the form of one."""
    found = _KEY.fullmatch(key)
    if found is None:
        raise Unauthenticated(_REFUSED)
    return found[1]


def caller_of(key: str, row: KeyRow | None, now: int) -> Caller:
    """Return the caller of a key. Raise Unauthenticated unless the row is that of this key and it is valid now."""
    is_same = hmac.compare_digest(hash_of(key), _no_row if row is None else row.hash)
    if row is None or not is_same or not is_valid(row, now):
        raise Unauthenticated(_REFUSED)
    return caller_of_row(row)


def caller_of_row(row: KeyRow) -> Caller:
    """Return the caller of a key that was compared before."""
    scopes = scopes_of_row(row)
    workflows = None if row.workflows is None else frozenset(msgspec.json.decode(row.workflows, type=list[str]))
    return Caller(
        row.tenant,
        f"key {row.name}",
        scopes,
        via="key",
        workflows=workflows,
        principal=Principal(f"key:{row.id}", row.name),
        role=row.role,
        expires_at=until(row),
    )


def scopes_of_row(row: KeyRow) -> frozenset[Scope]:
    """Return the scopes of a key."""
    return scopes_of(row.role, msgspec.json.decode(row.scopes, type=list[str]) if row.scopes else ())


def is_valid(row: KeyRow, now: int) -> bool:
    """Return whether a key is neither expired nor revoked."""
    ends = [moment for moment in (row.expires_at, row.revoked_at) if moment is not None]
    return all(now < moment for moment in ends)


def until(row: KeyRow) -> int | None:
    """Return when a key stops to be valid, as far as that is known."""
    return min((moment for moment in (row.expires_at, row.revoked_at) if moment is not None), default=None)
