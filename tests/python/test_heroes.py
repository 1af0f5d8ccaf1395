"""Heroes by type and id, and the objects behind them."""

from __future__ import annotations

import sys
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Date, DateTime, Float, Numeric, String, Time, TypeDecorator, create_engine
from sqlalchemy import Enum as SqlEnum
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

from detent.errors import Conflict, InvalidInput
from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.hero_adapters import SqlAlchemyModel
from detent.python.heroes import Heroes, HeroRef
from detent.python.registry import PythonRegistry
from detent.run.outcomes import Cancel, Done, Pause
from detent.testing.executors import MemoryKeeper
from tests.python.stage import play
from tests.servers import programs


class Person:
    def __init__(self, id_: Any) -> None:
        self.id = id_


class Employee(Person):
    pass


class Named:
    hero_type, hero_id = "Thing", 9


def test_a_hero_is_known_by_its_class_by_a_pair_or_by_itself(heroes: Heroes) -> None:
    heroes.register("Person", cls=Person)
    heroes.register("Order", cls=dict, of=lambda order: order["number"])
    assert heroes.ref(Person(7)) == HeroRef("Person", "7")
    assert heroes.ref(Employee(8)) == HeroRef("Person", "8")  # by the class it comes from
    assert heroes.ref({"number": 3}) == HeroRef("Order", "3")
    assert heroes.ref(("Invoice", 5)) == HeroRef("Invoice", "5")
    assert heroes.ref(HeroRef("Invoice", "5")) == HeroRef("Invoice", "5")
    assert heroes.ref(Named()) == HeroRef("Thing", "9")


@pytest.mark.parametrize(
    ("hero", "message"),
    [
        (object(), "a object is not known as a hero"),
        (Person(None), "has no id yet; save it first"),
        (("", 1), "cannot be the type of a hero"),
        (("User", "x" * 300), "cannot be the id of a hero"),
        (("User", "a\x00b"), "cannot be the id of a hero"),
        ((5, 1), "cannot be the type of a hero"),
        (("User", "a\tb"), "cannot be the id of a hero; .* no control character"),
        (("User", "a\n"), "cannot be the id of a hero; .* no control character"),
        (("User", "\x7f"), "cannot be the id of a hero; .* no control character"),
        (("Us\ner", "a"), "cannot be the type of a hero; .* no control character"),
        (("User", "\ud800"), "cannot be the id of a hero"),
        (("shop:User", "7"), "cannot be the type of a hero; .* no colon"),
        (("User", object()), "cannot be the id of a hero; give a text or a number"),
        (("User", b"7"), "cannot be the id of a hero; give a text or a number"),
        (("User", ("a", "b")), "cannot be the id of a hero; give a text or a number"),
        (("User", True), "cannot be the id of a hero; give a text or a number"),
        (Person(Person(7)), "cannot be the id of a hero; give a text or a number"),
    ],
)
def test_what_cannot_be_a_hero_is_told_why(heroes: Heroes, hero: Any, message: str) -> None:
    heroes.register("Person", cls=Person)
    with pytest.raises(InvalidInput, match=message):
        heroes.ref(hero)


class Size(IntEnum):
    LARGE = 7


class Colour(str, Enum):  # noqa: UP042 - as it was written before there were others
    RED = "red"


@pytest.mark.parametrize(
    ("id_", "kept"),
    [
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (Decimal("7.50"), "7.50"),
        (date(2026, 1, 2), "2026-01-02"),
        (Size.LARGE, "7"),
        (Colour.RED, "red"),
        ("a:b", "a:b"),
        ("a  ", "a  "),
        ("😀", "😀"),
    ],
)
def test_an_id_is_whatever_is_written_as_one_text(heroes: Heroes, id_: Any, kept: str) -> None:
    assert heroes.ref(("User", id_)) == HeroRef("User", kept)


def test_a_type_that_no_run_could_be_looked_for_by_is_not_registered(heroes: Heroes) -> None:
    for name in ("shop:User", "Us\ter", "", "x" * 201):
        with pytest.raises(InvalidInput, match="cannot be the type of a hero"):
            heroes.register(name, cls=Person)


def test_a_type_belongs_to_one_class(heroes: Heroes) -> None:
    heroes.register("Person", cls=Person)
    heroes.register("Person", load=Person)  # its loader may come later
    with pytest.raises(Conflict, match="heroes of type 'Person' are Person already"):
        heroes.register("Person", cls=Named)
    assert heroes.ref(Person(1)) == HeroRef("Person", "1")
    assert heroes.find_loader("Person") is not None
    assert heroes.find_loader("Nobody") is None


async def test_a_loader_is_asked_once_per_attempt(code: PythonRegistry, heroes: Heroes) -> None:
    asked: list[str] = []

    @heroes.loader("Person", cls=Person)
    def load(id_: str) -> Person:
        asked.append(id_)
        return Person(id_)

    class Signup(Workflow, registry=code):
        hero: Person
        step("hello", lambda self: [self.hero.id, self.hero.id], skip_if=lambda self: self.hero.id == "0")

    assert isinstance(await play(Signup, "hello", heroes=heroes, hero=("Person", "7")), Done)
    assert asked == ["7"]


# -- SQLAlchemy


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class Ticket(Base):
    __tablename__ = "tickets"
    id: Mapped[UUID] = mapped_column(primary_key=True)


class Seat(Base):
    __tablename__ = "seats"
    hall: Mapped[str] = mapped_column(String(10), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)


class Plain(Enum):
    RED = "red"
    BLUE = "RED"  # the name of one member may be the value of another


class OddText(TypeDecorator[Any]):
    """A column whose values only its own code can make of a text."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str:
        return value.name if isinstance(value, Plain) else f"?{value}"

    def process_result_value(self, value: Any, dialect: Any) -> Any:
        return Plain[value]


def keyed_by(kind: Any, name: str) -> type[Any]:
    return type(name, (Base,), {"__tablename__": name.lower(), "id": mapped_column(kind, primary_key=True)})


KEYED = {
    "enum": (keyed_by(SqlEnum(Plain), "ByEnum"), Plain.RED),
    "other enum": (keyed_by(SqlEnum(Plain), "ByOtherEnum"), Plain.BLUE),
    "number": (keyed_by(SqlEnum(Size), "BySize"), Size.LARGE),
    "text": (keyed_by(SqlEnum(Colour), "ByColour"), Colour.RED),
    "date": (keyed_by(Date(), "ByDate"), date(2026, 1, 2)),
    "datetime": (keyed_by(DateTime(), "ByDatetime"), datetime(2026, 1, 2, 3, 4, 5, 678)),  # noqa: DTZ001
    "time": (keyed_by(Time(), "ByTime"), time(3, 4, 5)),
    "decimal": (keyed_by(Numeric(10, 2), "ByDecimal"), Decimal("7.50")),
    "float": (keyed_by(Float(), "ByFloat"), 7.25),
}


class Slot(Base):
    __tablename__ = "slots"
    day: Mapped[date] = mapped_column(primary_key=True)
    colour: Mapped[Plain] = mapped_column(primary_key=True)
    size: Mapped[Size] = mapped_column(primary_key=True)
    is_held: Mapped[bool] = mapped_column(primary_key=True)


class Odd(Base):
    __tablename__ = "odd"
    id: Mapped[Any] = mapped_column(OddText(10), primary_key=True)


@pytest.fixture
def session(tmp_path: Path) -> Any:
    engine = create_engine(f"sqlite:///{tmp_path / 'app.db'}")
    Base.metadata.create_all(engine)
    yield sessionmaker(engine)
    engine.dispose()


async def test_models_of_sqlalchemy_are_found_by_their_primary_key(
    code: PythonRegistry, heroes: Heroes, session: Any
) -> None:
    heroes.sqlalchemy(session, User, Seat, Ticket)
    ticket = UUID(int=5)
    with session.begin() as open_session:
        user, seat = User(name="Ann"), Seat(hall="A,1", number=4)
        open_session.add_all([user, seat, Ticket(id=ticket)])
        open_session.flush()
        refs = [heroes.ref(user), heroes.ref(seat), heroes.ref(Ticket(id=ticket))]
    assert [ref.type for ref in refs] == ["User", "Seat", "Ticket"]

    class Signup(Workflow, registry=code):
        step("hello", lambda self: type(self.hero).__name__)
        step("name", lambda self: self.hero.name)

    assert isinstance(await play(Signup, "name", heroes=heroes, hero=tuple(refs[0])), Done)
    for ref in (refs[0], refs[2]):
        assert isinstance(await play(Signup, "hello", heroes=heroes, hero=tuple(ref)), Done)
    gone = await play(Signup, "hello", heroes=heroes, hero=("User", "99"))
    assert gone == Cancel("its hero is gone")


def test_a_composite_key_is_read_back_as_it_was(heroes: Heroes, session: Any) -> None:
    with session.begin() as open_session:
        open_session.add(Seat(hall='A,"1', number=4))
    adapter = SqlAlchemyModel(session, Seat)
    key = adapter.id_of(Seat(hall='A,"1', number=4))
    assert key is not None
    found = adapter.load(key)
    assert (found.hall, found.number) == ('A,"1', 4)
    for wrong in ("A", "[1]", "7", '["A", "x"]'):
        with pytest.raises(InvalidInput, match="is not the key of a Seat"):
            adapter.load(wrong)


@pytest.mark.parametrize("name", KEYED)
async def test_a_model_is_found_again_whatever_the_type_of_its_key(
    code: PythonRegistry, heroes: Heroes, session: Any, name: str
) -> None:
    model, key = KEYED[name]
    heroes.sqlalchemy(session, model)
    with session.begin() as open_session:
        open_session.add(model(id=key))
    seen: list[Any] = []

    class Keyed(Workflow, registry=code):
        step("look", lambda self: seen.append(self.hero.id))

    ref = tuple(heroes.ref(model(id=key)))
    assert isinstance(await play(Keyed, "look", heroes=heroes, hero=ref), Done)
    assert seen == [key]
    with session.begin() as open_session:
        open_session.delete(open_session.get(model, key))
    assert await play(Keyed, "look", heroes=heroes, hero=ref) == Cancel("its hero is gone")


def test_a_composite_key_of_any_types_is_read_back(heroes: Heroes, session: Any) -> None:
    day = date(2026, 1, 2)
    with session.begin() as open_session:
        open_session.add(Slot(day=day, colour=Plain.BLUE, size=Size.LARGE, is_held=True))
    adapter = SqlAlchemyModel(session, Slot)
    found = adapter.load(adapter.id_of(Slot(day=day, colour=Plain.BLUE, size=Size.LARGE, is_held=True)))
    assert (found.day, found.colour, found.size, found.is_held) == (day, Plain.BLUE, Size.LARGE, True)


@pytest.mark.parametrize("policy", ["pause", "cancel", "skip"])
@pytest.mark.parametrize(
    ("model", "id_"), [(User, "x"), (Ticket, "x"), (KEYED["date"][0], "yesterday"), (KEYED["enum"][0], "green")]
)
async def test_a_hero_whose_id_cannot_be_read_is_not_gone(
    code: PythonRegistry, heroes: Heroes, session: Any, model: type[Any], id_: str, policy: str
) -> None:
    heroes.sqlalchemy(session, model)

    class Keyed(Workflow, registry=code):
        on_exception = policy
        step("look", lambda self: None)

    outcome = await play(Keyed, "look", heroes=heroes, hero=(model.__name__, id_))
    assert isinstance(outcome, Pause)
    assert outcome.reason == f"{id_!r} is not the key of a {model.__name__}"


async def test_a_hero_that_is_not_found_by_a_key_of_an_unknown_type_is_not_gone(
    code: PythonRegistry, heroes: Heroes, session: Any
) -> None:
    heroes.sqlalchemy(session, Odd)
    with session.begin() as open_session:
        open_session.add(Odd(id=Plain.RED))

    class Keyed(Workflow, registry=code):
        step("look", lambda self: None)

    outcome = await play(Keyed, "look", heroes=heroes, hero=tuple(heroes.ref(Odd(id=Plain.RED))))
    assert isinstance(outcome, Pause)
    assert "OddText" in outcome.reason
    assert "heroes.register" in outcome.reason


def test_a_model_that_nobody_registered_is_known_all_the_same(heroes: Heroes) -> None:
    assert heroes.ref(User(id=3, name="x")) == HeroRef("User", "3")
    with pytest.raises(InvalidInput, match="save it first"):
        heroes.ref(User(name="x"))
    with pytest.raises(InvalidInput, match="not a mapped class"):
        heroes.sqlalchemy(lambda: None, Person)
    with pytest.raises(InvalidInput, match="not a model of Django"):
        heroes.django(Person)


async def test_an_async_session_maker_is_awaited(code: PythonRegistry, heroes: Heroes, postgres_database: str) -> None:
    engine = create_async_engine(postgres_database.replace("postgresql://", "postgresql+asyncpg://"))
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    maker = async_sessionmaker(engine)
    async with maker.begin() as session:
        session.add(User(id=7, name="Ann"))
    heroes.sqlalchemy(maker, User)

    class Signup(Workflow, registry=code):
        step("name", lambda self: self.hero.name, inline=True)

    assert await play(Signup, "name", heroes=heroes, hero=("User", "7")) == Done(b'{"output":"Ann"}')
    assert await play(Signup, "name", heroes=heroes, hero=("User", "8")) == Cancel("its hero is gone")
    await engine.dispose()


async def test_what_a_transactional_step_changes_of_its_hero_is_committed(
    code: PythonRegistry, heroes: Heroes, session: Any, tmp_path: Path
) -> None:
    heroes.sqlalchemy(session, User)
    with session.begin() as open_session:
        open_session.add(User(id=7, name="Ann"))

    class Renaming(Workflow, registry=code):
        @step(transactional=True)
        def rename(self) -> Any:
            self.hero.name = "Eve"
            return self.hero in self.session

        step("leave", lambda self: self.session.delete(self.hero) or self.pause(), transactional=True)

    keeper = MemoryKeeper({})
    keeper.use(session)
    done = await play(Renaming, "rename", heroes=heroes, hero=("User", "7"), keeper=keeper)
    assert done == Done(b'{"output":true}')
    assert isinstance(await play(Renaming, "leave", heroes=heroes, hero=("User", "7"), keeper=keeper), Pause)
    with session() as open_session:
        assert open_session.get(User, 7).name == "Eve"  # what was rolled back is of the hero too


async def test_a_hero_that_goes_before_its_transaction_begins_cancels_the_run(
    code: PythonRegistry, heroes: Heroes, session: Any
) -> None:
    heroes.sqlalchemy(session, User)
    with session.begin() as open_session:
        open_session.add(User(id=7, name="Ann"))

    class Late(Workflow, registry=code):
        def before_step_starts(self, step_name: str) -> None:
            with session.begin() as other:
                other.delete(other.get(User, 7))

        step("late", lambda self: self.hero.name, transactional=True)

    keeper = MemoryKeeper({})
    keeper.use(session)
    outcome = await play(Late, "late", heroes=heroes, hero=("User", "7"), keeper=keeper)
    assert outcome == Cancel("its hero is gone")


async def test_a_hero_of_another_database_stays_as_it_was_loaded(
    code: PythonRegistry, heroes: Heroes, session: Any, tmp_path: Path
) -> None:
    heroes.sqlalchemy(session, User)
    with session.begin() as open_session:
        open_session.add(User(id=7, name="Ann"))

    class Elsewhere(Workflow, registry=code):
        step("look", lambda self: [self.hero.name, self.hero in self.session], transactional=True)

    other = create_engine(f"sqlite:///{tmp_path / 'other.db'}")
    keeper = MemoryKeeper({})
    keeper.use(sessionmaker(other))
    outcome = await play(Elsewhere, "look", heroes=heroes, hero=("User", "7"), keeper=keeper)
    assert outcome == Done(b'{"output":["Ann",false]}')
    other.dispose()


async def test_an_async_transactional_step_changes_its_hero_too(
    code: PythonRegistry, heroes: Heroes, postgres_database: str
) -> None:
    engine = create_async_engine(postgres_database.replace("postgresql://", "postgresql+asyncpg://"))
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    maker = async_sessionmaker(engine)
    async with maker.begin() as session:
        session.add(User(id=7, name="Ann"))
    heroes.sqlalchemy(maker, User)

    class Renaming(Workflow, registry=code):
        @step(transactional=True)
        async def rename(self) -> None:
            self.hero.name = "Eve"

    keeper = MemoryKeeper({})
    keeper.use(maker)
    assert isinstance(await play(Renaming, "rename", heroes=heroes, hero=("User", "7"), keeper=keeper), Done)
    async with maker() as session:
        found = await session.get(User, 7)
        assert found is not None
        assert found.name == "Eve"
    await engine.dispose()


DJANGO = """
import asyncio, django
from django.conf import settings
settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FILE}},
    USE_TZ=True,
)
django.setup()
from django.contrib.auth.models import User
from django.core.management import call_command
from detent.python.heroes import Heroes
from detent.python.decorators import step
from detent.python.registry import PythonRegistry
from detent.python.classes.workflow import Workflow
from tests.python.stage import play

call_command("migrate", verbosity=0)
heroes, code = Heroes(), PythonRegistry()
unknown = heroes.ref(User(pk=3))
heroes.django(User)
ann = User.objects.create(username="ann")
ref = heroes.ref(ann)

class Signup(Workflow, registry=code):
    step("name", lambda self: self.hero.username)

print(unknown, ref, asyncio.run(play(Signup, "name", heroes=heroes, hero=tuple(ref))))
ann.delete()
print(asyncio.run(play(Signup, "name", heroes=heroes, hero=tuple(ref))))
"""


def test_models_of_django_are_found_by_their_primary_key(tmp_path: Path) -> None:
    script = DJANGO.replace("FILE", repr(str(tmp_path / "app.db")))
    done = programs.run([sys.executable, "-c", script], timeout=300)
    assert done.returncode == 0, done.stderr
    found, gone = done.stdout.splitlines()
    assert "HeroRef(type='auth.User', id='3') HeroRef(type='auth.User', id='1')" in found
    assert '{"output":"ann"}' in found
    assert gone == "Cancel(reason='its hero is gone', error=None)"
