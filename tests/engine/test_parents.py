"""Parents that are parked while one of their children ends."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from detent.auth.caller import Caller
from detent.commands import EngineCommands
from detent.engine.tuning import Tuning
from detent.ids import RUN, show
from detent.process import run_app
from detent.run.start import StartRequest
from detent.settings import Settings
from detent.store.memory.store import MemoryStore
from detent.store.rows import Flush, Flushed, Mail
from tests.callers import commands_of
from tests.python.function.test_engine import begin, ended

#: A node that does only what it is nudged to do.
NUDGED = Tuning(poll=600.0, idle_poll=600.0, mail_poll=600.0)
MAP = {"name": "m", "tasks": {"m": {"for_each": "{{ range(12) }}", "max_parallel": 4, "action": "core.echo"}}}


async def test_a_parent_that_is_parked_while_its_child_ends_does_not_wait_for_a_poll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flush, mail = MemoryStore.flush, MemoryStore.mail

    async def flush_parks_late(
        store: MemoryStore, node: bytes, epoch: int, rows: Flush, **options: Any
    ) -> Flushed | None:
        if rows.parks:
            await asyncio.sleep(0.01)  # a claim finds the run owned meanwhile
        return await flush(store, node, epoch, rows, **options)

    async def answer_late(store: MemoryStore, node: bytes, **options: Any) -> list[Mail]:
        found = await mail(store, node, **options)
        await asyncio.sleep(0.003)  # the run is parked meanwhile
        return found

    monkeypatch.setattr(MemoryStore, "flush", flush_parks_late)
    monkeypatch.setattr(MemoryStore, "mail", answer_late)
    async with run_app(Settings(database_url="memory:"), tuning=NUDGED, migrate=True) as app:
        await commands_of(app).workflows.save(json.dumps(MAP))
        assert (await ended(app, await begin(app, "m")))["status"] == "completed"


async def test_a_child_belongs_to_the_tenant_of_its_parent() -> None:
    async with run_app(Settings(database_url="memory:"), migrate=True) as app:
        commands = [EngineCommands(app.engine).for_caller(Caller(tenant, "ann")) for tenant in (1, 2)]
        for tenant, one in enumerate(commands, 1):
            says = {"a": {"action": "core.echo", "with": {"tenant": tenant}}}
            await one.workflows.save(json.dumps({"name": "child", "tasks": says}))
        parent = {"name": "parent", "tasks": {"c": {"workflow": "child"}}, "output": "{{ tasks.c.output }}"}
        await commands[1].workflows.save(json.dumps(parent))
        started = await commands[1].starts.start(StartRequest("parent"))
        async with asyncio.timeout(300):
            while not (await commands[1].runs.row(show(RUN, started.run))).ended_at:  # noqa: ASYNC110 - only the store knows
                await asyncio.sleep(0.02)
        rows = await commands[1].runs.find(limit=10)
        assert {(row.workflow_name, row.tenant, row.status) for row in rows} == {
            ("child", 2, "completed"),
            ("parent", 2, "completed"),
        }
        (row,) = [row for row in rows if row.workflow_name == "parent"]
        assert json.loads(row.output or b"null") == {"tenant": 2}
        assert await commands[0].runs.find(limit=10) == []
