"""Blobs: receive a large body, and read what the runs of a tenant name."""

from __future__ import annotations

from collections.abc import AsyncIterator

from detent.blobs.library import BlobUpload
from detent.commands.context import CommandPart
from detent.errors import NotFound
from detent.ids import BLOB, RUN, InvalidId, parse
from detent.store.blobs.rows import BlobRow


class BlobCommands(CommandPart):
    """Commands on the blobs of the caller's tenant."""

    @property
    def limit(self) -> int:
        """Return the maximum number of bytes of a blob."""
        return self._context.blobs.limit

    async def begin(self, type_: str | None) -> BlobUpload:
        """Begin to receive a large body. It is deleted if no run names it."""
        return await self._context.blobs.begin(self._tenant, type_)

    async def get(self, blob: str) -> BlobRow:
        """Return a blob by its id. Raise NotFound."""
        try:
            return await self._context.blobs.row(self._tenant, parse(BLOB, blob))
        except InvalidId:
            raise NotFound(f"there is no blob {blob[:80]!r}") from None

    async def find(self, *, limit: int, run: str | None = None, cursor: bytes | None = None) -> list[BlobRow]:
        """List blobs, newest first; with `run` those that the run names. Raise NotFound if that is not an id."""
        try:
            holder = None if run is None else parse(RUN, run)
        except InvalidId:
            raise NotFound(f"there is no run {run[:80] if run else ''!r}") from None
        return await self._store.blobs(self._tenant, limit=limit, holder=holder, cursor=cursor)

    def read(self, row: BlobRow, start: int = 0, stop: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of a blob, a part at a time."""
        return self._context.blobs.read(row, start, stop)
