"""Triggers on engines under virtual time. What was said of `tests.engine.rig` holds here too."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from detent.auth.caller import local_caller
from detent.commands import EngineCommands
from detent.engine.engine import Engine
from detent.ids import TRIGGER, new_id, show
from detent.store.protocol import Store
from detent.store.trigger_rows import FiringRow, TriggerRow
from detent.triggers.commands import EngineTriggers, TriggerCommands
from detent.triggers.record import FiringPayload, webhook_request
from detent.triggers.worker import TriggerWork
from tests.callers import commands_of
from tests.engine.rig import OWNER, Rig, VirtualLoop, rig

BASE_URL = "https://detent.example"
MINUTE = 60 * 1_000_000


class InlineLoop(VirtualLoop):
    """What would go to a thread is done on the spot: time must not pass meanwhile."""

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - as a thread would hand it on
            future.set_exception(error)
        return future


def virtual(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an async test under virtual time."""

    @functools.wraps(test)
    def run(**arguments: object) -> None:
        with asyncio.Runner(loop_factory=InlineLoop) as runner:
            runner.run(test(**arguments))

    return run


@dataclass
class World:
    """A rig whose engines have triggers."""

    rig: Rig
    engines: list[Engine] = field(default_factory=list)
    works: dict[Engine, asyncio.Task[None]] = field(default_factory=dict)

    async def node(self, *, works: bool = True) -> Engine:
        """One more engine; with `works` it takes slots and processes firings."""
        engine = await self.rig.engine()
        self.engines.append(engine)
        if works:
            self.work(engine)
        return engine

    def work(self, engine: Engine) -> None:
        before = OWNER.set(engine)
        line = cast(Store, self.rig.lines[engine])
        work = TriggerWork(
            line, self._triggers(engine).processor, now=engine.time.now, clock=self.rig.clock, new_id=new_id
        )
        self.works[engine] = asyncio.create_task(work.work())
        OWNER.reset(before)

    async def rest(self, engine: Engine) -> None:
        """Let an engine do nothing for triggers any more."""
        work = self.works.pop(engine)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)

    def crash(self, engine: Engine) -> None:
        self.works.pop(engine, None)
        self.engines.remove(engine)
        self.rig.crash(engine)

    def commands(self, engine: Engine | None = None) -> TriggerCommands:
        return self._triggers(engine or self.engines[0]).for_caller(local_caller("test"))

    def _triggers(self, engine: Engine) -> EngineTriggers:
        line = cast(Store, self.rig.lines[engine])
        return EngineTriggers(EngineCommands(engine), line, now=engine.time.now, new_id=new_id, base_url=BASE_URL)

    async def save(self, name: str = "w", tasks: Any = None, **document: Any) -> None:
        """A workflow; its only step echoes unless others are given."""
        whole = {"name": name, "tasks": tasks or {"a": {"action": "core.echo"}}, **document}
        await commands_of(self.engines[0]).workflows.save(json.dumps(whole), replace=True)

    async def enable(self, name: str = "w", *, enabled: bool) -> None:
        await commands_of(self.engines[0]).workflows.enable(name, enabled=enabled)

    async def trigger(self, type_: str = "webhook", workflow: str = "w", **fields: Any) -> str:
        """A trigger; gives its id."""
        row = await self.commands().editor.create({"workflow": workflow, "type": type_, **fields})
        return show(TRIGGER, row.id)

    async def row(self, trigger: str) -> TriggerRow:
        return await self.commands().editor.get(trigger)

    def fired(self) -> list[FiringRow]:
        """Every firing, oldest first."""
        return sorted(self.rig.store.fired.values(), key=lambda row: row.id)

    def states(self) -> list[str]:
        return [str(row.state) for row in self.fired()]

    def runs(self) -> list[dict[str, Any]]:
        """The inputs of all runs."""
        return [json.loads(run.new.input) for run in self.rig.store.table.values()]

    async def until(self, holds: Callable[[], bool], within: float = 60.0) -> float:
        return await self.rig.until(holds, within)

    def now(self) -> int:
        return self.rig.clock.wall()


def sent(body: bytes = b"{}", headers: dict[str, str] | None = None, **query: str) -> FiringPayload:
    """A request to a webhook."""
    return webhook_request("POST", {"Content-Type": "application/json", **(headers or {})}, query, body)


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    """A world without engines."""
    async with rig() as inner:
        made = World(inner)
        try:
            yield made
        finally:
            for engine in list(made.works):
                await made.rest(engine)
