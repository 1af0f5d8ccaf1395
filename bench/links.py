"""Resource links under conflict: `python -m bench.links [postgres|mariadb|sqlite] [--steps 10000] [--nodes 4]`.

Several engines on one database run workflows of one step that links a resource. A part of the steps names a resource
that another run has or claims at the same time. The table says how long steps took, from the end of the attempt to the
durable end of the run: those without a conflict beside none, and beside many.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rich.console import Console
from rich.table import Table

from bench.load import accepted
from detent import observe
from detent.clock import SystemClock
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.engine.prepared_start import PreparedStart
from detent.errors import StoreError
from detent.graph import codec
from detent.graph.model import Graph, Step, StepKind
from detent.ids import new_id
from detent.run.call import StepCall
from detent.run.links import Link
from detent.run.outcomes import Done, Outcome
from detent.steps.protocol import Needs
from detent.store.factory import migrate_store, open_store
from detent.store.protocol import Store
from detent.store.rows import NewVersion
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

TENANT = 1
#: How many runs each engine has open at once.
WIDTH = 64
PATIENCE = 1_200.0
GRAPH = Graph((Step("link", StepKind.ACTION, {"action": "bench.link"}),))


class Linking:
    """The executor: each attempt links the resource that its run is about."""

    kind: ClassVar[StepKind] = StepKind.ACTION

    def __init__(self) -> None:
        self.resources: dict[bytes, str] = {}
        self.ended: dict[bytes, float] = {}

    def needs(self, step: Step) -> Needs:
        return Needs.NOTHING

    def begin(self, call: StepCall) -> Outcome | Coroutine[Any, Any, Outcome]:
        self.ended[call.run_id] = time.perf_counter()
        return Done(b'{"output":1}', (Link("bench", "item", self.resources[call.run_id]),))

    async def close(self) -> None:
        """There is nothing to close."""


@dataclass
class Measured:
    """What came of one measurement. `waits` are milliseconds, by whether the step met a conflict."""

    seconds: float
    steps: int
    statuses: Counter[str]
    owners: dict[str, set[bytes]]
    completed: dict[str, set[bytes]]
    waits: dict[bool, list[float]]
    troubles: list[str] = field(default_factory=list)

    def wrong(self) -> list[str]:
        """Return every rule that was broken."""
        found = [f"{name}: {len(runs)} owners" for name, runs in self.owners.items() if len(runs) != 1]
        found += [
            f"{name}: the run that completed is not its owner"
            for name, runs in self.completed.items()
            if runs != self.owners.get(name)
        ]
        if self.statuses.total() != self.steps:
            found.append(f"{self.steps - self.statuses.total()} of {self.steps} runs are lost")
        return found + self.troubles


def resources(steps: int, share: float) -> list[str]:
    """Return the resource of each step. That share of them names one that another step names too."""
    contested = int(steps * share)
    names = [f"own-{number}" for number in range(steps - contested)]
    names += [f"shared-{number // 2}" for number in range(contested)]
    random.Random(1).shuffle(names)
    return names


async def measure(url: str, names: Sequence[str], nodes: int) -> Measured:
    """Run one step for each name, on so many engines, and look at who has what."""
    ended: dict[bytes, tuple[str, float]] = {}
    troubles: list[str] = []

    def heard(name: str, facts: dict[str, Any]) -> None:
        if name == "run.ended":
            ended[facts["run"]] = (facts["status"], time.perf_counter())
        elif name in ("engine.error", "run.refused", "run.quarantined", "flush.repeated"):
            troubles.append(f"{name} {facts.get('where', '')}: {facts.get('error')}")

    executor = Linking()
    stop = observe.listen(heard)
    try:
        async with AsyncExitStack() as stack:
            engines = [await stack.enter_async_context(_engine(url, executor, troubles)) for _ in range(nodes)]
            version = await _saved(engines[0].store)
            begun = time.perf_counter()
            shares = [names[number::nodes] for number in range(nodes)]
            await asyncio.gather(
                *(_drive(engine, version, share, executor) for engine, share in zip(engines, shares, strict=True))
            )
            async with asyncio.timeout(PATIENCE):
                while len(ended) < len(names):
                    await asyncio.sleep(0.02)
            seconds = time.perf_counter() - begun
            found = await _owners(engines[0].store, set(names))
    finally:
        stop()
    return _judged(executor, ended, found, seconds, len(names), troubles)


def _judged(
    executor: Linking,
    ended: dict[bytes, tuple[str, float]],
    owners: dict[str, set[bytes]],
    seconds: float,
    steps: int,
    troubles: list[str],
) -> Measured:
    completed: dict[str, set[bytes]] = {}
    waits: dict[bool, list[float]] = {True: [], False: []}
    for run, (status, at) in ended.items():
        name = executor.resources[run]
        if status == "completed":
            completed.setdefault(name, set()).add(run)
        waits[status != "completed"].append((at - executor.ended[run]) * 1000)
    return Measured(seconds, steps, Counter(status for status, _ in ended.values()), owners, completed, waits, troubles)


async def _owners(store: Store, names: set[str]) -> dict[str, set[bytes]]:
    keys = [(TENANT, "bench", "item", name) for name in sorted(names)]
    found: dict[str, set[bytes]] = {name: set() for name in names}
    for first in range(0, len(keys), 500):
        for key, run in (await store.link_owners(keys[first : first + 500])).items():
            found[key[3]].add(run)
    return found


@asynccontextmanager
async def _engine(url: str, executor: Linking, troubles: list[str]) -> AsyncIterator[Engine]:
    store: Any = await open_store(url, SystemClock(), migrate=True)
    flush = store.flush

    async def watched(*given: Any, **more: Any) -> Any:
        try:
            return await flush(*given, **more)
        except StoreError as error:  # a deadlock, or a lock that was held for long
            troubles.append(f"flush: {error}")
            raise

    store.flush = watched
    engine = Engine(
        store,
        clock=SystemClock(),
        tokens=CallbackTokens("bench", "http://bench"),
        executors={StepKind.ACTION: executor},
        serves=("bench.link",),
        new_id=new_id,
    )
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()
        await store.close()


async def _saved(store: Store) -> NewVersion:
    version = NewVersion(
        TENANT, new_id(), f"links-{new_id().hex()}", "steps", None, True, "{}", None, "", codec.encode(GRAPH), "c", 1
    )
    await store.save_workflow(version, replace=False)
    return version


async def _drive(engine: Engine, version: NewVersion, names: Sequence[str], executor: Linking) -> None:
    """Start a run for each name, a limited number at once."""
    prepared = engine.graphs.put((version.id, 1), version.name, version.graph)
    room = asyncio.Semaphore(WIDTH)

    async def start(name: str) -> None:
        async with room:
            run = new_id()
            executor.resources[run] = name
            await accepted(engine, PreparedStart(TENANT, version.id, 1, version.name, prepared, b'{"body":{}}', id=run))

    await asyncio.gather(*map(start, names))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.links")
    parser.add_argument("store", nargs="?", default="postgres", choices=("postgres", "mariadb", "sqlite"))
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=1, help="how often each is measured, in turn")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 150)
    nodes = 1 if options.store == "sqlite" else options.nodes
    with tempfile.TemporaryDirectory() as folder, _server(options.store) as server:
        table = Table("conflicts", "steps/s", "completed", "failed", "p50 ms", "p99 ms", "of conflicts p50", "wrong")
        status = 0
        for number, share in enumerate((0.0, options.share) * options.rounds):
            url = f"sqlite:///{folder}/{number}.db" if server is None else server.create_database()
            if server is not None:
                asyncio.run(migrate_store(url))
            found = asyncio.run(measure(url, resources(options.steps, share), nodes))
            wrong = found.wrong()
            status |= bool(wrong)
            table.add_row(
                f"{share:.0%}",
                f"{found.steps / found.seconds:,.0f}",
                str(found.statuses["completed"]),
                str(found.statuses["failed"]),
                *_percentiles(found.waits[False]),
                _percentiles(found.waits[True])[0],
                "; ".join(wrong[:3]) or "nothing",
            )
        console.print(f"{options.steps:,} steps with a link each, {nodes} nodes, {options.store}")
        console.print(table)
    return status


def _server(name: str) -> Any:
    match name:
        case "postgres":
            return _Running(PostgresServer())
        case "mariadb":
            return _Running(MariadbServer())
        case _:
            return _Running(None)


class _Running:
    """A server that runs while the block does."""

    def __init__(self, server: PostgresServer | MariadbServer | None) -> None:
        self._server = server

    def __enter__(self) -> PostgresServer | MariadbServer | None:
        if self._server is not None:
            self._server.start()
        return self._server

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()


def _percentiles(values: Sequence[float]) -> tuple[str, str]:
    if len(values) < 2:
        return "", ""
    cuts = statistics.quantiles(values, n=100)
    return f"{cuts[49]:.1f}", f"{cuts[98]:.1f}"


if __name__ == "__main__":
    sys.exit(main())
