"""Steps of workflow classes: one attempt without an engine, or whole runs on one.

outcome = await play(Signup, "welcome", hero=("User", "7"))

async with theatre("memory://") as world:
    run = await world.start(Signup)
    assert (await world.ended(run))["status"] == "completed"
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from detent.clock import SystemClock
from detent.commands import Commands, StartAnswer
from detent.documents.answers import as_json
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.engine.tuning import Tuning
from detent.graph.model import Ending, Graph, StepKind
from detent.ids import RUN, new_id, show
from detent.python.classes.executor import ClassExecutor
from detent.python.classes.workflow import Workflow, WorkflowType
from detent.python.heroes import Heroes
from detent.python.registry import PythonRegistry
from detent.run.call import RunView, StepCall
from detent.run.outcomes import Done, Finish, Outcome
from detent.run.start import StartRequest
from detent.run.state import RunFacts
from detent.run.status import TERMINAL
from detent.store.factory import open_store
from detent.store.protocol import Store
from tests.callers import commands_of

RUN_ID = bytes(range(16))
QUICK = Tuning(lease=5.0, beat=1.0, margin=1.0, poll=0.02, idle_poll=0.05, mail_poll=0.02, watch=0.5, drain=2.0)
PATIENCE = 300.0


def call_of(
    workflow: type[Workflow],
    step: str,
    *,
    hero: tuple[str, str] | None = None,
    body: Any = None,
    results: Mapping[str, bytes] | None = None,
    attempt: int = 1,
    graph: Graph | None = None,
) -> StepCall:
    """A call as the planner would make it; `results` are of steps that have succeeded."""
    chain = workflow.__compiled__
    assert chain is not None
    known = results or {}
    facts = RunFacts(RUN_ID, 1, workflow.name, json.dumps({"body": body}).encode(), 0, None, str, hero)
    view = RunView(
        facts,
        graph or chain.graph,
        1,
        known.get,
        lambda name: Ending.SUCCESS if name in known else None,
    )
    parameters = {"workflow": workflow.name}
    return StepCall(RUN_ID, 1, step, StepKind.PYTHON, attempt, parameters, None, view)


async def play(
    workflow: type[Workflow], step: str, *, heroes: Heroes | None = None, keeper: Any = None, **given: Any
) -> Outcome:
    """The outcome of one attempt."""
    executor = ClassExecutor(workflow.__registry__, heroes or Heroes(), transactions=keeper)
    try:
        begun = executor.begin(call_of(workflow, step, **given))
        return await begun if asyncio.iscoroutine(begun) else begun
    finally:
        await executor.close()


@dataclass
class Theatre:
    """A store and the engines on it."""

    store: Store
    registry: PythonRegistry
    heroes: Heroes
    engines: list[Engine] = field(default_factory=list)

    async def engine(
        self, registry: PythonRegistry | None = None, *, claims: bool = True, tuning: Tuning = QUICK
    ) -> Engine:
        """One more engine, with that code; started, and its workflows are saved."""
        code = registry or self.registry
        engine = Engine(
            self.store,
            clock=SystemClock(),
            tokens=CallbackTokens("key", "https://detent.example"),
            executors={StepKind.PYTHON: ClassExecutor(code, self.heroes)},
            serves=code.serves(),
            tuning=tuning,
            new_id=new_id,
            claims=claims,
        )
        await engine.start()
        self.engines.append(engine)
        await self.save(code, engine)
        return engine

    async def stop(self, engine: Engine) -> None:
        self.engines.remove(engine)
        await engine.stop()

    async def save(self, code: PythonRegistry, engine: Engine | None = None) -> None:
        for one in code.all():
            await self.commands(engine).workflows.save_python(one.compiled, one.source)

    def commands(self, engine: Engine | None = None) -> Commands:
        return commands_of(engine or self.engines[0])

    async def start(
        self, workflow: type[Workflow] | str, body: Any = None, *, engine: Engine | None = None, **options: Any
    ) -> str:
        """The id of a new run."""
        name = workflow if isinstance(workflow, str) else workflow.name
        started: StartAnswer = await self.commands(engine).starts.start(StartRequest(name, body, **options))
        return show(RUN, started.run)

    async def run(self, run: str) -> dict[str, Any]:
        return as_json(await self.commands().runs.get(run))

    async def until(self, run: str, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            while True:
                document = await self.run(run)
                if is_so(document):
                    return document
                await asyncio.sleep(0.01)  # the store is polled, as its users would

    async def ended(self, run: str) -> dict[str, Any]:
        return await self.until(run, lambda document: document["status"] in TERMINAL)

    async def paused(self, run: str) -> dict[str, Any]:
        return await self.until(run, lambda document: document["status"] == "paused")


@asynccontextmanager
async def theatre(
    url: str, registry: PythonRegistry | None = None, heroes: Heroes | None = None
) -> AsyncIterator[Theatre]:
    """A world without engines; those a test adds are stopped in the end."""
    store = await open_store(url, SystemClock(), migrate=True)
    world = Theatre(store, registry or PythonRegistry(), heroes or Heroes())
    try:
        yield world
    finally:
        for engine in world.engines:
            await engine.stop()
        await store.close()


def output_of(outcome: Outcome) -> Any:
    """What a step gave that succeeded."""
    assert isinstance(outcome, Done | Finish), outcome
    return json.loads(outcome.result)["output"]


def endings(run: dict[str, Any]) -> dict[str, str]:
    return {name: step["status"] for name, step in run["tasks"].items()}


def method() -> Any:
    """A method to be made a step."""

    def nothing(self: Any) -> None: ...

    return nothing


def made(class_name: str, code: PythonRegistry, **values: Any) -> WorkflowType:
    """A class as if it stood in this module."""
    body = WorkflowType.__prepare__(class_name, (Workflow,))
    body.update(values, __module__=__name__, __qualname__=class_name)
    return WorkflowType(class_name, (Workflow,), body, registry=code)
