"""The keys of an issuer, at its address. A token with an unknown key id may be signed with a new key, so they are read
again for it."""

from __future__ import annotations

from detent.auth.fetcher import Fetcher
from detent.auth.remote import LARGEST, RemoteDocument
from detent.auth.tokens import KeySet, TokenKey, read_keys
from detent.clock import Clock
from detent.errors import Unavailable


class Jwks:
    """A KeySource at an address."""

    def __init__(self, url: str, fetcher: Fetcher, clock: Clock) -> None:
        self.url = url
        self._keys: RemoteDocument[KeySet] = RemoteDocument(url, fetcher, clock, lambda data: read_keys(data, LARGEST))

    async def find(self, kid: str | None, algorithm: str) -> TokenKey | None:
        keys = await self._keys.get(lambda known: known.get(kid, algorithm) is not None)
        if keys is None:
            raise Unavailable("the keys of the token's issuer cannot be read; try again")
        return keys.get(kid, algorithm)

    async def close(self) -> None:
        """End an open fetch."""
        await self._keys.close()
