"""The connector `sql`: statements on PostgreSQL, MySQL, MariaDB and SQLite.

The database is that of a named connection. Values are bound as parameters (`:name`); they never become text of the
statement, and a publish refuses a statement with a template in it. A query runs in a transaction that can only read.
Rows, bytes and the time of a statement have limits. Each attempt has a connection of its own.

Both actions run in threads. The time limit of a statement ends it in the database, so that its thread returns.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from detent.catalog.connections import NamedConnection, Scrubber
from detent.catalog.parameters import CONSTANT
from detent.steps.action_context import ActionContext
from detent.steps.connectors.library import SHIPPED, describe, load
from detent.steps.errors import ActionError, InvalidParameters, Permanent, RetriableFailure
from detent.values.limits import BODY_LIMIT, LARGEST_INTEGER, SMALLEST_INTEGER

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, CursorResult, Engine, TextClause

CONNECTOR: Final = describe(
    "sql", "SQL", "Runs statements on PostgreSQL, MySQL, MariaDB or SQLite. CONNECTOR_SQL_URL is the database."
)
MOST_ROWS: Final = 10_000
USUAL_ROWS: Final = 1_000
#: How many times one step may run its statement, with other parameters each time.
MOST_TIMES: Final = 1_000
MOST_SECONDS: Final = 3_600
CONNECT_SECONDS: Final = 10
LONGEST_STATEMENT: Final = 100_000
_LONGEST_MESSAGE: Final = 500
#: How many rows are read at once.
_PIECE: Final = 200
#: The driver of each kind of database, and the extra that installs it.
_DRIVERS: Final = {
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mysql+pymysql",
    "sqlite": "sqlite",
}
_MODULES: Final = {"postgresql": "psycopg", "mysql": "pymysql"}
#: Classes of SQLSTATE after which another attempt may help: connection, conflict, resources, operator.
_PASSING_STATES: Final = ("08", "40", "53", "55P03", "57")
#: Errors of MySQL and MariaDB after which another attempt may help: conflicts, limits and lost connections.
_PASSING_NUMBERS: Final = frozenset({1040, 1053, 1205, 1213, 1969, 2002, 2003, 2006, 2013, 3024, 4031})
_TIMEOUTS: Final = frozenset({1969, 3024, "57014"})
_TIMED_OUT: Final = "statement_timeout"

Scalar = str | int | float | bool | None
Values = dict[str, Scalar]
Statement = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_STATEMENT, extra_json_schema={CONSTANT: True})]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=MOST_SECONDS)]
Rows = Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]


class Found(msgspec.Struct, frozen=True):
    """The output of `sql.query`."""

    rows: list[dict[str, Any]]
    row_count: int


class Changed(msgspec.Struct, frozen=True):
    """The output of `sql.execute`. `rows` are those that a statement with `returning` returned."""

    row_count: int
    rows: list[dict[str, Any]]


@SHIPPED.action(
    "sql.query", title="Query a database", category="Data", tags=("sql", "database"), effect="none", version="1.0.0"
)
def query(
    context: ActionContext,
    statement: Statement,
    parameters: Values | None = None,
    max_rows: Rows = USUAL_ROWS,
    timeout: Seconds = 60.0,
    connection: str = "sql",
) -> Found:
    """Return the rows of a statement that only reads."""
    with _opened(context, connection, timeout, reads=True) as session:
        rows = session.rows(session.run(statement, parameters or {}), max_rows)
        return Found(rows, len(rows))


@SHIPPED.action("sql.execute", title="Change a database", category="Data", tags=("sql", "database"), version="1.0.0")
def execute(
    context: ActionContext,
    statement: Statement,
    parameters: Values | Annotated[list[Values], msgspec.Meta(min_length=1, max_length=MOST_TIMES)] | None = None,
    max_rows: Rows = USUAL_ROWS,
    timeout: Seconds = 60.0,
    connection: str = "sql",
) -> Changed:
    """Run a statement in one transaction: once, or for each mapping of a list of parameters."""
    every = parameters if isinstance(parameters, list) else [parameters or {}]
    with _opened(context, connection, timeout, reads=False) as session:
        count, rows = 0, list[dict[str, Any]]()
        for one in every:
            result = session.run(statement, one)
            if result.returns_rows:
                found = session.rows(result, max_rows - len(rows))
                rows += found
                count += len(found)
            else:
                count += max(0, result.rowcount)
        return Changed(count, rows)


@contextmanager
def _opened(context: ActionContext, name: str, timeout: float, *, reads: bool) -> Iterator[_Session]:
    """Yield a transaction on the database of a connection. Every error of the database becomes one of the action."""
    connection = context.connection(name, "url")
    scrubber = connection.scrubber()
    sqlalchemy = load("sqlalchemy", "sql")
    engine = _engine(sqlalchemy, connection, timeout)
    is_begun = False
    try:
        with engine.connect() as opened:
            limits = _Limits(opened, timeout)
            limits.set(reads=reads)
            is_begun = True
            with limits.watched():
                yield _Session(sqlalchemy, opened, context.idempotency_key, is_stream=reads)
                opened.rollback() if reads else opened.commit()
    except sqlalchemy.exc.DBAPIError as error:
        raise _failure(engine.dialect.name, error, scrubber, timeout, is_begun=is_begun) from None
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise Permanent(scrubber.text(str(error))[:_LONGEST_MESSAGE], code="invalid_statement") from None
    finally:
        engine.dispose()


def _engine(sqlalchemy: Any, connection: NamedConnection, timeout: float) -> Engine:
    """Return an engine without a pool. Raise Permanent if the address is not that of a database we know."""
    try:
        url: URL = sqlalchemy.make_url(connection["url"])
    except (sqlalchemy.exc.ArgumentError, ValueError):
        raise _not_a_database(connection, "it is not a valid address") from None
    driver = _DRIVERS.get(url.drivername)
    if driver is None:
        raise _not_a_database(connection, f"it must begin with one of {', '.join(f'{one}://' for one in _DRIVERS)}")
    if (wanted := _MODULES.get(driver.partition("+")[0])) is not None:
        load(wanted, "sql")
    if driver == "sqlite" and url.database in (None, "", ":memory:"):
        raise _not_a_database(connection, "a database of SQLite is a file: sqlite:////var/lib/shop.db")
    parts: dict[str, Any] = {"drivername": driver}
    parts |= {part: value for part in ("username", "password") if (value := connection.get(part)) is not None}
    options = _options(driver, connection, timeout)
    pool = sqlalchemy.pool.NullPool
    try:
        made: Engine = sqlalchemy.create_engine(url.set(**parts), poolclass=pool, connect_args=options)
    except (sqlalchemy.exc.ArgumentError, TypeError, ValueError) as error:
        raise _not_a_database(connection, connection.scrubber().text(str(error))[:_LONGEST_MESSAGE]) from None
    return made


def _options(driver: str, connection: NamedConnection, timeout: float) -> dict[str, Any]:
    """Return the options of the driver."""
    match driver.partition("+")[0]:
        case "postgresql":
            return {"connect_timeout": CONNECT_SECONDS, "application_name": "detent"}
        case "mysql":
            # After the limit of the statement: then the database has said why it ended.
            late = int(timeout) + 2 * CONNECT_SECONDS
            limits = {"connect_timeout": CONNECT_SECONDS, "read_timeout": late, "write_timeout": late}
            ca_file = connection.get("ca_file")
            return limits if ca_file is None else {**limits, "ssl": {"ca": ca_file}}
        case _:
            return {"timeout": min(timeout, CONNECT_SECONDS)}


def _not_a_database(connection: NamedConnection, why: str) -> Permanent:
    return Permanent(f"the connection {connection.name!r} is not that of a database: {why}", code="invalid_connection")


class _Limits:
    """What bounds a statement, in the words of each database."""

    def __init__(self, opened: Connection, seconds: float) -> None:
        self._opened = opened
        self._dialect = opened.dialect
        self._seconds = seconds

    def set(self, *, reads: bool) -> None:
        """Set the time limit, and begin a transaction that only reads if `reads`."""
        for statement in self._statements(reads=reads):
            self._opened.exec_driver_sql(statement)

    def _statements(self, *, reads: bool) -> Iterator[str]:
        milliseconds = max(1, int(self._seconds * 1000))
        match self._dialect.name:
            case "postgresql":
                yield f"set local statement_timeout = {milliseconds}"
                if reads:
                    yield "set transaction read only"
            case "mysql" | "mariadb":
                is_mariadb = getattr(self._dialect, "is_mariadb", False)
                yield (
                    f"set session max_statement_time = {self._seconds:.3f}"
                    if is_mariadb
                    else f"set session max_execution_time = {milliseconds}"
                )
                if reads:
                    yield "start transaction read only"
            case _:
                yield f"pragma query_only = {'on' if reads else 'off'}"

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Interrupt what runs on SQLite after the time limit: SQLite itself has none."""
        if self._dialect.name != "sqlite":
            yield
            return
        driver: Any = self._opened.connection.driver_connection
        ends_at = time.monotonic() + self._seconds
        driver.set_progress_handler(lambda: time.monotonic() > ends_at, 10_000)
        try:
            yield
        finally:
            with suppress(Exception):
                driver.set_progress_handler(None, 0)


class _Session:
    """Runs statements of one attempt, and reads their rows within the limits."""

    def __init__(self, sqlalchemy: Any, opened: Connection, key: str, *, is_stream: bool) -> None:
        self._text: Callable[[str], TextClause] = sqlalchemy.text
        self._opened = opened
        self._key = key
        self._is_stream = is_stream
        self._left = BODY_LIMIT

    def run(self, statement: str, given: Values) -> CursorResult[Any]:
        """Run a statement with bound parameters. `:idempotency_key` is that of the attempt, unless it is given."""
        clause = self._text(statement)
        wanted = clause.compile().params
        values = {"idempotency_key": self._key, **given} if "idempotency_key" in wanted else given
        if missing := sorted(wanted.keys() - values.keys()):
            raise InvalidParameters(f"parameters.{missing[0]}: is missing; the statement has :{missing[0]}")
        if unknown := sorted(values.keys() - wanted.keys()):
            raise InvalidParameters(f"parameters.{unknown[0][:80]}: the statement has no :{unknown[0][:80]}")
        # A cursor of the server: the driver would read all rows into memory otherwise.
        options = {"stream_results": True, "max_row_buffer": _PIECE} if self._is_stream else {}
        return self._opened.execute(clause, values, execution_options=options)

    def rows(self, result: CursorResult[Any], most: int) -> list[dict[str, Any]]:
        """Return the rows of a result. Raise Permanent if there are more than `most`, or more bytes than fit."""
        if not result.returns_rows:
            raise Permanent("the statement returns no rows; call sql.execute for what changes data", code="no_rows")
        names = list(result.keys())
        if twice := [name for name in names if names.count(name) > 1]:
            message = f"two columns of the result are named {twice[0][:80]!r}; rename one with `as`"
            raise Permanent(message, code="invalid_statement")
        found: list[dict[str, Any]] = []
        while piece := result.fetchmany(min(_PIECE, most + 1 - len(found))):
            for row in piece:
                if len(found) == most:
                    result.close()
                    message = f"the statement returns more than {most:,} rows; narrow it, or raise max_rows"
                    raise Permanent(f"{message} (at most {MOST_ROWS:,})", code="too_many_rows")
                made = {name: _as_json(value) for name, value in zip(names, row, strict=True)}
                self._left -= len(msgspec.json.encode(made)) + 1
                if self._left < 0:
                    result.close()
                    message = f"the rows take more than {BODY_LIMIT // 1024} KB; select fewer rows or columns"
                    raise Permanent(message, code="output_too_large")
                found.append(made)
        return found


def _as_json(value: Any) -> Any:
    """Return a value of a database as one of JSON. What JSON cannot represent becomes text."""
    match value:
        case bool() | str() | None:
            return value
        case int():
            return value if SMALLEST_INTEGER <= value <= LARGEST_INTEGER else str(value)
        case float():
            return value if isfinite(value) else str(value)
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(value).decode()
        case timedelta():
            return value
        case Mapping():
            return {str(key): _as_json(inner) for key, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_as_json(inner) for inner in value]
        case _ if hasattr(value, "isoformat"):
            return value.isoformat()
        case _:
            return str(value)


def _failure(dialect: str, error: Any, scrubber: Scrubber, timeout: float, *, is_begun: bool) -> ActionError:
    """Return the failure of a database's error: whether another attempt may help follows from its code."""
    original: Any = error.orig
    said = " ".join(scrubber.text(str(original)).split())[:_LONGEST_MESSAGE]
    code: Any = None
    if dialect == "postgresql":
        code = getattr(original, "sqlstate", None)
        is_passing = code is None or str(code).startswith(_PASSING_STATES)
    elif dialect == "sqlite":
        is_passing = any(word in said for word in ("locked", "busy", "interrupted", "disk I/O"))
        code = "57014" if "interrupted" in said else None
    else:
        code = original.args[0] if original.args and isinstance(original.args[0], int) else None
        is_passing = code in _PASSING_NUMBERS
    if code in _TIMEOUTS:
        return RetriableFailure(f"the statement did not end within {timeout:g} s", _TIMED_OUT)
    if not is_passing:
        return Permanent(f"the database refused it: {said}", code="refused" if is_begun else "connection_refused")
    what = "the database could not do it now" if is_begun else "the database cannot be reached"
    return RetriableFailure(f"{what}: {said}", "database_unavailable")
