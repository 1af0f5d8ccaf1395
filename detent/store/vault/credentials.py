"""Stored credentials: their rows, and the verbs of a store for them.

A version rises with every content of the box. A writer names the version that it read, so of two writers the second
changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from detent.store.secrets import SecretStore
from detent.store.vault.signatures import SignatureStore


class CredentialRow(NamedTuple):
    """A credential. `config` is JSON without secrets, `sealed` the box of `version`.

    `refresher` is the node that renews its token until `refresh_until`. Without a refresher no node does until then."""

    tenant: int
    name: str
    kind: str
    config: str
    sealed: bytes
    version: int
    state: str
    reason: str | None
    expires_at: int | None
    refresher: bytes | None
    refresh_until: int | None
    created_at: int
    updated_at: int
    updated_by: str


class NewCredential(NamedTuple):
    """What a person has set of a credential. `sealed` is the box of `version`."""

    tenant: int
    name: str
    kind: str
    config: str
    sealed: bytes
    version: int
    state: str
    updated_by: str


class AwaitingRun(NamedTuple):
    """A run that a credential has paused, and since when. `name` is the credential."""

    tenant: int
    name: str
    run: bytes
    at: int


class CredentialStore(Protocol):
    """The verbs of credentials."""

    async def put_credential(self, new: NewCredential) -> bool:
        """Add a credential with version 1, or replace the version before this one. The lease and the reason end, and
        the token has no expiry. Return False if the stored version is another one."""

    async def credential(self, tenant: int, name: str) -> CredentialRow | None:
        """Return a credential."""

    async def credentials(self, tenant: int, *, limit: int, after: str | None = None) -> list[CredentialRow]:
        """List credentials by name, after that name. Their boxes are left out."""

    async def credential_states(self, tenant: int, names: Collection[str]) -> dict[str, str]:
        """Return the state of each of these credentials that exists."""

    async def drop_credential(self, tenant: int, name: str) -> bool:
        """Delete a credential. Return whether it existed."""

    async def lease_credential(self, tenant: int, name: str, version: int, *, by: bytes, seconds: float) -> bool:
        """Let a node renew the token of this version for some seconds. Return False if another node does, if no node
        may now, or if the version is another one."""

    async def release_credential(self, tenant: int, name: str, version: int, *, by: bytes, pause: float) -> None:
        """End the lease of a node. No node gets it for `pause` seconds."""

    async def renew_credential(
        self, tenant: int, name: str, version: int, *, sealed: bytes, expires_at: int | None
    ) -> bool:
        """Replace the box of this version by that of the next one. The credential is ready, and its lease ends.

        Return False if the version is another one. The node that asks needs no lease: what a provider has issued is
        stored, however late, unless something newer is stored."""

    async def refuse_credential(self, tenant: int, name: str, version: int, *, reason: str) -> bool:
        """Note that a person must connect a credential again, and end its lease. Return False if the version is
        another one."""

    async def reseal_credential(self, tenant: int, name: str, version: int, sealed: bytes) -> bool:
        """Replace the box of this version by one with the same content. Return False if the version is another one."""

    async def await_credential(self, tenant: int, name: str, run: bytes) -> None:
        """Note that a run waits for a credential."""

    async def awaiting_runs(self, *, limit: int) -> list[AwaitingRun]:
        """Return runs whose credential is ready or gone, those that wait longest first."""

    async def forget_awaiting(self, runs: Sequence[AwaitingRun]) -> None:
        """Delete these notes."""


class VaultStore(SecretStore, CredentialStore, SignatureStore, Protocol):
    """The verbs of sealed values: secrets and credentials, and of texts whose secrets are still to be sealed."""
