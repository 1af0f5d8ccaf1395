"""Transactional steps: the body and the note of its result are one transaction of the user's own.

    detent.transactions(sessionmaker(engine))      # or an async_sessionmaker; once, where workflows are defined

The transaction first holds the run's row for share, under the ownership that this attempt has: nobody else can take the
run before it ends, and who lost the run finds nothing to hold. Then it looks whether the step was done before, by an
attempt whose node died after the commit; the result that was kept is given back and the body does not run again. So the
effect is there once, or not at all; the body cannot end the transaction by itself. A step with a time limit bounds its
transaction by it, where the database can do so: one that hangs is ended there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from sqlalchemy import event

from detent.clock import SystemClock
from detent.errors import DetentError, InvalidInput
from detent.run.call import StepCall
from detent.store.sql import schema, user_connection
from detent.store.sql.user_connection import DialectName, Installation, Script, Statements, bounded, bounded_async

# A transaction that the code inside it cannot end: neither by its session nor by the connection under it.
#
# Whoever opened it commits it, with what belongs to it. A savepoint is part of it, and stays allowed.


_ENDS: Final = ("commit", "rollback", "close", "reset", "invalidate")


@contextmanager
def undivided(session: Any, connection: Any) -> Iterator[None]:
    """While this lasts, what would end the transaction raises RuntimeError. Both are those that are not awaited."""
    for verb in _ENDS:
        setattr(session, verb, _refusal(f"session.{verb}()"))  # the session stays as it was
    refusal = _refusal("a commit")  # of the connection, or of the session's transaction
    event.listen(connection, "commit", refusal)
    try:
        yield
    finally:
        event.remove(connection, "commit", refusal)
        for verb in _ENDS:
            delattr(session, verb)


def _refusal(what: str) -> Callable[..., NoReturn]:
    def refuse(*given: object, **more: object) -> NoReturn:
        raise RuntimeError(
            f"{what} would end the transaction of a transactional step, which is committed with the step's result: "
            "return to commit it, raise to roll it back, use session.begin_nested() for a part that may fail"
        )

    return refuse


_DIALECTS: Final[Mapping[str, DialectName]] = {"postgresql": "postgresql", "mysql": "mysql", "mariadb": "mysql"}


class RunLost(DetentError):
    """Another node has the run by now: nothing of this attempt was kept."""

    code = "run_lost"


class Transactions:
    """Makes the sessions of transactional steps, and keeps their results beside their effects."""

    def __init__(self) -> None:
        self._blocking: Callable[[], Any] | None = None
        self._awaited: Callable[[], Any] | None = None
        self._places: dict[str, Installation] = {}

    def use(self, *factories: Callable[[], Any]) -> None:
        """Take sessions from these: a `sessionmaker` for plain steps, an `async_sessionmaker` for coroutines."""
        for factory in factories:
            if _makes_async(factory):
                self._awaited = factory
            elif callable(factory):
                self._blocking = factory
            else:
                raise InvalidInput(f"{factory!r:.100} makes no sessions; give a sessionmaker or an async_sessionmaker")

    def run_once(self, call: StepCall, generation: int, body: Callable[[Any], bytes]) -> bytes:
        """Run a plain body in a transaction; gives its result, or the one that was kept before."""
        if self._blocking is None:
            raise _needed("a plain step", "sessionmaker")
        with self._blocking() as session, session.begin():
            connection = session.connection()
            place = self._places.get(str(connection.engine.url))
            if place is None:
                place = self._noted(connection.engine.url, _located(connection))
            said = user_connection.statements(place.dialect, place.schema)
            with bounded(connection, call.timeout):
                if not connection.execute(said.hold, _held(call, generation, place)).fetchall():
                    raise RunLost
                found = connection.execute(said.kept, _named(call, place)).fetchall()
                if found:
                    return user_connection.as_text(found[0][0]).encode()
                with undivided(session, connection):
                    result = body(session)
                session.flush()
                connection.execute(*_kept(said, call, result, place))
        return result

    async def run_once_async(self, call: StepCall, generation: int, body: Callable[[Any], Awaitable[bytes]]) -> bytes:
        """The same for a coroutine."""
        if self._awaited is None:
            raise _needed("an `async def` step", "async_sessionmaker")
        async with self._awaited() as session, session.begin():
            connection = await session.connection()
            place = self._places.get(str(connection.engine.url))
            if place is None:
                place = self._noted(connection.engine.url, await connection.run_sync(_located))
            said = user_connection.statements(place.dialect, place.schema)
            async with bounded_async(connection, call.timeout):
                if not (await connection.execute(said.hold, _held(call, generation, place))).fetchall():
                    raise RunLost
                found = (await connection.execute(said.kept, _named(call, place))).fetchall()
                if found:
                    return user_connection.as_text(found[0][0]).encode()
                with undivided(session.sync_session, connection.sync_connection):
                    result = await body(session)
                await session.flush()
                await connection.execute(*_kept(said, call, result, place))
        return result

    def _noted(self, url: object, place: Installation) -> Installation:
        self._places[str(url)] = place
        return place


def _makes_async(factory: Any) -> bool:
    """Whether it is an `async_sessionmaker`: its sessions are entered asynchronously. Only who has one loads it."""
    return hasattr(getattr(factory, "class_", None), "__aenter__")


def _located(connection: Any) -> Installation:
    dialect = _DIALECTS.get(connection.dialect.name)
    if dialect is None:
        raise DetentError(
            f"a transactional step cannot use {connection.dialect.name}: Detent's tables must be in the same database, "
            "and a SQLite file of Detent's has one writer; use PostgreSQL or MariaDB"
        )
    place = _answered(user_connection.locate(dialect), connection)
    if place.kind != "detent":
        raise DetentError("a transactional step needs Detent's tables in its own database, and there is only an outbox")
    return place


def _answered(talk: Script[Installation], connection: Any) -> Installation:
    came: Any = None
    while True:
        try:
            ask = talk.send(came)
        except StopIteration as end:
            place: Installation = end.value
            return place
        came = connection.execute(ask.clause, dict(ask.values)).fetchall()


def _held(call: StepCall, generation: int, place: Installation) -> dict[str, Any]:
    return user_connection.looked_up(schema.run, {"id": call.run_id, "epoch": generation}, place.dialect)


def _named(call: StepCall, place: Installation) -> dict[str, Any]:
    return user_connection.looked_up(schema.kept, {"run": call.run_id, "step": call.step}, place.dialect)


def _kept(said: Statements, call: StepCall, result: bytes, place: Installation) -> tuple[Any, dict[str, Any]]:
    row = {"run": call.run_id, "step": call.step, "tenant": call.tenant, "result": result.decode()}
    return said.keep, user_connection.fitted(schema.kept, {**row, "at": SystemClock().wall()}, place.dialect)


def _needed(step: str, kind: str) -> RuntimeError:
    return RuntimeError(f"{step} with transactional=True needs a session: call detent.transactions({kind}(...)) first")


keeper: Final = Transactions()
transactions: Final = keeper.use
