"""The keeper of stored credentials: it reads them, opens them, and renews their tokens before these expire.

One node renews at a time. It takes a lease in the credential's row before it asks the provider: a durable note that a
refresh token may have been used. The row with the new tokens names the version that it replaces, so access token and
rotated refresh token are stored together or not at all. A node that dies in between leaves the old refresh token. When
its lease is over, another node sends that one again. Providers with rotation accept it for a while for this case; one
that does not answers `invalid_grant`, and the credential waits for a person.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, NoReturn, Protocol

import msgspec

from detent.errors import CannotOpen, NoEncryptionKey, StoreError, Unavailable
from detent.instant import SECOND, Instant
from detent.observe import emit
from detent.observe.failpoints import reach
from detent.run.call import StepCall
from detent.run.outcomes import Fail, Pause, StepError
from detent.steps.credentials.opened import OpenedCredential
from detent.steps.credentials.tokens import TokenEndpoint
from detent.steps.errors import CredentialProblem
from detent.vault.credential import (
    CREDENTIAL,
    CredentialKind,
    CredentialState,
    GrantRefused,
    IssuedTokens,
    TokenTrouble,
    open_parts,
    seal_parts,
    what_to_do,
)
from detent.vault.sealing import Vault
from detent.vault.secrets import SecretOpener

#: How many seconds a node may take for a refresh. The request to the provider has less.
LEASE_SECONDS: Final = 20.0
#: After trouble with a provider no node asks it again for so many seconds.
_PAUSE_SECONDS: Final = 5.0
#: A change of a credential is seen by all nodes after so many seconds.
_FRESH_SECONDS: Final = 2.0
_LOOK_AGAIN: Final = (0.05, 0.1, 0.2, 0.4)
#: A token is renewed because of a 401 at most once in so many seconds on one node.
_FORCED_SECONDS: Final = 60.0
_MOST_KEPT: Final = 10_000
#: How long a node tries to store tokens that a provider has issued already.
_COMMIT_SECONDS: Final = 120.0

NO_CREDENTIALS: Final = "this process has no store of credentials"
_decode: Final = msgspec.json.Decoder().decode

Key = tuple[int, str]


class StoredCredential(Protocol):
    """A row of the store, as far as the keeper reads it."""

    @property
    def tenant(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def config(self) -> str: ...
    @property
    def sealed(self) -> bytes: ...
    @property
    def version(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def expires_at(self) -> Instant | None: ...
    @property
    def refresher(self) -> bytes | None: ...


class CredentialSource(Protocol):
    """The verbs of a store that the keeper needs. `store/vault/credentials.py` says what each does."""

    async def credential(self, tenant: int, name: str) -> StoredCredential | None: ...

    async def lease_credential(self, tenant: int, name: str, version: int, *, by: bytes, seconds: float) -> bool: ...

    async def release_credential(self, tenant: int, name: str, version: int, *, by: bytes, pause: float) -> None: ...

    async def renew_credential(
        self, tenant: int, name: str, version: int, *, sealed: bytes, expires_at: Instant | None
    ) -> bool: ...

    async def refuse_credential(self, tenant: int, name: str, version: int, *, reason: str) -> bool: ...

    async def await_credential(self, tenant: int, name: str, run: bytes) -> None: ...


class NeedsPerson(Exception):
    """A credential that a person must connect (again)."""


class CredentialKeeper:
    """The stored credentials as the executors of one node use them. It owns what it has opened."""

    def __init__(
        self,
        endpoint: TokenEndpoint,
        *,
        node: bytes,
        wall: Callable[[], Instant],
        lease: float = LEASE_SECONDS,
    ) -> None:
        self._secrets = SecretOpener(Vault(()))
        self._endpoint = endpoint
        self._node = node
        self._wall = wall
        self._lease = lease
        self._source: asyncio.Future[CredentialSource] | None = None
        self._kept: dict[Key, tuple[float, OpenedCredential | None]] = {}
        self._reads: dict[Key, asyncio.Task[OpenedCredential | None]] = {}
        self._renewals: dict[Key, asyncio.Task[OpenedCredential]] = {}
        self._forced: dict[Key, float] = {}
        self._troubled: dict[Key, float] = {}

    def open(self, source: CredentialSource, secrets: SecretOpener) -> None:
        """Begin to read from this store. Callers before that wait. `secrets` has the vault, and redacts what people
        have written. Tokens, of which there are ever new ones, are redacted by the attempts that send them."""
        self._secrets = secrets
        self._opening().set_result(source)

    async def close(self) -> None:
        """Wait for renewals that have begun: what a provider has issued must be stored."""
        begun = [*self._renewals.values(), *self._reads.values()]
        if begun:
            _, late = await asyncio.wait(begun, timeout=self._lease)
            for task in late:
                task.cancel()
            await asyncio.gather(*begun, return_exceptions=True)

    def forget(self) -> None:
        """Read every credential again when it is used next."""
        self._kept.clear()

    async def find(self, tenant: int, name: str) -> OpenedCredential | None:
        """Return a credential with a token that is valid now, or `None` if it is not stored.

        Raise CredentialProblem, NeedsPerson or TokenTrouble."""
        key = tenant, name
        known = self._kept.get(key)
        if known is None or known[0] <= asyncio.get_running_loop().time():
            found = await self._read(key)
        else:
            found = known[1]
        return found if found is None or not found.kind.has_tokens else await self._valid(key, found)

    async def for_call(self, call: StepCall, name: str, *, is_needed: bool = True) -> OpenedCredential | None:
        """Return the credential of an attempt. Raise CredentialProblem with the outcome of one that cannot use it."""
        try:
            found = await self.find(call.tenant, name)
        except NeedsPerson as error:
            await self.pause(call, name, str(error))
        except TokenTrouble as error:
            raise CredentialProblem(Fail(StepError("token_refused", f"credential {name!r}: {error}"))) from None
        if found is None and is_needed:
            message = f"there is no credential {name!r}; store it with `detent credentials set {name}`"
            raise CredentialProblem(Fail(StepError("missing_credential", message), retry=False))
        return found

    async def pause(self, call: StepCall, name: str, reason: str) -> NoReturn:
        """Raise CredentialProblem with a pause of the run. Note first that the run waits for this credential."""
        await (await self._store()).await_credential(call.tenant, name, call.run_id)
        error = StepError("reconnect", f"the credential {name!r} needs a person: {reason}", {"credential": name})
        raise CredentialProblem(Pause(CREDENTIAL, error))

    async def renew(self, tenant: int, used: OpenedCredential) -> OpenedCredential | None:
        """Return a newer credential than one that a service has refused, or `None` if there is none.

        Raise as `find` does."""
        if not used.kind.has_tokens:
            return None
        key = tenant, used.name
        loop = asyncio.get_running_loop()
        if key not in self._renewals:
            found = await self._read(key)
            if found is None or found.version != used.version:
                return found
            last = self._forced.get(key)
            if key not in self._renewals and last is not None and last + _FORCED_SECONDS > loop.time():
                return None
            self._forced[key] = loop.time()
        found = await self._renewal(key, used)
        return None if found.version == used.version else found

    async def renew_for_call(self, call: StepCall, used: OpenedCredential) -> OpenedCredential | None:
        """Return a newer credential as `renew` does. Raise CredentialProblem with the outcome of an attempt that
        cannot go on without it."""
        try:
            return await self.renew(call.tenant, used)
        except NeedsPerson as error:
            await self.pause(call, used.name, str(error))
        except TokenTrouble as error:
            raise CredentialProblem(Fail(StepError("token_refused", f"credential {used.name!r}: {error}"))) from None

    # -- reading

    async def _read(self, key: Key) -> OpenedCredential | None:
        """Read and open a row. Callers at the same time share one read."""
        reading = self._reads.get(key)
        if reading is None:
            reading = self._reads[key] = asyncio.create_task(self._read_now(key))
            reading.add_done_callback(lambda done: _end(self._reads, key, done))
        return await asyncio.shield(reading)

    async def _read_now(self, key: Key) -> OpenedCredential | None:
        row = await (await self._store()).credential(*key)
        if row is None:
            self._keep(key, None)
            return None
        if row.state != CredentialState.READY:
            self._kept.pop(key, None)
            raise NeedsPerson(_why(row))
        found = self._open_row(row)
        self._keep(key, found)
        return found

    def _open_row(self, row: StoredCredential) -> OpenedCredential:
        known = self._kept.get((row.tenant, row.name))
        if known is not None and known[1] is not None and known[1].box == row.sealed:
            return known[1]
        try:
            parts = open_parts(self._secrets.vault, row.tenant, row.name, row.version, row.sealed)
        except (CannotOpen, NoEncryptionKey) as error:
            raise CredentialProblem(Fail(StepError(error.code, error.message))) from None
        config = _decode(row.config)
        kind = CredentialKind(row.kind)
        made = OpenedCredential(row.name, row.version, kind, config, parts, row.expires_at, self._wall, row.sealed)
        self._secrets.redact(row.tenant, *parts.parts.values())
        return made

    def _keep(self, key: Key, found: OpenedCredential | None) -> None:
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[key] = asyncio.get_running_loop().time() + _FRESH_SECONDS, found

    # -- renewing

    async def _valid(self, key: Key, found: OpenedCredential) -> OpenedCredential:
        """Return a credential whose token is valid. One that expires soon is renewed meanwhile."""
        now = self._wall()
        is_missing = found.sealed.access_token is None
        if not is_missing and (found.expires_at is None or now < found.due_at):
            return found
        if not is_missing and found.expires_at is not None and now < found.expires_at - SECOND:
            if key not in self._renewals and self._troubled.get(key, 0.0) <= asyncio.get_running_loop().time():
                self._renewal(key, found)
            return found
        return await self._renewal(key, found)

    def _renewal(self, key: Key, seen: OpenedCredential) -> Awaitable[OpenedCredential]:
        """Return the one renewal of a credential on this node. It goes on if its callers end."""
        renewal = self._renewals.get(key)
        if renewal is None:
            renewal = self._renewals[key] = asyncio.create_task(self._renew_now(key, seen.version))
            renewal.add_done_callback(lambda done: self._renewed(key, done))
        return asyncio.shield(renewal)

    def _renewed(self, key: Key, done: asyncio.Task[OpenedCredential]) -> None:
        _end(self._renewals, key, done)
        self._troubled.pop(key, None)
        if done.cancelled() or done.exception() is not None:
            self._troubled[key] = asyncio.get_running_loop().time() + _PAUSE_SECONDS

    async def _renew_now(self, key: Key, seen: int) -> OpenedCredential:
        store = await self._store()
        for pause in _pauses(self._lease):
            row = await store.credential(*key)
            if row is None:
                self._keep(key, None)
                raise TokenTrouble("it was deleted")
            if row.state != CredentialState.READY:
                self._kept.pop(key, None)
                raise NeedsPerson(_why(row))
            found = self._open_row(row)
            if row.version != seen:
                self._keep(key, found)
                return found
            if await store.lease_credential(*key, row.version, by=self._node, seconds=self._lease):
                return await self._ask(store, key, found)
            if row.refresher is None and pause > _LOOK_AGAIN[0]:
                raise TokenTrouble("its provider issued no token a moment ago")
            await asyncio.sleep(pause)
        raise TokenTrouble("another node did not renew it in time")

    async def _ask(self, store: CredentialSource, key: Key, found: OpenedCredential) -> OpenedCredential:
        """Ask the provider for new tokens and store them. This node has the lease."""
        name = key[1]
        try:
            issued = await self._endpoint.renew(
                key[0], found.kind, found.config, found.sealed.parts, found.sealed.refresh_token
            )
        except GrantRefused as error:
            await store.refuse_credential(*key, found.version, reason=str(error))
            self._kept.pop(key, None)
            emit("credential.refused", credential=name, tenant=key[0], reason=str(error))
            row = await store.credential(*key)
            if row is not None and row.state == CredentialState.READY:
                return self._open_row(row)  # another node had stored newer tokens already
            raise NeedsPerson(str(error) if row is None else _why(row)) from None
        except BaseException as error:
            await store.release_credential(*key, found.version, by=self._node, pause=_PAUSE_SECONDS)
            if isinstance(error, TokenTrouble):
                emit("credential.not_renewed", credential=name, tenant=key[0], reason=str(error))
            raise
        reach("after_token_answer")
        return await self._store_issued(store, key, found, issued)

    async def _store_issued(
        self, store: CredentialSource, key: Key, found: OpenedCredential, issued: IssuedTokens
    ) -> OpenedCredential:
        """Store what a provider has issued. A database that is away is tried again: this exists nowhere else."""
        tenant, name = key
        now = self._wall()
        sealed = found.sealed.with_tokens(issued, now)
        expires_at = issued.expires_at(now)
        box = seal_parts(self._secrets.vault, tenant, name, found.version + 1, sealed)
        until = asyncio.get_running_loop().time() + _COMMIT_SECONDS
        for pause in _pauses(_COMMIT_SECONDS):
            try:
                await store.renew_credential(tenant, name, found.version, sealed=box, expires_at=expires_at)
                break
            except (StoreError, Unavailable):
                if asyncio.get_running_loop().time() > until:
                    raise
            await asyncio.sleep(pause)
        self._kept.pop(key, None)
        emit("credential.renewed", credential=name, tenant=tenant)
        # If the version had moved on, this reads what replaced it.
        row = await store.credential(tenant, name)
        if row is None or row.state != CredentialState.READY:
            raise NeedsPerson("it was changed meanwhile")
        made = self._open_row(row)
        self._keep(key, made)
        return made

    async def _store(self) -> CredentialSource:
        opening = self._opening()
        return opening.result() if opening.done() else await asyncio.shield(opening)

    def _opening(self) -> asyncio.Future[CredentialSource]:
        if self._source is None:
            self._source = asyncio.get_running_loop().create_future()
        return self._source


def _why(row: StoredCredential) -> str:
    return what_to_do(row.name, row.kind, row.state, row.reason)


def _pauses(seconds: float) -> list[float]:
    """Return pauses that grow, somewhat more than `seconds` in all."""
    longest = _LOOK_AGAIN[-1]
    return [*_LOOK_AGAIN, *(longest for _ in range(int(seconds / longest) + 2))]


def _end(tasks: dict[Key, Any], key: Key, done: asyncio.Task[Any]) -> None:
    """Forget a task that has ended. Its error belongs to its callers, which may have ended before it."""
    if tasks.get(key) is done:
        del tasks[key]
    if not done.cancelled():
        done.exception()
