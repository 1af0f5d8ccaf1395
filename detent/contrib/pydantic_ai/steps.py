"""Runs an operation of an agent as a step of the durable function that called it.

Pydantic AI names each operation by a typed id: a model request, a tool call, the discovery of an MCP server's tools.
The name of its step is made of the agent's name and that id, and the journal counts the steps of one name. The function
runs on its own loop, so the order of these calls is the same in a replay, also of tools that are called in parallel.

Only results are stored, as JSON that pydantic validates when it reads them. The messages that a request sends are not:
a replay makes them again from the results.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn

from pydantic_ai.durable_exec import (
    CallableOperationBackend,
    CapabilityOperationId,
    DurableOperationId,
    DurableOperationNamer,
    EventStreamHandlerId,
    ModelCancelSuspendedResponseId,
    ModelCompactMessagesId,
    ModelRequestId,
    RoleBasedOperationConfig,
    ToolsetCallToolId,
    ToolsetGetInstructionsId,
    ToolsetGetToolsId,
    ToolsetValidateToolArgumentsId,
)
from pydantic_ai.durable_exec._operation_names import DurableInvocationName
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UserError,
)
from pydantic_ai.toolsets import ToolsetTool

from detent.clock import SystemClock
from detent.contrib.pydantic_ai.errors import ResultTooLarge
from detent.graph.model import Retry
from detent.python.functions import StepFailed
from detent.python.functions.run import current_run
from detent.python.functions.step import read_retry
from detent.run.call import is_name
from detent.steps.errors import Permanent, RetryLater
from detent.steps.http.response import retry_after
from detent.values.durations import Duration, in_seconds

#: The key of a tool's metadata that has the options of its step, or False.
METADATA: Final = "detent"
TOO_LARGE: Final = "output_too_large"
LONGEST_NAME: Final = 64
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]")
_DIGEST: Final = 8
#: Answers below 500 after which the same request may succeed: timeout, conflict, too early, too many requests.
_TEMPORARY: Final = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class AgentStep:
    """How an operation of an agent runs as a step.

    `retry` is the number of retries after an error, or a `Retry`. `timeout` limits one attempt.
    """

    retry: int | Retry = 0
    timeout: Duration | None = None

    def __post_init__(self) -> None:
        read_retry(self.retry)
        if self.timeout is not None:
            in_seconds(self.timeout, zero=False)


OperationOptions = RoleBasedOperationConfig[AgentStep]


def build_options(*, model: AgentStep, tools: AgentStep, mcp: AgentStep) -> OperationOptions:
    """Return the options of every operation. Discovering tools is as safe to repeat as a model request."""

    def of_tool(operation: DurableOperationId, tool: object | None, name: str) -> AgentStep | Literal[False]:
        if not isinstance(operation, ToolsetCallToolId):
            return model
        options = mcp if operation.toolset_kind == "mcp" else tools
        metadata = tool.tool_def.metadata if isinstance(tool, ToolsetTool) else None
        return (
            options if metadata is None or METADATA not in metadata else _own_options(name, metadata[METADATA], options)
        )

    return OperationOptions(model=model, event=AgentStep(), capability=tools, tool=tools, resolve_tool=of_tool)


def _own_options(tool: str, given: object, default: AgentStep) -> AgentStep | Literal[False]:
    """Return the options that a tool's metadata has. Raise UserError if they are not valid."""
    if given is False or isinstance(given, AgentStep):
        return given
    if isinstance(given, Mapping) and set(given) <= {"retry", "timeout"}:
        return AgentStep(**{"retry": default.retry, "timeout": default.timeout, **given})
    raise UserError(
        f"the metadata {METADATA!r} of the tool {tool!r} is {given!r}: write {{'retry': 3, 'timeout': '30s'}}, or "
        "False for a tool that only computes, which then runs in the function itself"
    )


class StepNames(DurableOperationNamer):
    """The names of steps: `support.model`, `support.tool.refund`, `support.mcp.github.call.search`.

    They are stored in journals. A name that has other characters than a step may have, or is too long, ends with a
    digest.
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent

    def operation_name(self, operation_id: DurableOperationId) -> str:
        return self._name(operation_id, None)

    def invocation_name(self, operation_id: DurableOperationId, *, label: str | None) -> DurableInvocationName:
        return DurableInvocationName(self._name(operation_id, label))

    def _name(self, operation: DurableOperationId, label: str | None) -> str:
        return valid_name(".".join((self._agent, *_parts(operation), *([label] if label else ()))))


def _parts(operation: DurableOperationId) -> tuple[str, ...]:
    """Return the words that name an operation, after the agent's name."""
    match operation:
        case ModelRequestId(model_id=None):
            return ("model",)
        case ModelRequestId(model_id=str() as model):
            return ("model", model)
        case ModelCompactMessagesId():
            return ("compact",)
        case ModelCancelSuspendedResponseId():
            return ("cancel-response",)
        case EventStreamHandlerId():
            return ("event",)
        case CapabilityOperationId(capability_id=capability, operation=verb):
            return ("capability", capability, verb)
        case ToolsetGetInstructionsId(toolset_id=toolset):
            return ("mcp", toolset, "instructions")
        case ToolsetGetToolsId(toolset_kind=kind, toolset_id=toolset):
            return (kind, toolset, "tools")
        case ToolsetValidateToolArgumentsId():
            return ("check",)
        case ToolsetCallToolId(toolset_kind="mcp", toolset_id=toolset):
            return ("mcp", toolset, "call")
        case ToolsetCallToolId():
            return ("tool",)
        case _:  # a later release of Pydantic AI may have more of them
            return (type(operation).__name__,)


def valid_name(text: str) -> str:
    """Return the text as the name of a step. Two texts that differ have names that differ."""
    if is_name(text):
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
    name = f"_{text}" if text[:1].isdigit() or text[:1] in "-." else text
    return f"{_NOT_IN_NAMES.sub('_', name)[: LONGEST_NAME - _DIGEST - 1]}-{digest}"


class StepBackend(CallableOperationBackend[AgentStep]):
    """Runs operations of one agent as steps. `streams` says whether the agent has a handler for live events."""

    def __init__(self, agent: str, options: OperationOptions, *, streams: bool) -> None:
        super().__init__(namer=StepNames(agent), config=options)
        self._agent = agent
        self._streams = streams

    async def execute(
        self,
        *,
        operation_id: DurableOperationId,
        name: str,
        body: Callable[[], Awaitable[object]],
        cache_key: tuple[object, ...],
        config: AgentStep,
    ) -> object:
        if isinstance(operation_id, ModelRequestId) and operation_id.streaming and not self._streams:
            self._refuse_stream()
        run = current_run()
        assert run is not None, "Pydantic AI runs operations here only if `in_durable_context`"
        try:
            return await run.step(_perform, body, name=name, retry=config.retry, timeout=config.timeout)
        except StepFailed as failed:
            if failed.code == TOO_LARGE:
                raise ResultTooLarge(failed, _advice(operation_id)) from None
            raise

    def _refuse_stream(self) -> NoReturn:
        raise UserError(
            f"agent {self._agent!r} cannot stream to a durable function, because a replay would repeat what the "
            "function does with the events: use `await agent.run(...)`, and give DetentDurability an "
            "`event_stream_handler`, which gets the events of a model request while its step runs"
        )


async def _perform(body: Callable[[], Awaitable[Any]]) -> Any:
    """Run the body of an operation. Raise Permanent if the request cannot succeed, RetryLater if it names a time."""
    try:
        return await body()
    except (UserError, ModelRequestRejectedError, ModelQuotaExceededError) as error:
        raise Permanent(f"{type(error).__name__}: {error}", code=_code(error)) from error
    except ModelHTTPError as error:
        message = f"{type(error).__name__}: {error}"
        if error.status_code < 500 and error.status_code not in _TEMPORARY:
            raise Permanent(message, code=_code(error)) from error
        raise RetryLater(_retry_after(error), message, code=_code(error)) from error


def _code(error: Exception) -> str:
    if isinstance(error, ModelHTTPError):
        return f"model_http_{error.status_code}"
    return "model_error" if isinstance(error, ModelAPIError) else "agent_error"


def _retry_after(error: ModelHTTPError) -> float | None:
    given = (error.headers or {}).get("retry-after", "")
    return retry_after(given, SystemClock().wall()) if given else None


def _advice(operation: DurableOperationId) -> str:
    if isinstance(operation, ModelRequestId):
        return "limit the model's answers with `model_settings={'max_tokens': ...}`, or ask it for parts"
    return "let the tool return a part or a summary, or store the content elsewhere and return its key"
