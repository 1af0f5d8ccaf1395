"""Connections to MariaDB or MySQL: how they are opened, and how a packet of several statements is sent."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from asyncmy import Connection, errors
from asyncmy.constants.CLIENT import FOUND_ROWS
from asyncmy.constants.FIELD_TYPE import NEWDECIMAL, VAR_STRING
from asyncmy.converters import conversions

from detent.errors import StoreBusy, StoreError
from detent.store.sql.mysql.address import Address
from detent.store.sql.mysql.faults import Refusal, times_told_to_stop, translated

CONNECT_TIMEOUT: Final = 5.0
#: The server gives up a lock, then a statement, before we give up the server; all within 10 s.
LOCK_TIMEOUT: Final = 2
STATEMENT_TIMEOUT: Final = 6
COMMAND_TIMEOUT: Final = 8.0
#: What a packet needs beside its text.
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


class Answer(NamedTuple):
    """What one statement gave: its rows, or how many it matched."""

    rows: tuple[tuple[Any, ...], ...]
    matched: int


def _name(value: bytes | str | None) -> str | None:
    """Names are compared by their bytes, so the server does not know that they are text."""
    return value.decode() if isinstance(value, bytes) else value


_CONVERSIONS: Final = {**conversions, VAR_STRING: _name, NEWDECIMAL: int}


class Wire(Connection):
    """One connection."""

    largest = 0  # bytes of a packet, as the server says
    broken = False
    #: The driver's own, which its stubs do not tell.
    _result: Any
    _transport: Any
    _stream_broken: bool

    async def send(self, packet: str) -> list[Answer]:
        """Send statements with `;` between them as one packet. Refusal says which the server refused."""
        encoded = packet.encode()
        if len(encoded) + MARGIN > self.largest > 0:
            raise StoreError(
                f"a statement of {len(encoded)} bytes is larger than the server takes: raise its max_allowed_packet, "
                f"which is {self.largest}"
            )
        answers: list[Answer] = []
        try:
            await self.query(encoded)  # type: ignore[no-untyped-call]
            answers.append(self._answer())
            while self._result.has_next:
                await self.next_result()  # type: ignore[no-untyped-call]
                answers.append(self._answer())
        except errors.MySQLError as error:
            code = error.args[0] if error.args and isinstance(error.args[0], int) else None
            raise Refusal(code, str(error.args[-1]) if error.args else repr(error), len(answers)) from error
        return answers

    async def send_all(self, statements: Iterable[str]) -> list[Answer]:
        """Send them as few packets as the server takes."""
        answers: list[Answer] = []
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
        except Refusal as refusal:
            refusal.place += len(answers)
            raise

    @property
    def is_gone(self) -> bool:
        return self.broken or self._stream_broken

    def cut(self) -> None:
        """End the connection now, without a word to a server that may not listen."""
        self.broken = True
        if self._transport is not None:
            self._transport.abort()
        self.close()

    def _answer(self) -> Answer:
        return Answer(self._result.rows or (), self._result.affected_rows)


async def connect(address: Address, *, patient: bool = True) -> Wire:
    """A new connection, or StoreBusy if there is none to be had now. One that is not `patient` waits for no lock, or as
    short as the server can."""
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
        connect_timeout=CONNECT_TIMEOUT,
        autocommit=None,
        program_name="detent",
        ssl=None if address.tls is None else ssl.create_default_context(cafile=address.tls or None),
    )
    told = times_told_to_stop()
    try:
        with translated(writing=False, address=address):
            async with asyncio.timeout(CONNECT_TIMEOUT):
                await wire.connect()
                await _prepare(wire, address, patient=patient)
        # The driver connects by `asyncio.wait_for`, which before Python 3.12 forgets a cancellation that comes in the
        # very instant in which the connection stands. Who forgets it is never told again.
        if times_told_to_stop() > told:
            raise asyncio.CancelledError
    except RuntimeError as error:  # the driver lacks what it needs to send a password that nobody else can read
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
