"""Sealing: AES-256-GCM with one key per tenant, derived from a master key that is not in the database.

A box names the master key that sealed it. So several masters may be in use at once: the first one seals, and all of
them open. What a box is for (its `Label`) is associated data: a box that is copied to another tenant, name or version
does not open there.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Sequence
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from detent.errors import CannotOpen, InvalidInput, NoEncryptionKey

KEY_BYTES: Final = 32
_FORMAT: Final = b"\x01"
_ID_BYTES: Final = 8
_NONCE_BYTES: Final = 12
_DIGEST: Final = 24
_HEAD: Final = len(_FORMAT) + _ID_BYTES + _NONCE_BYTES
#: Keys of tenants that are kept in memory per master. A derived key costs about ten microseconds.
_MOST_TENANTS: Final = 10_000


class Label(NamedTuple):
    """What a box is for. `kind` is the sort of object, such as `secret` or `credential`."""

    tenant: int
    kind: str
    name: str
    version: int

    def encode(self) -> bytes:
        """Return the associated data. Its parts have their lengths, so that no two labels are the same bytes."""
        parts = [part.encode() for part in (str(self.tenant), self.kind, self.name, str(self.version))]
        return b"".join(len(part).to_bytes(4) + part for part in parts)


def new_key() -> str:
    """Return a new master key, as it is written in a setting or a file."""
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode().rstrip("=")


def read_key(text: str) -> bytes:
    """Return the bytes of a master key. Raise InvalidInput if it is not 32 bytes in base64 or hex."""
    text = text.strip()
    try:
        found = bytes.fromhex(text) if len(text) == 2 * KEY_BYTES else _base64(text)
    except (ValueError, binascii.Error):
        found = b""
    if len(found) != KEY_BYTES:
        raise InvalidInput(
            "an encryption key is not valid: it must be 32 bytes in base64 or hex; `detent secrets new-key` prints one"
        )
    return found


def _base64(text: str) -> bytes:
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


class _Master:
    """One master key. It owns the derived keys of the tenants."""

    def __init__(self, key: bytes) -> None:
        self.id = hashlib.sha256(b"detent master key" + key).digest()[:_ID_BYTES]
        self._key = key
        self._ciphers: dict[int, AESGCM] = {}

    def derived(self, tenant: int, purpose: bytes = b"") -> bytes:
        """Return the key of a tenant. One for another purpose is another key."""
        info = b"detent tenant %d" % tenant + (b" " + purpose if purpose else b"")
        return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(self._key)

    def cipher(self, tenant: int) -> AESGCM:
        found = self._ciphers.get(tenant)
        if found is None:
            found = AESGCM(self.derived(tenant))
            if len(self._ciphers) >= _MOST_TENANTS:
                self._ciphers.clear()
            self._ciphers[tenant] = found
        return found


class Vault:
    """Seals and opens boxes. Without a key it refuses both, and says how to set one."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._masters = [_Master(key) for key in keys]
        self._by_id = {master.id: master for master in self._masters}

    @property
    def is_ready(self) -> bool:
        """Whether this process has a key."""
        return bool(self._masters)

    def key_id(self) -> str:
        """Return the id of the key that seals. Raise NoEncryptionKey without one."""
        return self._first().id.hex()

    def seal(self, label: Label, value: bytes) -> bytes:
        """Return a box with this value. Raise NoEncryptionKey if this process has no key."""
        master, nonce = self._first(), os.urandom(_NONCE_BYTES)
        box = master.cipher(label.tenant).encrypt(nonce, value, label.encode() + master.id)
        return _FORMAT + master.id + nonce + box

    def open(self, label: Label, box: bytes) -> bytes:
        """Return the value in a box. Raise CannotOpen if its key is not here or the box is not of this label."""
        if len(box) <= _HEAD or box[:1] != _FORMAT:
            raise CannotOpen(f"{label.kind} {label.name!r} is damaged: it is not a sealed value")
        own = box[1 : 1 + _ID_BYTES]
        master = self._by_id.get(own)
        if master is None:
            self._first()
            raise CannotOpen(
                f"{label.kind} {label.name!r} was sealed with the key {own.hex()}, which this node does not have; "
                "add that key to DETENT_ENCRYPTION_KEY behind the new one"
            )
        nonce = box[1 + _ID_BYTES : _HEAD]
        try:
            return master.cipher(label.tenant).decrypt(nonce, box[_HEAD:], label.encode() + own)
        except InvalidTag:
            raise CannotOpen(f"{label.kind} {label.name!r} cannot be opened: its sealed value was changed") from None

    def digests(self, label: Label, value: bytes) -> list[str]:
        """Return what names a value without showing it: one digest for each key, that of the first one first."""
        return [
            hmac.digest(master.derived(label.tenant, b"digest"), label.encode() + value, "sha256").hex()[:_DIGEST]
            for master in self._masters
        ]

    def is_current(self, box: bytes) -> bool:
        """Return whether the first key sealed this box. A rotation seals all others again."""
        return box[1 : 1 + _ID_BYTES] == self._first().id

    def _first(self) -> _Master:
        if not self._masters:
            raise NoEncryptionKey(
                "the process that does this has no encryption key, so it can store and open no secrets; set "
                "DETENT_ENCRYPTION_KEY to the output of `detent secrets new-key`, the same in the environment of every "
                "node and of each command that opens the database itself. A command with --url asks the node there, "
                "and uses the key of that node"
            )
        return self._masters[0]
