"""Slow, endless, oversized and ambiguous requests are refused at the border, in the form of every other error."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import AsyncExitStack

import psutil
import pytest

from detent.api.server import protocol
from tests.api.raw import Line, Said, dialled, request
from tests.api.server import Detent
from tests.api.test_routes import ECHO, waiting

pytestmark = pytest.mark.slow

TRIGGER = "/api/v1/workflows/echo/trigger"
LIVE = request("GET", "/health/live")


def assert_refused(said: Said, status: int) -> None:
    assert said.status == status, said
    assert set(said.json) == {"error", "code", "message"}
    assert said.headers["connection"] == "close"


async def is_unused(api: Detent, url: str) -> bool:
    """Whether a callback still waits for its first answer."""
    return (await api.call("POST", url, json={"late": True})).status == 200


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


@pytest.mark.case("D12")
@pytest.mark.parametrize("sent", [b"", b"\r\n" * 400, LIVE[:-2] + b"X-Slow: " + b"a" * 400])
async def test_a_head_that_does_not_come_in_time_is_408(
    api: Detent, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
    async with dialled(api) as line, asyncio.TaskGroup() as group:
        group.create_task(line.drip(sent, 0.02))
        assert_refused(await line.answer(), 408)
        assert await line.rest() == b""


@pytest.mark.case("D12")
async def test_the_head_of_a_later_request_on_the_line_has_its_time_too(
    api: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with dialled(api) as line, asyncio.TaskGroup() as group:
        await line.send(LIVE)
        assert (await line.answer()).status == 200
        monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
        group.create_task(line.drip(LIVE + b"a" * 400, 0.05))
        assert_refused(await line.answer(), 408)


@pytest.mark.case("D12")
@pytest.mark.parametrize("how", ["Content-Length: 4000", "Transfer-Encoding: chunked"])
async def test_a_body_that_drips_is_408_and_consumes_nothing(
    api: Detent, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(protocol, "BODY_SECONDS", 0.5)
    url = await waiting(api)
    drops = b"1\r\na\r\n" * 600 if "chunked" in how else b"a" * 3999
    async with dialled(api) as line, asyncio.TaskGroup() as group:
        await line.send(request("POST", path_of(url), how))
        group.create_task(line.drip(drops, 0.01))
        assert_refused(await line.answer(), 408)
        assert await line.rest() == b""
    assert await is_unused(api, url)


@pytest.mark.case("D12")
async def test_a_client_that_leaves_before_its_body_is_whole_is_no_error_of_ours(
    api: Detent, capsys: pytest.CaptureFixture[str]
) -> None:
    url = await waiting(api)
    async with dialled(api) as line:
        await line.send(request("POST", path_of(url), "Content-Length: 20", body=b'{"a": 1'))
        assert (await api.call("GET", "/health/live")).status == 200
    assert await is_unused(api, url)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.case("D12")
@pytest.mark.parametrize("how", ["Content-Length: 52428800", "Transfer-Encoding: chunked"])
async def test_fifty_megabytes_are_413_and_are_not_kept_in_memory(api: Detent, how: str) -> None:
    process = psutil.Process()
    piece = b"a" * 65_536 if "Length" in how else b"10000\r\n" + b"a" * 65_536 + b"\r\n"
    before = process.memory_info().rss
    async with dialled(api) as line:
        await line.send(request("POST", "/api/v1/events", how))

        async def pour() -> None:
            for _ in range(800):
                await line.send(piece)

        pouring = asyncio.create_task(pour())
        said = await line.answer()
        assert said.status == 413
        assert said.json["code"] == "too_large"
        pouring.cancel()
    assert process.memory_info().rss - before < 20 * 1024 * 1024


async def test_a_body_over_the_limit_of_its_route_only_is_413_and_the_line_stays_open(api: Detent) -> None:
    size = 300 * 1024
    async with dialled(api) as line:
        await line.send(request("POST", "/api/v1/events", f"Content-Length: {size}", body=b"a" * size) + LIVE)
        assert (await line.answer()).status == 413
        assert (await line.answer()).status == 200


@pytest.mark.case("D12")
async def test_a_compressed_body_is_refused_and_never_inflated(api: Detent) -> None:
    url = await waiting(api)
    for coding in ("gzip", "br", "deflate", "gzip, identity"):
        answer = await api.call("POST", url, data=b"\x1f\x8b\x08", headers={"Content-Encoding": coding})
        assert (answer.status, answer.json["error"]) == (400, "invalid_argument")
        assert "Content-Encoding" in answer.json["message"]
    answer = await api.call("POST", url, data=b"1", headers={"Content-Encoding": "identity"})
    assert answer.status == 200


HEADS = {
    "many headers": [f"X-{number}: x" for number in range(70)],
    "one long header": ["X-Long: " + "x" * 20_000],
    "headers without end": [f"X-{number}: {'x' * 900}" for number in range(60)],
    "a header without end": ["X-Long: " + "x" * 5_000_000],
}


@pytest.mark.parametrize("case", HEADS)
async def test_too_many_or_too_long_headers_are_431(api: Detent, case: str) -> None:
    async with dialled(api) as line, asyncio.TaskGroup() as group:
        sending = group.create_task(line.send(request("GET", "/health/live", *HEADS[case])))
        assert_refused(await line.answer(), 431)
        await sending


async def test_a_long_address_is_414(api: Detent) -> None:
    async with dialled(api) as line:
        await line.send(request("GET", "/health/live?" + "a" * 17_000))
        assert_refused(await line.answer(), 414)


async def test_more_connections_than_there_is_room_for_are_503_and_the_others_go_on(
    api: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 5)
    monkeypatch.setattr(protocol, "_MOST_REFUSED", 2)
    async with AsyncExitStack() as stack:
        lines: list[Line] = [await stack.enter_async_context(dialled(api)) for _ in range(5)]
        for line in lines:
            await line.send(LIVE)
            assert (await line.answer()).status == 200
        for _ in range(4):
            async with dialled(api) as late:
                said = await late.answer()
                assert_refused(said, 503)
                assert said.headers["retry-after"] == "1"
        await lines[0].send(LIVE)
        assert (await lines[0].answer()).status == 200


TWICE = ("Content-Length: 2", "Content-Length: 2")
AMBIGUOUS = {
    "two lengths": request("POST", "{}", *TWICE, body=b"{}"),
    "two unlike lengths": request("POST", "{}", "Content-Length: 2", "Content-Length: 40", body=b"{}" + LIVE),
    "lengths in one line": request("POST", "{}", "Content-Length: 2, 2", body=b"{}"),
    "a length and chunks": request(
        "POST", "{}", "Content-Length: 4", "Transfer-Encoding: chunked", body=b"2\r\n{}\r\n0\r\n\r\n"
    ),
    "chunks and a length": request(
        "POST", "{}", "Transfer-Encoding: chunked", "Content-Length: 4", body=b"2\r\n{}\r\n0\r\n\r\n"
    ),
    "chunked twice": request("POST", "{}", *["Transfer-Encoding: chunked"] * 2, body=b"2\r\n{}\r\n0\r\n\r\n"),
    "chunked in disguise": request("POST", "{}", "Transfer-Encoding: xchunked", body=b"2\r\n{}\r\n0\r\n\r\n"),
    "chunked under gzip": request("POST", "{}", "Transfer-Encoding: gzip, chunked", body=b"2\r\n{}\r\n0\r\n\r\n"),
    "chunked and then not": request("POST", "{}", "Transfer-Encoding: chunked, identity", body=b"{}"),
    "a blank before the colon": request("POST", "{}", "Content-Length : 2", body=b"{}"),
    "a folded header": request("POST", "{}", "Content-Length: 2", "X-A: b", "\tc", body=b"{}"),
    "a negative length": request("POST", "{}", "Content-Length: -2", body=b"{}"),
    "a signed length": request("POST", "{}", "Content-Length: +2", body=b"{}"),
    "a huge length": request("POST", "{}", "Content-Length: 99999999999999999999", body=b"{}"),
    "a chunk of no size": request("POST", "{}", "Transfer-Encoding: chunked", body=b"zz\r\n{}\r\n0\r\n\r\n"),
    "a chunk of a huge size": request("POST", "{}", "Transfer-Encoding: chunked", body=b"f" * 40 + b"\r\n{}"),
    "two hosts": request("POST", "{}", "Host: other.example", "Content-Length: 2", body=b"{}"),
    "a NUL in a header": request("POST", "{}", "X-A: a\x00b", "Content-Length: 2", body=b"{}"),
    "no version": b"POST {}\r\n\r\n",
    "another version": b"POST {} HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "not HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "letters beyond ASCII in the address": request("POST", "{}\xff", "Content-Length: 2", body=b"{}"),
    "no address": b"POST  HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@pytest.mark.case("K16")
@pytest.mark.parametrize("case", AMBIGUOUS)
async def test_what_two_readers_could_understand_differently_is_refused(api: Detent, case: str) -> None:
    url = await waiting(api)
    async with dialled(api) as line:
        await line.send(AMBIGUOUS[case].replace(b"{}", path_of(url).encode(), 1))
        said = await line.answer()
        assert 400 <= said.status < 500
        assert_refused(said, said.status)
        assert await line.rest() == b"", "something behind the refused request was answered"
    assert await is_unused(api, url)


HARMLESS = {
    "two slashes first": ("POST", "/{}"),
    "up and down again": ("POST", "/wh/..{}"),
    "up and down, escaped": ("POST", "/wh/%2e%2e{}"),
    "an escaped slash": ("POST", "/wh%2f%2f{}"),
    "from an open place to a guarded one": ("GET", "/wh/../api/v1/workflows"),
    "the same, escaped": ("GET", "/wh/%2e%2e/api/v1/workflows"),
    "two slashes to a guarded one": ("GET", "//api/v1/workflows"),
    "a trace": ("TRACE", "{}"),
    "a tunnel": ("CONNECT", "localhost:80"),
    "everything": ("OPTIONS", "*"),
    "a whole address": ("GET", "http://localhost"),
    "a back slash": ("POST", "/wh\\{}"),
}


@pytest.mark.case("K16")
@pytest.mark.parametrize("case", HARMLESS)
async def test_an_odd_address_leads_nowhere_else(api: Detent, case: str) -> None:
    url = await waiting(api)
    method, target = HARMLESS[case]
    async with dialled(api) as line:
        bare = request(method, target.replace("{}", path_of(url)), "Content-Length: 0")
        await line.send(bare.replace(b"Host: localhost", b"Host: evil.example"))
        said = await line.answer()
    assert 400 <= said.status < 500
    assert await is_unused(api, url)


@pytest.mark.case("K16", "D11")
async def test_a_header_cannot_change_the_method(api: Detent) -> None:
    url = await waiting(api)
    names = ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override")
    for name, method in itertools.product(names, ("GET", "HEAD")):
        answer = await api.call(method, f"{url}?_method=POST", headers={name: "POST"})
        assert answer.status == 200
    assert await is_unused(api, url)


@pytest.mark.case("K16")
async def test_a_trailer_behind_the_body_is_no_header(api: Detent) -> None:
    url = await waiting(api)
    body = b"2\r\n{}\r\n0\r\nwebhook-id: forged\r\n\r\n"
    async with dialled(api) as line:
        await line.send(request("POST", path_of(url), "Transfer-Encoding: chunked", body=body))
        assert (await line.answer()).status == 200
    again = await api.call("POST", url, headers={"webhook-id": "forged"})
    assert again.status == 409


@pytest.mark.case("K16")
async def test_a_bad_request_behind_a_good_one_does_not_take_its_answer(api: Detent) -> None:
    await api.save(ECHO)
    async with dialled(api) as line:
        await line.send(request("POST", TRIGGER, "Content-Length: 2", body=b"{}") + b"GARBAGE\r\n\r\n" + LIVE)
        assert (await line.answer()).status == 201
        assert await line.rest() == b""
    assert len((await api.call("GET", "/api/v1/workflows/echo/runs")).json["data"]) == 1


async def test_requests_that_come_together_are_answered_in_their_order(api: Detent) -> None:
    await api.save(ECHO)
    async with dialled(api) as line:
        await line.send(request("POST", TRIGGER, "Content-Length: 2", body=b"{}") + LIVE + request("GET", "/nope"))
        assert [(await line.answer()).status for _ in range(3)] == [201, 200, 404]


async def test_a_wish_for_another_protocol_is_answered_in_this_one(api: Detent) -> None:
    async with dialled(api) as line:
        await line.send(request("GET", "/health/live", "Connection: Upgrade", "Upgrade: websocket"))
        assert (await line.answer()).status == 200


async def test_a_connection_that_was_idle_for_a_minute_takes_another_request(
    monkeypatch: pytest.MonkeyPatch, api: Detent
) -> None:
    """Proxies and clients keep connections for up to a minute. If the server closed one earlier, a request that is on
    its way would be lost."""
    loop = asyncio.get_running_loop()
    async with dialled(api) as line:
        await line.send(LIVE)
        assert (await line.answer()).status == 200
        later = loop.time
        monkeypatch.setattr(loop, "time", lambda: later() + 60.0)
        for _ in range(10):
            await asyncio.sleep(0)  # timers ring
        await line.send(LIVE)
        assert (await line.answer()).status == 200
