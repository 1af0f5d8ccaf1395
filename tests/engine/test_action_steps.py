"""Actions in runs: what reaches the next attempt, who asked, and the built-in actions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from detent.clock import SystemClock
from detent.commands import Commands
from detent.documents.answers import as_json
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.graph.model import StepKind
from detent.ids import RUN, new_id, show
from detent.observe import listen
from detent.run.start import StartRequest
from detent.run.status import TERMINAL
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import ActionContext, Registry
from detent.steps.errors import Skipped
from detent.store.memory.store import MemoryStore
from tests.callers import commands_of

REGISTRY = Registry()


@REGISTRY.action("rows.copy", heartbeat_timeout=60)
def copy(context: ActionContext, size: int) -> dict[str, Any]:
    begun = context.heartbeat_detail or 0
    for row in range(begun, size):
        context.heartbeat(row)
        if row - begun == 2:
            raise OSError("the connection broke")
    return {"from": begun, "attempt": context.attempt, "by": context.principal.user_id}


@REGISTRY.action("rows.none")
def none() -> None:
    raise Skipped("there are no rows")


@pytest.fixture
async def commands() -> AsyncIterator[Commands]:
    clock = SystemClock()
    engine = Engine(
        MemoryStore(clock),
        clock=clock,
        tokens=CallbackTokens("key", "http://127.0.0.1"),
        executors={StepKind.ACTION: ActionExecutor(REGISTRY)},
        serves=REGISTRY.names(),
        new_id=new_id,
    )
    await engine.start()
    yield commands_of(engine)
    await engine.stop()


async def run(commands: Commands, tasks: dict[str, Any], **extra: Any) -> dict[str, Any]:
    await commands.workflows.save(json.dumps({"name": "w", "tasks": tasks}), filename="w.json")
    started = await commands.starts.start(StartRequest("w", {}, extra=extra))
    async with asyncio.timeout(300):
        while (shown := await commands.runs.get(show(RUN, started.run))).status not in TERMINAL:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    found: dict[str, Any] = as_json(shown)
    return found


FAST = {"attempts": 5, "delay": "1ms", "jitter": False, "factor": 1}


async def test_the_next_attempt_goes_on_where_the_last_one_was(commands: Commands) -> None:
    tasks = {"copy": {"action": "rows.copy", "with": {"size": 7}, "retries": FAST}}
    document = await run(commands, tasks, principal={"userId": "U1"})
    assert document["status"] == "completed", document
    assert document["tasks"]["copy"]["output"] == {"from": 6, "attempt": 4, "by": "U1"}


async def test_an_action_that_skips_its_step_lets_the_run_go_on(commands: Commands) -> None:
    tasks = {
        "none": {"action": "rows.none"},
        "after": {"action": "core.echo", "needs": ["none"], "if": "true", "with": {"a": 1}},
    }
    document = await run(commands, tasks)
    assert document["status"] == "completed", document
    assert document["tasks"]["none"]["status"] == "skipped"
    assert document["tasks"]["none"]["error"]["message"] == "there are no rows"


async def test_the_built_in_actions_do_what_they_say(commands: Commands) -> None:
    heard: list[dict[str, Any]] = []
    stop = listen(lambda name, facts: heard.append(facts) if name == "action.logged" else None)
    tasks = {
        "try": {"action": "core.sometimes-fails", "with": {"payload": "x"}, "retries": FAST},
        "shape": {"action": "core.transform", "needs": ["try"], "with": {"value": ["{{ tasks.try.output.attempt }}"]}},
        "log": {"action": "core.log", "needs": ["shape"], "with": {"message": "done", "level": "warning", "n": 3}},
    }
    document = await run(commands, tasks)
    stop()
    assert document["status"] == "completed", document
    assert document["tasks"]["try"]["output"] == {"payload": "x", "attempt": 3}
    assert document["tasks"]["shape"]["output"] == [3]
    [line] = heard
    assert (line["step"], line["level"], line["message"], line["facts"]) == ("log", "warning", "done", {"n": 3})
