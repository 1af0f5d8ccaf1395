"""The proxy breaks connections exactly as it is told, and no others."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import asyncpg
import pytest

from tests.servers.postgres import PostgresServer
from tests.servers.proxy import BlackHole, CutBefore, CutReplyAfter, FaultProxy, Throttle


@dataclass
class Echo:
    """Answers every line with itself, and remembers what it got."""

    port: int
    got: list[bytes]


@pytest.fixture
async def echo() -> AsyncIterator[Echo]:
    seen = Echo(port=0, got=[])

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                seen.got.append(line)
                writer.write(line)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    seen.port = int(server.sockets[0].getsockname()[1])
    yield seen
    server.close()


@pytest.fixture
async def proxy(echo: Echo) -> AsyncIterator[FaultProxy]:
    async with FaultProxy("127.0.0.1", echo.port) as proxy:
        yield proxy


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, line: bytes) -> bytes:
        self.writer.write(line)
        return await self.reader.readline()


Dial = Callable[[], Awaitable[Client]]


@pytest.fixture
async def dial(proxy: FaultProxy) -> AsyncIterator[Dial]:
    clients: list[Client] = []

    async def connect() -> Client:
        clients.append(Client(*await asyncio.open_connection("127.0.0.1", proxy.port)))
        return clients[-1]

    yield connect
    for client in clients:
        client.writer.close()


async def test_without_a_fault_every_byte_passes(proxy: FaultProxy, dial: Dial) -> None:
    client = await dial()
    large = b"x" * 60_000 + b"\n"
    assert await client.ask(large) == large
    assert proxy.cuts == 0


async def test_cut_before_resets_and_the_server_never_sees_the_bytes(proxy: FaultProxy, echo: Echo, dial: Dial) -> None:
    proxy.fault = CutBefore(b"COMMIT")
    client = await dial()
    assert await client.ask(b"begin\n") == b"begin\n"
    with pytest.raises(ConnectionResetError):
        await client.ask(b"COMMIT\n")
    assert echo.got == [b"begin\n"]


async def test_cut_before_acts_only_as_often_as_told(proxy: FaultProxy, dial: Dial) -> None:
    proxy.fault = CutBefore(b"COMMIT", times=1)
    with pytest.raises(ConnectionResetError):
        await (await dial()).ask(b"COMMIT\n")
    assert await (await dial()).ask(b"COMMIT\n") == b"COMMIT\n"


async def test_a_match_is_found_over_the_border_of_two_chunks(proxy: FaultProxy, echo: Echo, dial: Dial) -> None:
    proxy.fault = CutBefore(b"COMMIT")
    client = await dial()
    assert await client.ask(b"one\n") == b"one\n"
    client.writer.write(b"COM")
    await asyncio.sleep(0.02)
    with pytest.raises(ConnectionResetError):
        await client.ask(b"MIT\n")
    assert echo.got == [b"one\n"]


async def test_cut_reply_after_lets_the_server_act_and_hides_its_answer(
    proxy: FaultProxy, echo: Echo, dial: Dial
) -> None:
    proxy.fault = CutReplyAfter(lambda data: data.startswith(b"COMMIT"))
    client = await dial()
    with pytest.raises(ConnectionResetError):
        await client.ask(b"COMMIT\n")
    assert echo.got == [b"COMMIT\n"]
    assert proxy.cuts == 1


async def test_a_black_hole_holds_everything_until_it_heals(proxy: FaultProxy, echo: Echo, dial: Dial) -> None:
    client = await dial()
    with proxy.broken(BlackHole()):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.ask(b"hello\n")
        assert echo.got == []
    assert await client.reader.readline() == b"hello\n"


async def test_a_throttle_slows_bytes_down_and_loses_none(proxy: FaultProxy, dial: Dial) -> None:
    proxy.fault = Throttle(bytes_per_second=200)
    client = await dial()
    began = time.monotonic()
    line = b"y" * 39 + b"\n"
    assert await client.ask(line) == line
    assert time.monotonic() - began >= 0.2


async def test_cut_all_resets_every_open_connection(proxy: FaultProxy, dial: Dial) -> None:
    clients = [await dial() for _ in range(3)]
    for client in clients:
        await client.ask(b"hi\n")
    assert proxy.cut_all() == 3
    for client in clients:
        with pytest.raises(ConnectionResetError):
            await client.reader.readline()


async def test_after_a_switch_only_new_connections_go_to_the_other_server(
    proxy: FaultProxy, echo: Echo, dial: Dial
) -> None:
    old = await dial()
    await old.ask(b"old\n")
    async with FaultProxy("127.0.0.1", echo.port) as other:
        proxy.switch("127.0.0.1", other.port)
        assert await (await dial()).ask(b"new\n") == b"new\n"
        assert await old.ask(b"still old\n") == b"still old\n"
        assert other.connections == 1


async def test_a_commit_whose_reply_is_cut_is_in_postgresql(
    postgres: PostgresServer, postgres_bare_database: str
) -> None:
    async with FaultProxy("127.0.0.1", postgres.port) as proxy:
        connection = await asyncpg.connect(proxy.url(postgres_bare_database))
        await connection.execute("create table kept (n int)")
        proxy.fault = CutReplyAfter(b"insert into kept")
        with pytest.raises((asyncpg.PostgresConnectionError, ConnectionError)):
            await connection.execute("insert into kept values (1)")
        connection.terminate()
    assert postgres.query("select n from kept", database=postgres_bare_database.rsplit("/", 1)[1]) == "1"
