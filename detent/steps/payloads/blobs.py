"""Blobs as steps use them: read a large payload as a stream, and store one.

`steps/` knows no store, so the app fills in the port.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator, Coroutine
from typing import Any, BinaryIO, Final, Protocol, TypeVar

from detent.errors import NotFound, TooLarge
from detent.steps.errors import Permanent
from detent.values.blob import Blob, read_blob

T = TypeVar("T")
_PART: Final = 512 * 1024
_ON_LOOP: Final = "context.open and context.save block; in a coroutine use context.stream and context.save_async"
_NO_STORE: Final = "this process has no store of large payloads"
_SENSITIVE: Final = (
    "a sensitive step cannot save a blob: its result is sealed, and the blob is not; return a smaller result, or save "
    "the content in a step without `sensitive: true`"
)
SENSITIVE_BLOB: Final = "sensitive_blob"
NOT_A_BLOB: Final = "not_a_blob"
MISSING_BLOB: Final = "missing_blob"


class Upload(Protocol):
    """A blob, while its bytes arrive."""

    async def write(self, data: bytes) -> None:
        """Store the next bytes. Raise TooLarge if there are too many."""

    async def finish(self) -> Blob:
        """Return the blob when its bytes are durable."""

    async def abort(self) -> None:
        """Delete what was stored."""


class BlobReader(Protocol):
    """A blob that is open for reading."""

    @property
    def blob(self) -> Blob:
        """Return what is read. Its size is the real one, whatever the value said that named it."""

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield its bytes, a part at a time. It can be called again."""


class Blobs(Protocol):
    """The blobs of an installation."""

    async def begin(self, tenant: int, type_: str | None, holder: bytes | None = None) -> Upload:
        """Begin to store a blob. The run `holder` uses it as soon as it is finished."""

    async def open(self, tenant: int, blob: Blob) -> BlobReader:
        """Open a blob of a tenant. Raise NotFound."""


class BlobPort:
    """The blobs that executors use. They are built before the store is opened."""

    def __init__(self) -> None:
        self.blobs: Blobs | None = None

    def use(self) -> Blobs:
        """Return the blobs. Raise Permanent in a process that has none."""
        if self.blobs is None:
            raise Permanent(_NO_STORE, code=MISSING_BLOB)
        return self.blobs


def blob_in(value: object) -> Blob:
    """Return the blob that a parameter stands for. Raise Permanent if it is another value."""
    found = value if isinstance(value, Blob) else read_blob(value)
    if found is None:
        message = f"this is not a blob but {type(value).__name__}; only a payload over 256 KB, or one that a step saved"
        raise Permanent(f"{message}, is a blob", code=NOT_A_BLOB)
    return found


class TenantBlobs:
    """The blobs of one tenant, for the code of an attempt: in a thread, or on the loop of the node.

    `run` uses what is saved. None means that the step is sensitive and may save nothing."""

    def __init__(
        self, blobs: Blobs, tenant: int, run: bytes | None, loop: asyncio.AbstractEventLoop, thread: int
    ) -> None:
        self._blobs, self._tenant, self._run_id, self._loop, self._thread = blobs, tenant, run, loop, thread

    def open(self, blob: Blob) -> BinaryIO:
        """Return a temporary file with the content of a blob. It blocks."""
        file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        try:
            self._run(self._copy(blob, file))
            file.seek(0)
        except BaseException:
            file.close()
            raise
        return file

    async def stream(self, blob: Blob) -> AsyncIterator[bytes]:
        """Yield the content of a blob."""
        reader = await self._opened(blob)
        async for part in reader.chunks():
            yield part

    def save(self, content: bytes | BinaryIO, type_: str | None) -> Blob:
        """Store bytes, or the rest of a file. It blocks."""
        return self._run(self.save_async(content if isinstance(content, bytes) else _read(content), type_))

    async def save_async(self, content: bytes | AsyncIterator[bytes], type_: str | None) -> Blob:
        """Store bytes, or what an iterator yields."""
        if self._run_id is None:
            raise Permanent(_SENSITIVE, code=SENSITIVE_BLOB)
        upload = await self._blobs.begin(self._tenant, type_, self._run_id)
        try:
            if isinstance(content, bytes):
                for start in range(0, len(content), _PART):
                    await upload.write(content[start : start + _PART])
            else:
                async for part in content:
                    await upload.write(part)
            return await upload.finish()
        except BaseException as error:
            await upload.abort()
            if isinstance(error, TooLarge):
                raise Permanent(error.message, code="output_too_large") from None
            raise

    async def _copy(self, blob: Blob, file: BinaryIO) -> None:
        async for part in self.stream(blob):
            await asyncio.to_thread(file.write, part)

    async def _opened(self, blob: Blob) -> BlobReader:
        try:
            return await self._blobs.open(self._tenant, blob)
        except NotFound as error:
            raise Permanent(error.message, code=MISSING_BLOB) from None

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if threading.get_ident() == self._thread:
            work.close()
            raise RuntimeError(_ON_LOOP)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


async def _read(file: BinaryIO) -> AsyncIterator[bytes]:
    while part := await asyncio.to_thread(file.read, _PART):
        yield part
