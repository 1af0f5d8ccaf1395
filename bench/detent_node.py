"""A Detent node under measurement, in a process of its own: `python -m bench.detent_node URL [--starts-only]`.

The process is run as `detent serve` runs (its loop, its collector), with default settings; runs are started in the
process, as the peer's are. With `--starts-only` it accepts runs and leaves them to other nodes.
"""

import argparse
import asyncio
import gc
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import msgspec
import psutil

from bench.load import FlushCounter, burst, each, one_at_a_time, run_to_end
from bench.serving import Voice, serve
from detent.auth.caller import local_caller
from detent.clock import SystemClock
from detent.commands import EngineCommands
from detent.commands.start import encode_input
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.engine.prepared_start import PreparedStart
from detent.engine.start import start_run
from detent.forms.compiled import Limits
from detent.graph.model import StepKind
from detent.ids import new_id
from detent.observe import listen
from detent.process import run_process
from detent.python.classes.executor import ClassExecutor
from detent.python.functions.executor import FunctionExecutor
from detent.python.functions.step_runner import StepRunner
from detent.python.registry import CodeKind
from detent.python.registry import registry as python_registry
from detent.run.start import StartRequest
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import load_modules
from detent.steps.egress import EgressPolicy
from detent.steps.http.step import HttpExecutor
from detent.steps.protocol import StepExecutor
from detent.steps.user_code import ThreadPool
from detent.store.factory import open_store
from detent.store.protocol import Store

MOST_STEPS = 20_001
TENANT = 1
READERS = 4
CHECKED = 20  # runs of a burst whose status is looked at


class NodeUnderMeasurement:
    """What the parent can ask for."""

    def __init__(self, engine: Engine, store: Store) -> None:
        self._engine, self._store = engine, store
        self._commands = EngineCommands(engine, limits=Limits(steps=MOST_STEPS)).for_caller(local_caller("bench"))
        self._counter = FlushCounter(store)
        self._requests: dict[str, PreparedStart] = {}
        self._ended: dict[bytes, int] = {}
        self._last: deque[bytes] = deque(maxlen=CHECKED)
        self._clock = SystemClock()

    async def apply(self, document: str) -> str:
        """Save a workflow and give its name, by which the other requests call it."""
        row, _, _ = await self._commands.workflows.save(document, replace=True)
        prepared = self._engine.graphs.put((row.id, row.version), row.name, row.graph)
        given, _ = encode_input(StartRequest(row.name, {"order": 7}))
        self._requests[row.name] = PreparedStart(TENANT, row.id, row.version, row.name, prepared, given, watch=True)
        return row.name

    async def apply_python(self, workflow: str) -> str:
        """Save a workflow of `bench.python_workflows`."""
        known = python_registry.find(workflow)
        assert known is not None
        row = await self._commands.workflows.save_python(known.compiled, known.source)
        prepared = self._engine.graphs.put((row.id, row.version), row.name, row.graph)
        given, _ = encode_input(StartRequest(row.name, {"order": 7} if known.kind is CodeKind.FUNCTION else None))
        self._requests[row.name] = PreparedStart(
            TENANT, row.id, row.version, row.name, prepared, given, watch=True, code=known.compiled.code
        )
        return row.name

    async def burst(self, workflow: str, width: int, seconds: float) -> dict[str, float]:
        self._counter.reset()
        facts = await burst(self._run(workflow), width=width, seconds=seconds)
        await self._check()
        return facts | self._counter.facts()

    async def latency(self, workflow: str, count: int) -> dict[str, Any]:
        self._counter.reset()
        facts = await one_at_a_time(self._run(workflow), count=count)
        await self._check()
        return facts | self._counter.facts()

    def _run(self, workflow: str) -> Callable[[], Awaitable[None]]:
        """One run from start to end; the last few are remembered."""
        engine, request, last = self._engine, self._requests[workflow], self._last

        async def run() -> None:
            last.append((await run_to_end(engine, request)).id)

        return run

    async def _check(self) -> None:
        """A figure of runs that failed is no figure."""
        for run in self._last:
            row = await self._store.run(TENANT, run)
            if row is None or row.status != "completed":
                raise RuntimeError(f"a run did not complete: {row}")
        self._last.clear()

    async def sample(self, workflow: str) -> list[list[Any]]:
        """(kind, step, attempt, outcome, data) of every journal row of one run."""
        started = await run_to_end(self._engine, self._requests[workflow])
        entries = await self._store.journal(1, started.id)
        return [[e.kind, e.step, e.attempt, e.outcome, e.data.decode()] for e in entries]

    async def begin(self, workflow: str, count: int, width: int, named: bool = True) -> dict[str, Any]:
        """Start runs without waiting for their ends; `named` gives their ids."""
        request = replace(self._requests[workflow], watch=False)
        ids: list[str] = []

        async def one() -> None:
            started = await start_run(self._engine, request)
            if named:
                ids.append(started.id.hex())

        facts: dict[str, Any] = await each(one, count=count, width=width)
        return facts | {"ids": ids}

    async def watch(self) -> None:
        """Note from now on when this node wrote the end of a run."""

        def note(name: str, facts: dict[str, Any]) -> None:
            if name == "run.ended":
                self._ended[facts["run"]] = self._clock.wall()

        listen(note)

    async def ended(self) -> int:
        """How many ends were noted."""
        return len(self._ended)

    async def lateness(self, ids: list[str], wait: float) -> dict[str, Any]:
        """Wait for runs of one sleep to end; how late each woke by its journal, and how late its end was seen here."""
        runs = [bytes.fromhex(text) for text in ids]
        until = self._clock.monotonic() + wait
        while self._clock.monotonic() < until and sum(run in self._ended for run in runs) < len(runs):
            await asyncio.sleep(0.1)
        late: list[tuple[float, float]] = []

        async def read(part: list[bytes]) -> None:
            for run in part:
                row = await self._store.run(TENANT, run)
                if row is not None and row.status == "completed" and row.ended_at is not None and row.opening:
                    due = next(iter(msgspec.json.decode(row.opening)["sleep"].values()))
                    late.append(((row.ended_at - due) / 1e6, (self._ended.get(run, row.ended_at) - due) / 1e6))

        await asyncio.gather(*(read(runs[number::READERS]) for number in range(READERS)))
        return {"journal": [journal for journal, _ in late], "seen": [seen for _, seen in late]}

    async def memory(self) -> int:
        """The resident bytes of this process."""
        gc.collect()
        return int(psutil.Process().memory_info().rss)


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("--starts-only", action="store_true")
    parser.add_argument("--python", action="store_true", help="with the workflows of bench.python_workflows")
    arguments = parser.parse_args()
    voice = Voice()
    clock = SystemClock()
    store = await open_store(arguments.database, clock, role="engine", migrate=True)
    pool = ThreadPool()
    executors: dict[StepKind, StepExecutor] = {
        StepKind.ACTION: ActionExecutor(pool=pool),
        StepKind.HTTP: HttpExecutor(EgressPolicy.from_texts(["127.0.0.0/8"])),
        StepKind.PYTHON: ClassExecutor(pool=pool),
        StepKind.FUNCTION: FunctionExecutor(clock=clock, steps=StepRunner(pool)),
    }
    if arguments.python:
        load_modules(["bench.python_workflows"])
    tokens = CallbackTokens("benchmark", "http://127.0.0.1:8080")
    engine = Engine(
        store, clock=clock, tokens=tokens, executors=executors, new_id=new_id, claims=not arguments.starts_only,
        serves=python_registry.serves(),
    )  # fmt: skip
    await engine.start()
    node = NodeUnderMeasurement(engine, store)
    verbs = ("apply", "apply_python", "burst", "latency", "sample", "begin", "watch", "ended", "lateness", "memory")
    try:
        await serve({verb: getattr(node, verb) for verb in verbs}, voice)
    finally:
        await engine.stop()
        await store.close()


if __name__ == "__main__":
    run_process(main())
