"""Which bodies are JSON to us, and that they are kept as they came."""

import pytest

from detent.run.outcomes import Done
from detent.steps.http.response import is_acceptable_json
from detent.steps.http.step import HttpExecutor
from tests.steps.calls import done, request
from tests.steps.listeners import answering, listening


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b' {"a": [1, 2.5, -3e2, true, null]}\n',
        b"9223372036854775807",
        b"-9223372036854775808",
        b"1234567890123456789012345678901234567890.5",
        rb'"\u0000"',
        b"[" * 64 + b"]" * 64,
        b"[" + b"[]," * 100 + b"[]]",
        b'"' + b"[" * 100 + b'"',
        b'"12345678901234567890123"',
    ],
)
def test_strict_json_is_accepted(raw: bytes) -> None:
    assert is_acceptable_json(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"NaN",
        b"[Infinity]",
        b"{'a': 1}",
        b'{"a": 1,}',
        b"{} {}",
        b"1e400",
        b"9223372036854775808",
        b"-9223372036854775809",
        b"[18446744073709551616]",
        b"1" * 5000,
        rb'"\ud800"',
        rb'"\udc00\ud800"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b"\xef\xbb\xbf{}",
        b"[" * 65 + b"]" * 65,
        b'{"a":' * 65 + b"1" + b"}" * 65,
        b"[" * 100_000 + b"]" * 100_000,
    ],
)
def test_what_a_later_reader_could_not_read_is_no_json(raw: bytes) -> None:
    assert not is_acceptable_json(raw)


@pytest.mark.parametrize("raw", [b'{"b": 1, "a": 1.50, "b": 2}', b"[ 1e2 ,\n 0.10]", rb'"\u00e9\/"'])
async def test_json_is_kept_byte_for_byte(http: HttpExecutor, raw: bytes) -> None:
    async with listening(answering(body=raw)) as server:
        outcome = await request(http, server.url)
    assert isinstance(outcome, Done)
    assert outcome.result.endswith(b'"body":' + raw + b"}")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"hello", "hello"),
        (b"NaN", "NaN"),
        (b"18446744073709551616", "18446744073709551616"),
        (b'"\xff"', '"�"'),
        (b"[" * 65 + b"]" * 65, "[" * 65 + "]" * 65),
        (rb'"\ud800"', r'"\ud800"'),
        (b" ", " "),
    ],
)
async def test_any_other_body_is_text(http: HttpExecutor, raw: bytes, text: str) -> None:
    async with listening(answering(body=raw)) as server:
        assert done(await request(http, server.url))["body"] == text


async def test_an_empty_body_is_null(http: HttpExecutor) -> None:
    async with listening(answering()) as server:
        assert done(await request(http, server.url))["body"] is None
