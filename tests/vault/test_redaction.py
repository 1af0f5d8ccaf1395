"""The value of a secret is found in every spelling, and nothing else is changed."""

from __future__ import annotations

import base64
import html
import json
import random
import string
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import msgspec
import pytest

from detent.vault.redaction import MASK, Redactor, spellings

PLAIN = "sk_live_51HxQ9bT"
ODD = "p\"a/s+s=w&o'r<d>\\ö %2F?#"
PEM = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nAASCBKcwggSjAgEAAoIBAQC7\n-----END KEY-----\n"

SPELL: list[Callable[[str], str]] = [
    lambda value: value,
    lambda value: value.encode().hex(),
    lambda value: value.encode().hex().upper(),
    lambda value: base64.b64encode(value.encode()).decode(),
    lambda value: base64.b64encode(b"a" + value.encode() + b"tail").decode(),
    lambda value: base64.b64encode(b"user:" + value.encode()).decode(),
    lambda value: base64.urlsafe_b64encode(b"ab" + value.encode() + b"c").decode().rstrip("="),
    lambda value: quote(value, safe=""),
    quote_plus,
    lambda value: quote(quote(value, safe=""), safe=""),
    lambda value: quote(value, safe="").lower() if value == value.lower() else quote(value),
    lambda value: "".join(f"%{byte:02x}" for byte in value.encode()),
    json.dumps,
    lambda value: json.dumps(json.dumps(value)),
    lambda value: json.dumps(value).replace("/", "\\/"),
    lambda value: "".join(f"\\u{ord(letter):04x}" for letter in value),
    html.escape,
    lambda value: "".join(f"&#{ord(letter)};" for letter in value),
    lambda value: "".join(f"&#x{ord(letter):x};" for letter in value),
    lambda value: base64.encodebytes(b"x" * 50 + value.encode() + b"y" * 50).decode(),
]


def _leaks(clean: str, value: str) -> bool:
    return any(one in clean for one in spellings(value))


@pytest.mark.parametrize("number", range(len(SPELL)))
@pytest.mark.parametrize("value", [PLAIN, ODD], ids=["plain", "odd"])
def test_a_value_is_found_in_every_spelling(value: str, number: int) -> None:
    redactor = Redactor([value])
    spelled = SPELL[number](value)
    for text in (spelled, f"before {spelled} after", f"{{'a': '{spelled}'}}"):
        clean = redactor.text(text)
        assert MASK in clean
        assert not _leaks(clean, value)
        raw = redactor.json(msgspec.json.encode({"output": {"deep": [[[[[[[{"x": text}]]]]]]], spelled: 1}}))
        assert MASK.encode() in raw
        assert not _leaks(raw.decode(), value)


def test_json_is_read_before_it_is_searched() -> None:
    redactor = Redactor([PLAIN])
    escaped = "".join(f"\\u{ord(letter):04X}" for letter in PLAIN)
    assert redactor.json(b'{"a":"%s","b":1}' % escaped.encode()) == b'{"a":"***","b":1}'
    assert redactor.json(b'{"%s":1}' % escaped.encode()) == b'{"***":1}'
    assert Redactor(["1234567890"]).json(b'{"n":1234567890,"m":[1234567890.5]}') == b'{"n":"***","m":["***"]}'


def test_what_has_no_secret_is_the_same_object() -> None:
    redactor = Redactor([PLAIN, ODD])
    raw = msgspec.json.encode({"url": "https://a.example/?q=%20&b=1", "text": 'a "quoted" \\ line\n', "n": [1, 2.5]})
    assert redactor.json(raw) is raw
    value = msgspec.json.decode(raw)
    assert redactor.value(value) is value
    assert redactor.text("short") == "short"
    assert redactor.json(b"not json sk_live_51HxQ9bT") == b'"not json ***"'


def test_a_text_that_was_cut_inside_a_value_keeps_nothing_of_it() -> None:
    redactor = Redactor([PLAIN])
    for length in range(8, len(PLAIN)):
        assert redactor.text("answer: " + PLAIN[:length]) == "answer: ***"
    assert redactor.text("answer: " + PLAIN[:7]) == "answer: " + PLAIN[:7]


def test_the_lines_of_a_longer_value_are_secret_each() -> None:
    redactor = Redactor([PEM])
    assert redactor.text("line 2 is MIIEvQIBADANBgkqhkiG9w0BAQ") == "line 2 is ***"


def test_short_values_are_left_out() -> None:
    assert Redactor(["short"]).text("a short text") == "a short text"


@pytest.mark.parametrize("count", [1, 60])
def test_random_values_are_found_in_every_spelling(count: int) -> None:
    """A mutant that forgets one of the offsets of base64 misses a third of these."""
    chance = random.Random(14)
    letters = string.ascii_letters + string.digits + string.punctuation + " äß€"
    values = ["".join(chance.choices(letters, k=chance.randint(8, 40))) for _ in range(count)]
    redactor = Redactor(values)
    for value in values[:20]:
        for spell in SPELL:
            for before in ("", "x", "xy", "xyz"):
                clean = redactor.text(before + spell(value) + chance.choice(letters))
                assert not _leaks(clean, value), (value, clean)


def test_a_very_deep_value_is_masked_as_a_whole() -> None:
    value: object = PLAIN
    for _ in range(100_000):
        value = [value]
    assert Redactor([PLAIN]).value(value) == MASK
