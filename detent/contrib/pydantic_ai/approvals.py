"""Asks a person before a tool that needs approval runs.

A call of such a tool is a wait of the run, so it survives restarts and takes as long as it takes. The model gets the
reason of a refusal as the result of the tool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import ToolApproved, ToolDenied

from detent.contrib.pydantic_ai.steps import valid_name
from detent.python.functions import Run, WaitTimeout
from detent.values.durations import Duration, in_seconds

LONGEST_REASON: Final = 2_000
_EXPECTED: Final = '{"approved": true}, or {"approved": false, "reason": "..."}'


@dataclass(frozen=True, slots=True)
class ApprovalOptions:
    """How long a person may take to approve the call of a tool. After `timeout` the call is denied."""

    timeout: Duration | None = None

    def __post_init__(self) -> None:
        if self.timeout is not None:
            in_seconds(self.timeout, zero=False)


async def ask_for(
    run: Run, agent: str, calls: Sequence[ToolCallPart], options: ApprovalOptions
) -> dict[str, ToolApproved | ToolDenied]:
    """Ask for the approval of these calls, all at once. Return the decision by the id of the call."""
    decisions = await asyncio.gather(*(_decision(run, agent, call, options) for call in calls))
    return {call.tool_call_id: decision for call, decision in zip(calls, decisions, strict=True)}


async def _decision(run: Run, agent: str, call: ToolCallPart, options: ApprovalOptions) -> ToolApproved | ToolDenied:
    """Wait for the decision about one call. This is the only place that knows how a run asks a person."""
    try:
        answer = await run.wait(valid_name(f"{agent}.approve.{call.tool_name}"), timeout=options.timeout)
    except WaitTimeout:
        return ToolDenied("The approval of this call did not come in time.")
    return read_decision(answer)


def read_decision(answer: Any) -> ToolApproved | ToolDenied:
    """Return the decision that an answer states. Everything but a clear approval denies the call."""
    if not isinstance(answer, Mapping) or not isinstance(answer.get("approved"), bool):
        return ToolDenied(f"The answer to the request for approval was not {_EXPECTED}.")
    if not answer["approved"]:
        reason = answer.get("reason")
        return ToolDenied(reason[:LONGEST_REASON]) if isinstance(reason, str) and reason else ToolDenied()
    arguments = answer.get("arguments")
    if arguments is not None and not isinstance(arguments, Mapping):
        return ToolDenied("The arguments in the approval were not an object.")
    return ToolApproved(override_args=None if arguments is None else dict(arguments))
