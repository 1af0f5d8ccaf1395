"""HTTP by hand, for requests that no library would send."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import Any

from tests.api.server import Detent

PATIENCE = 300.0


@dataclass
class Said:
    """One answer on the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Line:
    """A connection. What is sent on it is up to the test."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, data: bytes) -> None:
        """A server that has hung up may be written to; nobody hears it."""
        with contextlib.suppress(ConnectionError):
            self._writer.write(data)
            await self._writer.drain()

    async def drip(self, data: bytes, seconds: float) -> None:
        """A byte at a time until the other side has had enough."""
        for letter in data:
            if self._reader.at_eof() or self._writer.is_closing():
                return
            await self.send(bytes([letter]))
            await asyncio.sleep(seconds)  # the whole point is to be slow

    async def answer(self) -> Said:
        async with asyncio.timeout(PATIENCE):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            body = await self._reader.readexactly(int(headers.get("content-length", 0)))
        return Said(int(head[0].split()[1]), headers, body)

    async def rest(self) -> bytes:
        """Everything until the other side hangs up."""
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(ConnectionError):
                return await self._reader.read()
        return b""

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


@contextlib.asynccontextmanager
async def dialled(detent: Detent) -> Any:
    """A connection to a Detent."""
    host, _, port = detent.app.local_url.removeprefix("http://").partition(":")
    line = Line(*await asyncio.open_connection(host, int(port)))
    try:
        yield line
    finally:
        await line.close()


def request(method: str, target: str, *headers: str, body: bytes = b"") -> bytes:
    """The bytes of a request with exactly these headers behind its Host."""
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body
