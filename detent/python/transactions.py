"""Transactional steps: the effect of the body and the row with its result are one transaction of the user's own.

    detent.transactions(sessionmaker(engine))      # or an async_sessionmaker; once, where workflows are defined

The transaction first locks the run's row for share, with the generation of this attempt. So no other node can claim the
run before the transaction ends, and a node that lost the run finds no row to lock. Then the transaction reads whether
an earlier attempt stored a result: its node may have died after the commit. That result is returned, and the body does
not run again. So the effect happens once or not at all. The body cannot end the transaction by itself. If the step has
a time limit and the database supports it, the database ends a transaction that hangs.
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

# The body of a step cannot end its transaction, neither with the session nor with the connection of the session.
#
# The code that opened the transaction commits it, together with the step's result. Savepoints stay allowed.


_ENDS: Final = ("commit", "rollback", "close", "reset", "invalidate")


@contextmanager
def undivided(session: Any, connection: Any) -> Iterator[None]:
    """Make every call that would end the transaction raise RuntimeError. Pass the sync session and connection."""
    for verb in _ENDS:
        setattr(session, verb, _refusal(f"session.{verb}()"))  # on the instance; `delattr` below restores it
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
    """Another node owns this run now: nothing of this attempt was stored."""

    code = "run_lost"


class Transactions:
    """Opens the sessions of transactional steps, and stores each result in the transaction of its effect."""

    def __init__(self) -> None:
        self._blocking: Callable[[], Any] | None = None
        self._awaited: Callable[[], Any] | None = None
        self._places: dict[str, Installation] = {}

    def use(self, *factories: Callable[[], Any]) -> None:
        """Set the session factories: a `sessionmaker` for plain steps, an `async_sessionmaker` for coroutines."""
        for factory in factories:
            if _makes_async(factory):
                self._awaited = factory
            elif callable(factory):
                self._blocking = factory
            else:
                raise InvalidInput(
                    f"{factory!r:.100} is not a session factory; pass a sessionmaker or an async_sessionmaker"
                )

    def run_once(self, call: StepCall, generation: int, body: Callable[[Any], bytes]) -> bytes:
        """Run a plain body in a transaction. Return its result, or the one that an earlier attempt stored.

        Raise RunLost if another node owns the run now.
        """
        if self._blocking is None:
            raise _needed("a plain step", "sessionmaker")
        with self._blocking() as session, session.begin():
            connection = session.connection()
            place = self._places.get(str(connection.engine.url))
            if place is None:
                place = self._noted(connection.engine.url, _located(connection))
            said = user_connection.statements(place.dialect, place.schema)
            with bounded(connection, call.timeout):
                if not connection.execute(said.hold, _run_values(call, generation, place)).fetchall():
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
        """Run a coroutine the way `run_once` runs a plain body."""
        if self._awaited is None:
            raise _needed("an `async def` step", "async_sessionmaker")
        async with self._awaited() as session, session.begin():
            connection = await session.connection()
            place = self._places.get(str(connection.engine.url))
            if place is None:
                place = self._noted(connection.engine.url, await connection.run_sync(_located))
            said = user_connection.statements(place.dialect, place.schema)
            async with bounded_async(connection, call.timeout):
                if not (await connection.execute(said.hold, _run_values(call, generation, place))).fetchall():
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
    """Return whether it is an `async_sessionmaker`. Duck typing saves the import of SQLAlchemy's asyncio."""
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
        raise DetentError("a transactional step needs Detent's tables in its own database, which has only an outbox")
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


def _run_values(call: StepCall, generation: int, place: Installation) -> dict[str, Any]:
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
