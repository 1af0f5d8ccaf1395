"""Tools of an MCP server as actions: a call of a tool is one JSON-RPC request over HTTP.

`initialize` opens a session, `tools/list` describes the tools, `tools/call` calls one. An answer is JSON, or a stream
of events (SSE) in which one has the result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from detent.catalog.action import ActionSource, Effect, EffectKind
from detent.catalog.connector import ActionSpec, Auth, AuthType, Connector, Protocol, RequestSpec
from detent.catalog.manifest import LONGEST_ACTION, LONGEST_DESCRIPTION, LONGEST_TITLE, MOST_ACTIONS
from detent.errors import InvalidInput, Problem
from detent.forms.payload_schema import check_schema
from detent.version import VERSION

PROTOCOL_VERSION: Final = "2025-06-18"
SESSION_HEADER: Final = "Mcp-Session-Id"
VERSION_HEADER: Final = "MCP-Protocol-Version"
#: Every request says that it reads both shapes of an answer.
ACCEPT: Final = "application/json, text/event-stream"
MOST_PAGES: Final = 20
_NOT_A_WORD: Final = re.compile(r"[^a-z0-9._]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class McpRefused(ValueError):
    """A server answered with an error, or not as the protocol says."""


def initialize() -> dict[str, Any]:
    """Return the request that opens a session."""
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "detent", "version": VERSION},
        },
    }


def initialized() -> dict[str, Any]:
    """Return the notification that a session is open."""
    return {"jsonrpc": "2.0", "method": "notifications/initialized"}


def list_tools(cursor: str | None) -> dict[str, Any]:
    """Return the request for one page of tools."""
    params = {} if cursor is None else {"cursor": cursor}
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": params}


def call_tool(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request that calls a tool."""
    return {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": tool, "arguments": dict(arguments)}}


def read_result(body: Any, number: int) -> Mapping[str, Any]:
    """Return the result in the answer to a request with that number: JSON, or the text of an event stream. Raise
    McpRefused."""
    messages = _events(body) if isinstance(body, str) else [body]
    for message in messages:
        if isinstance(message, dict) and message.get("id") == number:
            error = message.get("error")
            if isinstance(error, dict):
                raise McpRefused(str(error.get("message") or "the server answered an error")[:500])
            result = message.get("result")
            if isinstance(result, dict):
                return result
    raise McpRefused("the server did not answer with a result of JSON-RPC")


def _events(text: str) -> list[Any]:
    """Return the JSON values in the data of server-sent events."""
    found = []
    for event in re.split(r"\r?\n\r?\n", text):
        lines = (line for line in event.splitlines() if line.startswith("data:"))
        data = "\n".join(line[5:].removeprefix(" ") for line in lines)
        if data:
            try:
                found.append(json.loads(data))
            except ValueError:
                continue
    return found


def output_of(result: Mapping[str, Any]) -> Any:
    """Return the output of a tool: its structured content, else its texts. Raise McpRefused if the tool failed."""
    content = result.get("content")
    parts = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    text = "\n".join(str(one.get("text", "")) for one in parts if one.get("type") == "text")
    if result.get("isError") is True:
        raise McpRefused(text[:500] or "the tool failed")
    structured = result.get("structuredContent")
    return structured if structured is not None else {"text": text, "content": parts}


def build_mcp_connector(
    name: str, url: str, tools: Any, *, title: str | None = None, version: str = "1.0.0", with_token: bool = False
) -> Connector:
    """Return the connector of an MCP server at `url` with these tools. Raise InvalidInput with every problem."""
    if not isinstance(tools, list) or not tools:
        raise InvalidInput("the server has no tools", [Problem("tools", "must be a list of tools")])
    if len(tools) > MOST_ACTIONS:
        raise InvalidInput("the server has too many tools", [Problem("tools", f"at most {MOST_ACTIONS} are allowed")])
    problems: list[Problem] = []
    actions: dict[str, ActionSpec] = {}
    for number, tool in enumerate(tools):
        written = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(written, str) or not written:
            problems.append(Problem(f"tools[{number}].name", "is missing"))
            continue
        if "{{" in written or len(written) > LONGEST_TITLE:
            problems.append(Problem(f"tools[{number}].name", "must be short and without braces"))
            continue
        action = _action(written, tool, version)
        if action.id in actions:
            problems.append(Problem(f"tools[{number}].name", f"{written!r} is the same action as another tool"))
        actions[action.id] = action
    if problems:
        raise InvalidInput("the tools of the server cannot be read", problems)
    return Connector(
        id=name,
        version=version,
        title=_words(title, LONGEST_TITLE) or name,
        description=f"Tools of the MCP server at {url}.",
        base_url=url.rstrip("/"),
        auth=Auth(AuthType.BEARER) if with_token else Auth(),
        actions=tuple(actions.values()),
        source=ActionSource.MCP,
    )


def _action(written: str, tool: Mapping[str, Any], version: str) -> ActionSpec:
    hints = tool.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    kind = EffectKind.UNKNOWN
    if hints.get("readOnlyHint") is True:
        kind = EffectKind.NONE
    elif hints.get("idempotentHint") is True:
        kind = EffectKind.IDEMPOTENT
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", written).lower()
    return ActionSpec(
        id=_NOT_A_WORD.sub("-", name).strip("-._")[:LONGEST_ACTION] or "tool",
        version=version,
        request=RequestSpec(method="POST", path="/", body={"tool": written}),
        title=_words(tool.get("title") or hints.get("title"), LONGEST_TITLE) or written[:LONGEST_TITLE],
        description=_words(tool.get("description"), LONGEST_DESCRIPTION),
        category="Tools",
        parameters=_schema(tool.get("inputSchema")),
        output_schema=_schema(tool.get("outputSchema")),
        effect=Effect(kind),
        protocol=Protocol.MCP,
    )


def _schema(value: Any) -> Mapping[str, Any]:
    """Return a schema that can be used; any value where the server's own cannot."""
    if not isinstance(value, dict):
        return {}
    plain = {key: one for key, one in value.items() if key not in ("$schema", "$id")}
    return {} if check_schema(plain, "inputSchema") else plain


def _words(value: Any, most: int) -> str:
    return _CONTROL.sub(" ", value).strip()[:most] if isinstance(value, str) else ""
