"""The JSON inside small blobs, read before an expression needs it: the planner does no I/O."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Final

from detent.blobs.library import BlobLibrary
from detent.errors import BlobMissing, NotFound
from detent.planner.prepared import Prepared, reads_inside
from detent.run.state import RunState
from detent.values.blob import JSON_TYPE, MARK, Blob, blobs_in, unreadable

_PART: Final = 512 * 1024


async def parts_of(content: bytes) -> AsyncIterator[bytes]:
    """Yield bytes in parts, so that other work goes on between them."""
    for start in range(0, len(content), _PART):
        yield content[start : start + _PART]


class BlobContents:
    """Reads the blobs that expressions of a run may read inside."""

    def __init__(self, library: BlobLibrary) -> None:
        self._library = library

    async def read(self, prepared: Prepared, tenant: int, raws: Iterable[bytes]) -> dict[bytes, bytes] | None:
        """Return the content of the JSON blobs that stored JSON names, by id; None if no expression reads any. A blob
        that does not exist is left out: reading it is then an error of the expression."""
        named = [blob for raw in raws if MARK in raw for blob in blobs_in(raw) if unreadable(blob) is None]
        if not named or not reads_inside(prepared):
            return None
        found: dict[bytes, bytes] = {}
        for blob in named:
            if blob.id in found:
                continue
            try:
                row = await self._library.row(tenant, blob.id)
                if row.size == blob.size:
                    found[blob.id] = await self._library.whole(row)
            except (NotFound, BlobMissing):
                continue
        return found

    async def save(self, tenant: int, run: bytes, parts: AsyncIterator[bytes]) -> Blob:
        """Store JSON as a blob that a run uses. Raise TooLarge."""
        return await self._library.save(tenant, parts, JSON_TYPE, run)

    async def add(self, prepared: Prepared, state: RunState, raws: Iterable[bytes]) -> None:
        """Let the expressions of a run read what these name."""
        found = await self.read(prepared, state.facts.tenant, raws)
        if found:
            state.blobs = {**(state.blobs or {}), **found}
