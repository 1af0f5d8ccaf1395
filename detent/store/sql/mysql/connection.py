"""Connections to MariaDB or MySQL: the address, the errors, and connections that heal."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from asyncmy import Connection, errors
from asyncmy.constants.CLIENT import FOUND_ROWS
from asyncmy.constants.FIELD_TYPE import NEWDECIMAL, VAR_STRING
from asyncmy.converters import conversions
from sqlalchemy import ClauseElement

from detent.errors import CommitUnknown, StoreBusy, StoreError, StoreFull, StoreLocked
from detent.instant import micros
from detent.store.heartbeat import patience
from detent.store.sql.access import LEAST_TIME, ConnectionPool, Rows, Script, SqlAccess, time_limit
from detent.store.sql.compiler import Values
from detent.store.sql.mysql.flush import NOW, SELECT_NOW, blob
from detent.store.sql.mysql.statements import spoken
from detent.store.url import network_reason

_OPTIONS: Final = ("unix_socket", "ssl", "ssl_ca", "charset")


@dataclass(frozen=True)
class Address:
    """Where the database is: `mysql://user:password@host:port/database`, or `?unix_socket=/path` in place of a host.

    `?ssl=true` requires TLS with a certificate of the system's authorities; `?ssl_ca=/path` names other authorities."""

    host: str
    port: int
    user: str
    password: str
    database: str
    unix_socket: str | None = None
    tls: str | None = None  # "" for the system's authorities, or a file of others

    @classmethod
    def parse(cls, url: str) -> Address:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query))
        unknown = sorted(options.keys() - set(_OPTIONS))
        if unknown:
            raise StoreError(
                f"the database's URL has unknown options: {', '.join(unknown)}; known: unix_socket, ssl, ssl_ca"
            )
        if options.get("charset", "utf8mb4") != "utf8mb4":
            raise StoreError(f"charset={options['charset']} cannot store every text; Detent always uses utf8mb4")
        database = unquote(parts.path)[1:]
        if not database:
            raise StoreError("the database's URL names no database; write mysql://user@host:3306/detent")
        secure = options.get("ssl", "false").lower() in ("true", "1", "yes", "required")
        try:
            port = parts.port or 3306
        except ValueError as error:
            raise StoreError(f"the database's URL has an invalid port: {error}") from None
        return cls(
            host=parts.hostname or "127.0.0.1",
            port=port,
            user=unquote(parts.username or "root"),
            password=unquote(parts.password or ""),
            database=database,
            unix_socket=options.get("unix_socket"),
            tls=options.get("ssl_ca", "" if secure else None),
        )

    def __str__(self) -> str:
        return self.unix_socket or f"{self.host}:{self.port}"


# How errors of MariaDB, MySQL and their driver are translated.


class StatementRefused(Exception):
    """The server refused a statement of a packet. Those before it were executed, those after it were not."""

    def __init__(self, code: int | None, reason: str, index: int) -> None:
        super().__init__(code, reason)
        self.code, self.reason, self.index = code, reason, index


#: The server did not apply the call, and the same call may be repeated.
_AGAIN: Final = frozenset(
    {
        1026,
        1037,  # out of memory
        1038,
        1040,  # too many connections
        1041,
        1135,
        1203,  # too many connections of this user
        1206,
        1213,  # deadlock
        1226,
        1290,  # read only: this was the primary
        1317,  # the statement was killed
        1792,
        1836,  # read only
        1969,  # MariaDB: it took too long
        3024,  # MySQL: it took too long
        2003,  # cannot connect
        2006,  # gone before anything was sent
    }
)
#: The connection was lost, or the commit itself failed: whether it was applied is unknown.
_UNKNOWN: Final = frozenset({1053, 1077, 1079, 1080, 1152, 1159, 1160, 1161, 1180, 1184, 1927, 2013, 2014, 2055, 3169})
#: After these errors the state of the connection is unknown.
_DROP: Final = frozenset({1153, 1290, 1792, 1836, 2003, 2006, 3169}) | _UNKNOWN
_LOCK_TIMEOUT: Final = 1205
_DISK_FULL: Final = frozenset({1021, 1114})
_DEADLOCK: Final = 1213
_NO_DATABASE: Final = 1049
_NOT_LET_IN: Final = frozenset({1044, 1045, 1698})
_DRIVER_ERRORS: Final = (StatementRefused, errors.MySQLError, OSError, TimeoutError)


def leaves_doubt(error: BaseException) -> bool:
    """Return whether a connection must be dropped after this error."""
    if isinstance(error, StatementRefused):
        return error.code is None or error.code == 0 or error.code in _DROP
    return not isinstance(error, StoreError)


def is_deadlock(error: StoreError) -> bool:
    """Return whether the server has rolled the whole transaction back because of a deadlock."""
    return isinstance(error.__cause__, StatementRefused) and error.__cause__.code == _DEADLOCK


@contextmanager
def translated(*, writing: bool, address: Address) -> Iterator[None]:
    """Translate every failure of the driver into one of our errors.

    `writing`: a statement that was sent may have been applied."""
    before = pending_cancellations()
    try:
        yield
    except _DRIVER_ERRORS as error:
        if pending_cancellations() > before:
            # A caller that was cancelled meanwhile must get CancelledError, not a consequence of it.
            raise asyncio.CancelledError from error
        raise _said(error, writing=writing, address=address) from error
    except UnicodeError as error:
        raise StoreError(f"a text cannot be sent to the database: {error}") from error


def pending_cancellations() -> int:
    """Return how many cancellations of the current task are pending."""
    this = asyncio.current_task()
    return this.cancelling() if this else 0


def _said(error: Exception, *, writing: bool, address: Address) -> StoreError:
    code: int | None = None
    reason = network_reason(error)
    if isinstance(error, (StatementRefused, errors.MySQLError)):
        code = error.args[0] if error.args and isinstance(error.args[0], int) else None
        reason = f"{error.args[-1]} ({code})" if error.args else repr(error)
    if code is None or code in _UNKNOWN:
        if writing:
            return CommitUnknown(f"the connection to {address} failed in the middle of a statement ({reason})")
        return StoreBusy(f"the database at {address} cannot be reached ({reason})")
    if code == _LOCK_TIMEOUT:
        return StoreLocked(f"the database at {address}: {reason}")
    if code in _DISK_FULL:
        return StoreFull(f"the database at {address}: {reason}")
    if code == 0 or code in _AGAIN:
        return StoreBusy(f"the database at {address}: {reason}")
    if code == _NO_DATABASE:
        return StoreError(
            f"there is no database {address.database!r} at {address}: create it first, with `create database`"
        )
    if code in _NOT_LET_IN:
        return StoreError(f"{address} does not allow the user {address.user!r} to log in: {reason}")
    return StoreError(f"the database at {address}: {reason}")


# How connections are opened, and how a packet of several statements is sent.


CONNECT_TIMEOUT: Final = 5.0
#: The server times out a lock, then a statement, before we drop the connection; all within 10 s.
LOCK_TIMEOUT: Final = 2
STATEMENT_TIMEOUT: Final = 6
COMMAND_TIMEOUT: Final = 8.0
#: The bytes that a packet needs besides its text.
MARGIN: Final = 1024

_SESSION: Final = (
    "set names utf8mb4 collate utf8mb4_bin",
    "set session transaction isolation level read committed",
    "set session sql_mode = 'ANSI_QUOTES,STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1",
    f"set session innodb_lock_wait_timeout = {LOCK_TIMEOUT}, lock_wait_timeout = {LOCK_TIMEOUT}",
    "set session wait_timeout = 2147483",
)
#: MySQL has no such limits for statements that write.
_MARIADB: Final = f"set session max_statement_time = {STATEMENT_TIMEOUT}, idle_transaction_timeout = 10"
_ABOUT: Final = "select @@max_allowed_packet, @@global.read_only"


class StatementResult(NamedTuple):
    """The result of one statement: its rows, or how many it matched."""

    rows: tuple[tuple[Any, ...], ...]
    matched: int


def _name(value: bytes | str | None) -> str | None:
    """Decode a name. Names are compared by their bytes, so the server does not return them as text."""
    return value.decode() if isinstance(value, bytes) else value


_CONVERSIONS: Final = {**conversions, VAR_STRING: _name, NEWDECIMAL: int}


class Wire(Connection):
    """One connection of the driver, with packets of several statements."""

    largest = 0  # the server's max_allowed_packet, in bytes
    broken = False
    #: Attributes of the driver that its stubs do not declare.
    _result: Any
    _transport: Any
    _stream_broken: bool

    async def send(self, packet: str) -> list[StatementResult]:
        """Send statements, separated by `;`, as one packet.

        Raise StatementRefused with the index of a refused statement."""
        encoded = packet.encode()
        if len(encoded) + MARGIN > self.largest > 0:
            raise StoreError(
                f"a statement of {len(encoded)} bytes is larger than the server accepts: raise its max_allowed_packet, "
                f"which is {self.largest}"
            )
        answers: list[StatementResult] = []
        try:
            await self.query(encoded)  # type: ignore[no-untyped-call]
            answers.append(self._answer())
            while self._result.has_next:
                await self.next_result()  # type: ignore[no-untyped-call]
                answers.append(self._answer())
        except errors.MySQLError as error:
            code = error.args[0] if error.args and isinstance(error.args[0], int) else None
            raise StatementRefused(code, str(error.args[-1]) if error.args else repr(error), len(answers)) from error
        return answers

    async def send_all(self, statements: Iterable[str]) -> list[StatementResult]:
        """Send statements in as few packets as the server accepts."""
        answers: list[StatementResult] = []
        packet: list[str] = []
        size = 0
        try:
            for statement in statements:
                if packet and size + 4 * len(statement) + MARGIN > self.largest:  # a character has at most four bytes
                    answers += await self.send(";".join(packet))
                    packet, size = [], 0
                packet.append(statement)
                size += 4 * len(statement) + 1
            return answers + await self.send(";".join(packet))
        except StatementRefused as refusal:
            refusal.index += len(answers)
            raise

    @property
    def is_gone(self) -> bool:
        return self.broken or self._stream_broken

    def cut(self) -> None:
        """Close the connection now, without a message to a server that may not answer."""
        self.broken = True
        if self._transport is not None:
            self._transport.abort()
        self.close()

    def _answer(self) -> StatementResult:
        return StatementResult(self._result.rows or (), self._result.affected_rows)


async def connect(address: Address, *, patient: bool = True) -> Wire:
    """Open a connection. Raise StoreBusy if the server cannot be reached now.

    With `patient=False` it does not wait for locks, or as briefly as the server allows."""
    wire = Wire(  # type: ignore[no-untyped-call]
        host=address.host,
        port=address.port,
        user=address.user,
        password=address.password.encode(),
        database=address.database,
        unix_socket=address.unix_socket,
        charset="utf8mb4",
        client_flag=FOUND_ROWS,
        conv=_CONVERSIONS,
        connect_timeout=60,  # the limit is ours
        autocommit=None,
        program_name="detent",
        ssl=None if address.tls is None else ssl.create_default_context(cafile=address.tls or None),
    )
    before = pending_cancellations()
    try:
        with translated(writing=False, address=address):
            async with time_limit(asyncio.get_running_loop().time() + CONNECT_TIMEOUT):
                await wire.connect()
                await _prepare(wire, address, patient=patient)
        # The driver connects with `asyncio.wait_for`. Before Python 3.12 that loses a cancellation that arrives at the
        # moment in which the connection is ready. A lost cancellation is never repeated.
        if pending_cancellations() > before:
            raise asyncio.CancelledError
    except RuntimeError as error:  # the driver lacks the package that encrypts a password
        wire.cut()
        raise StoreError(f"cannot log in at {address}: {error}; or connect by TLS (?ssl=true) or a socket") from error
    except BaseException:
        wire.cut()
        raise
    return wire


def is_mariadb(wire: Wire) -> bool:
    return "mariadb" in str(wire.get_server_info()).lower()


async def _prepare(wire: Wire, address: Address, *, patient: bool) -> None:
    hasty = f"set session innodb_lock_wait_timeout = {0 if is_mariadb(wire) else 1}"
    statements = (*_SESSION, *([_MARIADB] if is_mariadb(wire) else []), *([] if patient else [hasty]), _ABOUT)
    *_, about = await wire.send(";".join(statements))
    [(wire.largest, read_only)] = about.rows
    if read_only:
        raise StoreBusy(f"the server at {address} is read only")


# Connections that heal: opened on first use, dropped after a failure, reopened by the next call.


T = TypeVar("T")
Work = Callable[[Wire], Coroutine[Any, Any, T]]

BEGIN = "start transaction"
COMMIT = "commit"
ROLLBACK = "rollback"
OUT_OF_RANGE = 1690
DOUBLED: Final = 1062
#: How often a script is begun again after a deadlock.
DEADLOCKS: Final = 5


class MysqlConnection:
    """One connection that runs one packet or transaction at a time."""

    def __init__(self, address: Address, *, limit: float = COMMAND_TIMEOUT, patient: bool = True) -> None:
        """Create it without connecting. `limit` is how many seconds a call may take; for `patient` see `connect`."""
        self._address, self._limit, self._patient = address, limit, patient
        self._wire: Wire | None = None
        self._turn = asyncio.Lock()

    async def send(self, *statements: str, writing: bool = True) -> list[StatementResult]:
        """Run statements, each as its own transaction."""

        async def work(wire: Wire) -> list[StatementResult]:
            return await wire.send_all(statements)

        return await self.call(work, writing=writing)

    async def commit(self, *statements: str) -> list[StatementResult]:
        """Run statements as one transaction, in one packet if the server accepts it.

        Raise StatementRefused with the index of the statement that was refused."""

        async def work(wire: Wire) -> list[StatementResult]:
            return (await wire.send_all((BEGIN, *statements, COMMIT)))[1:-1]

        return await self.call(work)

    async def commit_if(self, checks: Sequence[str], statements: Sequence[str]) -> list[StatementResult] | int:
        """Run statements as one transaction if every check holds.

        Otherwise write nothing and return the index of the failed check. A check is a statement whose value is out of
        range if it does not hold."""

        async def work(wire: Wire) -> list[StatementResult] | int:
            try:
                answers = await wire.send_all((BEGIN, *checks, *statements, COMMIT))
            except StatementRefused as refusal:
                if refusal.code != OUT_OF_RANGE or refusal.index > len(checks):
                    raise
                await wire.send(ROLLBACK)
                return refusal.index - 1
            return answers[1 + len(checks) : -1]

        return await self.call(work)

    async def fenced(self, work: Work[T]) -> T | None:
        """Run `work`, which begins with a check and commits by itself.

        If the check fails, write nothing and return `None`."""

        async def checked(wire: Wire) -> T | None:
            try:
                return await work(wire)
            except StatementRefused as refusal:
                if refusal.code != OUT_OF_RANGE:
                    raise
                await wire.send(ROLLBACK)
                return None

        return await self.call(checked)

    async def transaction(self, work: Work[T]) -> T:
        """Run `work` as one transaction."""

        async def whole(wire: Wire) -> T:
            await wire.send(BEGIN)
            result = await work(wire)
            await wire.send(COMMIT)
            return result

        return await self.call(whole)

    async def call(self, work: Work[T], *, writing: bool = True) -> T:
        """Run `work` on the connection, and roll back what it began after every error.

        A lock timeout (1205) leaves the transaction open, with only a part of its statements applied."""
        async with self._turn:
            loop = asyncio.get_running_loop()
            until = loop.time() + self._limit
            wire = await self._open()
            try:
                with translated(writing=writing, address=self._address):
                    async with time_limit(max(until, loop.time() + LEAST_TIME)):
                        return await _or_nothing(wire, work)
            except BaseException as error:
                if leaves_doubt(error.__cause__ or error):
                    self._drop()
                raise

    async def close(self) -> None:
        wire, self._wire = self._wire, None
        if wire and not wire.is_gone:
            try:
                async with asyncio.timeout(1.0):
                    await wire.ensure_closed()
            except (OSError, TimeoutError):
                wire.cut()

    async def _open(self) -> Wire:
        if self._wire is None or self._wire.is_gone:
            self._drop()
            self._wire = await connect(self._address, patient=self._patient)
        return self._wire

    def _drop(self) -> None:
        wire, self._wire = self._wire, None
        if wire:
            wire.cut()


async def _or_nothing(wire: Wire, work: Work[T]) -> T:
    try:
        return await work(wire)
    except (StatementRefused, StoreError) as error:
        if not leaves_doubt(error):
            try:
                await wire.send(ROLLBACK)
            except StatementRefused:
                wire.cut()  # then the server rolls back
        raise


class Pool(ConnectionPool[MysqlConnection]):
    """A few connections for the commands."""

    def __init__(self, address: Address, size: int, patience: float = 5.0) -> None:
        super().__init__((MysqlConnection(address) for _ in range(size)), patience)

    async def send(self, *statements: str, writing: bool = True) -> list[StatementResult]:
        async with self.connection() as connection:
            return await connection.send(*statements, writing=writing)

    async def commit(self, *statements: str) -> list[StatementResult]:
        async with self.connection() as connection:
            return await connection.commit(*statements)

    async def transaction(self, work: Work[T]) -> T:
        async with self.connection() as connection:
            return await connection.transaction(work)


# The heartbeat on MariaDB or MySQL.


def beat(node: bytes, ttl: float) -> str:
    """Return the statement that extends the lease. It matches a row as long as the node is registered."""
    return f"update lease set until = {NOW} + {micros(ttl):d} where node = {blob(node)}"


class MysqlPulse:
    """The connection of one heartbeat."""

    def __init__(self, address: Address, node: bytes, ttl: float) -> None:
        self._connection, self._statement = MysqlConnection(address, limit=patience(ttl)), beat(node, ttl)

    async def beat(self) -> bool:
        [answer] = await self._connection.send(self._statement)
        return answer.matched > 0

    async def close(self) -> None:
        await self._connection.close()


class MysqlAccess(SqlAccess):
    """Owns every connection of a store.

    There is the lane for flushes, and one connection for flushes that must not wait for locks. Another one is for
    claims, mail and loading. Commands share a small pool. Pruning and long work have a connection each."""

    def __init__(self, address: Address, pool_size: int) -> None:
        self.address = address
        self.pool = Pool(address, pool_size)
        self.lane = MysqlConnection(address)
        self.hasty = MysqlConnection(address, patient=False)
        self.claims = MysqlConnection(address)
        self.pruner = MysqlConnection(address)
        self.long = MysqlConnection(address, limit=3600)

    async def now(self) -> int:
        [answer] = await self.pool.send(SELECT_NOW, writing=False)
        now: int = answer.rows[0][0]
        return now

    async def query(self, clause: ClauseElement, values: Values) -> Rows:
        [answer] = await self.pool.send(spoken(clause).filled(values), writing=False)
        return answer.rows

    async def run_transaction(self, begin: Callable[[], Script[T]]) -> T:
        async def work(wire: Wire) -> T:
            script, rows = begin(), None
            while True:
                try:
                    clause, values = next(script) if rows is None else script.send(rows)
                except StopIteration as end:
                    result: T = end.value
                    return result
                rows = await _ask(wire, clause, values)

        for _ in range(DEADLOCKS):
            try:
                return await self.pool.transaction(work)
            except StoreBusy as error:
                # Two transactions that insert the same key both get a share lock when they are refused, and then block
                # each other.
                if not is_deadlock(error):
                    raise
        return await self.pool.transaction(work)

    async def close(self) -> None:
        for connection in (self.lane, self.hasty, self.claims, self.pruner, self.long, self.pool):
            await connection.close()


async def _ask(wire: Wire, clause: ClauseElement, values: Values) -> Rows:
    """Run one statement and return its rows."""
    said = spoken(clause)
    try:
        [answer] = await wire.send(said.filled(values))
    except StatementRefused as refusal:
        if said.unless_there and refusal.code == DOUBLED:  # only the statement is rolled back
            return ()
        raise
    nameless: tuple[Any, ...] = ()
    return [nameless] * answer.matched if said.gives_count else answer.rows
