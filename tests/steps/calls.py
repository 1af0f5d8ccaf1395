"""Calls of steps as the engine makes them, and what came of them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from detent.engine.attempts import run_attempt
from detent.graph.model import StepKind
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome
from detent.steps.protocol import StepExecutor

RUN_ID = bytes(range(16))


def call_of(kind: StepKind, parameters: Any, *, timeout: float | None = 10.0, attempt: int = 1) -> StepCall:
    return StepCall(RUN_ID, 1, "charge", kind, attempt, parameters, timeout)


async def attempt(executor: StepExecutor, call: StepCall) -> Outcome:
    outcome = executor.begin(call)
    return outcome if isinstance(outcome, Outcome) else await outcome


async def request(executor: StepExecutor, url: str, *, timeout: float | None = 10.0, **parameters: Any) -> Outcome:
    """One attempt of an http step; GET unless told otherwise."""
    whole = {"url": url, "method": "GET", **parameters}
    return await attempt(executor, call_of(StepKind.HTTP, whole, timeout=timeout))


async def perform(
    executor: StepExecutor, action: str, given: Mapping[str, Any] | None = None, *, timeout: float | None = 10.0
) -> Outcome:
    """One attempt of an action step, within its time as the engine runs it."""
    whole = {"action": action} if given is None else {"action": action, "with": given}
    return await run_attempt(attempt(executor, call_of(StepKind.ACTION, whole, timeout=timeout)), timeout)


def done(outcome: Outcome) -> Any:
    """The result of an attempt that must have succeeded."""
    assert isinstance(outcome, Done), outcome
    return msgspec.json.decode(outcome.result)


def failed(outcome: Outcome, code: str) -> Fail:
    """The attempt, which must have failed with this code."""
    assert isinstance(outcome, Fail), outcome
    assert outcome.error.code == code, outcome
    return outcome


def answer(outcome: Outcome) -> Any:
    """The result as an object, however the attempt ended."""
    assert isinstance(outcome, Done | Fail), outcome
    return msgspec.json.decode(outcome.result)
