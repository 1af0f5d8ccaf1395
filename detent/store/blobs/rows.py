"""Blobs in a store: their rows, and the verbs on them (a part of `store/protocol.py`).

A blob is the content of a large payload. It has four kinds of rows:

- an **upload** is written before the first byte, and names where the bytes are. It is there while they arrive, and
  again when they are to be deleted. So no bytes exist that no row names.
- a **blob** replaces its upload when the content is complete. (tenant, sha256) is unique: a tenant stores it once.
- a **chunk** is a part of the content, if the database itself has it.
- a **use** says that a run, a firing or its dead letter (`holder`) names the blob. It is written before what names it.

A blob that no use names is deleted when nothing has touched it for a while. An upload, a use and a finished upload of
the same content touch it. Each of these locks the row or finds it touched, so that a blob is never deleted under one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

#: The holder and the blob of a use.
UseKey = tuple[bytes, bytes]


class BlobRow(NamedTuple):
    """A complete blob. `place` is where its bytes are, and `type` its media type."""

    id: bytes
    tenant: int
    sha256: bytes
    size: int
    type: str
    place: str
    created_at: int
    touched_at: int


class UploadRow(NamedTuple):
    """Bytes that are no blob: they still arrive, or are to be deleted."""

    id: bytes
    tenant: int
    place: str
    touched_at: int


class BlobStore(Protocol):
    """The verbs of blobs."""

    async def begin_upload(self, tenant: int, upload: bytes, place: str) -> None:
        """Add an upload, before its first byte is written."""

    async def touch_upload(self, tenant: int, upload: bytes) -> bool:
        """Note that an upload goes on. Return False if it was deleted."""

    async def add_chunk(self, tenant: int, upload: bytes, number: int, data: bytes) -> None:
        """Store a part of the content of an upload. Numbers begin with 0."""

    async def finish_upload(
        self, tenant: int, upload: bytes, *, sha256: bytes, size: int, media: str
    ) -> BlobRow | None:
        """Make an upload a blob, and return it.

        If the tenant has the same content already, touch and return that blob; the upload stays, to be deleted. Return
        `None` if the upload does not exist any more."""

    async def blob(self, tenant: int, blob: bytes) -> BlobRow | None:
        """Return a blob."""

    async def blobs(
        self, tenant: int, *, limit: int, holder: bytes | None = None, cursor: bytes | None = None
    ) -> list[BlobRow]:
        """List blobs by id, newest first, those before `cursor`. `holder` narrows it to those that a run uses."""

    async def chunk(self, tenant: int, blob: bytes, number: int) -> bytes | None:
        """Return a part of the content of a blob."""

    async def use_blobs(self, tenant: int, uses: Sequence[UseKey]) -> None:
        """Note which runs and firings name which blobs, and touch the blobs. A blob that does not exist, or is of
        another tenant, is left out."""

    async def drop_uses(self, *, before: int, after: UseKey | None, limit: int) -> tuple[int, UseKey | None]:
        """Look at up to `limit` uses older than `before`, in the order of their keys, those after `after`. Delete
        those whose holder does not exist, and touch their blobs. Return how many, and the key to go on after."""

    async def drop_blobs(self, *, before: int, after: bytes | None, limit: int) -> tuple[int, bytes | None]:
        """Look at up to `limit` blobs that nothing has touched since `before`, by id, those after `after`. Those
        without a use become uploads to be deleted. Return how many, and the id to go on after."""

    async def stale_uploads(
        self, *, before: int, limit: int, after: bytes | None = None, tenant: int | None = None
    ) -> list[UploadRow]:
        """Return uploads that nothing has touched since `before`, and those to be deleted, by id, those after `after`.
        `tenant` narrows it to that tenant."""

    async def doom_upload(self, tenant: int, upload: bytes) -> bool:
        """Note that an upload is to be deleted: it cannot become a blob any more. Return False if there is no such
        upload. It may be a blob by now, whose bytes must stay."""

    async def drop_upload(self, tenant: int, upload: bytes, *, limit: int) -> bool:
        """Delete up to `limit` chunks of an upload. If there are no more, delete the upload too and return True.

        If there is no such upload, delete nothing and return True."""
