"""A body becomes a JSON value by its type, whatever it holds; what is not what it says is refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import DetentError, InvalidInput, TooLarge
from detent.values.http_body import BASE64, Payload, read_headers, read_message_id, read_payload, read_query

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTI = "multipart/form-data; boundary=b0"
NOT_TEXT = b"\x89PNG\r\n\x1a\n\x00\xff"


def read(kind: str | None, data: bytes, **more: str) -> Payload:
    return read_payload({**({} if kind is None else {"content-type": kind}), **more}, data)


def raw(data: bytes) -> tuple[str, str]:
    return base64.b64encode(data).decode(), BASE64


def part(head: str, content: bytes) -> bytes:
    return b"--b0\r\nContent-Disposition: form-data; " + head.encode() + b"\r\n\r\n" + content + b"\r\n"


END = b"--b0--\r\n"

KEPT: dict[str, tuple[str | None, bytes, Any]] = {
    "nothing": (JSON, b"", None),
    "blanks": (JSON, b" \r\n", None),
    "nothing of no type": (None, b"", None),
    "JSON": (JSON, b'{"a": [1, null]}', {"a": [1, None]}),
    "JSON with a mark first": (JSON, b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
    "JSON of a dialect": ("application/cloudevents+json; charset=utf-8", b"[1]", [1]),
    "a NUL inside JSON": (JSON, b'"\\u0000"', "\x00"),
    "a form": (FORM, b"a=1&b=2&b=%C3%A9&c=", {"a": "1", "b": ["2", "é"], "c": ""}),
    "JSON that calls itself a form": (FORM, b'{"a": 1}', {"a": 1}),
    "text": ("text/plain", "grüße".encode(), "grüße"),
    "text that looks like JSON": ("text/plain", b"3", "3"),
    "text in an old alphabet": ("text/plain; charset=ISO-8859-1", b"gr\xfc\xdfe", "grüße"),
    "text with a NUL": ("text/plain", b"a\x00b", "a\x00b"),
    "XML": ("application/xml", b"<a/>", "<a/>"),
    "XML of a dialect": ("application/soap+xml; charset=utf-8", b"<a/>", "<a/>"),
    "no type, JSON": (None, b'{"a": 1}', {"a": 1}),
    "no type, text": (None, b"{a: 1}", "{a: 1}"),
    "no type, no number": (None, b'{"a": NaN}', '{"a": NaN}'),
    "no type, deep": (None, b"[" * 1000, "[" * 1000),
    "unknown type, JSON": ("application/octet-stream", b"3", 3),
    "unknown type, text": ("application/x-custom", b"key: value", "key: value"),
}


@pytest.mark.case("D13")
@pytest.mark.parametrize("case", KEPT)
def test_a_body_is_kept_as_what_it_is(case: str) -> None:
    kind, data, kept = KEPT[case]
    assert read(kind, data) == (kept, None)


@pytest.mark.case("D13")
@pytest.mark.parametrize(
    ("kind", "data"),
    [(None, NOT_TEXT), ("image/png", NOT_TEXT), ("text/plain", b"gr\xfc\xdfe"), ("application/xml", b"\xff\xfe<\x00"),
     ("text/plain; charset=utf-7", b"+ADw-"), ("text/plain; charset=rot13", b"uryyb")],
)  # fmt: skip
def test_what_is_no_text_is_kept_as_base64_and_says_so(kind: str | None, data: bytes) -> None:
    assert read(kind, data) == raw(data)


REFUSED: dict[str, tuple[str, bytes]] = {
    "not JSON": (JSON, b"{a: 1}"),
    "JSON not in UTF-8": (JSON, b'"\xff"'),
    "NaN": (JSON, b"NaN"),
    "a key twice": (JSON, b'{"a": 1, "a": 2}'),
    "half a character": (JSON, b'"\\ud800"'),
    "too deep": (JSON, b"[" * 100_000),
    "too deep but closed": (JSON, b"[" * 65 + b"]" * 65),
    "a huge number": (JSON, b"9" * 300),
    "a form not in UTF-8": (FORM, b"a=%ff"),
    "a form of very many fields": (FORM, b"a&" * 2_000),
    "a multipart without a boundary": ("multipart/form-data", part('name="a"', b"1") + END),
    "a multipart of another boundary": ("multipart/form-data; boundary=other", part('name="a"', b"1") + END),
    "a multipart without an end": (MULTI, part('name="a"', b"1")),
    "a multipart with something behind": (MULTI, part('name="a"', b"1") + END + b"more"),
    "a multipart with something before": (MULTI, b"hello\r\n" + part('name="a"', b"1") + END),
    "a part without a name": (MULTI, part("filename=x", b"1") + END),
    "a part without headers": (MULTI, b"--b0\r\n\r\n1\r\n" + END),
    "a part that is all head": (MULTI, b"--b0\r\n" + b"a" * 20_000 + b"\r\n" + END),
    "a part of another kind": (MULTI, b"--b0\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n" + END),
    "very many parts": (MULTI, part("name=a", b"") * 1_001 + END),
}


@pytest.mark.case("D13")
@pytest.mark.parametrize("case", REFUSED)
def test_a_body_that_is_not_what_it_says_is_refused(case: str) -> None:
    with pytest.raises(InvalidInput):
        read(*REFUSED[case])


def test_the_fields_and_files_of_a_multipart_form_are_read() -> None:
    data = (
        part('name="a"', b"1")
        + part('name="b"', "grüße\r\n--b1".encode())
        + part('name="b"', b"")
        + part('name="say \\"hi\\""', b"x")
        + part('name="doc"; filename="Ω.png"\r\nContent-Type: image/png', NOT_TEXT)
        + part('name="empty"; filename=""', b"")
        + part('name="bytes"', NOT_TEXT)
        + END
    )
    picture = {"content_type": "image/png", "size": len(NOT_TEXT), "base64": raw(NOT_TEXT)[0]}
    assert read(MULTI, data).body == {
        "a": "1",
        "b": ["grüße\r\n--b1", ""],
        'say "hi"': "x",
        "doc": {"filename": "Ω.png", **picture},
        "empty": {"filename": "", "content_type": "application/octet-stream", "size": 0, "base64": ""},
        "bytes": {"filename": None, **picture, "content_type": "application/octet-stream"},
    }


def test_a_quoted_boundary_is_read() -> None:
    assert read('multipart/form-data; charset=utf-8; boundary="b0"', part("name=a", b"1") + END).body == {"a": "1"}


@pytest.mark.parametrize("coding", ["gzip", "br", "x-gzip", "identity, gzip"])
def test_a_compressed_body_is_refused(coding: str) -> None:
    with pytest.raises(InvalidInput, match="Content-Encoding"):
        read(JSON, b"{}", **{"content-encoding": coding})


def test_a_body_over_the_limit_is_too_large() -> None:
    with pytest.raises(TooLarge):
        read("text/plain", b"a" * (256 * 1024 + 1))
    assert read("text/plain", b"a" * 256 * 1024).encoding is None


KINDS = st.sampled_from([None, JSON, FORM, MULTI, "text/plain", "text/xml", "image/png", "text/plain; charset=latin-1"])
PIECES = st.sampled_from(
    [b"--b0", b"--b0--", b"\r\n", b"\r\n\r\n", b'Content-Disposition: form-data; name="a"', b"{", b"}", b'"', b":",
     b"1", b"NaN", b"\\ud800", b"\xff", b"\x00", b"%ff", b"=", b"&", b";"]
)  # fmt: skip


@pytest.mark.case("D13")
@given(KINDS, st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=12).map(b"".join)))
def test_whatever_comes_is_refused_or_can_be_stored_and_read_again(kind: str | None, data: bytes) -> None:
    try:
        payload = read(kind, data)
    except DetentError:
        return
    assert msgspec.json.decode(msgspec.json.encode(payload.body)) == payload.body
    assert json.loads(msgspec.json.encode(payload.body)) == payload.body
    if payload.encoding == BASE64:
        assert base64.b64decode(payload.body) == data


def test_headers_that_come_twice_are_joined_and_too_many_are_refused() -> None:
    assert read_headers([(b"a", b"1"), (b"b", b"\xe9"), (b"a", b"2")]) == {"a": "1, 2", "b": "é"}
    with pytest.raises(InvalidInput):
        read_headers([(b"a", b"1")] * 65)
    with pytest.raises(InvalidInput):
        read_headers([(b"a", b"1" * 16_384)])


def test_the_first_of_a_query_parameter_counts() -> None:
    assert read_query(b"action=approve&b=%C3%A9+x&action=reject&empty=&bare") == {
        "action": "approve", "b": "é x", "empty": "", "bare": ""
    }  # fmt: skip
    assert read_query(b"") == {}
    assert read_query(b"a=%ff%00") == {"a": "\ufffd\x00"}
    with pytest.raises(InvalidInput):
        read_query(b"a&" * 2_000)


def test_a_message_has_one_id_of_bounded_length() -> None:
    assert read_message_id({"webhook-id": "w", "idempotency-key": "i"}) == "w"
    assert read_message_id({"webhook-id": "", "idempotency-key": "i"}) == "i"
    assert read_message_id({}) is None
    with pytest.raises(InvalidInput):
        read_message_id({"webhook-id": "w" * 256})
