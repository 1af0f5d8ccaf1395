"""Small servers on loopback: one that says given bytes, one that runs a handler, and a canary nobody may call."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from ssl import SSLContext

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Listener:
    """Where it listens, how often it was connected to, and the heads of the requests it got."""

    host: str
    port: int = 0
    connections: int = 0
    heads: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"


@asynccontextmanager
async def listening(
    handler: Handler, *, host: str = "127.0.0.1", port: int = 0, tls: SSLContext | None = None
) -> AsyncIterator[Listener]:
    """A server that hands each connection, its request's head read, to the handler and closes it afterwards."""
    listener = Listener(host)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            listener.heads.append(head.decode())
            await handler(reader, writer)
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    serving: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        conversation = asyncio.ensure_future(serve(reader, writer))
        serving.add(conversation)
        conversation.add_done_callback(serving.discard)

    server = await asyncio.start_server(begin, host, port, ssl=tls)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        server.close()
        for conversation in list(serving):
            conversation.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await asyncio.sleep(0)  # aborted connections are closed in the next round of the loop


def saying(data: bytes) -> Handler:
    async def say(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return say


def answering(status: str = "200 OK", body: bytes = b"", *headers: str) -> Handler:
    """A whole answer, after which the connection is closed."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return saying("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)


def canary(host: str = "127.0.0.1", port: int = 0) -> AbstractAsyncContextManager[Listener]:
    """A listener that must stay alone: a test asserts that its `connections` is 0."""
    return listening(answering(body=b'"the canary was reached"'), host=host, port=port)


@asynccontextmanager
async def website(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """A real aiohttp server with one handler for every path; gives its address."""
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


class FakeDns(AbstractResolver):
    """Answers names as told: each lookup takes the next list of addresses, the last one stays."""

    def __init__(self, **names: list[list[str]]) -> None:
        self._names = {name.replace("_", "."): list(answers) for name, answers in names.items()}
        self.lookups: list[str] = []

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        self.lookups.append(host)
        answers = self._names.get(host)
        if answers is None:
            raise OSError(None, f"no such name {host}")
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in addresses
        ]

    async def close(self) -> None:
        """Nothing to close."""
