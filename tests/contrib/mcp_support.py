"""An agent that asks a server of the Model Context Protocol, inside a durable function. `MCP_LEDGER` is the file in
which the server and the model note what they are asked."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from detent import Run, workflow
from detent.contrib.pydantic_ai import DetentDurability

LEDGER = Path(os.environ["MCP_LEDGER"])
SERVER = Path(__file__).with_name("mcp_orders.py")


async def plan(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Look an order up, and say what the server said."""
    turn = sum(isinstance(message, ModelResponse) for message in messages)
    with LEDGER.open("a") as notes:
        notes.write(f"request {turn} with {[tool.name for tool in info.function_tools]}\n")
    if turn == 0:
        return ModelResponse([ToolCallPart("look_up", {"order": 7})])
    return ModelResponse([TextPart(str(messages[-1].parts[0].content))])  # type: ignore[union-attr]


support = Agent(
    FunctionModel(plan),
    name="support",
    toolsets=[MCPToolset(StdioTransport(sys.executable, [str(SERVER), str(LEDGER)]), id="orders")],
    capabilities=[DetentDurability()],
)


@workflow(name="mcp-support")
async def supporting(run: Run) -> str:
    return (await support.run("Where is order 7?")).output
