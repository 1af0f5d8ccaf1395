"""A TCP proxy that breaks connections on purpose.

    async with FaultProxy("127.0.0.1", server.port) as proxy:
        proxy.fault = CutBefore(b"COMMIT")        # the server never sees it
        proxy.fault = CutReplyAfter(b"COMMIT")    # the server does it, the client never learns
        proxy.fault = BlackHole()                 # nothing moves, nothing is refused
        proxy.fault = Throttle(bytes_per_second=1)

A fault is looked at for every chunk, so it may be set and taken away while connections are open. Bytes are matched
over chunk borders. `CutBefore` and `CutReplyAfter` act `times` times and then let everything pass.
"""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Self

CHUNK = 65536
Match = bytes | Callable[[bytes], bool]


class Direction(Enum):
    TO_SERVER = "to server"
    TO_CLIENT = "to client"


@dataclass
class CutBefore:
    """Reset the connection instead of forwarding the client's bytes that match."""

    match: Match
    times: int = 1


@dataclass
class CutReplyAfter:
    """Forward the matching bytes, and reset the connection when the server's answer (so: it is done) arrives here."""

    match: Match
    times: int = 1


@dataclass
class BlackHole:
    """Forward nothing either way and keep every connection open; new ones are accepted and hang too."""


@dataclass
class Throttle:
    """Forward this many bytes a second, in each direction of each connection."""

    bytes_per_second: float


Fault = CutBefore | CutReplyAfter | BlackHole | Throttle


@dataclass(eq=False)
class Link:
    """One client's connection through the proxy."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    reply_doomed: bool = False
    tail: bytes = b""
    cut: asyncio.Event = field(default_factory=asyncio.Event)

    def reset(self) -> None:
        """Break both sides with RST, as a crashed machine or a firewall does."""
        for writer in (self.client, self.server):
            connection = writer.get_extra_info("socket")
            if connection is not None and not writer.is_closing():
                with contextlib.suppress(OSError):
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        self.cut.set()


class FaultProxy:
    """Listens on a free loopback port and forwards to a server on this machine, except as `fault` says."""

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.fault: Fault | None = None
        self.connections = 0
        self.cuts = 0
        self.port = 0
        self._links: set[Link] = set()
        self._pumps: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.cut_all()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    def url(self, url: str) -> str:
        """The same address, through this proxy."""
        return url.replace(f":{self.target[1]}/", f":{self.port}/", 1)

    def switch(self, host: str, port: int) -> None:
        """Send new connections to another server, as a failover does; open ones stay where they are."""
        self.target = (host, port)

    def cut_all(self) -> int:
        """Reset every open connection; how many there were."""
        links = list(self._links)
        for link in links:
            self._cut(link)
        return len(links)

    def heal(self) -> None:
        """Take the fault away; what a black hole held back is forwarded."""
        self.fault = None

    @contextlib.contextmanager
    def broken(self, fault: Fault) -> Iterator[None]:
        """The fault, for the length of a block."""
        self.fault = fault
        try:
            yield
        finally:
            self.heal()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        current = asyncio.current_task()
        assert current is not None
        self._pumps.add(current)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._pumps.discard(current)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._while_black()
        from_server, to_server = await asyncio.open_connection(*self.target)
        link = Link(client=writer, server=to_server)
        self._links.add(link)
        try:
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(self._pump(link, reader, to_server, Direction.TO_SERVER))
                pumps.create_task(self._pump(link, from_server, writer, Direction.TO_CLIENT))
        except* OSError:
            pass
        finally:
            self._links.discard(link)
            to_server.transport.abort()

    async def _pump(self, link: Link, source: asyncio.StreamReader, sink: asyncio.StreamWriter, way: Direction) -> None:
        while data := await source.read(CHUNK):
            await self._while_black()
            if link.cut.is_set():
                return
            if self._is_doomed(link, data, way):
                self._cut(link)
                return
            await self._forward(sink, data)
        if sink.can_write_eof():
            sink.write_eof()

    def _is_doomed(self, link: Link, data: bytes, way: Direction) -> bool:
        """Whether this chunk ends the connection instead of being forwarded."""
        if way is Direction.TO_CLIENT:
            return link.reply_doomed
        fault = self.fault
        if not isinstance(fault, CutBefore | CutReplyAfter) or fault.times <= 0:
            return False
        if not _matches(fault.match, link, data):
            return False
        fault.times -= 1
        link.reply_doomed = isinstance(fault, CutReplyAfter)
        return isinstance(fault, CutBefore)

    def _cut(self, link: Link) -> None:
        self.cuts += 1
        link.reset()

    async def _forward(self, sink: asyncio.StreamWriter, data: bytes) -> None:
        while data:
            fault = self.fault
            size = len(data)
            if isinstance(fault, Throttle):
                size = max(1, min(size, int(fault.bytes_per_second / 10)))
                await asyncio.sleep(size / fault.bytes_per_second)
            sink.write(data[:size])
            await sink.drain()
            data = data[size:]

    async def _while_black(self) -> None:
        while isinstance(self.fault, BlackHole):
            await asyncio.sleep(0.01)


def _matches(match: Match, link: Link, data: bytes) -> bool:
    """Whether what the client sent matches, also when the bytes came in two chunks."""
    if callable(match):
        return match(data)
    window = link.tail + data
    link.tail = window[-(len(match) - 1) :] if len(match) > 1 else b""
    if match in window:
        link.tail = b""
        return True
    return False
