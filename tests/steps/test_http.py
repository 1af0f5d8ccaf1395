"""What an http step sends, and what it makes of each answer."""

import asyncio
import socket
from typing import Any

import pytest
from aiohttp import web

from detent.graph.model import StepKind
from detent.instant import SECOND
from detent.run.outcomes import Done, Fail
from detent.steps.egress import EgressPolicy
from detent.steps.http.step import HttpExecutor, HttpSettings
from tests.steps.calls import answer, attempt, call_of, done, failed, request
from tests.steps.conftest import OpenHttp
from tests.steps.listeners import FakeDns, answering, listening, website


async def mirror(received: web.Request) -> web.Response:
    """Tells what it got."""
    body = (await received.read()).decode()
    seen = {"method": received.method, "path": received.path_qs, "headers": dict(received.headers), "body": body}
    return web.json_response(seen)


async def test_an_answer_of_200_is_success_with_status_headers_and_body(http: HttpExecutor) -> None:
    async with listening(answering("200 OK", b'{"id": 7}', "X-Kind: a", "X-Kind: b")) as server:
        result = done(await request(http, server.url))
    assert result["status_code"] == 200
    assert result["body"] == {"id": 7}
    assert result["headers"]["x-kind"] == "a, b"
    assert "truncated" not in result


@pytest.mark.parametrize("status", ["201 Created", "202 Accepted", "204 No Content", "299 Odd"])
async def test_every_2xx_is_success(http: HttpExecutor, status: str) -> None:
    async with listening(answering(status)) as server:
        assert done(await request(http, server.url))["body"] is None


@pytest.mark.parametrize(
    ("status", "is_retried"),
    [
        (300, False),
        (304, False),
        (400, False),
        (401, False),
        (404, False),
        (408, True),
        (409, False),
        (422, False),
        (425, True),
        (429, True),
        (500, True),
        (502, True),
        (503, True),
        (504, True),
        (599, True),
    ],
)
async def test_any_other_status_is_a_failure_that_can_be_read(
    http: HttpExecutor, status: int, is_retried: bool
) -> None:
    async with listening(answering(f"{status} Odd", b"" if status == 304 else b'{"why": "no"}')) as server:
        outcome = failed(await request(http, server.url), "http_status")
    assert outcome.retry is is_retried
    assert answer(outcome)["status_code"] == status
    assert answer(outcome)["headers"]["connection"] == "close"
    assert answer(outcome)["body"] == (None if status == 304 else {"why": "no"})


async def test_the_message_of_a_failure_shows_no_query(http: HttpExecutor) -> None:
    async with listening(answering("500 Odd")) as server:
        outcome = failed(await request(http, f"{server.url}/pay?token=secret"), "http_status")
    assert outcome.error.message == f"GET {server.url}/pay answered 500"


async def test_a_refused_connection_is_a_failure_without_a_status(http: HttpExecutor) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        outcome = failed(await request(http, url), "connect")
    assert outcome.error.message == f"cannot connect to {url}: connection refused"
    assert outcome.retry
    assert answer(outcome) == {"status_code": None, "headers": {}, "body": None}


async def test_an_unknown_name_is_a_dns_failure(open_http: OpenHttp) -> None:
    outcome = failed(await request(open_http(resolver=FakeDns()), "http://nowhere.example/"), "dns")
    assert outcome.error.message.startswith("cannot connect to http://nowhere.example: ")
    assert outcome.retry
    assert answer(outcome)["status_code"] is None


async def test_a_name_without_addresses_is_a_dns_failure(open_http: OpenHttp) -> None:
    failed(await request(open_http(resolver=FakeDns(empty_example=[[]])), "http://empty.example/"), "dns")


async def test_names_are_resolved_by_the_system_when_nothing_else_is_given() -> None:
    step = HttpExecutor(EgressPolicy.from_texts(["127.0.0.0/8", "::1"]))
    async with listening(answering(body=b"7")) as server:
        assert done(await request(step, f"http://localhost:{server.port}/"))["body"] == 7
    await step.close()


async def test_a_server_that_hangs_up_is_a_failure_that_is_tried_again(http: HttpExecutor) -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with listening(hang_up) as server:
        outcome = failed(await request(http, server.url, method="POST"), "disconnected")
    assert outcome.retry
    assert server.connections == 1


async def test_the_steps_own_time_limit_is_a_timeout(http: HttpExecutor) -> None:
    async def say_nothing(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(say_nothing) as server:
        outcome = failed(await request(http, server.url, timeout=0.05), "timeout")
    assert outcome.timed_out
    assert answer(outcome)["status_code"] is None


async def test_a_step_without_a_time_limit_gets_the_settings_one(open_http: OpenHttp) -> None:
    async def say_nothing(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    step = open_http("127.0.0.0/8", settings=HttpSettings(default_timeout=0.05))
    async with listening(say_nothing) as server:
        assert failed(await request(step, server.url, timeout=None), "timeout").timed_out


async def test_cancelling_an_attempt_passes_through(http: HttpExecutor) -> None:
    reached = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        reached.set()
        await reader.read()

    async with listening(say_nothing) as server:
        going = asyncio.ensure_future(request(http, server.url))
        await reached.wait()
        going.cancel()
        with pytest.raises(asyncio.CancelledError):
            await going


@pytest.mark.parametrize(
    ("header", "status", "expected"),
    [
        ("120", 429, 120.0),
        ("120", 503, 120.0),
        ("5", 302, 5.0),
        ("120", 500, None),
        ("120", 404, None),
        ("999999999999", 503, 3600.0),
        ("0", 503, 0.0),
        ("Thu, 01 Jan 1970 00:16:50 GMT", 503, 10.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 503, 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 503, 3600.0),
        ("-5", 503, None),
        ("soon", 503, None),
        ("", 503, None),
    ],
)
async def test_retry_after_is_honoured_up_to_an_hour(
    open_http: OpenHttp, header: str, status: int, expected: float | None
) -> None:
    step = open_http("127.0.0.0/8", now=1000 * SECOND)
    async with listening(answering(f"{status} Odd", b"", f"Retry-After: {header}")) as server:
        outcome = failed(await request(step, server.url, method="POST"), "http_status")
    assert outcome.retry_after == expected


async def test_a_request_says_which_attempt_it_is_and_carries_a_stable_key(http: HttpExecutor) -> None:
    async with website(mirror) as url:
        calls = [call_of(StepKind.HTTP, {"url": url, "method": "POST"}, attempt=number) for number in (1, 2)]
        first, second = [done(await attempt(http, call))["body"]["headers"] for call in calls]
    assert (first["Detent-Attempt"], second["Detent-Attempt"]) == ("1", "2")
    assert first["Idempotency-Key"] == second["Idempotency-Key"] == calls[0].idempotency_key
    assert first["User-Agent"] == "detent/0.1.0"
    assert first["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("body", "sent", "content_type"),
    [
        ({"a": [1, None]}, '{"a":[1,null]}', "application/json"),
        ([1, 2], "[1,2]", "application/json"),
        (5, "5", "application/json"),
        (False, "false", "application/json"),
        ("plain é", "plain é", "text/plain; charset=utf-8"),
        ("", "", "text/plain; charset=utf-8"),
        (None, "", None),
    ],
)
async def test_a_text_is_sent_as_it_is_and_anything_else_as_json(
    http: HttpExecutor, body: Any, sent: str, content_type: str | None
) -> None:
    async with website(mirror) as url:
        seen = done(await request(http, url, method="POST", body=body))["body"]
    assert seen["body"] == sent
    assert seen["headers"].get("Content-Type") == content_type


async def test_the_author_chooses_content_type_and_other_headers(http: HttpExecutor) -> None:
    headers = {"content-type": "application/xml", "X-Number": 5, "X-Flag": True, "X-None": None}
    async with website(mirror) as url:
        seen = done(await request(http, url, method="PUT", body="<a/>", headers=headers))["body"]
    assert seen["headers"]["Content-Type"] == "application/xml"
    assert (seen["headers"]["X-Number"], seen["headers"]["X-Flag"]) == ("5", "true")
    assert "X-None" not in seen["headers"]


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_every_method_is_sent(http: HttpExecutor, method: str) -> None:
    async with website(mirror) as url:
        assert done(await request(http, url, method=method.lower()))["body"]["method"] == method


async def test_a_head_request_has_no_body(http: HttpExecutor) -> None:
    async with website(mirror) as url:
        result = done(await request(http, url, method="HEAD"))
    assert result["body"] is None
    assert int(result["headers"]["content-length"]) > 0


async def test_the_method_is_post_when_none_is_given(http: HttpExecutor) -> None:
    async with website(mirror) as url:
        assert done(await attempt(http, call_of(StepKind.HTTP, {"url": url})))["body"]["method"] == "POST"


async def test_connections_are_used_again(http: HttpExecutor) -> None:
    ports: set[int] = set()

    async def note(received: web.Request) -> web.Response:
        assert received.transport is not None
        ports.add(received.transport.get_extra_info("peername")[1])
        return web.Response()

    async with website(note) as url:
        for _ in range(5):
            done(await request(http, url))
    assert len(ports) == 1


async def test_one_host_gets_at_most_its_number_of_connections(open_http: OpenHttp) -> None:
    now, most = 0, 0

    async def note(_: web.Request) -> web.Response:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return web.Response()

    step = open_http("127.0.0.0/8", settings=HttpSettings(max_per_host=2))
    async with website(note) as url:
        outcomes = await asyncio.gather(*(request(step, url) for _ in range(8)))
    assert all(isinstance(outcome, Done) for outcome in outcomes)
    assert most == 2


async def test_a_closed_step_opens_again_when_it_is_needed(http: HttpExecutor) -> None:
    async with listening(answering()) as server:
        done(await request(http, server.url))
        await http.close()
        done(await request(http, server.url))


async def test_nothing_an_attempt_gets_makes_it_raise(http: HttpExecutor) -> None:
    bad: list[Any] = [None, [], "text", {}, {"url": 5}, {"url": "http://x/", "headers": []}, {"url": "x" * 9000}]
    for parameters in bad:
        outcome = await attempt(http, call_of(StepKind.HTTP, parameters))
        assert isinstance(outcome, Fail)
        assert (outcome.error.code, outcome.retry) == ("invalid_request", False)
