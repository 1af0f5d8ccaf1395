"""Blobs in an object store: Amazon S3, or a service that speaks its protocol. It needs the extra `s3` (obstore).

Each blob is one object, written as a multipart upload. A multipart upload that a crash left open has no object; the
bucket's rule for incomplete uploads deletes its parts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from detent.blobs.places import CHUNK, PlaceWriter, missing
from detent.errors import BlobsUnavailable, InvalidInput, Problem
from detent.store.blobs.rows import BlobRow, UploadRow
from detent.version import install_hint

#: The smallest part of a multipart upload that S3 accepts, but for the last.
_PART: Final = 5 * 1024 * 1024


class ObjectPlace:
    """Objects below a prefix of a bucket. `bucket` is a store of obstore."""

    name = "objects"

    def __init__(self, bucket: Any) -> None:
        self._bucket = bucket
        self._library = _library()

    @classmethod
    def at(cls, url: str) -> ObjectPlace:
        """Return the place `s3://bucket/prefix`. Credentials, region and endpoint are the usual variables of AWS
        (`AWS_ACCESS_KEY_ID`, `AWS_REGION`, `AWS_ENDPOINT`, ...)."""
        _library()
        from obstore.store import S3Store  # an optional dependency

        try:
            return cls(S3Store.from_url(url))
        except Exception as error:  # noqa: BLE001 - the library raises its own errors
            problem = Problem("DETENT_BLOBS", f"{url!r} cannot be used: {error}")
            raise InvalidInput("invalid settings", [problem]) from None

    async def open(self, tenant: int, upload: bytes) -> PlaceWriter:
        writer = self._library.open_writer_async(self._bucket, upload.hex(), buffer_size=_PART, max_concurrency=1)
        return _Object(writer)

    async def read(self, row: BlobRow, start: int, stop: int) -> AsyncIterator[bytes]:
        while start < stop:
            end = min(start + CHUNK, stop)
            try:
                data = await self._library.get_range_async(self._bucket, row.id.hex(), start=start, end=end)
            except FileNotFoundError:
                raise missing(row) from None
            except Exception as error:
                raise BlobsUnavailable(f"the object store does not answer: {error}") from error
            yield bytes(data)
            start = end

    async def delete(self, row: UploadRow) -> None:
        try:
            await self._library.delete_async(self._bucket, row.id.hex())
        except FileNotFoundError:
            return
        except Exception as error:
            raise BlobsUnavailable(f"the object store does not answer: {error}") from error


class _Object:
    def __init__(self, writer: Any) -> None:
        self._writer = writer

    async def write(self, data: bytes) -> None:
        try:
            await self._writer.write(data)
        except Exception as error:
            raise BlobsUnavailable(f"the object store does not answer: {error}") from error

    async def finish(self) -> None:
        try:
            await self._writer.close()
        except Exception as error:
            raise BlobsUnavailable(f"the object store does not answer: {error}") from error

    async def abort(self) -> None:
        """Do nothing: an object exists only when its writer is closed."""


def _library() -> Any:
    try:
        import obstore
    except ImportError:
        problem = Problem("DETENT_BLOBS", f"needs obstore for s3://: {install_hint('s3')}")
        raise InvalidInput("invalid settings", [problem]) from None
    return obstore
