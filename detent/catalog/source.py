"""Where imports are read from: documents at an address, and MCP servers."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class ToolList(NamedTuple):
    """What an MCP server offers: its name for people, and its tools as `tools/list` returns them."""

    title: str | None
    tools: list[dict[str, Any]]


class ConnectorSource(Protocol):
    """Reads what connectors are made of, behind the egress guard. Each verb raises InvalidInput if it cannot."""

    async def document(self, tenant: int, url: str) -> bytes:
        """Return the document at an address, for a tenant."""

    async def tools(self, tenant: int, url: str, token: str | None) -> ToolList:
        """Return the tools of an MCP server, for a tenant. A token is sent as `Authorization: Bearer`."""
