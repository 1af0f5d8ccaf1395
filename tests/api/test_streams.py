"""A run is followed over HTTP: as a stream of events, and as a list that waits."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from litestar import Litestar

from detent.api.routes import streams
from detent.observe import heard
from tests.api.server import Detent
from tests.api.streaming import Server, Tape, size_of, streaming

BASES = ("/api/v1/runs", "/api/v1/executions")
WORKFLOW = """
name: follow
tasks:
  a: {action: core.echo, with: {x: 1}}
  nap: {needs: [a], sleep: 100ms}
  b: {needs: [nap], action: core.echo, with: {y: 2}}
"""


@dataclass
class Event:
    """One event as a browser would see it."""

    id: int | None
    name: str
    data: Any


@dataclass
class Client:
    """Reads streams of one server."""

    session: aiohttp.ClientSession
    run: str

    async def events(self, *, base: str = BASES[0], last: int | None = None) -> AsyncGenerator[Event, None]:
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        async with self.session.get(f"{base}/{self.run}/stream", headers=headers) as answer:
            assert answer.status == 200
            text = b""
            async for piece in answer.content.iter_any():
                *blocks, text = (text + piece).split(b"\n\n") if b"\n\n" in piece else (text + piece,)
                for block in blocks:
                    fields = dict(line.split(b": ", 1) for line in block.split(b"\n"))
                    if b"data" in fields:
                        id_ = int(fields[b"id"]) if b"id" in fields else None
                        yield Event(id_, fields[b"event"].decode(), json.loads(fields[b"data"]))

    async def whole(self) -> list[int]:
        """The numbers of all entries of a run that is followed from beginning to end."""
        seen: list[int] = []
        async with aclosing(self.events()) as stream:
            async for event in stream:
                if event.name == "end":
                    assert event.data == {"run_id": self.run, "status": "completed"}
                    return seen
                assert len(event.data["result"]["output"]) == size_of(event.data["seq"])
                assert event.id == event.data["seq"]
                seen.append(event.data["seq"])
        raise AssertionError("the stream ended without an end")

    async def get(self, path: str, **options: Any) -> tuple[int, Any]:
        async with self.session.get(path, **options) as answer:
            return answer.status, await answer.json()


@dataclass
class Scene:
    """A run that a test writes itself, served in the test's own process."""

    tape: Tape
    client: Client
    server: Server
    url: str


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    tape = Tape()
    async with streaming(tape) as (url, server), aiohttp.ClientSession(url) as session:
        yield Scene(tape, Client(session, tape.text), server, url)
    assert not heard()


async def until(holds: Callable[[], bool], within: float = 60.0) -> None:
    async with asyncio.timeout(within):
        while not holds():  # noqa: ASYNC110 - the other end of a connection tells nobody here
            await asyncio.sleep(0.005)


def stalled(url: str, run: str) -> socket.socket:
    """A reader that asks for the stream and never reads it."""
    host, _, port = url.removeprefix("http://").partition(":")
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect((host, int(port)))
    sock.sendall(f"GET {BASES[0]}/{run}/stream HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return sock


# -- a run at work


@pytest.mark.parametrize("base", BASES)
async def test_a_run_at_work_is_streamed_entry_by_entry_until_its_end(detent: Detent, base: str) -> None:
    await detent.save(WORKFLOW)
    run = (await detent.start("follow", {}))["run_id"]
    async with streaming(detent.app.store) as (url, _), aiohttp.ClientSession(url) as session:
        client = Client(session, run)
        seen = [event async for event in client.events(base=base)]
        _, listed = await client.get(f"{base}/{run}/events")
    *entries, end = seen
    assert [event.id for event in entries] == [1, 2, 3]
    assert [event.data["step"] for event in entries] == ["a", "nap", "b"]
    assert {event.name for event in entries} == {"entry"}
    assert (end.name, end.id, end.data) == ("end", None, {"run_id": run, "status": "completed"})
    assert "nap" in entries[0].data["sleep_until"]
    assert entries[2].data["result"] == {"output": {"y": 2}}
    assert entries[2].data["run_status"] == "completed"
    assert listed == {"data": [event.data for event in entries], "next_cursor": None}


def test_the_routes_stand_in_the_openapi_document() -> None:
    paths = Litestar(route_handlers=streams.ROUTES).openapi_schema.to_schema()["paths"]
    for base in BASES:
        stream = paths[f"{base}/{{run}}/stream"]["get"]["responses"]
        assert list(stream["200"]["content"]) == ["text/event-stream"]
        assert set(stream) == {"200", "400", "401", "403", "404", "503"}
        listed = paths[f"{base}/{{run}}/events"]["get"]["responses"]
        assert set(listed) == {"200", "400", "401", "403", "404", "503"}


# -- how the stream behaves


async def test_a_stream_says_that_it_must_not_be_kept_and_when_to_come_again() -> None:
    async with scene() as here, here.client.session.get(f"{BASES[0]}/{here.tape.text}/stream") as answer:
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Accel-Buffering"] == "no"
        assert "Content-Encoding" not in answer.headers
        assert "Content-Length" not in answer.headers
        assert await answer.content.readline() == b"retry: 1000\n"


async def test_a_stream_where_nothing_happens_shows_that_it_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.05)
    async with scene() as here, here.client.session.get(f"{BASES[0]}/{here.tape.text}/stream") as answer:
        lines = [await answer.content.readline() for _ in range(6)]
        assert lines[2::2] == [b": still here\n"] * 2


async def test_a_stream_goes_on_behind_the_entry_that_was_seen_last() -> None:
    async with scene() as here:
        here.tape.written = 9
        here.tape.end()
        assert [event.id async for event in here.client.events(last=6)] == [7, 8, 9, None]
        assert [event.name async for event in here.client.events(last=9)] == ["end"]
        path = f"{BASES[0]}/{here.tape.text}/stream"
        async with here.client.session.get(path, params={"after": "8"}) as answer:
            assert b"id: 8" not in (text := await answer.read())
            assert b"id: 9" in text
        async with here.client.session.get(path, params={"after": "2"}, headers={"Last-Event-ID": "8"}) as answer:
            assert (await answer.read()).count(b"event: entry") == 1


@pytest.mark.parametrize("value", ["-1", "x", "1.5", "9999999999", "1e3", "٣", " 1"])
async def test_a_place_that_is_no_number_is_refused(value: str) -> None:
    async with scene() as here:
        run = f"{BASES[0]}/{here.tape.text}"
        asked = [(f"{run}/stream", {"params": {"after": value}}), (f"{run}/events", {"params": {"after": value}})]
        if value.isascii() and value == value.strip():
            asked.append((f"{run}/stream", {"headers": {"Last-Event-ID": value}}))
        for path, options in asked:
            status, document = await here.client.get(path, **options)
            assert (status, document["error"]) == (400, "invalid_argument")
            assert document["details"]["validation_errors"][0]["field"] in {"after", "Last-Event-ID"}


@pytest.mark.parametrize("run", ["run_01k0000000e000000000000000", "run_x", "x"])
async def test_a_run_that_is_not_there_cannot_be_followed(run: str) -> None:
    async with scene() as here:
        for base in BASES:
            for route in ("stream", "events"):
                status, document = await here.client.get(f"{base}/{run}/{route}")
                assert (status, document["error"]) == (404, "not_found")


async def test_a_reader_that_leaves_is_forgotten_at_once_even_while_a_write_waits_for_it() -> None:
    async with scene() as here:
        async with aclosing(here.client.events()) as stream:
            here.tape.written = 1
            assert (await anext(stream)).id == 1
            assert heard()
        await until(lambda: not heard())
        here.tape.written = 400
        with closing(stalled(here.url, here.tape.text)):
            await until(heard)
            await asyncio.sleep(0.3)  # until everything between here and there is full
        await until(lambda: not heard())
        await until(lambda: here.server.connections <= 1)


async def test_streams_end_at_once_when_the_server_stops() -> None:
    async with AsyncExitStack() as stack:
        tape = Tape()
        async with streaming(tape) as (url, server):
            client = Client(await stack.enter_async_context(aiohttp.ClientSession(url)), tape.text)
            stream = asyncio.create_task(client.whole())
            waiting = asyncio.create_task(client.get(f"{BASES[0]}/{tape.text}/events?wait=60s"))
            await until(lambda: server.connections == 2 and heard())
            stopped = asyncio.get_running_loop().time()
        with pytest.raises(AssertionError, match="without an end"):
            await stream
        assert await waiting == (200, {"data": [], "next_cursor": "0"})
        assert asyncio.get_running_loop().time() - stopped < 50.0, "they waited for the end of `wait`"


# -- the list


async def test_the_list_gives_pages_and_says_when_all_was_given() -> None:
    async with scene() as here:
        here.tape.written = 7
        path = f"{BASES[1]}/{here.tape.text}/events"
        status, page = await here.client.get(path, params={"limit": "5"})
        assert (status, [entry["seq"] for entry in page["data"]], page["next_cursor"]) == (200, [1, 2, 3, 4, 5], "5")
        _, page = await here.client.get(path, params={"limit": "5", "after": page["next_cursor"]})
        assert ([entry["seq"] for entry in page["data"]], page["next_cursor"]) == ([6, 7], "7")
        _, page = await here.client.get(path, params={"after": "7"})
        assert page == {"data": [], "next_cursor": "7"}
        here.tape.end()
        _, page = await here.client.get(path, params={"after": "6"})
        assert ([entry["seq"] for entry in page["data"]], page["next_cursor"]) == ([7], None)


async def test_the_list_waits_for_the_next_entry_and_for_the_end() -> None:
    async with scene() as here:
        path = f"{BASES[0]}/{here.tape.text}/events"
        waiting = asyncio.create_task(here.client.get(path, params={"wait": "20s"}))
        await until(heard)
        await here.tape.write(1)
        _, page = await waiting
        assert ([entry["seq"] for entry in page["data"]], page["next_cursor"]) == ([1], "1")
        waiting = asyncio.create_task(here.client.get(path, params={"wait": "20s", "after": "1"}))
        await until(heard)
        here.tape.end()
        assert await waiting == (200, {"data": [], "next_cursor": None})


async def test_a_list_of_large_entries_is_cut_to_a_few_megabytes() -> None:
    async with scene() as here:
        here.tape.written = 1000
        _, page = await here.client.get(f"{BASES[0]}/{here.tape.text}/events", params={"limit": "200"})
        assert 100 < len(page["data"]) < 200
        assert page["next_cursor"] == str(len(page["data"]))


@pytest.mark.parametrize(
    ("field", "value"),
    [("limit", "0"), ("limit", "201"), ("limit", "x"), ("wait", "61s"), ("wait", "-1s"), ("wait", "x"), ("wait", "")],
)
async def test_a_list_that_cannot_be_asked_for_is_refused(field: str, value: str) -> None:
    async with scene() as here:
        status, document = await here.client.get(f"{BASES[0]}/{here.tape.text}/events", params={field: value})
        assert status == 400
        assert document["details"]["validation_errors"][0]["field"] == field


# -- many readers


@dataclass
class Child:
    """A server in a process of its own."""

    process: asyncio.subprocess.Process
    url: str
    run: str

    async def tell(self, command: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\n".encode())
        return await answer_of(self.process)

    def megabytes(self) -> float:
        """What it has in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1024


async def answer_of(process: asyncio.subprocess.Process) -> dict[str, Any]:
    assert process.stdout is not None
    answer: dict[str, Any] = json.loads(await process.stdout.readline())
    return answer


@asynccontextmanager
async def child(patience: float) -> AsyncIterator[Child]:
    command = (sys.executable, "-m", "tests.api.streaming", str(patience))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    try:
        yield Child(process, **await answer_of(process))
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def session(url: str) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(url, connector=aiohttp.TCPConnector(limit=0))


@pytest.mark.slow
@pytest.mark.case("E13")
async def test_two_hundred_readers_get_every_entry_though_one_of_them_does_not_read() -> None:
    async with child(patience=30.0) as server, session(server.url) as http:
        client = Client(http, server.run)
        with closing(stalled(server.url, server.run)):
            readers = [asyncio.create_task(client.whole()) for _ in range(199)]
            while (await server.tell("connections"))["connections"] < 200:
                pass
            await server.tell("write 20")
            before = server.megabytes()
            told = await server.tell("write 40")
            await server.tell("end")
            for seen in await asyncio.gather(*readers):
                assert seen == list(range(1, 61))
            assert told["connections"] == 200
            assert server.megabytes() - before < 40


@pytest.mark.slow
@pytest.mark.case("E13")
async def test_readers_that_do_not_read_cost_no_memory_and_are_cut_when_patience_is_over() -> None:
    async with child(patience=3600.0) as server, session(server.url) as http:
        reading = asyncio.create_task(Client(http, server.run).whole())
        await server.tell("write 20")
        socks = [stalled(server.url, server.run) for _ in range(20)]
        await server.tell("write 20")
        before = server.megabytes()
        told = await server.tell("write 40")
        assert (told["connections"], told["lost"]) == (21, 0)
        assert server.megabytes() - before < 10
        await server.tell("patience 0.5")
        late = [stalled(server.url, server.run) for _ in range(20)]
        async with asyncio.timeout(300):
            while (await server.tell("write 5"))["lost"] < len(late):
                pass
        assert server.megabytes() - before < 10
        await server.tell("end")
        seen = await reading
        assert seen == list(range(1, len(seen) + 1))
        for sock in (*socks, *late):
            sock.close()


@pytest.mark.slow
async def test_readers_that_lose_their_connection_at_any_place_miss_nothing_and_see_nothing_twice() -> None:
    async with scene() as here:
        chance = random.Random(7)

        async def follow() -> list[int | None]:
            seen: list[int | None] = []
            while True:
                stay = chance.randint(0, 40)
                async with aclosing(here.client.events(last=seen[-1] if seen else None)) as stream:
                    async for event in stream:
                        if event.name == "end":
                            return seen
                        seen.append(event.id)
                        stay -= 1
                        if stay < 0:
                            break

        followers = [asyncio.create_task(follow()) for _ in range(20)]
        await here.tape.write(120)
        here.tape.end()
        for seen in await asyncio.gather(*followers):
            assert seen == list(range(1, 121))
