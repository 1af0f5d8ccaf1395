"""An agent of Pydantic AI that survives its process, with a budget of calls and a person who approves refunds.

pip install 'detent-workflows[pydantic-ai]'
python examples/python/support_agent.py

The model here is a script, so that the example runs without a key: put "openai:gpt-5" or another model in its place.
"""

from __future__ import annotations

import asyncio

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from detent import Run, workflow
from detent.contrib.pydantic_ai import AgentStep, ApprovalOptions, DetentDurability
from detent.testing import speedrun_async

BUDGET = UsageLimits(request_limit=4, tool_calls_limit=6)


async def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Look the order up, refund it, and say what happened. An order "loop-..." is looked up again and again."""
    turn = sum(isinstance(message, ModelResponse) for message in messages)
    order = str(messages[0].parts[-1].content).rpartition(" ")[2]  # type: ignore[union-attr]
    if turn == 0 or order.startswith("loop"):
        return ModelResponse([ToolCallPart("look_up", {"order": order})])
    if turn == 1:
        return ModelResponse([ToolCallPart("refund", {"order": order})])
    return ModelResponse([TextPart(f"I asked for it: {messages[-1].parts[0].content}")])  # type: ignore[union-attr]


agent = Agent(
    FunctionModel(scripted),
    name="support",
    instructions="Help the customer. Refund an order only after you have looked it up.",
    capabilities=[DetentDurability(model=AgentStep(retry=5, timeout="2m"), approval=ApprovalOptions(timeout="3d"))],
)


@agent.tool_plain(metadata={"detent": {"retry": 3}})
async def look_up(order: str) -> str:
    return f"{order} was delivered broken"


@agent.tool_plain(requires_approval=True)
async def refund(order: str) -> str:
    return f"{order} is refunded"


@workflow
async def answer(run: Run, question: str) -> str:
    """Let the agent answer within its budget, or hand the question to a person."""
    try:
        return (await agent.run(question, usage_limits=BUDGET)).output
    except UsageLimitExceeded:
        return "a colleague will call you"


async def main() -> None:
    yes, no = {"approved": True}, {"approved": False, "comment": "it is older than a year"}
    print(await speedrun_async(answer, "Money back for o1", answers={"support.approve.refund": yes}))
    print((await speedrun_async(answer, "Money back for o2", answers={"support.approve.refund": no})).output)
    print(await speedrun_async(answer, "Money back for loop-3"))
    print((await speedrun_async(answer, "Money back for loop-3")).output)


if __name__ == "__main__":
    asyncio.run(main())
