"""Bodies of requests that are blobs, or forms with blobs in them: streamed from their place when they are sent."""

from __future__ import annotations

from typing import Any

import aiohttp
import msgspec
from multidict import CIMultiDict

from detent.errors import NotFound
from detent.steps.http.request import BlobBody, InvalidHttpRequest
from detent.steps.payloads.blobs import BlobPort
from detent.values.blob import read_blob


async def open_body(
    port: BlobPort, tenant: int, headers: CIMultiDict[str], body: BlobBody
) -> tuple[CIMultiDict[str], Any]:
    """Return the headers of a request and its body as the client sends it, a part at a time. Raise InvalidHttpRequest
    if a blob of it does not exist any more."""
    blobs = port.use()
    try:
        if body.blob is not None:
            reader = await blobs.open(tenant, body.blob)
            sized = headers.copy()
            sized["Content-Length"] = str(reader.blob.size)
            return sized, reader.chunks()
        form = aiohttp.FormData(default_to_multipart=True)
        for name, value in (body.parts or {}).items():
            blob = read_blob(value)
            if blob is not None:
                part = await blobs.open(tenant, blob)
                form.add_field(name, part.chunks(), content_type=part.blob.type, filename=name)
            elif isinstance(value, str):
                form.add_field(name, value)
            else:
                form.add_field(name, msgspec.json.encode(value), content_type="application/json")
    except NotFound as error:
        raise InvalidHttpRequest(error.message) from None
    written = form()
    typed = headers.copy()
    typed["Content-Type"] = written.headers["Content-Type"]  # it has the boundary
    return typed, written
