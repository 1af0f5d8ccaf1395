"""Read what connectors are imported from over HTTP: OpenAPI documents, and the tools of MCP servers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import aiohttp
import msgspec

from detent.catalog import mcp
from detent.catalog.data_action import WrittenRequest
from detent.catalog.source import ToolList
from detent.errors import InvalidInput
from detent.ids import new_id
from detent.run.outcomes import Fail
from detent.steps.egress import EgressPolicy
from detent.steps.http.request import build_prepared
from detent.steps.http.response import HttpAnswer
from detent.steps.http.step import HttpExecutor, HttpSettings, failure_of_request, tls_context
from detent.tenants.registry import UNCONFINED, TenantRegistry
from detent.values.limits import IMPORT_LIMIT
from detent.vault.secrets import UNAVAILABLE, SecretUnavailable

_TIMEOUT: Final = 60.0
_OPERATOR_SECONDS: Final = 10.0
_LARGEST_ANSWER: Final = 1024 * 1024


class OperatorJson:
    """Reads JSON of servers that the operator has named in the settings. The egress guard is for steps only."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings

    async def __call__(self, url: str, headers: Mapping[str, str]) -> Any:
        """Return the decoded answer. Raise SecretUnavailable if there is none."""
        tls = tls_context(self._settings.ca_file)
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_OPERATOR_SECONDS)) as session,
                session.get(url, headers=headers, ssl=tls, allow_redirects=False) as got,
            ):
                raw = bytearray()
                while len(raw) <= _LARGEST_ANSWER and (piece := await got.content.readany()):
                    raw += piece
                if got.status != 200:
                    raise SecretUnavailable(f"{url} answered {got.status}", code=UNAVAILABLE, retry=True)
                return msgspec.json.decode(raw)
        except (aiohttp.ClientError, TimeoutError, OSError, msgspec.DecodeError) as error:
            message = f"{url} cannot be read: {type(error).__name__}: {error}"
            raise SecretUnavailable(message, code=UNAVAILABLE, retry=True) from None


class HttpSource:
    """A ConnectorSource that sends requests as steps do, behind the egress guard."""

    def __init__(
        self, policy: EgressPolicy, settings: HttpSettings | None = None, tenants: TenantRegistry = UNCONFINED
    ) -> None:
        self._policy = policy
        self._settings = settings
        self._tenants = tenants

    async def document(self, tenant: int, url: str) -> bytes:
        answer = await self._send(tenant, WrittenRequest("GET", url, {"Accept": "application/json, */*"}, None))
        if answer.truncated or answer.body is None:
            raise InvalidInput(f"{url} answered no document, or more than {IMPORT_LIMIT // 1024 // 1024} MB")
        return bytes(answer.body) if isinstance(answer.body, msgspec.Raw) else answer.body.encode()

    async def tools(self, tenant: int, url: str, token: str | None) -> ToolList:
        headers = {"Content-Type": "application/json", "Accept": mcp.ACCEPT, mcp.VERSION_HEADER: mcp.PROTOCOL_VERSION}
        if token:
            headers["Authorization"] = f"Bearer {token}"

        async def ask(message: dict[str, Any]) -> HttpAnswer:
            return await self._send(tenant, WrittenRequest("POST", url, headers, msgspec.json.encode(message)))

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
        return ToolList(title if isinstance(title, str) else None, tools)

    async def _send(self, tenant: int, request: WrittenRequest) -> HttpAnswer:
        """Return the answer. Raise InvalidInput if there is none, or if it is an error."""
        http = HttpExecutor(self._policy, self._settings, tenants=self._tenants)
        deadline = asyncio.timeout(_TIMEOUT)
        try:
            async with deadline:
                prepared = build_prepared(request, new_id().hex(), 1)
                answer = (await http.exchange(prepared, tenant=tenant, limit=IMPORT_LIMIT)).stored()
        except Exception as error:  # noqa: BLE001 - every error has words
            failure: Fail = failure_of_request(error, deadline, _TIMEOUT)
            raise InvalidInput(f"{request.url} cannot be read: {failure.error.message}") from None
        finally:
            await http.close()
        if not 200 <= (answer.status_code or 0) < 300:
            raise InvalidInput(f"{request.url} answered {answer.status_code}")
        return answer


def _body(answer: HttpAnswer) -> Any:
    return msgspec.json.decode(answer.body) if isinstance(answer.body, msgspec.Raw) else answer.body
