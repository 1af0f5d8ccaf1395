"""The blobs of an installation: store a stream, read a range, delete."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from detent.blobs.places import CHUNK, DatabasePlace, DirectoryPlace, Place, PlaceWriter, patiently
from detent.errors import InvalidInput, NotFound, StoreError, TooLarge
from detent.ids import BLOB, new_id, show
from detent.settings import Settings
from detent.store.blobs.rows import BlobRow, UploadRow
from detent.store.protocol import Store
from detent.values.blob import Blob, unreadable
from detent.values.json import decode_json
from detent.values.limits import BLOB_LIMIT, ID_LIMIT, READABLE_BLOB

#: Seconds between two notes that an upload goes on.
_TOUCHES: Final = 30.0
#: How many chunks one transaction deletes.
_DELETED_AT_ONCE: Final = 20
_PAGE: Final = 500
#: An instant after all others that every database can store.
_EVERY: Final = 2**52
_LONGEST_TYPE: Final = ID_LIMIT
_TYPE: Final = re.compile(r"[\x21-\x7e][\x20-\x7e]*")
_DIRECTORY: Final = "directory:"
_OBJECTS: Final = "s3://"
OCTETS: Final = "application/octet-stream"


class BlobLibrary:
    """Stores and reads blobs. New ones go to `place`; blobs in the other known places can be read and deleted.

    `limit` is the maximum number of bytes of one."""

    def __init__(
        self, store: Store, place: Place | None = None, *, others: Iterable[Place] = (), limit: int = BLOB_LIMIT
    ) -> None:
        self.store = store
        self.limit = limit
        database = DatabasePlace(store)
        self.place = place or database
        self._places: dict[str, Place] = {one.name: one for one in (database, *others, self.place)}

    def add_place(self, place: Place) -> None:
        """Store new blobs in this place from now on."""
        self.place = self._places[place.name] = place

    async def save(
        self, tenant: int, chunks: AsyncIterator[bytes], type_: str | None, holder: bytes | None = None
    ) -> Blob:
        """Store what a stream yields, and return it as a blob. Raise TooLarge when it has more than `limit` bytes.

        The run `holder` uses it. Without one the caller makes it used (`use_blobs`), or it is swept."""
        upload = await self.begin(tenant, type_, holder)
        try:
            async for data in chunks:
                await upload.write(data)
            return await upload.finish()
        except BaseException:
            await upload.abort()
            raise

    async def begin(self, tenant: int, type_: str | None, holder: bytes | None = None) -> BlobUpload:
        """Begin to store a blob. The caller writes it and finishes or aborts it. `holder` is the run that uses it as
        soon as it is finished; without one it is swept if nothing names it in time."""
        store, id_ = self.store.for_tenant(tenant), new_id()
        await patiently(partial(store.begin_upload, tenant, id_, self.place.name))
        writer = await self.place.open(tenant, id_)
        return BlobUpload(self, tenant, id_, _clean(type_), writer, holder)

    async def row(self, tenant: int, blob: bytes) -> BlobRow:
        """Return the row of a blob. Raise NotFound."""
        row = await self.store.for_tenant(tenant).blob(tenant, blob)
        if row is None:
            raise NotFound(f"there is no blob {show(BLOB, blob)!r} any more, or it is another tenant's")
        return row

    async def open(self, tenant: int, blob: Blob) -> OpenBlob:
        """Open a blob of a tenant. Raise NotFound."""
        row = await self.row(tenant, blob.id)
        return OpenBlob(self, row, Blob(row.id, row.size, _clean(blob.type), row.sha256.hex()))

    def read(self, row: BlobRow, start: int = 0, stop: int | None = None) -> AsyncIterator[bytes]:
        """Yield the bytes of a blob, or of the range from `start` to `stop`, a part at a time."""
        return self._place_of(row).read(row, start, row.size if stop is None else min(stop, row.size))

    async def whole(self, row: BlobRow) -> bytes:
        """Return all bytes of a blob that the caller knows to be small."""
        return b"".join([part async for part in self.read(row)])

    async def delete(self, row: UploadRow) -> None:
        """Delete the bytes of an upload, then the upload. Do nothing if it is a blob by now, or deleted."""
        if not await self.store.doom_upload(row.tenant, row.id):
            return
        await self._place_of(row).delete(row)
        is_over = False
        while not is_over:
            is_over = await self.store.drop_upload(row.tenant, row.id, limit=_DELETED_AT_ONCE)

    async def delete_tenant(self, tenant: int) -> None:
        """Delete the bytes of a tenant that are not in the database. Its rows are deleted with the tenant."""
        cursor = None
        while rows := await self.store.blobs(tenant, limit=_PAGE, cursor=cursor):
            for row in rows:
                await self._place_of(row).delete(UploadRow(row.id, tenant, row.place, 0))
            cursor = rows[-1].id
        while uploads := await self.store.stale_uploads(before=_EVERY, limit=_PAGE, tenant=tenant):
            for upload in uploads:
                await self.delete(upload)

    def _place_of(self, row: BlobRow | UploadRow) -> Place:
        place = self._places.get(row.place)
        if place is None:
            raise StoreError(f"the blob {show(BLOB, row.id)} is in the {row.place}, which DETENT_BLOBS does not name")
        return place


class OpenBlob:
    """A blob that is open for reading."""

    def __init__(self, library: BlobLibrary, row: BlobRow, blob: Blob) -> None:
        self._library, self._row = library, row
        self.blob = blob

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield its bytes, a part at a time."""
        return self._library.read(self._row)


class BlobUpload:
    """A blob while its bytes arrive. It holds at most one chunk in memory."""

    def __init__(
        self,
        library: BlobLibrary,
        tenant: int,
        id_: bytes,
        type_: str,
        writer: PlaceWriter,
        holder: bytes | None = None,
    ) -> None:
        self._library, self._tenant, self._id, self._type, self._writer = library, tenant, id_, type_, writer
        self._holder = holder
        self._hash = hashlib.sha256()
        self._size = 0
        self._kept = bytearray()
        self._now: Callable[[], float] = asyncio.get_running_loop().time
        self._touched = self._now()

    async def write(self, data: bytes) -> None:
        """Store the next bytes. Raise TooLarge if there are too many."""
        self._size += len(data)
        if self._size > self._library.limit:
            raise TooLarge(f"the body has more than {self._library.limit} bytes, which is the limit of a blob")
        self._hash.update(data)
        self._kept += data
        while len(self._kept) >= CHUNK:
            await self._send(CHUNK)

    async def finish(self) -> Blob:
        """Return the blob when its bytes are durable. If the tenant has the same content, return the blob of that."""
        if self._kept:
            await self._send(len(self._kept))
        await self._writer.finish()
        store = self._library.store.for_tenant(self._tenant)
        digest, size = self._hash.digest(), self._size
        finish = partial(store.finish_upload, self._tenant, self._id, sha256=digest, size=size, media=self._type)
        row = await patiently(finish) or await store.blob(self._tenant, self._id)  # the first call may have arrived
        if row is None:
            raise StoreError("the upload took so long that it was swept; send it again")
        if row.id != self._id:
            await self._try_to_drop()
        if self._holder is not None:  # else a sweep might delete it before the step of this run ends
            await patiently(partial(store.use_blobs, self._tenant, [(self._holder, row.id)]))
        # The type is of this name: the same content may have been sent as another type before.
        return Blob(row.id, row.size, self._type, row.sha256.hex())

    async def abort(self) -> None:
        """Delete what was stored, unless it is a blob by now. If that fails, the sweep does it."""
        self._kept.clear()
        try:
            await self._writer.abort()
        except StoreError:
            return
        await asyncio.shield(asyncio.ensure_future(self._try_to_drop()))

    async def _try_to_drop(self) -> None:
        with suppress(StoreError):  # then the sweep does it
            await self._library.delete(UploadRow(self._id, self._tenant, self._library.place.name, 0))

    async def _send(self, size: int) -> None:
        data = bytes(self._kept[:size])
        del self._kept[:size]
        await self._writer.write(data)
        if self._now() - self._touched > _TOUCHES:
            self._touched = self._now()
            await self._library.store.for_tenant(self._tenant).touch_upload(self._tenant, self._id)


async def read_json_blob(library: BlobLibrary, tenant: int, blob: Blob) -> Any:
    """Return the JSON value in a blob. Raise InvalidInput if it is not JSON, or too large to be read as a whole."""
    reason = unreadable(blob)
    if reason is not None:
        raise InvalidInput(reason)
    row = await library.row(tenant, blob.id)
    if row.size != blob.size:  # a caller wrote it, so that it looks small enough
        raise InvalidInput(f"it is a blob of {row.size} bytes, not of {blob.size} bytes; send it as it was returned")
    return decode_json(await library.whole(row), READABLE_BLOB)


def blob_of(row: BlobRow) -> Blob:
    """Return a blob as the journal names it."""
    return Blob(row.id, row.size, row.type, row.sha256.hex())


def _clean(type_: str | None) -> str:
    """Return a media type that can be sent as a header again."""
    text = (type_ or "").strip()
    return text if len(text) <= _LONGEST_TYPE and _TYPE.fullmatch(text) else OCTETS


def build_library(settings: Settings, store: Store) -> BlobLibrary:
    """Return the library that the settings name. Raise InvalidInput if its place cannot be used."""
    return BlobLibrary(store, _place_at(settings.blobs), limit=settings.max_blob)


def _place_at(text: str) -> Place | None:
    if text.startswith(_DIRECTORY):
        return DirectoryPlace(Path(text.removeprefix(_DIRECTORY)))
    if text.startswith(_OBJECTS):
        from detent.blobs.objects import ObjectPlace  # it loads an optional dependency

        return ObjectPlace.at(text)
    return None
