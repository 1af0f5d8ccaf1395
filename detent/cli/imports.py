"""Read what a connector is imported from: an OpenAPI document of a file or address, or the tools of an MCP server."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any, Final

import msgspec

from detent.catalog import mcp
from detent.catalog.connections import variable
from detent.catalog.data_action import WrittenRequest
from detent.client import connectors
from detent.client.calls import Call
from detent.documents.connectors import ImportDocument
from detent.errors import InvalidInput
from detent.graph.model import StepKind
from detent.ids import new_id
from detent.run.call import StepCall
from detent.run.outcomes import Fail
from detent.settings import Settings
from detent.steps.egress import EgressPolicy
from detent.steps.http.request import build_prepared
from detent.steps.http.response import HttpAnswer
from detent.steps.http.step import HttpExecutor, failure_of_request
from detent.values.limits import IMPORT_LIMIT

_TIMEOUT: Final = 60.0
_call: Final = StepCall(new_id(), 0, "import", StepKind.HTTP, 1, {}, _TIMEOUT)


def import_call(
    kind: str, source: str | None, name: str | None, settings: Settings, *, dry_run: bool
) -> Call[ImportDocument]:
    """Return the call that imports a connector. Raise InvalidInput if its source cannot be read."""
    if source is None or name is None:
        raise InvalidInput(f"write `detent connectors add {kind} SOURCE --name NAME`")
    is_address = source.startswith(("http://", "https://"))
    if kind == "mcp":
        if not is_address:
            raise InvalidInput(f"{source!r} must be the address of an MCP server, such as https://mcp.example.com/mcp")
        token = os.environ.get(variable(name, "token"))
        title, tools = asyncio.run(_tools(source, token, settings))
        return connectors.import_mcp(name, source, tools, title=title, with_token=bool(token), dry_run=dry_run)
    if is_address:
        data = asyncio.run(_fetch(source, settings))
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


async def _fetch(url: str, settings: Settings) -> bytes:
    answer = await _Sender(settings).send(WrittenRequest("GET", url, {"Accept": "application/json, */*"}, None))
    if answer.truncated or answer.body is None:
        raise InvalidInput(f"{url} answered no document, or more than {IMPORT_LIMIT // 1024 // 1024} MB")
    return bytes(answer.body) if isinstance(answer.body, msgspec.Raw) else answer.body.encode()


async def _tools(url: str, token: str | None, settings: Settings) -> tuple[str | None, list[dict[str, Any]]]:
    """Return the name of an MCP server and its tools."""
    sender = _Sender(settings)
    headers = {"Content-Type": "application/json", "Accept": mcp.ACCEPT, mcp.VERSION_HEADER: mcp.PROTOCOL_VERSION}
    if token:
        headers["Authorization"] = f"Bearer {token}"

    async def ask(message: dict[str, Any]) -> HttpAnswer:
        return await sender.send(WrittenRequest("POST", url, headers, msgspec.json.encode(message)))

    try:
        opened = await ask(mcp.initialize())
        about = mcp.read_result(_body(opened), 1).get("serverInfo")
        if session := opened.headers.get(mcp.SESSION_HEADER.lower()):
            headers[mcp.SESSION_HEADER] = session
        await ask(mcp.initialized())
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(mcp.MOST_PAGES):
            page = mcp.read_result(_body(await ask(mcp.list_tools(cursor))), 2)
            tools += page.get("tools") or []
            cursor = page.get("nextCursor")
            if not cursor:
                break
    except mcp.McpRefused as error:
        raise InvalidInput(f"{url} is not an MCP server that can be used: {error}") from None
    title = about.get("title") or about.get("name") if isinstance(about, dict) else None
    return title if isinstance(title, str) else None, tools


def _body(answer: HttpAnswer) -> Any:
    return msgspec.json.decode(answer.body) if isinstance(answer.body, msgspec.Raw) else answer.body


def _unchanged(answer: HttpAnswer, *_: object) -> HttpAnswer:
    return answer


class _Sender:
    """Sends requests as steps do, behind the egress guard."""

    def __init__(self, settings: Settings) -> None:
        self._policy = EgressPolicy.from_texts(settings.egress_allow, ())

    async def send(self, request: WrittenRequest) -> HttpAnswer:
        """Return the answer. Raise InvalidInput if there is none, or if it is an error."""
        http = HttpExecutor(self._policy)
        deadline = asyncio.timeout(_TIMEOUT)
        try:
            async with deadline:
                prepared = build_prepared(request, _call.idempotency_key, 1)
                answer = await http.exchange(prepared, _unchanged, limit=IMPORT_LIMIT)
        except Exception as error:  # noqa: BLE001 - every error has words
            failure: Fail = failure_of_request(error, deadline, _TIMEOUT)
            raise InvalidInput(f"{request.url} cannot be read: {failure.error.message}") from None
        finally:
            await http.close()
        if not 200 <= (answer.status_code or 0) < 300:
            raise InvalidInput(f"{request.url} answered {answer.status_code}")
        return answer
