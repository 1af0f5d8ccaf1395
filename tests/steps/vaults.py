"""Stored credentials for tests of steps: a vault, and rows as the commands write them."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from detent.store.vault.credentials import NewCredential
from detent.vault.credential import CredentialState, SealedParts, read_spec, seal_parts
from detent.vault.sealing import Vault

KEY = bytes(range(32))
VAULT = Vault([KEY])


class Puts(Protocol):
    async def put_credential(self, new: NewCredential) -> bool: ...


async def put(store: Puts, name: str, /, *, version: int = 1, refresh: str | None = None, **document: Any) -> None:
    """Store a credential. With `refresh` its grant has that refresh token, and no access token yet."""
    spec = read_spec(document)
    parts = SealedParts(dict(spec.sealed), refresh_token=refresh)
    box = seal_parts(VAULT, 1, name, version, parts)
    config = msgspec.json.encode({**spec.config, "hosts": list(spec.hosts)}).decode()
    row = NewCredential(1, name, spec.kind, config, box, version, CredentialState.READY, "ann")
    assert await store.put_credential(row)
