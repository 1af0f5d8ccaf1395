"""Asks people before a tool that needs approval runs.

A call of such a tool is an approval of the run, so it survives restarts and is in the inbox with its arguments. The
model gets the comment of a refusal as the result of the tool.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import ToolApproved, ToolDenied

from detent.contrib.pydantic_ai.steps import valid_name
from detent.errors import InvalidInput
from detent.python.functions import Run, WaitTimeout
from detent.values.durations import Duration, in_seconds

LONGEST_NAME_SHOWN: Final = 80
LONGEST_ARGUMENTS: Final = 3_000


@dataclass(frozen=True, slots=True)
class ApprovalOptions:
    """Who approves the calls of tools, and within which time. The fields are those of `run.approve`.

    After `timeout` the call is denied."""

    timeout: Duration | None = None
    assignees: str | Sequence[str] | None = None
    quorum: int = 1
    not_by: str | None = None
    by_link: bool = False
    remind: Mapping[str, Any] | None = None
    escalate: Mapping[str, Any] | None = None

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
    """Wait for the decision about one call. This is the only place that knows how a run asks people."""
    try:
        decided = await _ask(run, agent, call, options)
    except WaitTimeout:
        return ToolDenied("The approval of this call did not come in time.")
    if decided.approved:
        return ToolApproved()
    return ToolDenied(decided.comment) if decided.comment else ToolDenied()


def _ask(run: Run, agent: str, call: ToolCallPart, options: ApprovalOptions) -> asyncio.Future[Any]:
    """Open the approval. It shows the arguments as data, and those that `data` cannot have as text."""
    name = valid_name(f"{agent}.approve.{call.tool_name}")
    title = f"{agent} wants to call {call.tool_name[:LONGEST_NAME_SHOWN]}"
    given: dict[str, Any] = {
        "assignees": options.assignees,
        "quorum": options.quorum,
        "not_by": options.not_by,
        "by_link": options.by_link,
        "remind": options.remind,
        "escalate": options.escalate,
        "timeout": options.timeout,
    }
    arguments = call.args_as_dict()
    try:
        return run.approve(name, title=title, data=arguments, **given)
    except InvalidInput:
        text = json.dumps(arguments, default=str)
        if len(text) > LONGEST_ARGUMENTS:
            text = f"{text[:LONGEST_ARGUMENTS]}... (the whole call is in the output of the model's step)"
        return run.approve(name, title=title, text=text, **given)
