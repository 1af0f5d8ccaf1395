"""What templates put into a request is checked before anything is dialled."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.graph.model import StepKind
from detent.steps.http.request import InvalidHttpRequest, build_request, parse_target
from detent.steps.http.step import HttpExecutor
from tests.steps.calls import call_of, done, failed, request
from tests.steps.listeners import answering, canary, listening


def build(**parameters: Any) -> Any:
    return build_request(call_of(StepKind.HTTP, {"url": "http://a.example/", **parameters}))


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A": "1\r\nX-B: 2"},
        {"X-A": "1\nX-B: 2"},
        {"X-A": "1\r X-B: 2"},
        {"X-A": "folded\r\n value"},
        {"X-A": "nul\x00"},
        {"X-A": "bell\x07"},
        {"X-A": "tab\t"},
        {"X-A": "delete\x7f"},
        {"X-A": "next line\x85"},
        {"X-A": "half a pair \ud800"},
        {"X-A: 1\r\nX-B": "2"},
        {"X A": "1"},
        {"X:A": "1"},
        {"X-A\n": "1"},
        {"": "1"},
        {"Ä": "1"},
        {"X-A": {"an": "object"}},
        {"X-A": ["a", "list"]},
        {"Host": "evil.example"},
        {"host": "evil.example"},
        {"Content-Length": "0"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "close"},
        {"Keep-Alive": "1"},
        {"Proxy-Authorization": "x"},
        {"Proxy-Connection": "x"},
        {"TE": "trailers"},
        {"Trailer": "x"},
        {"Upgrade": "websocket"},
        {"Expect": "100-continue"},
        {"Detent-Attempt": "9"},
        {f"X-{number}": "1" for number in range(65)},
        {"X-A": "x" * (16 * 1024 + 1)},
    ],
)
async def test_f11_a_header_that_could_change_the_request_is_refused_before_connecting(
    http: HttpExecutor, headers: Any
) -> None:
    if isinstance(headers, set):
        headers = dict.fromkeys(headers, "2")
    async with canary() as trap:
        outcome = failed(await request(http, trap.url, headers=headers), "invalid_request")
    assert not outcome.retry
    assert trap.connections == 0


@given(st.text(max_size=20))
def test_f11_a_header_value_is_refused_or_stays_one_line(value: str) -> None:
    try:
        sent = build(headers={"X-A": value}).headers["X-A"]
    except InvalidHttpRequest:
        return
    assert sent == value.strip()
    assert len(f"{sent}.".splitlines()) == 1 or not sent.isascii()
    assert "\r" not in sent
    assert "\n" not in sent


async def test_f11_a_header_with_letters_of_other_alphabets_arrives(http: HttpExecutor) -> None:
    async with listening(answering()) as server:
        done(await request(http, server.url, headers={"X-Name": "Žižek"}))
    assert "X-Name: Žižek\r\n" in server.heads[0]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/path",
        "//host/path",
        "host/path",
        "http:host",
        "http://",
        "http:///path",
        "http://user@127.0.0.1:{port}/",
        "http://user:pass@127.0.0.1:{port}/",
        "http://@127.0.0.1:{port}/",
        "http://good.example@127.0.0.1:{port}/",
        "http://good.example\\@127.0.0.1:{port}/",
        "http://127.0.0.1:{port}\\evil.example/",
        "http://127.0.0.1:{port}/a b",
        "http://127.0.0.1:{port}/a\tb",
        "http://127.0.0.1:{port}/a\nb",
        "http://127.0.0.1:{port}/a\r\nX-A: 1",
        "http://127.0.0.1:{port}/\x00",
        "http://127.0.0.1:{port}/\x7f",
        "http://127.0.0.1:{port}/\u2028",
        "http://127.0.0.1:{port}/\ud800",
        " http://127.0.0.1:{port}/",
        "http://127.0.0.1:{port}/ ",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:port/",
        "http://127.0.0.1:-1/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/",
        "ftp://127.0.0.1:{port}/",
        "ws://127.0.0.1:{port}/",
        "javascript:alert(1)",
        "data:text/plain,x",
        "http://127.1:{port}/",
        "http://0x7f.0.0.1:{port}/",
        "http://2130706433:{port}/",
        "http://0177.0.0.1:{port}/",
        "http://127.0.0.1.:{port}/",
        "http://[fe80::1%25eth0]:{port}/",
        "http://[::1:{port}/",
        "http://[]@",
        "http://[]@127.0.0.1:{port}/",
        "http://[v1.a]:{port}/",
        "http://127.0.0.1%2f:{port}/",
        "http://a..b:{port}/",
        "http://.a:{port}/",
        "http://a,b:{port}/",
        "http://good\uff20evil.example:{port}/",
        "http://" + "a" * 64 + ".example/",
        "http://a.example/" + "x" * 8192,
    ],
)
async def test_f12_a_url_that_two_parsers_could_read_differently_is_refused(http: HttpExecutor, url: str) -> None:
    async with canary() as trap:
        outcome = failed(await request(http, url.replace("{port}", str(trap.port))), "invalid_request")
    assert not outcome.retry
    assert trap.connections == 0


@pytest.mark.parametrize(
    ("url", "host", "port", "canonical"),
    [
        ("http://a.example", "a.example", 80, "http://a.example"),
        ("HTTPS://A.Example:8443/x?y=1#z", "a.example", 8443, "https://a.example:8443/x?y=1#z"),
        (
            "http://bücher.example/ä?ö=ü",
            "xn--bcher-kva.example",
            80,
            "http://xn--bcher-kva.example/%C3%A4?%C3%B6=%C3%BC",
        ),
        ("http://[2001:DB8::1]:80/", "2001:db8::1", 80, "http://[2001:db8::1]/"),
        ("http://a_b.example./", "a_b.example.", 80, "http://a_b.example./"),
        ("http://①②⑦.0.0.1/", "127.0.0.1", 80, "http://127.0.0.1/"),
    ],
)
def test_f12_a_url_has_one_canonical_form(url: str, host: str, port: int, canonical: str) -> None:
    target = parse_target(url)
    assert (target.host, target.port, str(target.url)) == (host, port, canonical)


@given(st.text(alphabet="ahtp:/@\\.#?[]%0123456789x ①。", max_size=24))
def test_f12_a_url_is_refused_or_goes_to_the_host_it_was_checked_for(text: str) -> None:
    try:
        target = parse_target(f"http://{text}")
    except InvalidHttpRequest:
        return
    assert target.url.raw_host == target.host
    assert target.url.user is None
    assert str(parse_target(str(target.url)).url) == str(target.url)


async def test_f12_a_fragment_is_not_sent(http: HttpExecutor) -> None:
    async with listening(answering()) as server:
        done(await request(http, f"{server.url}/a?b=c#secret"))
    assert server.heads[0].startswith("GET /a?b=c HTTP/1.1\r\n")


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "GET /x HTTP/1.1\r\nX:", "", 5])
def test_only_plain_methods_are_allowed(method: object) -> None:
    with pytest.raises(InvalidHttpRequest):
        build(method=method)


@pytest.mark.parametrize("body", ["\ud800", {"a": "\ud800"}, {"a": object()}])
def test_a_body_that_cannot_be_sent_is_refused(body: object) -> None:
    with pytest.raises(InvalidHttpRequest):
        build(body=body)
