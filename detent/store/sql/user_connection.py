"""Statements that run on a user's own connection, inside the user's transaction.

They are SQLAlchemy Core, so that one form works with every driver. Only the conversion of ids, instants and names
differs by database. The tables are in the schema `detent` of PostgreSQL if it exists, else in the connection's own
search path.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import ceil
from typing import Any, Final, Literal, NamedTuple, TypeVar
from uuid import UUID

from sqlalchemy import (
    ClauseElement,
    Column,
    ColumnElement,
    MetaData,
    Table,
    TextClause,
    bindparam,
    insert,
    select,
    text,
)
from sqlalchemy import delete as delete_from
from sqlalchemy.dialects import mysql
from sqlalchemy.dialects.mysql import VARBINARY
from sqlalchemy.dialects.postgresql import insert as insert_postgres

from detent.errors import StoreError
from detent.store.events import NewEvent
from detent.store.rows import NewCallback, NewRun, NewVersion, WorkflowRow
from detent.store.sql import schema
from detent.store.sql.events.table import event
from detent.store.sql.rule_schema import entity
from detent.store.sql.schema import OLDEST_CODE, StoredRevision, require_fit
from detent.store.trigger_rows import FARTHEST

# The time limit of a user's transaction is set in the database, so that a hanging transaction releases its locks.
#
# A limit is set only if it is stricter than the connection's own. PostgreSQL drops it with the transaction. MariaDB
# drops it only with the connection, so it is reset before the commit. Without a commit the connection is not used
# again. MySQL has no such limit.


#: The database's limit is later by so many seconds, so that the step's own limit comes first.
GRACE: Final = 0.5

_POSTGRES: Final = text(
    "select set_config(name, cast(cast(:ms as bigint) as text), true) from pg_settings"
    " where name in ('statement_timeout', 'idle_in_transaction_session_timeout')"
    " and (cast(setting as bigint) = 0 or cast(setting as bigint) > cast(:ms as bigint))"
)
_MARIADB: Final = text("select @@session.max_statement_time, @@session.idle_transaction_timeout")


@contextmanager
def bounded(connection: Any, seconds: float | None) -> Iterator[None]:
    """Limit the open transaction of this connection to about `seconds`."""
    undo = None if seconds is None else _bind(connection, seconds + GRACE)
    try:
        yield
    except BaseException:
        if undo is not None:
            connection.invalidate()
        raise
    if undo is not None:
        connection.execute(undo)


@asynccontextmanager
async def bounded_async(connection: Any, seconds: float | None) -> AsyncIterator[None]:
    """Limit the open transaction of an asynchronous connection to about `seconds`."""
    undo = None if seconds is None else await connection.run_sync(_bind, seconds + GRACE)
    try:
        yield
    except BaseException:
        if undo is not None:
            await connection.invalidate()
        raise
    if undo is not None:
        await connection.execute(undo)


def _bind(connection: Any, seconds: float) -> TextClause | None:
    """Set the limit. Return the statement that resets it, or `None` if it ends with the transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(_POSTGRES, {"ms": ceil(seconds * 1000)})
        return None
    if not getattr(connection.dialect, "is_mariadb", False):
        return None
    statement, idle = connection.execute(_MARIADB).one()
    connection.execute(_session(_stricter(float(statement), seconds), _stricter(int(idle), ceil(seconds))))
    return _session(float(statement), int(idle))


def _stricter(now: float, wanted: float) -> float:
    """Return the smaller limit. Zero means no limit."""
    return min(now, wanted) if now else wanted


def _session(statement: float, idle: float) -> TextClause:
    return text(f"set session max_statement_time = {statement:.6f}, session idle_transaction_timeout = {int(idle):d}")


T = TypeVar("T")
DialectName = Literal["postgresql", "mysql", "sqlite"]

SCHEMA: Final = "detent"
OUTBOX: Final = "detent_outbox"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Ask(NamedTuple):
    """One statement. With `unless_taken` it returns `None` instead of rows if a unique key is taken.

    With `many` it is run once for each of these rows of values, and returns nothing."""

    clause: ClauseElement
    values: Mapping[str, Any]
    unless_taken: bool = False
    many: Sequence[Mapping[str, Any]] = ()


Rows = Sequence[Sequence[Any]]
#: A generator that yields one statement after another and receives the rows of each.
Script = Generator[Ask, Any, T]


class Installation(NamedTuple):
    """Which part of Detent is in a database: its tables (`detent`), or only an outbox.

    `schema` is where the tables are."""

    dialect: DialectName
    kind: Literal["detent", "outbox"]
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class Statements:
    """Every statement, for the tables of one schema."""

    workflow: ClauseElement
    new_workflow: ClauseElement
    new_version: ClauseElement
    workflow_now: ClauseElement  # the last committed row, whatever the transaction's snapshot shows
    request: ClauseElement
    request_now: ClauseElement
    active: ClauseElement
    active_now: ClauseElement
    new_run: ClauseElement
    new_callback: ClauseElement
    drop_callbacks: ClauseElement
    hold: ClauseElement
    kept: ClauseElement
    keep: ClauseElement
    entity: ClauseElement
    new_event: ClauseElement


_NOW: Final = {
    "postgresql": "clock_timestamp()",
    "mysql": "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))",
    "sqlite": "0",
}


@lru_cache(maxsize=16)
def statements(dialect: DialectName, where: str | None) -> Statements:
    """Return the statements for tables in that schema (`None`: the connection's own search path)."""
    tables = _tables(where)
    workflow, version, run = tables["workflow"], tables["workflow_version"], tables["run"]
    callback, kept, entity = tables["callback"], tables["kept"], tables["entity"]
    found = (
        select(
            workflow.c.id, workflow.c.tenant, workflow.c.name, workflow.c.form, workflow.c.description,
            workflow.c.status, workflow.c.enabled, workflow.c.version, workflow.c.trigger, workflow.c.labels,
            version.c.graph, text(f"{_NOW[dialect]} as now"),
        )
        .join_from(workflow, version, (version.c.workflow == workflow.c.id) & (version.c.version == workflow.c.version))
        .where(_given(workflow, "tenant"), _given(workflow, "name"), workflow.c.deleted_at.is_(None))
    )  # fmt: skip
    request = select(run.c.id, run.c.workflow, run.c.request_hash).where(
        _given(run, "tenant"), _given(run, "request_id")
    )
    active = select(run.c.id).where(_given(run, "tenant"), _given(run, "active_key"), run.c.ended_at.is_(None))
    return Statements(
        workflow=found,
        workflow_now=found.with_for_update(read=True),
        new_workflow=_new(workflow, dialect),
        new_version=insert(version),
        request=request,
        request_now=request.with_for_update(read=True),
        active=active,
        active_now=active.with_for_update(read=True),
        new_run=_new(run, dialect),
        new_callback=insert(callback),
        drop_callbacks=delete_from(callback).where(_given(callback, "run")),
        # Locks the owned run at its generation: another node cannot claim it before this transaction ends.
        hold=select(run.c.id)
        .where(_given(run, "id"), _given(run, "epoch"), run.c.owner.is_not(None), run.c.ended_at.is_(None))
        .with_for_update(read=True),
        kept=select(kept.c.result).where(_given(kept, "run"), _given(kept, "step")),
        keep=insert(kept),
        entity=select(entity.c.id).where(_given(entity, "tenant"), _given(entity, "name")),
        new_event=insert(tables["event"]),
    )


def _given(table: Table, name: str) -> ColumnElement[bool]:
    """Return the condition that a column equals the argument of its name."""
    return table.c[name] == bindparam(f"{name}_", type_=table.c[name].type)


def looked_up(table: Table, values: Mapping[str, Any], dialect: DialectName) -> dict[str, Any]:
    """Return the arguments that look up rows by these values."""
    return {f"{name}_": value for name, value in fitted(table, values, dialect).items()}


def _tables(where: str | None) -> Mapping[str, Table]:
    if where is None:
        return schema.metadata.tables
    moved = MetaData(schema=where)
    return {name: table.to_metadata(moved) for name, table in schema.metadata.tables.items()}


def _new(table: Table, dialect: DialectName) -> ClauseElement:
    """Return the insert of a row. On PostgreSQL it returns no row if a unique key is taken."""
    if dialect == "postgresql":
        return insert_postgres(table).on_conflict_do_nothing().returning(table.c.id)
    return insert(table)


# -- where Detent is


def locate(dialect: DialectName, preferred: str | None = None) -> Script[Installation]:
    """Find Detent in the database of a connection.

    Raise StoreError, with what to do, if it is not there, and SchemaMismatch if this code cannot use its tables."""
    if dialect == "sqlite":
        return Installation("sqlite", "outbox")
    found = yield from (_look_postgres(preferred or SCHEMA) if dialect == "postgresql" else _look_mysql())
    where, has_outbox = found
    if where is not None:
        noted = yield Ask(text(_revision(where)), {})
        values = [None if value is None else as_text(value) for value in noted[0]] if noted else [None]
        if values[0] is not None and len(values[0]) == len(schema.HEAD):
            require_fit(StoredRevision.read(values))
            return Installation(dialect, "detent", where or None)
    if has_outbox:
        return Installation(dialect, "outbox")
    raise StoreError(
        "Detent's tables are not in this database. Either make them there (`detent migrate --database ...`, with "
        "?schema=detent on PostgreSQL to keep them apart from yours), or let a node of Detent fetch starts from it: "
        "name it in DETENT_OUTBOX_URLS, and the node makes the table `detent_outbox`"
    )


def _look_postgres(preferred: str) -> Script[tuple[str | None, bool]]:
    def there(name: str) -> str:
        return f"to_regclass('{name}') is not null"

    own = " and ".join(there(_within(preferred, name)) for name in ("run", "kept", "setting", "alembic_version"))
    plain = " and ".join(there(name) for name in ("run", "kept", "setting", "alembic_version"))
    [[apart, beside, outbox]] = yield Ask(text(f"select {own}, {plain}, {there(OUTBOX)}"), {})
    return (preferred if apart else "" if beside else None), bool(outbox)


def _look_mysql() -> Script[tuple[str | None, bool]]:
    names = ("run", "kept", "setting", "alembic_version", OUTBOX)
    listed = ", ".join(f"'{name}'" for name in names)
    rows = yield Ask(
        text(
            "select table_name from information_schema.tables "
            f"where table_schema = database() and table_name in ({listed})"
        ),
        {},
    )
    found = {as_text(row[0]) for row in rows}
    return ("" if found.issuperset(names[:4]) else None), OUTBOX in found


def _revision(where: str) -> str:
    oldest_code = f"select value from {_within(where, 'setting')} where name = '{OLDEST_CODE}'"
    return f"select version_num, ({oldest_code}) from {_within(where, 'alembic_version')}"


def _within(where: str, name: str) -> str:
    quoted = where.replace('"', '""')
    return f'"{quoted}".{name}' if where else name


# -- values


def fitted(table: Table, values: Mapping[str, Any], dialect: DialectName) -> dict[str, Any]:
    """Return the values of a row as a driver of that database takes them."""
    return {name: fit(table.c[name], value, dialect) for name, value in values.items()}


def fit(column: Column[Any], value: Any, dialect: DialectName) -> Any:
    """Return one value as a driver of that database takes it.

    Ids are `uuid` and instants `timestamptz` in PostgreSQL; names are binary in MySQL."""
    if value is None:
        return None
    match dialect:
        case "postgresql" if column.type is schema.ID:
            return UUID(bytes=value)
        case "postgresql" if column.type is schema.MOMENT:
            return _EPOCH + timedelta(microseconds=value)
        case "mysql" if isinstance(value, str) and _is_binary(column):
            return value.encode()
        case _:
            return value


@lru_cache(maxsize=256)
def _is_binary(column: Column[Any]) -> bool:
    """Return whether MySQL stores this text as bytes."""
    return isinstance(column.type.dialect_impl(_MYSQL), VARBINARY)


_MYSQL: Final = mysql.dialect()


def as_id(value: Any) -> bytes:
    """Convert an id from the value that a driver returned."""
    match value:
        case UUID():
            return value.bytes
        case str():
            return UUID(value).bytes
        case _:
            return bytes(value)


def as_instant(value: Any) -> int:
    """Convert an instant from the value that a driver returned."""
    return (value - _EPOCH) // _MICROSECOND if isinstance(value, datetime) else int(value)


def as_text(value: Any) -> str:
    """Convert a text from the value that a driver returned."""
    return value if isinstance(value, str) else bytes(value).decode()


# -- rows


def workflow_row(row: Sequence[Any]) -> tuple[WorkflowRow, int]:
    """Return a workflow without its source, and the database's time, from a row of `Statements.workflow`."""
    id_, tenant, name, form, description, status, enabled, version, trigger, labels, graph, now = row
    found = WorkflowRow(
        id=as_id(id_),
        tenant=tenant,
        name=as_text(name),
        form=as_text(form),
        description=description,
        status=as_text(status),
        enabled=bool(enabled),
        version=version,
        trigger=as_text(trigger),
        labels=None if labels is None else as_text(labels),
        created_at=0,
        updated_at=0,
        source="",
        graph=bytes(graph),
    )
    return found, as_instant(now)


def run_values(run: NewRun, dialect: DialectName) -> dict[str, Any]:
    """Return the row of an unowned run."""
    values = {name: value for name, value in run._asdict().items() if name not in ("owned", "check", "successor_of")}
    values |= {"input": run.input.decode(), "opening": None if run.opening is None else run.opening.decode()}
    return fitted(schema.run, {**values, "owner": None, "epoch": 0}, dialect)


def callback_values(callback: NewCallback, now: int, dialect: DialectName) -> dict[str, Any]:
    """Return the row of a pending callback."""
    return fitted(schema.callback, {**callback._asdict(), "state": "pending", "created_at": now}, dialect)


def event_values(new: NewEvent, now: int, dialect: DialectName) -> dict[str, Any]:
    """Return the row of an event without a head start: nodes take it as soon as they see it.

    Its time is a minute in the past, because the clock of an application may be ahead of the database's."""
    values = {**new._asdict(), "data": new.data.decode(), "at": now, "until": now - FARTHEST}
    return fitted(event, values, dialect)


def entity_values(tenant: int, name: str, dialect: DialectName) -> dict[str, Any]:
    """Return the arguments that look up an entity."""
    return looked_up(entity, {"tenant": tenant, "name": name}, dialect)


def new_workflow_values(version: NewVersion, now: int, dialect: DialectName) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the rows of a new workflow and of its first version."""
    names = ("id", "tenant", "name", "form", "title", "description", "enabled", "trigger", "labels")
    given = version._asdict()
    whole = {name: given[name] for name in names}
    whole |= {"status": "active", "version": 1, "created_at": now, "updated_at": now}
    first = {name: given[name] for name in ("tenant", "source", "graph", "checksum", "language")}
    first |= {"workflow": version.id, "version": 1, "created_at": now, "facts": version.facts().encode()}
    return fitted(schema.workflow, whole, dialect), fitted(schema.workflow_version, first, dialect)
