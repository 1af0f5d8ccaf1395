"""The operations on blobs: each function describes one call."""

from __future__ import annotations

from typing import Final, NamedTuple

from detent.client.calls import PAGE, Answer, Call, Pages, given, page, url_path
from detent.documents.runs import BlobDocument

_PLACE: Final = "blobs"
#: How many bytes one call reads, unless the caller says it.
PART: Final = 4 * 1024 * 1024


def list_all(*, run: str | None = None, limit: int = PAGE) -> Pages[BlobDocument]:
    """Yield the large payloads that are stored, newest first, `limit` per request; with `run`, those of that run."""
    return Pages(Call("GET", url_path(_PLACE), page(BlobDocument), query=given(run=run, limit=limit)))


class BlobPart(NamedTuple):
    """A part of a blob, and the size of the whole blob."""

    data: bytes
    size: int


def read(blob: str, start: int = 0, size: int = PART) -> Call[BlobPart]:
    """Return up to `size` bytes of a blob from `start` on. Raise NotFound, and ApiError if it has no byte there.
    An empty blob has empty content."""
    headers = {"Range": f"bytes={start}-{start + size - 1}"}
    return Call("GET", url_path(_PLACE, blob), _part, headers=headers)


def _part(answer: Answer) -> BlobPart:
    whole = answer.headers.get("content-range", "").rpartition("/")[2]
    return BlobPart(answer.body, int(whole) if whole.isdigit() else len(answer.body))
