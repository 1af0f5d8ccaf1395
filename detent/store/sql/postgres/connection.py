"""Connections to PostgreSQL that heal: opened on first use, dropped after a failure, reopened by the next call."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import asyncpg
from asyncpg.connect_utils import SessionAttribute
from asyncpg.exceptions import InternalClientError, TargetServerAttributeNotMatched
from sqlalchemy import ClauseElement, Dialect
from sqlalchemy.dialects import postgresql

from detent.errors import CommitUnknown, StoreBusy, StoreError, StoreFull, StoreLocked
from detent.store.heartbeat import patience
from detent.store.sql.access import LEAST_TIME, Alarm, ConnectionPool, Rows, Script, SqlAccess, time_limit
from detent.store.sql.compiler import Values, compiled
from detent.store.url import network_reason

# How values are encoded, how connections are opened, and what their errors mean.


if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]
else:
    Connection = asyncpg.Connection

DIALECT: Final[Dialect] = postgresql.dialect(paramstyle="numeric_dollar")  # type: ignore[no-untyped-call]

#: PostgreSQL counts microseconds from the year 2000.
_Y2K: Final = 946_684_800_000_000

#: The setting of a session that names the tenant whose rows the restricted role sees.
TENANT_SETTING: Final = "detent.tenant"

CONNECT_TIMEOUT: Final = 5.0
#: The server times out a lock, then a statement, before we drop the connection; all within 10 s.
LOCK_TIMEOUT: Final = 2.0
STATEMENT_TIMEOUT: Final = 6.0
COMMAND_TIMEOUT: Final = 8.0

_SESSION: Final = {
    "lock_timeout": f"{LOCK_TIMEOUT}s",
    "statement_timeout": f"{STATEMENT_TIMEOUT}s",
    "idle_in_transaction_session_timeout": "10s",
    "default_transaction_isolation": "read committed",
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "20s",
    "jit": "off",
}
#: Our hot statements look up rows by key. A plan made for a small table must not scan it after it has grown.
_LOOKUPS: Final = {
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "plan_cache_mode": "force_generic_plan",
}


@dataclass(frozen=True)
class Address:
    """Where the database is, parsed from its URL.

    With `?pooling=transaction` a pooler assigns every transaction to another session. Then no state may depend on a
    session, not even prepared statements. With `?schema=detent`, Detent's tables are in their own schema, apart from
    those of an application in the same database. Sessions switch to `role`, if there is one."""

    url: str
    pooled: bool = False
    lookups: bool = False
    schema: str | None = None
    role: str | None = None

    @classmethod
    def parse(cls, url: str) -> Address:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query))
        pooling = options.pop("pooling", "session")
        if pooling not in ("session", "transaction"):
            raise StoreError(f"pooling={pooling} is not supported; use session or transaction")
        schema, pooled = options.pop("schema", None), pooling == "transaction"
        if schema is not None and not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema):
            raise StoreError(f"schema={schema} is invalid: use small letters, digits and underscores, such as detent")
        if schema is not None and pooled:
            raise StoreError(
                "schema= and pooling=transaction cannot be combined, because a pooler does not preserve a session's "
                f"search path; set it for the role instead: alter role ... set search_path = {schema}"
            )
        return cls(urlunsplit(parts._replace(query=urlencode(options))), pooled=pooled, schema=schema)

    @property
    def where(self) -> str:
        """Return host and port for messages; the URL itself may contain a password."""
        place = urlsplit(self.url).netloc.rpartition("@")[2]
        return f" at {place}" if place else ""

    def for_lookups(self) -> Address:
        return replace(self, lookups=True)

    def for_role(self, role: str) -> Address:
        return replace(self, role=role)


async def connect(address: Address) -> Connection:
    """Open a connection. Raise StoreBusy if the server cannot be reached now."""
    settings = {"application_name": "detent"}
    if not address.pooled:
        settings |= _SESSION | (_LOOKUPS if address.lookups else {})
        if address.role is not None:
            settings["role"] = address.role
    if address.schema is not None:
        settings["search_path"] = address.schema
    until = asyncio.get_running_loop().time() + CONNECT_TIMEOUT
    with translated(writing=False, where=address.where):
        async with time_limit(until):
            connection: Connection = await asyncpg.connect(
                address.url,
                timeout=60,  # the limit is ours
                target_session_attrs=SessionAttribute.read_write,
                statement_cache_size=0 if address.pooled else 256,
                max_cached_statement_lifetime=0,
                max_cacheable_statement_size=0,
                server_settings=settings,
            )
            try:
                await _teach(connection)
            except BaseException:
                connection.terminate()
                raise
    return connection


async def _teach(connection: Connection) -> None:
    """Set codecs: ids are 16 bytes and instants are integers."""
    await connection.set_type_codec("uuid", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
    await connection.set_type_codec(
        "timestamptz",
        schema="pg_catalog",
        encoder=lambda instant: (instant - _Y2K,),
        decoder=lambda parts: parts[0] + _Y2K,
        format="tuple",
    )


#: The server did not apply the call, and the same call may be repeated.
_AGAIN: Final = frozenset(
    {
        "40001",  # serialization failure
        "40P01",  # deadlock
        "57014",  # statement timeout
        "25006",  # read only: this was the primary
        "26000",  # the prepared statement is gone: a pooler assigned another session
        "42P05",
        "0A000",  # a cached plan does not fit the tables any more
        "25P02",
        "53000",
        "53200",
        "53300",  # too many connections
        "57P03",  # starting up
    }
)
_LOCK_TIMEOUT: Final = "55P03"
_DISK_FULL: Final = "53100"
#: After these errors the connection is unusable, or its state is unknown.
_DROP: Final = frozenset({"25006", "26000", "42P05", "0A000", "25P02"})


def leaves_doubt(error: BaseException) -> bool:
    """Return whether a connection must be dropped after this error."""
    if isinstance(error, asyncpg.PostgresError):
        state = error.sqlstate or ""
        return state in _DROP or state[:2] == "08" or state[:3] == "57P"
    return True


@contextmanager
def translated(*, writing: bool, where: str = "") -> Iterator[None]:
    """Translate every failure of the driver into one of our errors.

    `writing`: a statement that was sent may have been applied. `where` is part of the message if the server cannot be
    reached."""
    before = _pending_cancellations()
    try:
        yield
    except _DRIVER_ERRORS as error:
        if _pending_cancellations() > before:
            # A caller that was cancelled meanwhile must get CancelledError. A consequence of the cancellation, such as
            # a rollback that failed on a broken connection, would look like an error of the database, and the caller
            # would continue for ever.
            raise asyncio.CancelledError from error
        raise _said(error, where, writing=writing) from error


_DRIVER_ERRORS: Final = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    InternalClientError,
    TargetServerAttributeNotMatched,
    OSError,
    TimeoutError,
)


def _pending_cancellations() -> int:
    this = asyncio.current_task()
    return this.cancelling() if this else 0


def _said(error: Exception, where: str, *, writing: bool) -> StoreError:
    match error:
        case asyncpg.PostgresError():
            return _translate(error, writing=writing)
        case TargetServerAttributeNotMatched():
            return StoreBusy(f"no writable PostgreSQL server: {error}")
        case ValueError():
            return StoreError(f"PostgreSQL's driver refused a value: {error}")
    reason = network_reason(error)
    if writing:
        return CommitUnknown(f"the connection to PostgreSQL failed in the middle of a statement ({reason})")
    return StoreBusy(f"PostgreSQL cannot be reached{where} ({reason})")


def _translate(error: asyncpg.PostgresError, *, writing: bool) -> StoreError:
    state = error.sqlstate or ""
    said = f"{error} ({state})"
    if state == _LOCK_TIMEOUT:
        return StoreLocked(f"PostgreSQL: {said}")
    if state == _DISK_FULL:
        return StoreFull(f"PostgreSQL: {said}")
    if state in _AGAIN:
        return StoreBusy(f"PostgreSQL: {said}")
    if state[:2] == "08" or state[:3] == "57P" or state == "40003":
        return CommitUnknown(f"PostgreSQL: {said}") if writing else StoreBusy(f"PostgreSQL: {said}")
    return StoreError(f"PostgreSQL: {said}")


T = TypeVar("T")
Work = Callable[[Connection], Coroutine[Any, Any, T]]
Records = Sequence[asyncpg.Record]


#: The tenant whose rows a session sees when it begins, and whether it plans every statement for its arguments.
_NEW_SESSION: Final = (None, False)


class PostgresConnection:
    """One connection that runs one statement or transaction at a time.

    With a role it sees the rows of `tenant` only, and none if that is `None`. While it `searches`, the server plans
    every statement for its very arguments."""

    tenant: int | None = None
    searches: bool = False

    def __init__(self, address: Address, *, limit: float = COMMAND_TIMEOUT) -> None:
        """Create it without connecting. `limit` is how many seconds a call may take before its connection is cut."""
        self._address, self._limit = address, limit
        self._connection: Connection | None = None
        self._session: tuple[int | None, bool] = _NEW_SESSION
        self._turn = asyncio.Lock()

    async def fetch(self, sql: str, *arguments: Any, writing: bool = True) -> Records:
        """Run one statement as its own transaction."""

        async def one(connection: Connection) -> Records:
            return await connection.fetch(sql, *arguments)

        return await self.call(one, writing=writing)

    async def call(self, work: Work[T], *, writing: bool = True) -> T:
        """Run `work` on the connection.

        Through a pooler it always runs inside a transaction. Only a transaction keeps one server session for the
        driver's several messages."""
        async with self._turn:
            loop = asyncio.get_running_loop()
            until = loop.time() + self._limit
            connection = await self._open()
            # Cutting the connection ends every wait at once. A cancel request to a server that does not answer would
            # not.
            limit = Alarm(max(until, loop.time() + LEAST_TIME), connection.terminate)
            try:
                if self._session != (self.tenant, self.searches):
                    await self._change_session(connection)
                with translated(writing=writing):
                    return await (self._in_transaction(connection, work) if self._address.pooled else work(connection))
            except AttributeError as error:
                # The driver prepares a statement and then sends it. If the connection is cut between the two, the
                # driver fails at its own missing protocol.
                if not connection.is_closed():
                    raise
                raise _said(ConnectionAbortedError("it was cut"), "", writing=writing) from error
            except BaseException as error:
                if leaves_doubt(error.__cause__ or error):
                    self._drop()
                raise
            finally:
                limit.cancel()

    async def transaction(self, work: Work[T]) -> T:
        """Run `work` as one transaction of several statements."""

        async def whole(connection: Connection) -> T:
            return await self._in_transaction(connection, work)

        return await self.call(work if self._address.pooled else whole)

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection and not connection.is_closed():
            try:
                await connection.close(timeout=1.0)
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                connection.terminate()

    async def _open(self) -> Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = None
            self._session = _NEW_SESSION
            self._connection = await connect(self._address)
        return self._connection

    async def _change_session(self, connection: Connection) -> None:
        """Let the session see the rows of another tenant, or plan differently. Before a transaction: one that fails
        would undo it."""
        if not self._address.pooled:
            tenant, searches = self._session
            changes = [] if tenant == self.tenant else [see_tenant(self.tenant)]
            if searches != self.searches:
                changes.append(f"set plan_cache_mode = {'force_custom_plan' if self.searches else 'default'}")
            with translated(writing=False):
                await connection.execute("; ".join(changes))
            self._session = (self.tenant, self.searches)

    async def _in_transaction(self, connection: Connection, work: Work[T]) -> T:
        async with connection.transaction():
            if self._address.pooled and self._address.role is not None:
                await connection.execute(f"set local role {self._address.role}; {see_tenant(self.tenant, local=True)}")
            return await work(connection)

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            connection.terminate()


def see_tenant(tenant: int | None, *, local: bool = False) -> str:
    """Return the statement after which the restricted role sees the rows of a tenant, or none."""
    return f"set {'local ' if local else ''}{TENANT_SETTING} = '{'' if tenant is None else int(tenant)}'"


class Pool:
    """A few connections for the commands. With a tenant they see its rows only."""

    def __init__(self, connections: ConnectionPool[PostgresConnection], tenant: int | None = None) -> None:
        self._connections = connections
        self._tenant = tenant

    @classmethod
    def of(cls, address: Address, size: int, patience: float = 5.0) -> Pool:
        return cls(ConnectionPool([PostgresConnection(address) for _ in range(size)], patience))

    def for_tenant(self, tenant: int) -> Pool:
        """Return the same connections, for the rows of one tenant."""
        return Pool(self._connections, tenant)

    @asynccontextmanager
    async def connection(self, *, searches: bool = False) -> AsyncIterator[PostgresConnection]:
        def is_ready(connection: PostgresConnection) -> bool:
            """Return whether a connection was used like this last: then its session needs no change."""
            return connection.tenant == self._tenant and connection.searches == searches

        async with self._connections.connection(is_ready) as connection:
            connection.tenant, connection.searches = self._tenant, searches
            yield connection

    async def close(self) -> None:
        await self._connections.close()

    async def fetch(self, sql: str, *arguments: Any, writing: bool = True) -> Records:
        async with self.connection() as connection:
            return await connection.fetch(sql, *arguments, writing=writing)

    async def transaction(self, work: Work[T]) -> T:
        async with self.connection() as connection:
            return await connection.transaction(work)


# The heartbeat on PostgreSQL.


BEAT = """
update lease set until = clock_timestamp() + make_interval(secs => $2) where node = $1 returning 1"""


class PostgresPulse:
    """The connection of one heartbeat."""

    def __init__(self, address: Address, node: bytes, ttl: float) -> None:
        self._connection, self._node, self._ttl = PostgresConnection(address, limit=patience(ttl)), node, ttl

    async def beat(self) -> bool:
        return bool(await self._connection.fetch(BEAT, self._node, self._ttl))

    async def close(self) -> None:
        await self._connection.close()


class PoolAccess(SqlAccess):
    """Runs the statements of commands on a pool."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def now(self) -> int:
        [row] = await self.pool.fetch("select clock_timestamp()", writing=False)
        now: int = row[0]
        return now

    async def query(self, clause: ClauseElement, values: Values) -> Rows:
        statement = compiled(clause, DIALECT)
        records = await self.pool.fetch(statement.text, *statement.arguments(values), writing=False)
        return [tuple(record) for record in records]

    async def search(self, clause: ClauseElement, values: Values) -> Rows:
        """Use a session that plans for the arguments. Others plan a statement that was sent five times without them."""
        statement = compiled(clause, DIALECT)
        async with self.pool.connection(searches=True) as connection:
            records = await connection.fetch(statement.text, *statement.arguments(values), writing=False)
        return [tuple(record) for record in records]

    async def run_transaction(self, begin: Callable[[], Script[T]]) -> T:
        async def work(connection: Connection) -> T:
            script, rows = begin(), None
            while True:
                try:
                    clause, values = next(script) if rows is None else script.send(rows)
                except StopIteration as end:
                    result: T = end.value
                    return result
                statement = compiled(clause, DIALECT)
                records = await connection.fetch(statement.text, *statement.arguments(values))
                rows = [tuple(record) for record in records]

        return await self.pool.transaction(work)

    async def close(self) -> None:
        await self.pool.close()


class PostgresAccess(PoolAccess):
    """Owns every connection of a store.

    There is the lane for flushes, and one connection for claims, mail and loading. Commands share a small pool. Pruning
    and long work have a connection each. With row security, `restricted` is the pool of the restricted role, for
    commands of one tenant each."""

    def __init__(self, address: Address, pool_size: int, *, restricted: Address | None = None) -> None:
        super().__init__(Pool.of(address, pool_size))
        self.address = address
        self.restricted = None if restricted is None else Pool.of(restricted, pool_size)
        self.lane = PostgresConnection(address.for_lookups())
        self.claims = PostgresConnection(address.for_lookups())
        self.pruner = PostgresConnection(address.for_lookups())
        self.long = PostgresConnection(address, limit=3600)

    async def close(self) -> None:
        for connection in (self.lane, self.claims, self.pruner, self.long):
            await connection.close()
        await self.pool.close()
        if self.restricted is not None:
            await self.restricted.close()
