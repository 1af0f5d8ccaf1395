"""Whatever a server sends, a step reads a bounded part of it in bounded time, and makes an outcome of it."""

import asyncio
import gzip
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
import pytest

from detent.steps.http.step import HttpExecutor
from tests.steps.calls import answer, done, failed, request
from tests.steps.listeners import Handler, answering, listening, saying

KB = 1024
MB = 1024 * KB
LIMIT = 256 * KB


@contextmanager
def memory_growth() -> Iterator[Callable[[], int]]:
    """Watch this process's memory; gives a function that says by how many bytes it has grown at most."""
    process = psutil.Process()
    before = process.memory_info().rss
    peak = before
    is_over = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not is_over.wait(0.002):
            peak = max(peak, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: peak - before
    finally:
        is_over.set()
        watcher.join()


def streaming(head: bytes, chunk: bytes, times: int) -> Handler:
    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for _ in range(times):
            writer.write(chunk)
            await writer.drain()

    return stream


def bomb(size: int) -> bytes:
    """So many zeros, compressed without ever holding them."""
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(MB)
    return b"".join(packer.compress(zeros) for _ in range(size // MB)) + packer.flush()


async def test_e1_a_body_of_50_mb_is_cut_and_memory_stays_flat(http: HttpExecutor) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (50 * MB)
    async with listening(answering()) as warm, listening(streaming(head, b"x" * 64 * KB, 800)) as server:
        done(await request(http, warm.url))
        with memory_growth() as growth:
            result = done(await request(http, server.url))
        assert growth() < 20 * MB
    assert result["truncated"] is True
    assert result["body"] == "x" * LIMIT


@pytest.mark.parametrize(("size", "is_cut"), [(LIMIT, False), (LIMIT + 1, True)])
async def test_e1_the_limit_is_exact(http: HttpExecutor, size: int, is_cut: bool) -> None:
    async with listening(answering(body=b"x" * size)) as server:
        result = done(await request(http, server.url))
    assert result["body"] == "x" * LIMIT
    assert result.get("truncated", False) is is_cut


async def test_e1_a_cut_body_is_text_although_it_began_as_json(http: HttpExecutor) -> None:
    async with listening(answering(body=b"1" * 10 + b" " * LIMIT)) as server:
        result = done(await request(http, server.url))
    assert result["truncated"] is True
    assert isinstance(result["body"], str)


async def test_e1_a_failure_with_a_large_body_is_cut_too(http: HttpExecutor) -> None:
    async with listening(answering("500 Odd", b"x" * (LIMIT + 1))) as server:
        assert answer(failed(await request(http, server.url), "http_status"))["truncated"] is True


async def test_e1_a_letter_on_the_edge_is_left_out_whole(http: HttpExecutor) -> None:
    async with listening(answering(body="é".encode() * LIMIT)) as server:
        assert set(done(await request(http, server.url))["body"]) == {"é"}
    async with listening(answering(body=b"x" + "é".encode() * LIMIT)) as server:
        assert set(done(await request(http, server.url))["body"]) == {"x", "é"}


async def test_e1_bytes_that_are_no_text_take_no_more_room_than_text(http: HttpExecutor) -> None:
    async with listening(answering(body=b"\xff" * (LIMIT - 1))) as server:
        result = done(await request(http, server.url))
    assert result["truncated"] is True
    assert len(result["body"].encode()) <= LIMIT


@pytest.mark.parametrize("status", ["200 OK", "500 Odd"])
async def test_e2_a_gzip_bomb_is_cut_and_memory_stays_flat(http: HttpExecutor, status: str) -> None:
    packed = bomb(200 * MB)
    async with listening(answering()) as warm, listening(answering(status, packed, "Content-Encoding: gzip")) as server:
        done(await request(http, warm.url))
        with memory_growth() as growth:
            result = answer(await request(http, server.url))
        assert growth() < 20 * MB
    assert result["truncated"] is True
    assert result["body"] == "\x00" * LIMIT


async def test_e2_a_bomb_on_a_redirect_is_not_read(http: HttpExecutor) -> None:
    async with listening(answering(body=b"7")) as goal:
        handler = answering("302 Found", bomb(200 * MB), "Content-Encoding: gzip", f"Location: {goal.url}")
        async with listening(handler) as server:
            with memory_growth() as growth:
                assert done(await request(http, server.url))["body"] == 7
            assert growth() < 20 * MB


def deflated(data: bytes, bits: int) -> bytes:
    packer = zlib.compressobj(wbits=bits)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b'{"a": 1}', mtime=0)),
        ("GZIP", gzip.compress(b'{"a"', mtime=0) + gzip.compress(b": 1}", mtime=0)),
        ("x-gzip", gzip.compress(b'{"a": 1}', mtime=0)),
        ("deflate", deflated(b'{"a": 1}', 15)),
        ("deflate", deflated(b'{"a": 1}', -15)),
        ("identity", b'{"a": 1}'),
    ],
)
async def test_e2_an_answer_that_is_compressed_all_the_same_is_read(
    http: HttpExecutor, encoding: str, packed: bytes
) -> None:
    async with listening(answering("200 OK", packed, f"Content-Encoding: {encoding}")) as server:
        assert done(await request(http, server.url))["body"] == {"a": 1}


@pytest.mark.parametrize("packed", [b"no gzip at all", gzip.compress(b"text" * 100, mtime=0)[:-12]])
async def test_e2_damaged_compression_is_a_protocol_failure(http: HttpExecutor, packed: bytes) -> None:
    async with listening(answering("200 OK", packed, "Content-Encoding: gzip")) as server:
        failed(await request(http, server.url), "protocol")


async def forever(writer: asyncio.StreamWriter, data: bytes, pause: float) -> None:
    while True:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(pause)


@pytest.mark.parametrize(
    ("head", "data", "limit", "code"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x", 0.2, "timeout"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 0.2, "timeout"),
        (b"HTTP/1.1 200 OK\r\n", b"x", 0.2, "timeout"),
        (b"", b"H", 50.0, "protocol"),
    ],
)
async def test_e3_a_server_that_drips_is_ended_by_the_steps_time_limit(
    http: HttpExecutor, head: bytes, data: bytes, limit: float, code: str
) -> None:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        await forever(writer, data, 0.01)

    async with listening(drip) as server:
        outcome = await asyncio.wait_for(request(http, server.url, timeout=limit), 300)
    assert failed(outcome, code).timed_out is (code == "timeout")


async def test_e3_an_endless_chunked_body_is_cut(http: HttpExecutor) -> None:
    async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await forever(writer, b"1000\r\n" + b"x" * 4096 + b"\r\n", 0)

    async with listening(flood) as server:
        assert done(await request(http, server.url))["truncated"] is True


@pytest.mark.parametrize(
    "line",
    [b"X-Header: value\r\n", b"X-Long: " + b"x" * 20_000 + b"\r\n", b"x" * 1000],
    ids=["many", "long", "endless"],
)
async def test_e3_headers_without_end_are_a_protocol_failure(http: HttpExecutor, line: bytes) -> None:
    with memory_growth() as growth:
        async with listening(streaming(b"HTTP/1.1 200 OK\r\n", line, 100_000)) as server:
            outcome = failed(await request(http, server.url), "protocol")
        assert growth() < 20 * MB
    assert answer(outcome)["status_code"] is None


async def test_at_most_64_headers_of_16_kb_are_kept(http: HttpExecutor) -> None:
    many = [f"X-{number}: 1" for number in range(100)]
    large = [f"X-{number}: {'x' * 2000}" for number in range(20)]
    for headers in (many, large):
        async with listening(answering("200 OK", b"", *headers)) as server:
            kept = done(await request(http, server.url))["headers"]
        assert 5 < len(kept) <= 64
        assert sum(len(name) + len(value) for name, value in kept.items()) <= 16 * KB


async def test_a_header_that_is_no_utf8_is_kept_with_replacements(http: HttpExecutor) -> None:
    async with listening(answering("200 OK", b"", "X-Name: caf\xe9")) as server:
        assert done(await request(http, server.url))["headers"]["x-name"] == "caf�"


@pytest.mark.parametrize(
    "said",
    [
        b"hello, this is HTTP/0.9\n",
        b"<html></html>",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"ICY 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        b"HTTP/1.1 200 OK\r\nX-A: a\x00b\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n: no name\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"\x16\x03\x01\x00\x05hello",
    ],
)
async def test_g13_what_is_no_http_answer_is_a_protocol_failure(http: HttpExecutor, said: bytes) -> None:
    async with listening(saying(said)) as server:
        outcome = failed(await request(http, server.url, method="POST"), "protocol")
    assert outcome.retry
    assert answer(outcome) == {"status_code": None, "headers": {}, "body": None}


async def test_g13_an_answer_before_the_answer_is_passed_over(http: HttpExecutor) -> None:
    early = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 3
    async with listening(saying(early + b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n7")) as server:
        assert done(await request(http, server.url))["body"] == 7


async def test_g13_a_flood_of_early_answers_is_a_protocol_failure(http: HttpExecutor) -> None:
    async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await forever(writer, b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100, 0)

    async with listening(flood) as server:
        failed(await request(http, server.url), "protocol")


async def test_g13_a_second_answer_that_nobody_asked_for_is_given_to_nobody(http: HttpExecutor) -> None:
    first = b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"first"'
    split = b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"forged"'

    async def smuggle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first + split)
        await reader.read()

    async with listening(smuggle) as server:
        for _ in range(3):
            assert done(await request(http, server.url))["body"] == "first"
    assert server.connections == 3
