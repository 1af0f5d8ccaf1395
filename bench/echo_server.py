"""The smallest HTTP/1.1 server that gives every body back: `python -m bench.echo_server`. It listens on a free loopback
port, so that what is measured is the callers and not it."""

import asyncio
from typing import cast

import uvloop

from bench.serving import Voice, serve

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
END_OF_HEAD = b"\r\n\r\n"


class Echo(asyncio.Protocol):
    """One connection, kept alive."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._read = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are no subclass of it

    def data_received(self, data: bytes) -> None:
        self._read += data
        while (body := self._next_body()) is not None:
            assert self._transport is not None
            self._transport.write(HEAD % len(body) + body)

    def _next_body(self) -> bytes | None:
        """The body of the next complete request."""
        end = self._read.find(END_OF_HEAD)
        if end < 0:
            return None
        begin = end + len(END_OF_HEAD)
        size = _content_length(bytes(self._read[:end]))
        if len(self._read) < begin + size:
            return None
        body = bytes(self._read[begin : begin + size])
        del self._read[: begin + size]
        return body


def _content_length(head: bytes) -> int:
    _, found, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.partition(b"\r\n")[0]) if found else 0


async def main() -> None:
    voice = Voice()
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0, backlog=4096)
    port = server.sockets[0].getsockname()[1]

    async def url() -> str:
        return f"http://127.0.0.1:{port}/echo"

    await serve({"url": url}, voice)
    server.close()


if __name__ == "__main__":
    uvloop.run(main())
