"""Changes of records in the caller's own transaction: rules start once it is committed, never if it is rolled back."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Engine, Numeric, String, create_engine, text, update
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, scoped_session, sessionmaker

import detent
from detent.contrib.sqlalchemy import record_changes
from detent.embed.changes import forget_entities
from detent.embed.config import configure
from detent.embed.node import node
from detent.embed.transaction.start import forget_places
from detent.errors import InvalidInput, NotFound, StoreBusy
from detent.process import App
from detent.store.rows import RunCriteria
from tests.embed.callers import CALLERS, Caller, Undone
from tests.servers import programs
from tests.triggers.entity_rules import add_entity, condition, rule, save

pytestmark = pytest.mark.slow
PATIENCE = 300.0


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "shop_order"

    id: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(String(20))
    total: Mapped[Decimal] = mapped_column(Numeric(10, 2))


class Shop(NamedTuple):
    """An application's database, and the Detent that hears of it."""

    app: App
    url: str  # as applications write it
    rules: dict[str, bytes]

    def engine(self) -> Engine:
        return create_engine(self.url)

    async def runs(self, count: int, name: str = "every") -> list[dict[str, Any]]:
        """The events that started runs of a rule, once there are so many."""
        where = RunCriteria(workflow=self.rules[name])
        async with asyncio.timeout(PATIENCE):
            while await self._count(where) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        rows = await self.app.store.runs(1, limit=10_000, where=where, oldest_first=True)
        return [json.loads(row.input)["body"] for row in rows]

    async def _count(self, where: RunCriteria) -> int:
        """Count runs. A database that is too busy to count them now is asked again."""
        try:
            return await self.app.store.count_runs(1, where=where, limit=10_000)
        except StoreBusy:
            return 0

    async def settled(self) -> None:
        """Until nothing waits to be matched."""
        async with asyncio.timeout(PATIENCE):
            while await self._waiting():  # noqa: ASYNC110 - as people would look
                await asyncio.sleep(0.02)

    async def _waiting(self) -> bool:
        if await self.app.store.count_events(limit=1):
            return True
        if not self.url.startswith("sqlite"):
            return False
        engine = self.engine()
        try:
            with engine.connect() as connection:
                found = connection.execute(text("select count(*) from detent_outbox where error is null")).scalar()
                return bool(found)
        finally:
            engine.dispose()


async def _open(app: App, url: str) -> Shop:
    store = app.store
    await add_entity(store)
    rules = {}
    for operation in ("create", "update", "delete"):
        rules[operation] = await save(store, rule(operation, on=operation))
    shipped = rule("shipped", condition("status", "changed_to", "shipped"), condition("total", "gt", 10))
    rules["shipped"] = await save(store, shipped)
    return Shop(app, url, rules)


@pytest.fixture(params=["postgres", "mariadb", "sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an application's database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/shop.db"
    return str(request.getfixturevalue(f"{request.param}_database"))


@pytest.fixture
async def shop(place: str, tmp_path: Path) -> AsyncIterator[Shop]:
    """On a server Detent's tables are beside the application's. A SQLite file has an outbox."""
    if place.startswith("sqlite"):
        async with node(f"sqlite:///{tmp_path}/detent.db", outbox_urls=place) as app:
            yield await _open(app, place)
    else:
        url = place.replace("postgresql://", "postgresql+psycopg://").replace("mysql://", "mysql+pymysql://")
        async with node(place) as app:
            yield await _open(app, url)
        engine = create_engine(url)
        Base.metadata.drop_all(engine)
        engine.dispose()
    configure()
    forget_places()
    forget_entities()


@contextmanager
def models(engine: Engine, factory: Any) -> Iterator[None]:
    Base.metadata.create_all(engine)
    stop = record_changes(factory, {Order: "order"}, actor=lambda session: session.info.get("user"))
    try:
        yield
    finally:
        stop()
        engine.dispose()


async def test_changes_of_models_start_rules_once_they_are_committed(shop: Shop) -> None:
    engine = shop.engine()
    factory = sessionmaker(engine, info={"user": "ann"})
    with models(engine, factory):
        with factory.begin() as session:
            session.add(Order(id=1, status="new", total=Decimal("12.50")))
        [made] = await shop.runs(1, "create")
        assert (made["record_id"], made["before"], made["actor"]) == ("1", None, "ann")
        assert made["after"] == {"id": 1, "status": "new", "total": 12.5}
        with factory.begin() as session:
            order = session.get_one(Order, 1)
            order.status = "shipped"
            session.flush()
            order.status = "shipped"  # no change
        [shipped] = await shop.runs(1, "shipped")
        assert (shipped["before"]["status"], shipped["after"]["status"]) == ("new", "shipped")
        with factory.begin() as session:
            session.delete(session.get_one(Order, 1))
        [gone] = await shop.runs(1, "delete")
        assert (gone["before"]["status"], gone["after"]) == ("shipped", None)
        await shop.settled()
        assert len(await shop.runs(1, "update")) == 1


async def test_changes_of_models_that_are_rolled_back_start_nothing(shop: Shop) -> None:
    engine = shop.engine()
    factory = sessionmaker(engine)
    with models(engine, factory):
        with suppress(Undone), factory.begin() as session:
            session.add(Order(id=1, status="new", total=Decimal(1)))
            session.flush()
            raise Undone
        with factory() as session:
            session.add(Order(id=2, status="kept", total=Decimal(1)))
            session.flush()
            nested = session.begin_nested()
            session.add(Order(id=3, status="undone", total=Decimal(1)))
            session.flush()
            nested.rollback()
            session.commit()
        await shop.settled()
        assert [one["record_id"] for one in await shop.runs(1, "create")] == ["2"]


async def test_a_bulk_update_bypasses_the_listener_and_can_be_recorded_by_hand(shop: Shop) -> None:
    engine = shop.engine()
    factory = sessionmaker(engine)
    with models(engine, factory), factory.begin() as session:
        session.add(Order(id=1, status="new", total=Decimal(20)))
        session.flush()
        session.execute(update(Order).values(status="shipped"))
        detent.sync.record_change(
            "order", "update", 1, {"status": "new"}, {"status": "shipped", "total": 20}, "job", connection=session
        )
    [found] = await shop.runs(1, "shipped")
    assert found["actor"] == "job"
    await shop.settled()
    assert len(await shop.runs(1, "update")) == 1


async def test_django_models_start_rules_once_they_are_committed(shop: Shop) -> None:
    url = shop.url.replace("+psycopg", "").replace("+pymysql", "")
    program = [sys.executable, "-m", "tests.embed.django_changes", url]
    done = await asyncio.to_thread(programs.run, program)
    assert done.returncode == 0, done.stderr
    kept = done.stdout.strip()
    await shop.settled()
    made = await shop.runs(2, "create")
    assert [(one["after"]["status"], one["actor"]) for one in made] == [("new", "ann"), ("gone", "ann")]
    [shipped] = await shop.runs(1, "shipped")
    assert (shipped["record_id"], shipped["before"]["status"], shipped["after"]["total"]) == (kept, "new", 12.5)
    assert len(await shop.runs(1, "update")) == 1
    assert len(await shop.runs(1, "delete")) == 1


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
async def test_five_thousand_changes_of_one_transaction_start_five_thousand_runs(shop: Shop) -> None:
    engine = shop.engine()
    factory = sessionmaker(engine)
    with models(engine, factory), factory.begin() as session:
        session.add_all(Order(id=number, status="new", total=Decimal(1)) for number in range(1, 5_001))
    found = await shop.runs(5_000, "create")
    await shop.settled()
    assert sorted(int(one["record_id"]) for one in found) == list(range(1, 5_001))
    assert len(await shop.runs(5_000, "create")) == 5_000


@pytest.fixture(params=["postgres", "mariadb"])
def server(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A server and the address of a database there."""
    return request.param, str(request.getfixturevalue(f"{request.param}_database"))


async def test_every_kind_of_connection_records_changes(server: tuple[str, str]) -> None:
    kind, url = server
    callers = [one(url) for one in CALLERS.values() if one.server == kind]
    async with node(url) as app:
        shop = await _open(app, url)
        for number, caller in enumerate(callers):
            async with caller.within() as connection:
                await _record(caller, connection, number)
                with pytest.raises(NotFound, match="no entity 'ordr'"):
                    await _record(caller, connection, number, entity="ordr")
            with suppress(Undone):
                async with caller.within() as connection:
                    await _record(caller, connection, 1_000 + number)
                    raise Undone
        found = await shop.runs(len(callers), "create")
        await shop.settled()
        assert len(await shop.runs(len(callers), "create")) == len(callers)
        assert sorted(int(one["record_id"]) for one in found) == list(range(len(callers)))
        assert all(one["after"] == {"né": "it's"} and one["id"].startswith("evt_") for one in found)
    forget_places()
    forget_entities()


async def _record(caller: Caller, connection: Any, id_: int, entity: str = "order") -> str:
    given: dict[str, Any] = {"after": {"né": "it's"}, "connection": connection}
    if isinstance(connection, AsyncSession) or type(caller).start is not Caller.start:
        return await detent.record_change(entity, "create", id_, **given)
    return detent.sync.record_change(entity, "create", id_, **given)


async def test_an_async_session_records_changes(postgres_database: str) -> None:
    async with node(postgres_database) as app:
        shop = await _open(app, postgres_database)
        engine = create_async_engine(postgres_database.replace("postgresql://", "postgresql+asyncpg://"))
        async with engine.begin() as connection:
            await connection.run_sync(Base.metadata.create_all)
        stop = record_changes(AsyncSession, {Order: "order"})
        try:
            async with AsyncSession(engine) as session, session.begin():
                session.add(Order(id=1, status="new", total=Decimal(1)))
            [made] = await shop.runs(1, "create")
            assert made["record_id"] == "1"
        finally:
            stop()
            async with engine.begin() as connection:
                await connection.run_sync(Base.metadata.drop_all)
            await engine.dispose()
    forget_places()
    forget_entities()


async def test_a_scoped_session_records_changes(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/shop.db")
    session = scoped_session(sessionmaker(engine))
    with models(engine, session):
        session.add(Order(id=1, status="new", total=Decimal(1)))
        session.commit()
        found = session.execute(text("select workflow, body from detent_outbox")).all()
        session.remove()
    assert [(workflow, json.loads(body)["record_id"]) for workflow, body in found] == [("/event", "1")]


async def test_a_change_without_a_connection_is_sent_to_the_engine(tmp_path: Path) -> None:
    async with node(f"sqlite:///{tmp_path}/detent.db") as app:
        shop = await _open(app, "")
        event = await detent.record_change("order", "create", 7, after={"status": "new"})
        [made] = await shop.runs(1, "create")
        assert made["id"] == event
        with pytest.raises(InvalidInput, match="cannot be recorded"):
            await detent.record_change("order", "creat", 7, after={})
