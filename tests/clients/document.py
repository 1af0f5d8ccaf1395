"""`python -m tests.clients.document FILE` writes the OpenAPI document, in the same order on every machine."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from tests.api.server import serving


async def openapi_text() -> str:
    """The document as a Detent serves it, with every mapping in order."""
    async with serving("memory://") as detent:
        answer = await detent.call("GET", "/openapi.json")
    return json.dumps(answer.json, indent=1, sort_keys=True)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(asyncio.run(openapi_text()))
