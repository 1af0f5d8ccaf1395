"""A start that is part of the caller's transaction: begun once that is committed, never if it is rolled back."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import psycopg
import pytest

from detent.documents.runs import RunDocument
from detent.embed import sync
from detent.embed.config import configure
from detent.embed.node import node
from detent.embed.runs import RunHandle, runs
from detent.embed.start import start
from detent.embed.transaction.start import forget_places
from detent.errors import (
    AlreadyActive,
    InvalidInput,
    NotFound,
    RequestIdReused,
    SchemaMismatch,
    StoreError,
    Unavailable,
)
from detent.forms.definition import read_definition
from detent.process import App
from detent.store.factory import migrate_store
from tests.callers import commands_of
from tests.embed.callers import CALLERS, Caller, Undone, fresh
from tests.embed.flows import Greeting, Patient
from tests.servers import programs

HERO = ("User", "7")

pytestmark = pytest.mark.slow


@pytest.fixture
async def database(postgres_database: str) -> AsyncIterator[str]:
    await migrate_store(postgres_database)
    yield postgres_database
    configure()
    forget_places()


@pytest.fixture
async def app(database: str) -> AsyncIterator[App]:
    async with node(database, workflows=["tests.embed.flows"]) as found:
        yield found


@pytest.fixture(params=CALLERS)
def caller(request: pytest.FixtureRequest) -> Caller:
    kind = CALLERS[request.param]
    return kind(request.getfixturevalue(f"{kind.server}_database"))


@pytest.fixture
async def beside(caller: Caller) -> AsyncIterator[App]:
    """An engine on the database of the caller."""
    async with node(caller.url, workflows=["tests.embed.flows"], migrate=True) as found:
        yield found
    forget_places()


async def test_a_start_is_begun_once_its_transaction_is_committed(beside: App, caller: Caller) -> None:
    async with caller.within() as connection:
        run = RunHandle(await caller.start(connection, Greeting, hero=HERO, input={"who": "you"}))
        with pytest.raises(NotFound):
            await run.get()  # nobody else sees it yet
    assert await run.result(timeout=300) == "HELLO YOU"


async def test_a_start_whose_transaction_is_rolled_back_was_never_there(beside: App, caller: Caller) -> None:
    run = ""
    with suppress(Undone):
        async with caller.within() as connection:
            run = await caller.start(connection, Greeting, hero=HERO, input={"who": "you"})
            raise Undone
    with pytest.raises(NotFound):
        await RunHandle(run).get()
    assert await runs(Greeting).all() == []


async def test_a_hero_that_has_an_open_run_is_told_and_the_transaction_goes_on(beside: App, caller: Caller) -> None:
    first = await start(Patient, hero=HERO)
    async with caller.within() as connection:
        with pytest.raises(AlreadyActive) as refused:
            await caller.start(connection, Patient, hero=HERO)
        second = await caller.start(connection, Patient, hero=("User", "8"))
    assert refused.value.run == first.id
    assert await RunHandle(second).status() == "running"


async def test_the_same_request_id_gives_the_run_that_was_started_first(beside: App, caller: Caller) -> None:
    first = await start(Greeting, hero=HERO, input={"who": "x"}, request_id="once")
    async with caller.within() as connection:
        second = await caller.start(connection, Greeting, hero=HERO, input={"who": "x"}, request_id="once")
        with pytest.raises(RequestIdReused):
            await caller.start(connection, Greeting, hero=HERO, input={"who": "y"}, request_id="once")
    assert second == first.id


async def test_a_workflow_that_nobody_ran_before_is_saved_with_the_start(database: str) -> None:
    caller = CALLERS["Psycopg"](database)
    async with caller.within() as connection:
        run = RunHandle(await caller.start(connection, Greeting, hero=HERO, input={"who": "first"}))
    async with node(database, workflows=["tests.embed.flows"]):
        assert await run.result(timeout=300) == "HELLO FIRST"


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
async def test_django_starts_runs_by_alias_connection_and_cursor(app: App, database: str, driver: str) -> None:
    program = [sys.executable, "-W", "error", "-m", "tests.embed.django_caller", driver, database]
    done = await asyncio.to_thread(programs.run, program)
    assert done.returncode == 0, done.stderr
    *committed, rolled_back = map(RunHandle, done.stdout.split())
    assert [await run.result(timeout=300) for run in committed] == ["HELLO ALIAS", "HELLO CONNECTION", "HELLO CURSOR"]
    with pytest.raises(NotFound):
        await rolled_back.get()


class Traced:
    """Stands before a connection as tracing tools do: it tells the class of what is behind it."""

    def __init__(self, connection: object) -> None:
        self._connection = connection

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._connection)

    def __getattr__(self, name: str) -> object:
        return getattr(self._connection, name)


async def test_a_connection_behind_a_proxy_is_known_by_the_class_it_tells(app: App, database: str) -> None:
    with psycopg.connect(database) as connection:
        run = sync.start(Greeting, hero=HERO, input={"who": "traced"}, connection=Traced(connection))
    assert await RunHandle(run.id).result(timeout=300) == "HELLO TRACED"


async def test_waits_of_a_run_that_was_started_so_receive_their_callbacks(app: App, database: str) -> None:
    text = "name: nap-and-ask\ntasks:\n  nap: {sleep: 10ms}\n  ask: {needs: [nap], wait_for_webhook: {timeout: 1h}}\n"
    assert read_definition(text)
    await commands_of(app).workflows.save(text.encode(), filename="nap-and-ask.yaml")
    with psycopg.connect(database) as connection:
        run = sync_id(connection, "nap-and-ask")
    document = await until(run, lambda found: bool(found.callbacks))
    assert [callback.step for callback in document.callbacks] == ["ask"]


async def test_a_start_that_waits_for_its_time_is_pending(app: App, database: str) -> None:
    with psycopg.connect(database) as connection:
        run = sync.start(Greeting, hero=HERO, input={"who": "x"}, delay="1h", connection=connection)
    assert await RunHandle(run.id).status() == "pending"


@pytest.fixture(params=["Psycopg", "MariadbSession"])
def rival(request: pytest.FixtureRequest) -> Caller:
    """One whose transactions wait for each other in threads."""
    kind = CALLERS[request.param]
    return kind(request.getfixturevalue(f"{kind.server}_database"))


async def test_of_two_transactions_for_one_hero_the_second_waits_and_is_told(rival: Caller) -> None:
    async with node(rival.url, workflows=["tests.embed.flows"], migrate=True):
        with pytest.raises(AlreadyActive) as refused:
            await compete(rival, undo=False)
        assert await RunHandle(refused.value.run).status() == "running"


async def test_of_two_transactions_for_one_hero_the_second_starts_when_the_first_is_rolled_back(rival: Caller) -> None:
    async with node(rival.url, workflows=["tests.embed.flows"], migrate=True):
        run = await compete(rival, undo=True)
        assert await RunHandle(run).status() == "running"


async def greeted(hero: tuple[str, str]) -> RunHandle:
    """Start, again if it is put off: one that stood in a flush with what is held up may be, for a moment."""
    while True:
        try:
            return await start(Greeting, hero=hero, input={"who": "x"})
        except Unavailable:
            await asyncio.sleep(0.05)


async def test_an_open_transaction_puts_off_starts_of_its_hero_and_holds_up_no_others(rival: Caller) -> None:
    async with node(rival.url, workflows=["tests.embed.flows"], migrate=True):
        await (await start(Greeting, hero=fresh(), input={"who": "x"})).result(timeout=300)
        hero = fresh()
        async with rival.within() as connection:
            first = sync.start(Patient, hero=hero, connection=connection)
            held_up = asyncio.create_task(start(Patient, hero=hero))
            await asyncio.sleep(0.2)
            async with asyncio.timeout(300):  # once, it takes as long as a lock is waited for
                await (await greeted(fresh())).result()
                with pytest.raises(Unavailable, match="another open transaction starts the same run"):
                    await held_up
            # What is known to be blocked is put off at once: in virtual time, `tests/engine/test_committer.py` counts.
            for _ in range(4):
                await put_off_and_greeted(hero)
        with pytest.raises(AlreadyActive) as refused:
            await start(Patient, hero=hero)
        assert refused.value.run == first.id


async def put_off_and_greeted(hero: tuple[str, str]) -> None:
    """Be put off, and then greet another hero."""
    with pytest.raises(Unavailable, match="another open transaction starts the same run"):
        await start(Patient, hero=hero)
    await (await greeted(fresh())).result(timeout=300)


async def compete(rival: Caller, *, undo: bool) -> str:
    """What comes of the second of two starts for one hero, once the first is committed or undone."""
    hero = fresh()
    async with rival.within() as second:
        looked_at = sync.start(Greeting, hero=fresh(), input={"who": "x"}, connection=second)
        with suppress(Undone):
            async with rival.within() as first:
                sync.start(Patient, hero=hero, connection=first)
                late = asyncio.create_task(asyncio.to_thread(sync.start, Patient, hero=hero, connection=second))
                await asyncio.sleep(0.3)
                assert not late.done(), "two open transactions hold the same hero"
                if undo:
                    raise Undone
        found = await late
        assert found.id != looked_at.id
        return found.id


async def test_a_bad_body_is_refused_before_the_connection_is_touched(database: str) -> None:
    class Untouchable:
        __module__ = "psycopg"

        def cursor(self) -> None:
            raise AssertionError("the connection was touched")

    with pytest.raises(InvalidInput, match="no JSON form"):
        sync.start(Greeting, hero=HERO, input=object(), connection=Untouchable())


async def test_an_unknown_workflow_leaves_the_transaction_as_it_was(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("create table mine (x int)")
        with pytest.raises(NotFound):
            sync.start("nobody", connection=connection)
        connection.execute("insert into mine values (1)")
    with psycopg.connect(database) as connection:
        assert connection.execute("select x from mine").fetchall() == [(1,)]


async def test_a_database_without_detent_says_what_to_do(postgres_bare_database: str) -> None:
    forget_places()
    with psycopg.connect(postgres_bare_database) as connection:
        with pytest.raises(StoreError, match="DETENT_OUTBOX_URLS"):
            sync.start(Greeting, hero=HERO, input={}, connection=connection)
        assert connection.execute("select 1").fetchone() == (1,), "the caller's transaction was broken"


async def test_tables_that_are_behind_are_refused(postgres_database: str) -> None:
    forget_places()
    await migrate_store(postgres_database)
    with psycopg.connect(postgres_database) as connection:
        connection.execute("update alembic_version set version_num = '0000'")
        with pytest.raises(SchemaMismatch, match="detent migrate"):
            sync.start(Greeting, hero=HERO, input={}, connection=connection)


async def test_tables_in_a_schema_of_their_own_are_found_beside_those_of_the_application(
    postgres_bare_database: str,
) -> None:
    forget_places()
    with psycopg.connect(postgres_bare_database) as connection:
        connection.execute("create table run (mine int)")
        connection.execute("create table alembic_version (version_num text)")
        connection.execute("insert into alembic_version values ('a1b2c3d4e5f6')")
    url = f"{postgres_bare_database}{'&' if '?' in postgres_bare_database else '?'}schema=detent"
    async with node(url, workflows=["tests.embed.flows"], migrate=True):
        with psycopg.connect(postgres_bare_database) as connection:
            run = sync.start(Greeting, hero=HERO, input={"who": "apart"}, connection=connection)
        assert await RunHandle(run.id).result(timeout=300) == "HELLO APART"


def sync_id(connection: object, workflow: str) -> RunHandle:
    return RunHandle(sync.start(workflow, connection=connection).id)


async def until(run: RunHandle, holds: Callable[[RunDocument], bool]) -> RunDocument:
    for _ in range(200):
        found = await run.get()
        if holds(found):
            return found
        await asyncio.sleep(0.05)
    raise AssertionError("it never came")
