"""Places: where the bytes of blobs are. The database is one, a directory is another; objects are in `objects.py`.

A place knows nothing about content: a key is the id of an upload, which is in the database before `open` is called. All
places can be written and deleted again under the same key.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, TypeVar

from detent.errors import BlobMissing, BlobsUnavailable, CommitUnknown, StoreBusy
from detent.store.blobs.rows import BlobRow, UploadRow
from detent.store.protocol import Store

#: How many bytes a place gets at once, and the size of a chunk in the database.
CHUNK: Final = 512 * 1024
#: How many chunks a process reads or writes in the database at once.
_AT_ONCE: Final = 2
#: For how many seconds a transfer waits for a database that is busy, and between two attempts.
_PATIENCE: Final = 60.0
_PAUSE: Final = 0.2
T = TypeVar("T")


async def patiently(call: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Call a verb that can be repeated, again while the database is busy: else the bytes of a transfer were lost."""
    until = asyncio.get_running_loop().time() + _PATIENCE
    while True:
        try:
            return await call()
        except (StoreBusy, CommitUnknown):
            if asyncio.get_running_loop().time() > until:
                raise
        await asyncio.sleep(_PAUSE)


class PlaceWriter(Protocol):
    """The bytes of one upload, while they arrive."""

    async def write(self, data: bytes) -> None:
        """Store the next bytes. All but the last call have `CHUNK` bytes."""

    async def finish(self) -> None:
        """Return when all bytes are durable."""

    async def abort(self) -> None:
        """Stop without finishing. The sweep deletes what was written."""


class Place(Protocol):
    """A place for bytes. `name` is stored with each blob."""

    name: str

    async def open(self, tenant: int, upload: bytes) -> PlaceWriter:
        """Begin to write the bytes of an upload."""

    def read(self, row: BlobRow, start: int, stop: int) -> AsyncIterator[bytes]:
        """Yield the bytes of a blob from `start` to `stop`, a part at a time. Raise BlobMissing or
        BlobsUnavailable."""

    async def delete(self, row: UploadRow) -> None:
        """Delete all bytes of an upload. It is no error if there are none."""


class DatabasePlace:
    """Chunks in rows of the database."""

    name = "database"

    def __init__(self, store: Store) -> None:
        self._store = store
        # Transfers take turns here and not in the queue of the database, where the flushes of the engine wait too.
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def open(self, tenant: int, upload: bytes) -> PlaceWriter:
        return _Rows(self._store, tenant, upload, self._turns)

    async def read(self, row: BlobRow, start: int, stop: int) -> AsyncIterator[bytes]:
        store = self._store.for_tenant(row.tenant)
        for number in range(start // CHUNK, -(-stop // CHUNK)):
            async with self._turns:
                data = await patiently(partial(store.chunk, row.tenant, row.id, number))
            if data is None:
                raise missing(row)
            first = number * CHUNK
            yield data[max(0, start - first) : stop - first]

    async def delete(self, row: UploadRow) -> None:
        """Do nothing: the chunks are deleted with the row of the upload."""


class _Rows:
    def __init__(self, store: Store, tenant: int, upload: bytes, turns: asyncio.Semaphore) -> None:
        self._store, self._tenant, self._upload, self._turns = store, tenant, upload, turns
        self._number = 0

    async def write(self, data: bytes) -> None:
        async with self._turns:
            await patiently(partial(self._store.add_chunk, self._tenant, self._upload, self._number, data))
        self._number += 1

    async def finish(self) -> None:
        """Do nothing: each chunk is committed."""

    async def abort(self) -> None:
        """Do nothing: nothing is open."""


class DirectoryPlace:
    """Files below a directory that all nodes share: `ab/<id in hexadecimal digits>`."""

    name = "directory"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def open(self, tenant: int, upload: bytes) -> PlaceWriter:
        return await _opened(_File.close, _File, self._path(upload))

    async def read(self, row: BlobRow, start: int, stop: int) -> AsyncIterator[bytes]:
        file = await _opened(_close, self._open, row.id)
        if file is None:
            raise missing(row)
        try:
            await _on_disk(file.seek, start)
            while start < stop:
                data = await _on_disk(file.read, min(CHUNK, stop - start))
                if not data:
                    raise missing(row)
                start += len(data)
                yield data
        finally:
            file.close()

    async def delete(self, row: UploadRow) -> None:
        await _on_disk(partial(self._path(row.id).unlink, missing_ok=True))

    def _open(self, blob: bytes) -> BinaryIO | None:
        """Return the file of a blob, or None if the directory does not have it."""
        try:
            return self._path(blob).open("rb")
        except FileNotFoundError:
            if not self._folder.exists():  # then it is not mounted, and the bytes are not lost
                raise
            return None

    def _path(self, id_: bytes) -> Path:
        # The last byte is random; the first ones are the time.
        return self._folder / id_[-1:].hex() / id_.hex()


class _File:
    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = path
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        self._file: BinaryIO = os.fdopen(descriptor, "wb", buffering=0)

    async def write(self, data: bytes) -> None:
        await _on_disk(_write_all, self._file, data)

    async def finish(self) -> None:
        await _on_disk(self._close)

    async def abort(self) -> None:
        self.close()

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()

    def _close(self) -> None:
        os.fsync(self._file.fileno())
        self._file.close()
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # else the name of the file may be lost
        finally:
            os.close(folder)


async def _opened(close: Callable[[T], None], make: Callable[..., T], *arguments: Any) -> T:
    """Open a file in a thread. If the caller is cancelled meanwhile, close the file as soon as it is open."""
    opening = asyncio.ensure_future(_on_disk(make, *arguments))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(partial(_close_result, close))
        raise


def _close_result(close: Callable[[T], None], opening: asyncio.Future[T]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        close(opening.result())


def _close(file: BinaryIO | None) -> None:
    if file is not None:
        file.close()


async def _on_disk(call: Callable[..., T], *arguments: Any) -> T:
    """Call a function of the file system in a thread. Raise BlobsUnavailable."""
    try:
        return await asyncio.to_thread(call, *arguments)
    except OSError as error:
        # Without the path: the message may become the error of a step, which a tenant reads.
        raise BlobsUnavailable(f"the directory of blobs cannot be used: {error.strerror}") from error


def _write_all(file: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def missing(row: BlobRow) -> BlobMissing:
    """Return the error that a blob is in the catalogue, and its bytes are not in their place."""
    return BlobMissing(f"the bytes of the blob {row.id.hex()} are not in the {row.place}; restore them from a backup")
