"""Callback tokens are not stored but made from (run, step) and a key: any node renders the same URL after any crash.

A token is the run's id, the step's name and a MAC of 144 bits over both, in URL-safe base64. Nobody can make one
without the instance's key, and a wrong one is told from a right one in constant time.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import Final

_MAC_BYTES: Final = 18
_ID_BYTES: Final = 16
_LONGEST: Final = 200


class CallbackTokens:
    """Makes and reads tokens with one instance's key."""

    def __init__(self, key: str, base_url: str) -> None:
        self._key = hashlib.sha256(b"detent callback token\x00" + key.encode()).digest()
        self._base_url = base_url.rstrip("/")

    def url(self, run: bytes, step: str) -> str:
        """Where the callback of a wait step is to be sent."""
        return f"{self._base_url}/wh/{self.token(run, step)}"

    def token(self, run: bytes, step: str) -> str:
        return _spell(run + self._mac(run, step.encode()) + step.encode())

    def read(self, token: str) -> tuple[bytes, str] | None:
        """(run, step) of a token this instance made; null for anything else, other spellings of it too."""
        if len(token) > _LONGEST or not token.isascii():
            return None
        try:
            raw = base64.b64decode(token.encode() + b"=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        run, mac, step = raw[:_ID_BYTES], raw[_ID_BYTES : _ID_BYTES + _MAC_BYTES], raw[_ID_BYTES + _MAC_BYTES :]
        if not hmac.compare_digest(mac, self._mac(run, step)) or _spell(raw) != token:
            return None
        return run, step.decode()

    def _mac(self, run: bytes, step: bytes) -> bytes:
        return hmac.digest(self._key, run + step, "sha256")[:_MAC_BYTES]


def _spell(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
