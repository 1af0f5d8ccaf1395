"""A transaction pooler: every transaction of a client goes to another server session, as PgBouncer may do it.

It reads just enough of the protocol to know when a session is idle again. A client that keeps anything in its session
(a prepared statement, a setting, a lock) loses it with the next transaction.
"""

import asyncio
import contextlib
import struct
from types import TracebackType
from typing import Self

READY = b"Z"
IDLE = b"I"
SSL_REQUEST = 80877103

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Pooler:
    """Listens on a free loopback port; `sessions` server connections per client, used in turn."""

    def __init__(self, port: int, *, sessions: int = 2) -> None:
        self._target, self._sessions = port, sessions
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()
        self.port = 0
        self.switches = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        current = asyncio.current_task()
        assert current is not None
        self._clients.add(current)
        servers: list[Stream] = []
        try:
            await self._serve(reader, writer, servers)
        except (OSError, EOFError, asyncio.CancelledError):
            pass
        finally:
            self._clients.discard(current)
            for stream in (writer, *(server[1] for server in servers)):
                stream.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, servers: list[Stream]) -> None:
        hello = await _startup(reader, writer)
        for number in range(self._sessions):
            server = await asyncio.open_connection("127.0.0.1", self._target)
            servers.append(server)
            server[1].write(hello)
            await _relay(server[0], writer if number == 0 else None)
        turn = 0
        while True:
            turn = (turn + 1) % len(servers)
            self.switches += 1
            await self._transaction(reader, writer, servers[turn])

    async def _transaction(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Stream) -> None:
        """Everything until the session is idle again goes to one server, whose answers are forwarded meanwhile."""
        status = b""
        while status != IDLE:
            kind, message = await _message(reader)
            answers = asyncio.create_task(_relay(server[0], writer))
            while True:
                server[1].write(message)
                if kind == b"X":
                    answers.cancel()
                    raise EOFError
                if kind in (b"Q", b"S"):  # a query, or the sync that ends a batch: now the server gets ready again
                    break
                kind, message = await _message(reader)
            status = await answers


async def _startup(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    while True:
        head = await reader.readexactly(4)
        body = await reader.readexactly(struct.unpack("!i", head)[0] - 4)
        if struct.unpack("!i", body[:4])[0] != SSL_REQUEST:
            return head + body
        writer.write(b"N")


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    body = await reader.readexactly(struct.unpack("!i", head[1:])[0] - 4)
    return head[:1], head + body


async def _relay(source: asyncio.StreamReader, sink: asyncio.StreamWriter | None) -> bytes:
    """Forward the server's messages up to the one that says it is ready, and give its transaction status."""
    while True:
        kind, message = await _message(source)
        if sink is not None:
            sink.write(message)
            with contextlib.suppress(ConnectionError):
                await sink.drain()
        if kind == READY:
            return message[5:6]
