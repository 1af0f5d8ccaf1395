"""Routes of blobs: list those of a tenant or a run, and download one, as a whole or a range of it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any, Final

from litestar import Response, get
from litestar.params import FromPath
from litestar.response import Stream

from detent.api.errors import refuse
from detent.api.filters import LIST_MESSAGE
from detent.api.openapi import examples, view_examples
from detent.api.openapi.operations import PAGE_PARAMETERS, TEXT, answers, header, operation, query, refusals
from detent.api.request import AnyRequest, CursorScope, QueryValues, aliases, commands, tenant_of, word_of
from detent.blobs.library import OCTETS
from detent.documents.answers import Many
from detent.documents.runs import BlobDocument
from detent.ids import BLOB, show
from detent.instant import as_datetime
from detent.store.blobs.rows import BlobRow

BASE: Final = "/api/v1/blobs"
_TAGS: Final = ["blobs"]
_ID_BYTES: Final = 16
_PAGE: Final = aliases("run", "limit", "cursor")
_RANGE: Final = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})")


@get(
    BASE,
    tags=_TAGS,
    summary="List blobs",
    operation_class=operation(
        query("run", TEXT, "Only those that this run names.", view_examples.LETTER["run_id"]), *PAGE_PARAMETERS
    ),
    responses={
        **answers(200, Many[BlobDocument], "A page of the list.", examples.many(view_examples.BLOB)),
        **refusals(400, 404),
    },
)
async def list_blobs(request: AnyRequest) -> Many[BlobDocument]:
    """List the large payloads that are stored, newest first."""
    values = QueryValues.of_query(request.scope["query_string"], _PAGE)
    run = values.one("run", word_of)
    scope = CursorScope("blobs", tenant_of(request), run)
    limit, cursor = values.limit(), values.cursor(lambda text: scope.place(text, _ID_BYTES))
    values.refuse(LIST_MESSAGE)
    rows = await commands(request).blobs.find(limit=limit + 1, run=run, cursor=cursor)
    more = scope.cursor(rows[limit - 1].id) if len(rows) > limit else None
    return Many([_document(row) for row in rows[:limit]], more)


@get(
    BASE + "/{blob:str}",
    tags=_TAGS,
    summary="Download a blob",
    operation_class=operation(header("Range", "A range of bytes.", "bytes=0-1023")),
    responses=refusals(404, 416),
)
async def download_blob(request: AnyRequest, blob: FromPath[str]) -> Response[Any]:
    """Return the bytes of a blob, or with the header `Range` one range of them. A browser saves it as a file: its
    content was sent by another system, and is never shown as a page."""
    row = await commands(request).blobs.get(blob)
    headers = {
        "Content-Disposition": f'attachment; filename="{show(BLOB, row.id)}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Accept-Ranges": "bytes",
        "ETag": f'"{row.sha256.hex()}"',
        "Cache-Control": "private, no-store",
    }
    asked = request.headers.get("range")
    # A range of an empty blob is ignored: clients read every blob in ranges, and this one has no byte to ask for.
    found = None if asked is None or not row.size else _read_range(asked, row.size)
    if found == ():
        message = f"the blob has {row.size} bytes, and none of them is in that range"
        size = {"Content-Range": f"bytes */{row.size}"}
        return refuse(416, "invalid_argument", "no_such_range", message, headers=size)
    start, stop = found or (0, row.size)
    headers["Content-Length"] = str(stop - start)
    if found:
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{row.size}"
    parts: AsyncIterator[bytes] = commands(request).blobs.read(row, start, stop)
    return Stream(parts, media_type=_safe(row.type), headers=headers, status_code=206 if found else 200)


def _read_range(text: str, size: int) -> tuple[int, int] | tuple[()] | None:
    """Return the range of bytes that a header asks for. Return `()` if the blob has none of it, and None if the header
    asks for several ranges or cannot be read: then the whole blob is sent, as HTTP allows."""
    match = _RANGE.fullmatch(text.strip())
    if match is None or match[0] == "bytes=-":
        return None
    first, last = match.groups()
    start, stop = (int(first), int(last) + 1 if last else size) if first else (max(0, size - int(last)), size)
    stop = min(stop, size)
    return (start, stop) if start < stop else ()


def _safe(type_: str) -> str:
    """Return the media type, but for those that a browser could run."""
    kind = type_.partition(";")[0].strip().lower()
    is_active = "html" in kind or "xml" in kind or "svg" in kind or "script" in kind
    return OCTETS if is_active else type_


def _document(row: BlobRow) -> BlobDocument:
    id_ = show(BLOB, row.id)
    return BlobDocument(
        id=id_,
        size=row.size,
        type=row.type,
        sha256=row.sha256.hex(),
        place=row.place,
        created_at=as_datetime(row.created_at),
        url=f"{BASE}/{id_}",
    )


ROUTES = [list_blobs, download_blob]
