"""Agents of Pydantic AI inside durable functions.

    agent = Agent("openai:gpt-5", name="support", capabilities=[DetentDurability()])

    @workflow
    async def answer(run: Run, question: str) -> str:
        return (await agent.run(question)).output

Model requests, tool calls and MCP calls become steps of the function that calls the agent. So a crash repeats only what
was not committed. Outside of a durable function the agent works as if the capability were not there.

`durability.py` is the capability, `steps.py` runs an operation of the agent as a step, and `approvals.py` asks a person
before a tool runs.
"""

try:
    import pydantic_ai as _  # noqa: F401 - the rest of this package needs it
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "detent.contrib.pydantic_ai needs Pydantic AI: pip install 'detent-workflows[pydantic-ai]'", name=error.name
    ) from None

from detent.contrib.pydantic_ai.approvals import ApprovalOptions
from detent.contrib.pydantic_ai.durability import DetentDurability, dump_messages, load_messages
from detent.contrib.pydantic_ai.errors import MessagesTooLarge, ResultTooLarge
from detent.contrib.pydantic_ai.steps import AgentStep

__all__ = [
    "AgentStep",
    "ApprovalOptions",
    "DetentDurability",
    "MessagesTooLarge",
    "ResultTooLarge",
    "dump_messages",
    "load_messages",
]
