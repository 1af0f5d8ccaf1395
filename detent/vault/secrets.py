"""Secrets of tenants while this process runs: opened for steps, and redacted from everything that comes in.

Every attempt opens the newest version. Attempts that ask at the same time share one read of the store, which begins
after the last of them has asked. A value that was opened once is redacted for good.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

from detent.errors import CannotOpen, NoEncryptionKey, StoreError
from detent.run.outcomes import SEALED
from detent.vault.redaction import Redactor
from detent.vault.sealing import Label, Vault

KIND: Final = "secret"
#: The codes of errors of steps: there is no such secret, and it cannot be opened now.
MISSING: Final = "missing_secret"
UNAVAILABLE: Final = "secret_unavailable"
LARGEST_SECRET: Final = 64 * 1024


class SealedSecret(Protocol):
    """A row of the store: one secret of a tenant, sealed."""

    @property
    def tenant(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def sealed(self) -> bytes: ...
    @property
    def hosts(self) -> Sequence[str]: ...


class SecretRows(Protocol):
    """What secrets are read from."""

    async def secrets_named(self, tenant: int, names: Collection[str]) -> Sequence[SealedSecret]:
        """Return the secrets of a tenant that have these names."""


class SecretProvider(Protocol):
    """Where else secrets are: the environment, files, another server. It belongs to the tenant of the operator."""

    async def read(self, name: str) -> str | None:
        """Return the value of a secret; `None` if this provider does not have it. Raise SecretUnavailable."""

    async def close(self) -> None:
        """Close connections."""


class OpenSecret(NamedTuple):
    """A secret as a step uses it. With `hosts`, it may be sent to these only."""

    name: str
    value: str
    hosts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"OpenSecret({self.name!r})"


class SecretUnavailable(Exception):
    """A secret cannot be opened. With `retry`, another attempt could help. `code` is that of the step's error."""

    def __init__(self, message: str, *, code: str = MISSING, retry: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.retry = retry


def label_of(tenant: int, name: str, version: int) -> Label:
    """Return what the box of a secret is for."""
    return Label(tenant, KIND, name, version)


class SecretOpener:
    """Opens secrets, and redacts the values of those that were opened or that the store has.

    `redactors` has one redactor for each tenant with secrets. It is empty in a process without any.
    """

    def __init__(self, vault: Vault, rows: SecretRows | None = None, providers: Sequence[SecretProvider] = ()) -> None:
        self.vault = vault
        self.rows = rows
        self.redactors: dict[int, Redactor] = {}
        #: The tenant that the providers belong to: they are the operator's.
        self.provided_to: int | None = None
        self._providers = providers
        self._asked: dict[int, _Reading] = {}

    async def open(self, tenant: int, names: Iterable[str]) -> dict[str, OpenSecret]:
        """Return the newest version of secrets, by their names. Raise SecretUnavailable."""
        wanted = list(dict.fromkeys(names))
        found = await self._stored(tenant, wanted)
        for name in wanted:
            if name not in found:
                found[name] = await self._provided(tenant, name)
        return {name: found[name] for name in wanted}

    def open_now(self, tenant: int, name: str) -> OpenSecret | None:
        """Return a secret that is known without waiting for the store, or `None`. Of a node none is."""
        return None

    async def missing(self, tenant: int, names: Collection[str]) -> list[str]:
        """Return the names of secrets that neither the store nor a provider has, sorted."""
        rows = [] if self.rows is None else await self.rows.secrets_named(tenant, names)
        found = {row.name for row in rows}
        absent = []
        for name in sorted(set(names) - found):
            try:
                await self._provided(tenant, name)
            except SecretUnavailable as error:
                if error.code == MISSING:
                    absent.append(name)
        return absent

    async def close(self) -> None:
        """Close the providers."""
        for provider in self._providers:
            await provider.close()

    def learn(self, rows: Iterable[SealedSecret]) -> None:
        """Redact the values of stored secrets from now on. Those that cannot be opened here are left out."""
        for row in rows:
            try:
                self._open(row)
            except (CannotOpen, NoEncryptionKey):
                continue

    def redact(self, tenant: int, *values: str) -> None:
        """Redact these values from now on."""
        self.redactors.setdefault(tenant, Redactor()).add(*values)

    def clean(self, text: str) -> str:
        """Return a text of any tenant without the values of secrets."""
        for redactor in self.redactors.values():
            text = redactor.text(text)
        return text

    def seal_result(self, tenant: int, result: bytes) -> str:
        """Return the box of a step's result as text. Raise NoEncryptionKey."""
        return base64.b64encode(self.vault.seal(_result_label(tenant), result)).decode()

    def open_result(self, tenant: int, stored: bytes) -> bytes:
        """Return a result as its step returned it. One that is not sealed is returned unchanged. Raise CannotOpen."""
        box = msgspec.json.decode(stored, type=_SealedResult).box
        return stored if box is None else self.vault.open(_result_label(tenant), base64.b64decode(box))

    def unsealer(self, tenant: int) -> Callable[[bytes], bytes]:
        """Return the function that opens sealed results of a tenant."""
        return lambda stored: self.open_result(tenant, stored)

    async def _stored(self, tenant: int, names: Collection[str]) -> dict[str, OpenSecret]:
        if self.rows is None:
            return {}
        try:
            rows = await self._read(tenant, names)
        except StoreError as error:
            raise SecretUnavailable(error.message, code=UNAVAILABLE, retry=True) from error
        try:
            return {name: self._open(rows[name]) for name in names if name in rows}
        except (CannotOpen, NoEncryptionKey) as error:
            raise SecretUnavailable(error.message, code=UNAVAILABLE, retry=True) from error

    def _open(self, row: SealedSecret) -> OpenSecret:
        value = self.vault.open(label_of(row.tenant, row.name, row.version), row.sealed).decode()
        self.redact(row.tenant, value)
        return OpenSecret(row.name, value, tuple(row.hosts))

    async def _provided(self, tenant: int, name: str) -> OpenSecret:
        for provider in self._providers if tenant == self.provided_to else ():
            value = await provider.read(name)
            if value is not None:
                self.redact(tenant, value)
                return OpenSecret(name, value)
        raise SecretUnavailable(f"there is no secret {name!r}; set it with `detent secrets set {name}`")

    async def _read(self, tenant: int, names: Collection[str]) -> Mapping[str, SealedSecret]:
        """Read secrets together with others who ask now. The read begins after this call."""
        reading = self._asked.get(tenant)
        if reading is None:
            reading = self._asked[tenant] = _Reading()
            reading.task = asyncio.create_task(self._read_all(tenant, reading))
        reading.names.update(names)
        assert reading.task is not None
        return await asyncio.shield(reading.task)

    async def _read_all(self, tenant: int, reading: _Reading) -> Mapping[str, SealedSecret]:
        # A new task begins at the next turn of the loop: until then others may add their names.
        del self._asked[tenant]
        assert self.rows is not None
        return {row.name: row for row in await self.rows.secrets_named(tenant, sorted(reading.names))}


class _SealedResult(msgspec.Struct):
    """A stored result whose values are in a box."""

    box: str | None = msgspec.field(default=None, name=SEALED)


def _result_label(tenant: int) -> Label:
    # A run that is made again has results of another run, so the label does not name the run.
    return Label(tenant, "result", "", 1)


class _Reading:
    """A read of the store that has not begun: the names that it asks for."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.task: asyncio.Task[Mapping[str, SealedSecret]] | None = None
