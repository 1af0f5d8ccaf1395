"""Starts that wait in the database of an application, and the node that fetches them."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, inspect, text
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.pool import NullPool

from detent.embed import sync
from detent.embed.node import node
from detent.embed.runs import RunHandle, runs
from detent.embed.start import start
from detent.embed.transaction.start import forget_places
from detent.errors import InvalidInput, NotFound
from detent.ids import RUN, parse
from detent.outbox.table import BATCH
from detent.process import App
from tests.embed.callers import fresh
from tests.embed.flows import Greeting, Patient
from tests.embed.ledger import blocking
from tests.servers import programs
from tests.servers.mariadb import MariadbServer

HERO = ("User", "7")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """An application's own SQLite file."""
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table purchase (id integer primary key)")
    connection.close()
    return path


@pytest.fixture
async def app(tmp_path: Path, shop: Path) -> AsyncIterator[App]:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with node(url, workflows=["tests.embed.flows"], outbox_urls=f"sqlite:///{shop}") as found:
        yield found


def rows(shop: Path) -> list[tuple[str, str | None]]:
    connection = sqlite3.connect(shop)
    try:
        return connection.execute("select workflow, error from detent_outbox order by seq").fetchall()
    finally:
        connection.close()


@contextmanager
def connected(shop: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(shop, timeout=10)
    try:
        with connection:
            yield connection
    finally:
        connection.close()


async def gone(shop: Path) -> None:
    for _ in range(300):
        if not rows(shop):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(rows(shop))


async def begun(run: RunHandle) -> RunHandle:
    for _ in range(300):
        try:
            await run.get()
        except NotFound:
            await asyncio.sleep(0.05)
        else:
            return run
    raise AssertionError("it was never started")


async def test_a_start_in_a_committed_transaction_is_fetched_and_has_the_id_that_was_told(app: App, shop: Path) -> None:
    with connected(shop) as connection:
        connection.execute("insert into purchase values (1)")
        run = sync.start(Greeting, hero=HERO, input={"who": "you"}, connection=connection)
    assert await (await begun(RunHandle(run.id))).result(timeout=300) == "HELLO YOU"
    await gone(shop)


async def test_a_start_in_a_transaction_that_is_rolled_back_is_never_fetched(app: App, shop: Path) -> None:
    connection = sqlite3.connect(shop, timeout=10)
    connection.execute("insert into purchase values (1)")
    sync.start(Greeting, hero=HERO, input={"who": "nobody"}, connection=connection)
    connection.rollback()
    connection.close()
    with connected(shop) as other:
        run = sync.start(Greeting, hero=HERO, input={"who": "you"}, connection=other)
    await (await begun(RunHandle(run.id))).result(timeout=300)
    assert [found.id for found in await runs(Greeting).all()] == [run.id]


async def test_a_start_through_sqlalchemy_goes_the_same_way(app: App, shop: Path) -> None:
    one = create_engine(f"sqlite:///{shop}")
    with one.begin() as connection:
        run = sync.start(Greeting, hero=HERO, input={"who": "one"}, connection=connection)
    one.dispose()
    assert await (await begun(RunHandle(run.id))).result(timeout=300) == "HELLO ONE"


async def test_what_a_start_was_given_reaches_the_run(app: App, shop: Path) -> None:
    with connected(shop) as connection:
        run = sync.start(
            Greeting,
            hero=HERO,
            input={"who": "x"},
            labels={"team": "shop"},
            priority=7,
            delay="1h",
            request_id="r7",
            connection=connection,
        )
    found = await (await begun(RunHandle(run.id))).get()
    assert (found.status, found.labels, found.request_id) == ("pending", {"team": "shop"}, "r7")
    assert found.hero is not None
    assert (found.hero.type, found.hero.id) == HERO


async def test_a_row_that_cannot_be_started_says_why_and_the_others_go_on(app: App, shop: Path) -> None:
    await start(Patient, hero=HERO)
    with connected(shop) as connection:
        sync.start("nobody", input={}, connection=connection)
        sync.start(Patient, hero=HERO, connection=connection)
        good = sync.start(Greeting, hero=HERO, input={"who": "x"}, connection=connection)
        connection.execute("insert into detent_outbox (id, workflow, body, options, created_at)"
                           " values ('ff', 'greeting', '{broken', '{}', 0)")  # fmt: skip
    await (await begun(RunHandle(good.id))).result(timeout=300)
    for _ in range(100):
        if len(rows(shop)) == 3 and all(error for _, error in rows(shop)):
            break
        await asyncio.sleep(0.05)
    told = [str(error) for _, error in rows(shop)]
    assert "not_found" in told[0]
    assert "already_active" in told[1]
    assert "malformed" in told[2]


DEEP = "[" * 100_000 + "]" * 100_000
BAD_ROWS = {
    "a body nested too deep": ("body", DEEP),
    "a body that is no text": ("body", b"\xff"),
    "a body too large": ("body", '"' + "x" * 2_000_000 + '"'),
    "options that are a list": ("options", "[]"),
    "options nested too deep": ("options", DEEP),
    "a label that is a number": ("options", '{"labels":{"a":5}}'),
    "labels that are a number": ("options", '{"labels":5}'),
    "a label with half a surrogate": ("options", '{"labels":{"a":"\\ud800"}}'),
    "a label with a NUL": ("options", '{"labels":{"a\\u0000":"x"}}'),
    "a hero without parts": ("options", '{"hero":[]}'),
    "a hero that is long": ("options", '{"hero":["User","' + "x" * 10_000 + '"]}'),
    "a priority without end": ("options", '{"priority":1e30}'),
    "a priority of 33 bits": ("options", '{"priority":4294967296}'),
    "a time without end": ("options", '{"start_at":1e400}'),
    "a time that is a text": ("options", '{"start_at":"x"}'),
    "a time in a thousand years": ("options", '{"start_at":9000000000000000000}'),
    "a request id that is a number": ("options", '{"request_id":5}'),
    "an id that is short": ("id", "abcd"),
    "an id that is no number": ("id", "x" * 32),
    "a workflow that is a number": ("workflow", 5),
    "a workflow that is no text": ("workflow", b"\xff"),
}


async def test_rows_that_nobody_can_read_say_so_and_hold_up_no_others(app: App, shop: Path) -> None:
    with connected(shop) as connection:
        for number, (column, value) in enumerate(BAD_ROWS.values(), 1):
            sync.start(Greeting, hero=("User", str(number)), input={"who": "x"}, connection=connection)
            cast = "cast(? as text)" if isinstance(value, bytes) and column == "body" else "?"
            connection.execute(f"update detent_outbox set {column} = {cast} where seq = {number}", (value,))
        good = sync.start(Greeting, hero=HERO, input={"who": "x"}, connection=connection)
    await (await begun(RunHandle(good.id))).result(timeout=300)
    left = rows(shop)
    while len(left) > len(BAD_ROWS):
        await asyncio.sleep(0.05)
        left = rows(shop)
    assert [what for what, (_, error) in zip(BAD_ROWS, left, strict=True) if not error] == []
    assert [run.id for run in await runs(Greeting).all()] == [good.id]


async def test_rows_are_started_in_their_order(app: App, shop: Path) -> None:
    with connected(shop) as connection:
        started = [
            sync.start(Patient, hero=("User", str(number)), connection=connection).id for number in range(100, 140)
        ]
    await begun(RunHandle(started[-1]))
    await gone(shop)
    assert [run.id for run in reversed(await runs(Patient).all())] == started


async def test_an_awaited_connection_is_refused_where_nothing_can_be_awaited(shop: Path) -> None:
    engine_ = create_async_engine("postgresql+asyncpg://nobody@127.0.0.1:1/none")
    try:
        with pytest.raises(InvalidInput, match="await"):
            sync.start(Greeting, hero=HERO, input={}, connection=AsyncSession(engine_))
    finally:
        await engine_.dispose()


@pytest.mark.slow
def test_a_node_that_dies_between_a_start_and_its_deletion_leaves_one_run(tmp_path: Path, shop: Path) -> None:
    with connected(shop) as connection:
        started = [
            sync.start(Greeting, hero=("User", str(number)), input={"who": "x"}, connection=connection).id
            for number in range(10)
        ]
    database = f"sqlite:///{tmp_path}/detent.db"
    arguments = [sys.executable, "-m", "tests.embed.relaying", database, f"sqlite:///{shop}"]
    environment = {**os.environ, "DETENT_FAILPOINT": "after_start:5"}
    killed = programs.run(arguments, env=environment)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(rows(shop)) == 10

    async def finish() -> list[str]:
        async with node(database, workflows=["tests.embed.flows"], outbox_urls=f"sqlite:///{shop}"):
            await gone(shop)
            for run in started:
                await RunHandle(run).result(timeout=300)
            return [run.id for run in await runs(Greeting).all()]

    assert sorted(asyncio.run(finish())) == sorted(started)


@pytest.mark.parametrize("server", ["postgres", "mariadb"])
async def test_another_database_on_a_server_holds_an_outbox_too(
    tmp_path: Path, server: str, request: pytest.FixtureRequest
) -> None:
    shop: str = request.getfixturevalue(f"{server}_bare_database")
    forget_places()
    own = create_engine(blocking(shop), poolclass=NullPool)
    async with node(f"sqlite:///{tmp_path}/detent.db", workflows=["tests.embed.flows"], outbox_urls=shop):
        for _ in range(100):
            if inspect(own).has_table("detent_outbox"):  # the node makes it at its first look
                break
            await asyncio.sleep(0.05)
        with own.begin() as connection:
            bad = sync.start("nobody", connection=connection)
            run = sync.start(Greeting, hero=HERO, input={"who": "far"}, connection=connection)
        assert await (await begun(RunHandle(run.id))).result(timeout=300) == "HELLO FAR"
        left = waiting_in(own)
        while len(left) != 1:
            await asyncio.sleep(0.05)
            left = waiting_in(own)
    assert [(id_, "not_found" in error) for id_, error in left] == [(parse(RUN, bad.id).hex(), True)]


@pytest.fixture(params=["postgres", "mariadb"])
def database(request: pytest.FixtureRequest) -> str:
    """With Detent's own tables in it, or none."""
    url: str = request.getfixturevalue(f"{request.param}_database")
    return url


async def test_rows_for_a_hero_that_an_open_transaction_holds_hold_up_no_others(database: str, shop: Path) -> None:
    own = create_engine(blocking(database), poolclass=NullPool)
    hero, other_hero = fresh(), fresh()
    async with node(database, workflows=["tests.embed.flows"], outbox_urls=f"sqlite:///{shop}", migrate=True):
        with own.connect() as rival:
            await asyncio.to_thread(sync.start, Patient, hero=hero, connection=rival)
            with connected(shop) as connection:
                behind = [sync.start(Patient, hero=hero, connection=connection) for _ in range(BATCH + 1)]
                other = sync.start(Greeting, hero=other_hero, input={"who": "x"}, connection=connection)
            async with asyncio.timeout(300):
                assert await (await begun(RunHandle(other.id))).result() == "HELLO X"
            assert [error for _, error in rows(shop)] == [None] * len(behind)
            rival.rollback()
        await begun(RunHandle(behind[0].id))
        for _ in range(150):
            if all(error for _, error in rows(shop)):
                break
            await asyncio.sleep(0.1)
        assert [error is not None and "already_active" in error for _, error in rows(shop)] == [True] * BATCH
        assert [run.id for run in await runs(Patient).all()] == [behind[0].id]
    forget_places()


def waiting_in(own: Engine) -> list[tuple[str, str]]:
    with own.connect() as connection:
        return [tuple(row) for row in connection.execute(text("select id, error from detent_outbox"))]


@pytest.fixture
def mariadb_bare_database(mariadb: MariadbServer) -> Iterator[str]:
    url = mariadb.create_database()
    yield url
    mariadb.drop_database(url)


async def test_the_end_of_a_run_is_awaited_while_the_transaction_of_its_start_is_open(app: App, shop: Path) -> None:
    with connected(shop) as connection:
        run = sync.start(Greeting, hero=HERO, input={"who": "you"}, connection=connection)
        with pytest.raises(NotFound):
            await RunHandle(run.id).get()
        waiting = asyncio.create_task(asyncio.to_thread(run.result, 300))
        await asyncio.sleep(0.2)
        assert not waiting.done()
    assert await waiting == "HELLO YOU"


async def test_a_run_whose_transaction_is_rolled_back_is_not_awaited_for_ever(
    app: App, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("detent.embed.uncommitted.LONGEST_COMMIT", 0.2)
    connection = sqlite3.connect(shop, timeout=10)
    run = sync.start(Greeting, hero=HERO, input={"who": "you"}, connection=connection)
    connection.rollback()
    connection.close()
    with pytest.raises(NotFound, match="was not committed within"):
        await asyncio.to_thread(run.result, 300)


def test_a_start_names_an_outbox_that_no_node_reads(
    shop: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for looked_at, said in ((0, False), (0, True), (None, True)):
        if looked_at is not None:
            monkeypatch.setattr("detent.embed.transaction.start._looked_at", looked_at)
        with connected(shop) as connection:
            sync.start(Greeting, hero=HERO, input={"who": "you"}, connection=connection)
        assert ("no node reads it" in caplog.text) is said
        with connected(shop) as connection:
            connection.execute("update detent_outbox set created_at = created_at - 3600000000")
    assert caplog.text.count("no node reads it") == 1  # once a minute
    forget_places()
