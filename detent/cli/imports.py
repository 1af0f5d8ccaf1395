"""Read what a connector is imported from: an OpenAPI document of a file or address, or the tools of an MCP server."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from detent.catalog.connections import variable
from detent.client import connectors
from detent.client.calls import Call
from detent.documents.connectors import ImportDocument
from detent.errors import InvalidInput
from detent.settings import Settings
from detent.steps.egress import EgressPolicy
from detent.steps.http.source import HttpSource
from detent.tenants.limits import INSTALLATION
from detent.values.limits import IMPORT_LIMIT


def import_call(
    kind: str, source: str | None, name: str | None, settings: Settings, *, dry_run: bool
) -> Call[ImportDocument]:
    """Return the call that imports a connector. Raise InvalidInput if its source cannot be read."""
    if source is None or name is None:
        raise InvalidInput(f"write `detent connectors add {kind} SOURCE --name NAME`")
    is_address = source.startswith(("http://", "https://"))
    reader = HttpSource(EgressPolicy.from_texts(settings.egress_allow, ()))
    if kind == "mcp":
        if not is_address:
            raise InvalidInput(f"{source!r} must be the address of an MCP server, such as https://mcp.example.com/mcp")
        token = os.environ.get(variable(name, "token"))
        title, tools = asyncio.run(reader.tools(INSTALLATION, source, token))
        return connectors.import_mcp(name, source, tools, title=title, with_token=bool(token), dry_run=dry_run)
    if is_address:
        data = asyncio.run(reader.document(INSTALLATION, source))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / ("document.json" if data.lstrip()[:1] == b"{" else "document.yaml")
            file.write_bytes(data)
            return connectors.import_openapi(name, file, url=source, dry_run=dry_run)
    file = Path(source)
    if not file.is_file():
        raise InvalidInput(f"there is no file {source}")
    if file.stat().st_size > IMPORT_LIMIT:
        raise InvalidInput(f"{source} is larger than {IMPORT_LIMIT // 1024 // 1024} MB")
    return connectors.import_openapi(name, file, dry_run=dry_run)
