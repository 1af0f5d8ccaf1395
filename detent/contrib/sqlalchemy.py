"""Changes of SQLAlchemy's models as entity events, written in the transaction that changes them.

    from detent.contrib.sqlalchemy import record_changes

    record_changes(Session, {Order: "order", Customer: "customer"})

Every flush writes the changes of its registered models with one statement, through the connection of the session. So an
event exists if the transaction is committed, and never if it is rolled back. The session may be the class, a
`sessionmaker`, a `scoped_session` or an `AsyncSession`.

`session.execute(update(Order)...)`, `bulk_save_objects` and other bulk operations bypass the unit of work, and so this
listener too. Record their changes with `detent.record_change`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import event, inspect
from sqlalchemy.orm import Mapper, Session

from detent.embed.changes import build_change, build_events, write_changes
from detent.embed.recorded_models import add_recorded_models
from detent.triggers.entities.event import RecordChange, RecordOperation

Actor = Callable[[Session], Any]


def record_changes(
    session: Any, entities: Mapping[type[Any], str], *, actor: Actor | None = None
) -> Callable[[], None]:
    """Record the changes of these models from now on. Return a function that stops it.

    `entities` has the name of the entity of each model; a subclass is recorded as the model that is nearest to it.
    `actor` returns who changes a record, for example `lambda session: session.info.get("user")`."""
    target, names = _session_class(session), dict(entities)
    add_recorded_models(model.__name__ for model in names)

    def after_flush(session: Session, context: Any) -> None:
        _record(session, names, actor)

    event.listen(target, "after_flush", after_flush)
    return lambda: event.remove(target, "after_flush", after_flush)


def _session_class(given: Any) -> Any:
    """Return what SQLAlchemy's events listen to. An async session has a blocking one inside."""
    made = getattr(given, "session_factory", given)  # of a scoped session
    kind = getattr(made, "class_", made)  # of a factory
    inner = getattr(kind, "sync_session_class", None)
    if inner is None:
        return made
    own = getattr(made, "kw", {}).get("sync_session_class")
    return own or getattr(given, "sync_session", None) or inner


def _record(session: Session, entities: Mapping[type[Any], str], actor: Actor | None) -> None:
    by_mapper: dict[Mapper[Any], list[RecordChange]] = {}
    who: Any = None
    for instance, operation in _changed(session):
        entity = next((entities[kind] for kind in type(instance).__mro__ if kind in entities), None)
        if entity is None:
            continue
        state: Any = inspect(instance)
        before, after = _records(state, operation)
        if operation is RecordOperation.UPDATE and before == after:
            continue
        if actor is not None and not by_mapper:
            who = actor(session)
        id_ = "/".join(str(part) for part in state.mapper.primary_key_from_instance(instance))
        change = build_change(entity, operation, id_, before, after, who)
        by_mapper.setdefault(state.mapper, []).append(change)
    by_connection: dict[Any, list[RecordChange]] = {}
    for mapper, changes in by_mapper.items():  # models may have databases of their own
        by_connection.setdefault(session.connection(bind_arguments={"mapper": mapper}), []).extend(changes)
    for connection, changes in by_connection.items():
        write_changes(build_events(changes), connection)


def _changed(session: Session) -> Iterator[tuple[Any, RecordOperation]]:
    yield from ((instance, RecordOperation.CREATE) for instance in session.new)
    for instance in session.dirty:
        if session.is_modified(instance, include_collections=False):
            yield instance, RecordOperation.UPDATE
    yield from ((instance, RecordOperation.DELETE) for instance in session.deleted)


def _records(state: Any, operation: RecordOperation) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the record before and after the flush: those of its columns that are loaded."""
    now = {column.key: state.dict[column.key] for column in state.mapper.column_attrs if column.key in state.dict}
    if operation is RecordOperation.CREATE:
        return None, now
    if operation is RecordOperation.DELETE:
        return now, None
    before = dict(now)
    for name in now:
        history = state.attrs[name].history
        if history.deleted:
            before[name] = history.deleted[0]
        elif history.added:
            del before[name]  # the old value was never loaded
    return before, now
