"""`detent.record_change` and `detent.sync.record_change`: changes of records, in the caller's own transaction.

Where Detent's tables are, a change is a row of `event`; nodes take it after the commit. Elsewhere it is a row of
`detent_outbox`, which the relay of a node fetches. Without a connection it is sent to the API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final

from sqlalchemy import text

from detent.auth.caller import local_caller
from detent.client import entity_events
from detent.client.calls import Call
from detent.clock import SystemClock
from detent.documents.events import EntityEventReceipt
from detent.embed.gateway import ASYNC_DRIVER, DRIVER
from detent.embed.transaction.connection import AwaitedSession, BlockingAdapter, ConnectionAdapter, adapt
from detent.embed.transaction.start import execute, execute_async, located
from detent.errors import InvalidInput, NotFound
from detent.ids import new_id
from detent.outbox.table import CREATE, EVENT, INSERT, event_row
from detent.store.events import NewEvent
from detent.store.sql import user_connection
from detent.store.sql.user_connection import Ask, Script
from detent.triggers.entities.event import RecordChange, RecordOperation, event_id, read_change
from detent.values.fields import Problems

__all__ = ["EVENT", "build_change", "record_change", "record_change_blocking", "write_changes", "write_changes_awaited"]

_CREATE: Final = text(CREATE["sqlite"])
_INSERT: Final = text(INSERT)
_TENANT: Final = local_caller("python").tenant
_MOST_KNOWN: Final = 10_000
_known: Final[set[tuple[str, str]]] = set()  # databases and entities that were found there
_lock: Final = Lock()


def build_change(
    entity: str,
    operation: str,
    id: Any = None,  # noqa: A002 - the word users know
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    actor: Any = None,
) -> RecordChange:
    """Build a change from the arguments of Python code. Raise InvalidInput with every problem."""
    problems = Problems()
    known_id = id if id is None or isinstance(id, str | int) else str(id)
    given = {
        "entity": entity,
        "operation": str(operation),
        "id": known_id,
        "before": None if before is None else dict(before),
        "after": None if after is None else dict(after),
        "actor": actor,
    }
    change = read_change(given, "", problems)
    if change is None:
        raise InvalidInput("the change cannot be recorded", problems.found)
    return change


async def record_change(
    entity: str,
    operation: str,
    id: Any = None,  # noqa: A002 - the word users know
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    actor: Any = None,
    *,
    connection: Any = None,
    using: str | None = None,
) -> str:
    """Record that a record of an entity was created, updated or deleted. Return the id of the event.

    `operation` is `create`, `update` or `delete`; `before` and `after` are the record as a mapping. With `connection`
    (SQLAlchemy, a DB-API connection or cursor, Django; `using` names Django's) the change is part of the open
    transaction there. Rules are started when that is committed, and never if it is rolled back. Without one, the change
    is durable when this returns."""
    change = build_change(entity, operation, id, before, after, actor)
    if connection is None and using is None:
        return (await ASYNC_DRIVER.ask(_call(change))).id
    [event] = await write_changes_awaited([change], connection, using)
    return event


def record_change_blocking(
    entity: str,
    operation: str,
    id: Any = None,  # noqa: A002 - the word users know
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    actor: Any = None,
    *,
    connection: Any = None,
    using: str | None = None,
) -> str:
    """Record a change as `detent.record_change` does, without an event loop."""
    change = build_change(entity, operation, id, before, after, actor)
    if connection is None and using is None:
        return DRIVER.ask(_call(change)).id
    [event] = write_changes(build_events([change]), connection, using)
    return event


def _call(change: RecordChange) -> Call[EntityEventReceipt]:
    return entity_events.send_change(
        change.entity,
        RecordOperation(change.operation).value,
        change.record,
        before=change.before,
        after=change.after,
        actor=change.actor,
    )


def build_events(changes: Sequence[RecordChange]) -> list[NewEvent]:
    """Return the rows of changes. Raise InvalidInput if one is not JSON, and TooLarge."""
    now = SystemClock().wall()
    return [change.event(_TENANT, new_id, now) for change in changes]


def write_changes(events: Sequence[NewEvent], connection: Any, using: str | None = None) -> list[str]:
    """Write changes in the transaction of a connection, in one statement. Return the ids of the events.

    Raise InvalidInput if the connection is async."""
    adapter = adapt(connection, using)
    if not isinstance(adapter, BlockingAdapter):
        raise InvalidInput("this connection is async; use `await detent.record_change(..., connection=...)`")
    execute(adapter, _recorded(events, adapter))
    return [event_id(event) for event in events]


async def write_changes_awaited(changes: Sequence[RecordChange], connection: Any, using: str | None) -> list[str]:
    """Write changes on an event loop. A blocking connection blocks the loop."""
    events = build_events(changes)
    adapter = adapt(connection, using)
    if isinstance(adapter, AwaitedSession):
        adapter = await adapter.adapter()
    talk = _recorded(events, adapter)
    if isinstance(adapter, BlockingAdapter):
        execute(adapter, talk)
    else:
        await execute_async(adapter, talk)
    return [event_id(event) for event in events]


def _recorded(events: Sequence[NewEvent], adapter: ConnectionAdapter) -> Script[None]:
    place = yield from located(adapter)
    now = SystemClock().wall()
    if place.kind == "outbox":
        if place.dialect == "sqlite":
            yield Ask(_CREATE, {})
        yield Ask(_INSERT, {}, many=[event_row(event.id, event.data, now) for event in events])
        return
    said = user_connection.statements(place.dialect, place.schema)
    where = f"{adapter.database}/{place.schema}"
    for name in sorted({event.entity for event in events}):
        if adapter.database is not None and (where, name) in _known:
            continue
        found = yield Ask(said.entity, user_connection.entity_values(_TENANT, name, place.dialect))
        if not found:
            raise NotFound(f"there is no entity {name[:200]!r}; register it with POST /api/v1/entities")
        with _lock:
            if len(_known) >= _MOST_KNOWN:
                _known.clear()
            _known.add((where, name))
    yield Ask(said.new_event, {}, many=[user_connection.event_values(event, now, place.dialect) for event in events])


def forget_entities() -> None:
    """Forget which entities exist, so that the next change looks again."""
    _known.clear()
