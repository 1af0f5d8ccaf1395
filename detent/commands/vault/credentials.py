"""Credentials of a tenant: set, list, connect, delete. No command returns a sealed part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from detent.auth.caller import Caller
from detent.auth.scopes import Scope
from detent.catalog.connections import MissingConnection
from detent.commands.context import CommandPart
from detent.commands.vault.connect import ProviderAnswer, ProviderPage, begin_connection, finish_connection
from detent.commands.vault.waiters import CredentialWaiters
from detent.errors import CannotOpen, Conflict, InvalidInput, NotFound, Problem
from detent.store.vault.credentials import CredentialRow, NewCredential
from detent.vault.credential import (
    NAME,
    CredentialKind,
    CredentialSpec,
    CredentialState,
    SealedParts,
    check_name,
    open_parts,
    read_spec,
    seal_parts,
)
from detent.vault.hosts import rule_of
from detent.views.catalog import stored_connector

_TRIES: Final = 5
_PORTS: Final = {"http": 80, "https": 443}
#: A grant belongs to these parts. If one of them changes, a person must connect the credential again.
_OF_GRANT: Final = ("authorization_url", "token_url", "client_id", "scopes")


class CredentialCommands(CommandPart):
    """The credentials of a tenant."""

    async def set(self, name: str, document: Mapping[str, Any]) -> CredentialRow:
        """Set a credential, and return what is known of it. Runs that wait for it go on.

        Raise InvalidInput with all problems at once, and NoEncryptionKey if this process cannot seal. Without `hosts`
        it is bound to the host of the connector that has its name."""
        self._caller.require(Scope.SECRETS)
        check_name(name)
        spec = read_spec(document)
        hosts = spec.hosts or await self._hosts_of_connector(name)
        config = {**spec.config, "hosts": list(hosts)}
        vault = self._engine.secrets.vault
        for _ in range(_TRIES):
            known = await self._store.credential(self._tenant, name)
            version = 1 if known is None else known.version + 1
            parts = self._parts(spec, known)
            is_new = spec.kind is CredentialKind.OAUTH2_CODE and parts.refresh_token is None
            state = CredentialState.NEW if is_new else CredentialState.READY
            box = seal_parts(vault, self._tenant, name, version, parts)
            text = json.dumps(config, ensure_ascii=False)
            row = NewCredential(self._tenant, name, spec.kind, text, box, version, state, self._caller.name)
            if await self._store.put_credential(row):
                self._engine.secrets.redact(self._tenant, *spec.sealed.values())
                await CredentialWaiters(self._context).resume()
                return await self.get(name)
        raise Conflict(f"the credential {name!r} is being changed by other requests; try again")

    async def get(self, name: str) -> CredentialRow:
        """Return what is known of a credential. Raise NotFound."""
        self._caller.require(Scope.SECRETS)
        row = await self._store.credential(self._tenant, name) if NAME.fullmatch(name) else None
        if row is None:
            raise _missing(name)
        return row

    async def find(self, *, limit: int, after: str | None = None) -> list[CredentialRow]:
        """Return credentials by name, those after `after`."""
        self._caller.require(Scope.SECRETS)
        return await self._store.credentials(self._tenant, limit=limit, after=after)

    async def delete(self, name: str) -> CredentialRow:
        """Delete a credential, and return what was known of it. Raise NotFound."""
        row = await self.get(name)
        if not await self._store.drop_credential(self._tenant, name):
            raise _missing(name)
        return row

    async def connect(self, name: str) -> ProviderPage:
        """Return the page on which a person agrees that Detent may use an account. Raise NotFound or Conflict."""
        return await begin_connection(self._context, self._caller, await self.get(name))

    async def finish(self, answer: ProviderAnswer, finisher: Caller | None = None) -> CredentialRow:
        """Finish what `connect` has begun, for whatever tenant that was. Raise InvalidInput, Forbidden or Conflict."""
        return await finish_connection(self._context, answer, finisher)

    def _parts(self, spec: CredentialSpec, known: CredentialRow | None) -> SealedParts:
        """Return what is sealed. A grant that was given stays, if it is one of the same client and scopes."""
        parts = SealedParts(dict(spec.sealed))
        if known is None or spec.kind is not CredentialKind.OAUTH2_CODE or known.state != CredentialState.READY:
            return parts
        before = json.loads(known.config)
        if known.kind != spec.kind or any(before.get(name) != spec.config.get(name) for name in _OF_GRANT):
            return parts
        try:
            old = open_parts(self._engine.secrets.vault, known.tenant, known.name, known.version, known.sealed)
        except CannotOpen:
            return parts
        return SealedParts(parts.parts, refresh_token=old.refresh_token)

    async def _hosts_of_connector(self, name: str) -> tuple[str, ...]:
        """Return the host of the connector of that name. Raise InvalidInput if no connector says one."""
        row = await self._store.connector(self._tenant, name)
        connector = None if row is None else stored_connector(row)
        try:
            if connector is not None:
                parts = urlsplit(self._context.connections.address(connector.id, connector.base_url))
                if parts.hostname and parts.scheme in _PORTS:
                    return (rule_of(parts.hostname, parts.port or _PORTS[parts.scheme]),)
        except (MissingConnection, ValueError):
            pass
        message = f"is missing: name the hosts that it may be sent to, because no connector {name!r} says its address"
        raise InvalidInput("the credential is not valid", [Problem("hosts", message)])


def _missing(name: str) -> NotFound:
    return NotFound(f"there is no credential {name[:200]!r}; `detent credentials list` shows their names")
