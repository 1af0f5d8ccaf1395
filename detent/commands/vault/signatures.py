"""Signature secrets of webhooks: stored as secrets of the tenant, and named in definitions and triggers.

A plain secret that a person writes into a trigger becomes a stored secret, if the node that saves it has an encryption
key. Its name is a keyed digest of its value, so that the same file saves the same definition again. No step can send
it: it is bound to a host that does not exist.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

from detent.auth.caller import Caller
from detent.errors import InvalidDefinition
from detent.forms.definition import read_definition
from detent.forms.triggers import HIDDEN, text_with_names, written_secrets
from detent.store.secrets import NewSecret
from detent.store.vault.credentials import VaultStore
from detent.store.vault.signatures import MARK, SignedText, TextKind
from detent.vault.sealing import Label
from detent.vault.secrets import SecretOpener, label_of

PREFIX: Final = "webhook-"
#: No request can go there (RFC 2606), so no step can send these secrets.
NOWHERE: Final = ("signatures.invalid",)
#: The setting that says whether texts of this database may have plain secrets.
SEALED: Final = "sealed_signatures"
_DONE: Final = "yes"
_PAGE: Final = 100
_PAUSE: Final = 600.0


class SignatureTexts(VaultStore, Protocol):
    """The verbs that are used here."""

    async def setting(self, name: str, default: str) -> str:
        """Return a setting of the database, which is set to the default if it has none."""

    async def change_setting(self, name: str, value: str) -> None:
        """Set a setting of the database."""


class Signatures:
    """Stores the signature secrets of texts, and writes their names into the texts."""

    def __init__(self, store: SignatureTexts, secrets: SecretOpener, caller: Caller) -> None:
        self._store = store
        self._secrets = secrets
        self._caller = caller
        self._tenant = caller.tenant

    async def seal_definition(self, data: bytes | str, *, is_planned: bool = False) -> bytes | str:
        """Return the text of a definition without plain signature secrets. Without a key it is returned as it is.

        With `is_planned`, no secret is stored: the text is that of a save that may come."""
        source = data if isinstance(data, str) else data.decode("utf-8-sig", errors="replace")
        if MARK not in source:
            return data
        plain: list[str] = []
        with suppress(InvalidDefinition):  # the save says what is wrong with it
            plain = await asyncio.to_thread(lambda: written_secrets(read_definition(source)))
        if not plain or not await self._can_seal():
            return data
        return text_with_names(source, await self._names(plain, is_planned=is_planned))

    async def seal_config(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the config of a trigger without plain signature secrets. Without a key it is returned as it is."""
        plain = sorted(set(_plain(config)))
        if not plain or not await self._can_seal():
            return dict(config)
        named: dict[str, Any] = _named(config, await self._names(plain))
        return named

    async def seal_text(self, old: SignedText) -> bool:
        """Replace the plain secrets of a stored text. Return whether it had any."""
        if old.kind in (TextKind.SOURCE, TextKind.DRAFT):
            text = str(await self.seal_definition(old.text))
        else:
            value = json.loads(old.text)
            plain = sorted(set(_plain(value)))
            text = json.dumps(_named(value, await self._names(plain))) if plain else old.text
        return text != old.text and await self._store.replace_text(old, text)

    async def _can_seal(self) -> bool:
        """Return whether this process has a key. Without one, note that there are plain secrets again."""
        if self._secrets.vault.is_ready:
            return True
        if await self._store.setting(SEALED, "") == _DONE:
            await self._store.change_setting(SEALED, "")
        return False

    async def _names(self, plain: Iterable[str], *, is_planned: bool = False) -> dict[str, str]:
        """Store secrets and return their names."""
        return {value: await self._name(value, is_planned=is_planned) for value in dict.fromkeys(plain)}

    async def _name(self, value: str, *, is_planned: bool) -> str:
        vault, tenant = self._secrets.vault, self._tenant
        names = [PREFIX + one for one in vault.digests(Label(tenant, "signature", "", 1), value.encode())]
        known = {row.name for row in await self._store.secrets_named(tenant, names)}
        for name in names:
            if name in known:
                return name
        if is_planned:
            return names[0]
        sealed = vault.seal(label_of(tenant, names[0], 1), value.encode())
        # Of two nodes that store it at the same moment, one does. The value is the same.
        await self._store.put_secret(NewSecret(tenant, names[0], 1, sealed, NOWHERE, self._caller.name))
        self._secrets.redact(tenant, value)
        return names[0]


class SignatureSecrets:
    """The poller that seals the plain secrets of older releases, some texts at a time, and then looks rarely."""

    name = "signatures"

    def __init__(self, store: SignatureTexts, secrets: SecretOpener) -> None:
        self._store = store
        self._secrets = secrets
        self._kinds: list[TextKind] = []
        self._after: SignedText | None = None

    async def poll(self) -> float:
        """Seal one page of texts. Return the pause before the next one, in seconds."""
        if not self._kinds:
            if await self._store.setting(SEALED, "") == _DONE:
                return _PAUSE
            self._kinds = list(TextKind)
        page = await self._store.signed_texts(self._kinds[0], after=self._after, limit=_PAGE)
        for one in page:
            with suppress(ValueError):  # a text that cannot be read has no secret that is used
                await Signatures(self._store, self._secrets, Caller(one.tenant, "detent")).seal_text(one)
        self._after = page[-1] if page else None
        if len(page) < _PAGE:
            self._after = None
            self._kinds.pop(0)
            if not self._kinds:
                await self._store.change_setting(SEALED, _DONE)
                return _PAUSE
        return 0.0


def _plain(value: Any) -> Iterable[str]:
    """Yield the plain signature secrets in a JSON value, and in JSON that is a text in it."""
    match value:
        case {"signature": {"secrets": list(secrets)}}:
            yield from (one for one in secrets if isinstance(one, str) and one != HIDDEN)
        case _:
            pass
    for one in _inside(value):
        yield from _plain(one)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        yield from (_decoded(one) for one in value.values())
    elif isinstance(value, list):
        yield from value


def _decoded(value: Any) -> Any:
    if isinstance(value, str) and value.startswith("{") and MARK in value:
        with suppress(ValueError):
            return json.loads(value)
    return value


def _named(value: Any, names: Mapping[str, str], *, is_signature: bool = False) -> Any:
    """Return a JSON value with the names of stored secrets in place of plain signature secrets."""
    if isinstance(value, dict):
        if is_signature and isinstance(value.get("secrets"), list):
            listed = value["secrets"]
            secrets = [{"secret": names[one]} if isinstance(one, str) and one in names else one for one in listed]
            return {**value, "secrets": secrets}
        return {key: _entry(key, one, names) for key, one in value.items()}
    return [_named(one, names) for one in value] if isinstance(value, list) else value


def _entry(key: str, value: Any, names: Mapping[str, str]) -> Any:
    decoded = _decoded(value)
    changed = _named(decoded, names, is_signature=key == MARK)
    return json.dumps(changed) if isinstance(value, str) and decoded is not value else changed
