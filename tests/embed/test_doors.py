"""How a program finds its Detent: the file, the server that has it, or a database that many have open."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from detent.clock import SystemClock
from detent.embed import local
from detent.embed.config import configure
from detent.embed.node import node
from detent.embed.runs import RunHandle, runs
from detent.embed.start import start
from detent.errors import StoreInUse
from detent.process import App
from detent.store.factory import migrate_store, open_store
from tests.embed.flows import Greeting
from tests.servers import programs

pytestmark = pytest.mark.slow


async def script(database: str, *arguments: str, **variables: str) -> programs.CompletedProcess[str]:
    """Run one of `scripts` to its end."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DETENT_")}
    return await asyncio.to_thread(
        programs.run,
        [sys.executable, "-W", "error", "-m", "tests.embed.scripts", *arguments],
        env={**kept, "DETENT_DATABASE_URL": database, **variables},
    )


def printed(done: programs.CompletedProcess[str]) -> list[str]:
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/detent.db"


@pytest.fixture
async def served(file: str) -> AsyncIterator[App]:
    """An engine on a SQLite file that answers over HTTP too."""
    async with node(file, workflows=["tests.embed.flows"], listen=True, port=0, allow_loose_auth=True) as app:
        yield app


@pytest.fixture
async def shared(postgres_database: str) -> AsyncIterator[str]:
    """A PostgreSQL database on which an engine works."""
    await migrate_store(postgres_database)
    async with node(postgres_database, workflows=["tests.embed.flows"]):
        yield postgres_database


async def test_a_file_that_nobody_has_takes_the_start_and_whoever_works_later_runs_it(file: str) -> None:
    [run] = printed(await script(file, "one", "early"))
    async with node(file, workflows=["tests.embed.flows"]):
        assert await RunHandle(run).result(timeout=300) == "HELLO EARLY"


async def test_a_program_talks_to_the_process_that_has_the_file(served: App, file: str) -> None:
    assert printed(await script(file, "waits")) == ["HELLO YOU"]


async def test_an_event_loop_talks_to_the_process_that_has_the_file(served: App, file: str) -> None:
    assert printed(await script(file, "awaits")) == ["HELLO YOU"]


async def test_an_address_is_enough(served: App, tmp_path: Path) -> None:
    done = await script("", "waits", DETENT_URL=served.local_url, DETENT_DATABASE_URL="")
    assert printed(done) == ["HELLO YOU"]


async def test_two_programs_that_want_a_free_file_at_once_both_get_it(file: str) -> None:
    done = await asyncio.gather(*(script(file, "one", f"w{number}") for number in range(4)))
    started = {line for each in done for line in printed(each)}
    async with node(file, workflows=["tests.embed.flows"]):
        assert {run.id for run in await runs(Greeting).all()} == started


async def test_a_program_without_an_engine_leaves_the_work_to_a_node(shared: str) -> None:
    assert printed(await script(shared, "waits")) == ["HELLO YOU"]
    assert printed(await script(shared, "awaits", "all")) == ["HELLO ALL"]


async def test_threads_share_one_door(shared: str) -> None:
    assert printed(await script(shared, "threads", "8")) == [str([f"HELLO T{number}" for number in range(8)])]


async def test_a_process_that_was_forked_after_its_parent_used_detent_has_a_door_of_its_own(shared: str) -> None:
    lines = printed(await script(shared, "forks", "3"))
    assert lines[0] == "HELLO PARENT"
    assert sorted(lines[1:4]) == [f"HELLO CHILD{number}" for number in range(3)]
    assert lines[4:] == ["HELLO AGAIN", "[0, 0, 0]"]


async def test_a_program_ends_at_once_when_it_is_done(shared: str) -> None:
    [run] = printed(await script(shared, "abandons"))  # it has a minute for it
    assert await RunHandle(run).result(timeout=300) == "HELLO YOU"


async def test_a_database_that_is_not_there_is_told_and_not_waited_for(postgres_database: str) -> None:
    done = await script("postgresql://nobody@127.0.0.1:1/none", "one")
    assert done.returncode == 1
    assert "PostgreSQL cannot be reached at 127.0.0.1:" in done.stderr


async def test_a_file_in_the_hands_of_one_who_answers_nobody_is_told_with_the_way_out(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_BUSY_PATIENCE", 0.0)
    holder = await open_store(file, SystemClock())
    configure(database_url=file)
    try:
        with pytest.raises(StoreInUse, match="That process serves no API: use `detent serve`"):
            await start(Greeting, input={"who": "you"})
    finally:
        configure()
        await holder.close()
