"""Write a start through the caller's connection.

The statements are a generator (a script) that a blocking or an async connection runs.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlsplit

from sqlalchemy import text

from detent.auth.caller import local_caller
from detent.clock import SystemClock
from detent.commands.start import EncodedInput, check_payload, encode_input, prepare_start
from detent.commands.workflows import new_version
from detent.embed.config import configured
from detent.embed.transaction.connection import (
    AsyncConnectionAdapter,
    AwaitedSession,
    BlockingAdapter,
    ConnectionAdapter,
    adapt,
)
from detent.engine.cache import refuse_unless_active, startable
from detent.engine.prepared_start import PreparedStart
from detent.engine.start import LATEST, unowned
from detent.errors import AlreadyActive, InvalidInput, NotFound, Problem, RequestIdReused, RequestIdTaken, StoreBusy
from detent.graph import codec
from detent.ids import RUN, new_id, show
from detent.instant import SECOND, Instant, iso
from detent.outbox.table import CREATE, INSERT, NAME, OLDEST, row_of
from detent.planner.prepared import Prepared, prepare
from detent.python.registry import registry
from detent.run.initiator import NO_INITIATOR
from detent.run.start import StartRequest
from detent.store.rows import NewRun, WorkflowRow
from detent.store.sql import schema, user_connection
from detent.store.sql.user_connection import Ask, Installation, Script, Statements

T = TypeVar("T")

_log: Final = logging.getLogger("detent.outbox")
ATTEMPTS: Final = 5
_CREATE: Final = text(CREATE["sqlite"])
_INSERT: Final = text(INSERT)
_OLDEST: Final = text(OLDEST)
#: A start that has waited in an outbox for longer was not read by any node.
UNREAD: Final = 60 * SECOND
_KEPT: Final = 512
_TENANT: Final = local_caller("python").tenant


def put(order: StartRequest, connection: Any, using: str | None) -> bytes:
    """Write the start and return the run's id. Raise InvalidInput if the connection is async."""
    checked = _checked(order)
    adapter = adapt(connection, using)
    if not isinstance(adapter, BlockingAdapter):
        raise InvalidInput("this connection is async; use `await detent.start(..., connection=...)`")
    return execute(adapter, _written(order, checked, adapter))


async def put_awaited(order: StartRequest, connection: Any, using: str | None) -> bytes:
    """Write the start on an event loop and return the run's id. A blocking connection blocks the loop."""
    checked = _checked(order)
    adapter = adapt(connection, using)
    if isinstance(adapter, AwaitedSession):
        adapter = await adapter.adapter()
    talk = _written(order, checked, adapter)
    return execute(adapter, talk) if isinstance(adapter, BlockingAdapter) else await execute_async(adapter, talk)


def execute(adapter: BlockingAdapter, talk: Script[T]) -> T:
    """Run a script on a blocking connection and return its result."""
    came: Any = None
    try:
        while True:
            came = adapter.ask(talk.send(came))
    except StopIteration as end:
        done: T = end.value
        return done


async def execute_async(adapter: AsyncConnectionAdapter, talk: Script[T]) -> T:
    """Run a script on an async connection and return its result."""
    came: Any = None
    while True:
        try:
            ask = talk.send(came)
        except StopIteration as end:
            done: T = end.value
            return done
        came = await adapter.ask(ask)


class _Checked(NamedTuple):
    """The values that are computed from a request before the connection is used."""

    content: EncodedInput
    start_at: Instant | None
    now: Instant


def _checked(request: StartRequest) -> _Checked:
    content = encode_input(request)
    now = SystemClock().wall()
    start_at = request.begins(now)
    request.check()
    if start_at is not None and start_at > now + LATEST:
        raise InvalidInput(problems=[Problem("start_at", "lies more than ten years ahead")])
    return _Checked(content, start_at, now)


# -- where to


_looked_at: Instant = 0
_places: Final[OrderedDict[tuple[str, str | None], Installation]] = OrderedDict()
_lock: Final = Lock()


def _written(order: StartRequest, checked: _Checked, adapter: ConnectionAdapter) -> Script[bytes]:
    place = yield from located(adapter)
    if place.kind == "outbox":
        return (yield from _outbox(order, checked, place))
    return (yield from _direct(order, checked, place))


def located(adapter: ConnectionAdapter) -> Script[Installation]:
    """Find Detent in the database of a connection, and remember where it is."""
    preferred = _preferred_schema()
    key = None if adapter.database is None else (adapter.database, preferred)
    place = None if key is None else _places.get(key)
    if place is None:
        place = yield from user_connection.locate(adapter.dialect, preferred)
        if key is not None:
            with _lock:
                _places[key] = place
                if len(_places) > _KEPT:
                    _places.popitem(last=False)
    return place


def forget_places() -> None:
    """Forget where Detent's tables are, so that the next start looks again."""
    _places.clear()


def _preferred_schema() -> str | None:
    """Return the schema that the configured database URL names, if it is a PostgreSQL."""
    url = str(configured().get("database_url") or "")
    return dict(parse_qsl(urlsplit(url).query)).get("schema") if url.startswith("postgres") else None


def _outbox(order: StartRequest, checked: _Checked, place: Installation) -> Script[bytes]:
    if place.dialect == "sqlite":
        yield Ask(_CREATE, {})
    options = {
        "request_id": order.request_id,
        "start_at": checked.start_at,
        "labels": dict(order.labels) or None,
        "hero": order.hero,
        "priority": order.priority,
        "allow_multiple": order.allow_multiple or None,
    }
    run = order.id or new_id()
    yield Ask(_INSERT, row_of(run, order.workflow, order.body, options, checked.now))
    yield from _look_for_readers(checked.now)
    return run


def _look_for_readers(now: Instant) -> Script[None]:
    """Log a warning if starts have waited in this outbox for long: then no node reads it. Look once a minute."""
    global _looked_at  # noqa: PLW0603 - one look is enough for the whole process
    if now - _looked_at < UNREAD:
        return
    _looked_at = now
    [[oldest]] = yield Ask(_OLDEST, {})
    if oldest is not None and now - int(oldest) > UNREAD:
        _log.warning(
            "starts wait in the table %s of this database since %s: no node reads it. Start one with "
            "DETENT_OUTBOX_URLS, which names this database",
            NAME,
            iso(int(oldest)),
        )


# -- the run itself


def _direct(order: StartRequest, checked: _Checked, place: Installation) -> Script[bytes]:
    said = user_connection.statements(place.dialect, place.schema)
    row, now = yield from _workflow(order, said, place)
    refuse_unless_active(row)
    ready = startable(row, _prepared(row))
    check_payload(ready, order.body)
    request = prepare_start(_TENANT, ready, order, checked.content, checked.start_at, NO_INITIATOR)
    for attempt in range(ATTEMPTS):
        taken = yield from _known(request, said, place, again=attempt > 0)
        if taken is not None:
            return taken
        run, callbacks = unowned(request, now)
        # Callbacks first: in autocommit mode a node may claim the run as soon as its row exists.
        for callback in callbacks:
            yield Ask(said.new_callback, user_connection.callback_values(callback, now, place.dialect))
        if (yield from _inserted(run, said, place)):
            return run.id
        if callbacks:
            yield Ask(said.drop_callbacks, user_connection.looked_up(schema.callback, {"run": run.id}, place.dialect))
    raise StoreBusy("concurrent starts with the same request id or hero blocked this one repeatedly; try again")


def _inserted(run: NewRun, said: Statements, place: Installation) -> Script[bool]:
    rows = yield Ask(said.new_run, user_connection.run_values(run, place.dialect), unless_taken=True)
    return bool(rows) if place.dialect == "postgresql" else rows is not None


def _workflow(order: StartRequest, said: Statements, place: Installation) -> Script[tuple[WorkflowRow, int]]:
    named = {"tenant": _TENANT, "name": order.workflow}
    values = user_connection.looked_up(schema.workflow, named, place.dialect)
    rows = yield Ask(said.workflow, values)
    known = registry.find(order.workflow)
    if not rows and known is not None:
        # This database does not have the workflow yet.
        version = new_version(_TENANT, new_id(), known.compiled, known.source)
        whole, first = user_connection.new_workflow_values(version, SystemClock().wall(), place.dialect)
        made = yield Ask(said.new_workflow, whole, unless_taken=True)
        if made if place.dialect == "postgresql" else made is not None:
            yield Ask(said.new_version, first)
        rows = yield Ask(said.workflow_now, values)
    if not rows:
        raise NotFound(f"there is no workflow {order.workflow[:200]!r}")
    return user_connection.workflow_row(rows[0])


def _known(request: PreparedStart, said: Statements, place: Installation, *, again: bool) -> Script[bytes | None]:
    """Return the run that the same request started, or None. Raise AlreadyActive if the hero has an active run.

    After an insert was refused (`again`), read the last committed rows: the other run may be newer than the snapshot of
    this transaction.
    """
    if request.request_id is not None:
        given = {"tenant": request.tenant, "request_id": request.request_id}
        clause = said.request_now if again else said.request
        rows = yield Ask(clause, user_connection.looked_up(schema.run, given, place.dialect))
        if rows:
            return _same(request, rows[0])
    if request.active_key is not None:
        given = {"tenant": request.tenant, "active_key": request.active_key}
        clause = said.active_now if again else said.active
        rows = yield Ask(clause, user_connection.looked_up(schema.run, given, place.dialect))
        if rows:
            run, hero = show(RUN, user_connection.as_id(rows[0][0])), " ".join(request.hero or ())
            raise AlreadyActive(f"there is an active run of {request.name!r} for {hero}: {run}", run=run)
    return None


def _same(request: PreparedStart, row: Any) -> bytes:
    run, workflow, digest = row
    if user_connection.as_id(workflow) != request.workflow:
        raise RequestIdTaken(f"the request id {request.request_id!r} was used to start another workflow")
    if digest is not None and bytes(digest) != request.request_hash:
        raise RequestIdReused(f"the request id {request.request_id!r} was used with another body")
    return user_connection.as_id(run)


_graphs: Final[OrderedDict[tuple[bytes, int], Prepared]] = OrderedDict()


def _prepared(row: WorkflowRow) -> Prepared:
    key = row.id, row.version
    found = _graphs.get(key)
    if found is None:
        found = prepare(codec.decode(row.graph))
        with _lock:
            _graphs[key] = found
            if len(_graphs) > _KEPT:
                _graphs.popitem(last=False)
    return found
