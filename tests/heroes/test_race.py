"""Two processes, a thousand starts for one hero at the same time: one run is made, because the database says so."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import pytest

from detent.clock import SystemClock
from detent.ids import RUN, show
from detent.store.factory import migrate_store, open_store
from detent.store.rows import RunCriteria
from tests.api.server import serving
from tests.heroes.rushing import DEFINITION
from tests.servers import programs
from tests.store.sessions import session

pytestmark = pytest.mark.slow

EACH = 500
#: Enough starts of each process for two to be made where nothing holds them back.
FEW = 50
PATIENCE = 300.0
ROOT = Path(__file__).parents[2]


async def rushed(target: str, each: int = EACH) -> tuple[list[str], Counter[str]]:
    """What two processes came to that began at the same moment: the runs they made, and those in their way."""
    with ExitStack() as stack:
        rushing = [_process(stack, target, each) for _ in range(2)]
        for process in rushing:
            assert await asyncio.to_thread(_output(process).readline) == "ready\n"
        for process in rushing:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        told = await asyncio.gather(*(asyncio.to_thread(process.communicate, PATIENCE) for process in rushing))
    made: list[str] = []
    refused: Counter[str] = Counter()
    for answer, _ in told:
        document: dict[str, Any] = json.loads(answer)
        assert document["failed"] == {}
        made += document["made"]
        refused.update(document["refused"])
    return made, refused


def _process(stack: ExitStack, target: str, each: int) -> programs.Process:
    command = [sys.executable, "-m", "tests.heroes.rushing", target, str(each)]
    process = programs.Process(command, cwd=ROOT, stdin=programs.PIPE, stdout=programs.PIPE)
    stack.callback(process.wait, PATIENCE)
    stack.callback(process.kill)
    return process


def _output(process: programs.Process) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def check(made: list[str], refused: Counter[str], active: list[str]) -> None:
    """Exactly one was made, everybody else was told which, and it is the one that is active."""
    assert len(made) == 1, f"{len(made)} runs were made"
    assert refused == {made[0]: 2 * EACH - 1}
    assert active == made


async def active_runs(url: str) -> list[str]:
    store = await open_store(url, SystemClock())
    try:
        found = await store.runs(1, limit=9, where=RunCriteria(hero_type="User", statuses=("running", "paused")))
        return [show(RUN, row.id) for row in found]
    finally:
        await store.close()


async def test_on_sqlite_two_processes_that_ask_its_engine_a_thousand_times_make_one_run(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with serving(url) as detent:
        await detent.save(DEFINITION)
        made, refused = await rushed(detent.app.local_url)
        found = await detent.call("GET", "/api/v1/runs?status=active&hero=User:42")
        check(made, refused, [run["id"] for run in found.json["data"]])


async def _saved(url: str) -> None:
    await migrate_store(url)
    async with serving(url) as detent:
        await detent.save(DEFINITION)


async def test_on_postgresql_two_nodes_that_start_a_thousand_times_make_one_run(postgres_database: str) -> None:
    await _saved(postgres_database)
    made, refused = await rushed(postgres_database)
    check(made, refused, await active_runs(postgres_database))


async def test_on_mariadb_two_nodes_that_start_a_thousand_times_make_one_run(mariadb_database: str) -> None:
    await _saved(mariadb_database)
    made, refused = await rushed(mariadb_database)
    check(made, refused, await active_runs(mariadb_database))


async def test_without_its_index_postgresql_lets_many_through(postgres_database: str) -> None:
    """It is the constraint that holds them back and nothing else."""
    await _saved(postgres_database)
    async with session(postgres_database) as connection:
        await connection.execute("drop index run_active")
    made, refused = await rushed(postgres_database, FEW)
    with pytest.raises(AssertionError, match="runs were made"):
        check(made, refused, await active_runs(postgres_database))
    assert len(made) > 1
