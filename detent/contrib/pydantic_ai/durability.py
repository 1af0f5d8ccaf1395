"""The capability that makes an agent durable inside durable functions, and the messages of its conversations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from weakref import WeakKeyDictionary

import msgspec
from pydantic_ai.agent import EventStreamHandler
from pydantic_ai.capabilities.abstract import WrapRunHandler
from pydantic_ai.durable_exec import (
    JSON_CODEC,
    BaseDurabilityCapability,
    DurabilityEngineSpec,
    conversation_id_from_run_id,
)
from pydantic_ai.durable_exec._utils import disable_threads
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import AgentDepsT, DeferredToolRequests, DeferredToolResults, RunContext

from detent.contrib.pydantic_ai.approvals import ApprovalOptions, ask_for
from detent.contrib.pydantic_ai.errors import MessagesTooLarge
from detent.contrib.pydantic_ai.steps import METADATA, AgentStep, StepBackend, build_options
from detent.python.functions import Run
from detent.python.functions.run import current_run
from detent.steps.errors import Unserialisable
from detent.values.limits import INPUT_LIMIT

#: A model's answer may take minutes, and requests fail for a moment. Tools may have effects, so they are not repeated.
MODEL: Final = AgentStep(retry=3, timeout="10m")
TOOLS: Final = AgentStep()
MCP: Final = AgentStep(timeout="2m")
APPROVAL: Final = ApprovalOptions()

#: How many agents each run has called, for the ids of their conversations.
_calls: Final[WeakKeyDictionary[Run, int]] = WeakKeyDictionary()


class DetentDurability(BaseDurabilityCapability[AgentDepsT]):
    """Makes model requests, tool calls and MCP calls of an agent steps of the durable function that calls it.

    `model`, `tools` and `mcp` are the options of those steps; the metadata of a tool overrides them. `approval` is how
    a person approves the tools that need it, or None to get them as the output of the agent. `models` has further
    models, by the id that `agent.run(model=...)` gets. `event_stream_handler` gets the events of a model request while
    its step runs. `name` is the agent's name in the names of steps, by default its own.
    """

    engine_spec = DurabilityEngineSpec(
        engine_name="Detent",
        durable_unit_noun="step",
        durable_container_noun="durable function",
        codec=JSON_CODEC,
        serialization_failure=lambda error: Unserialisable(f"the result has no JSON form: {error}"),
        wrapped_toolset_kinds=frozenset({"function", "mcp", "dynamic"}),
        # A run may be parked for days between two steps, so each step has its own connection to an MCP server.
        toolset_lifecycles={
            "function": "enter-always",
            "mcp": "enter-outside-durable",
            "dynamic": "enter-never",
        },
        unsupported_runtime_toolset_kinds=frozenset({"function", "mcp", "dynamic"}),
        tool_config_key=METADATA,
    )

    def __init__(
        self,
        *,
        model: AgentStep = MODEL,
        tools: AgentStep = TOOLS,
        mcp: AgentStep = MCP,
        approval: ApprovalOptions | None = APPROVAL,
        models: Mapping[str, Model] | None = None,
        event_stream_handler: EventStreamHandler[AgentDepsT] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(models=models, event_stream_handler=event_stream_handler, name=name)
        self._options = build_options(model=model, tools=tools, mcp=mcp)
        self._approval = approval
        self._streams = event_stream_handler is not None

    @property
    def in_durable_context(self) -> bool:
        return current_run() is not None

    def get_durable_operation_backend(self) -> StepBackend:
        return StepBackend(self.name, self._options, streams=self._streams)

    # -- what would differ in a replay

    def get_default_run_id(self) -> str | None:
        run = current_run()
        if run is None:
            return None
        _calls[run] = _calls.get(run, 0) + 1
        return f"{run.id}:{_calls[run]}"

    def get_default_conversation_id(self, run_id: str) -> str | None:
        return conversation_id_from_run_id(run_id) if self.in_durable_context else None

    def get_run_clock(self) -> Callable[[], datetime] | None:
        return _time_of_loop if self.in_durable_context else None

    # -- how the agent runs

    async def wrap_run(self, ctx: RunContext[AgentDepsT], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Run the agent. In a durable function there are no threads: plain functions of prompts run at once there."""
        if not self.in_durable_context:
            return await handler()
        with disable_threads():
            return await handler()

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[AgentDepsT], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        """Ask a person for the calls that need approval. Calls that run elsewhere are left to the function."""
        run = current_run()
        if run is None or self._approval is None or not requests.approvals:
            return None
        return requests.build_results(approvals=dict(await ask_for(run, self.name, requests.approvals, self._approval)))


def _time_of_loop() -> datetime:
    """Return the time of the function's loop: that of the last result it has seen, the same in a replay."""
    return datetime.fromtimestamp(asyncio.get_running_loop().time(), UTC)


# The messages of a conversation as JSON, for the input or the output of a run.


def dump_messages(messages: Sequence[ModelMessage]) -> list[Any]:
    """Return the messages as JSON values. Raise MessagesTooLarge if a run cannot store them."""
    found: list[Any] = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
    size = len(msgspec.json.encode(found))
    if size > INPUT_LIMIT:
        raise MessagesTooLarge(len(found), size)
    return found


def load_messages(values: Sequence[Any]) -> list[ModelMessage]:
    """Return the messages that `dump_messages` wrote. Raise pydantic's ValidationError if they are something else."""
    return ModelMessagesTypeAdapter.validate_python(list(values))
