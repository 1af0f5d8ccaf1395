"""Callback tokens: the same on every node, and nobody else can make one."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.engine.callbacks import CallbackTokens

TOKENS = CallbackTokens("secret", "https://detent.example/")
RUNS = st.binary(min_size=16, max_size=16)
STEPS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", fullmatch=True)
TOKEN = TOKENS.token(bytes(16), "payment-result")


@given(RUNS, STEPS)
def test_a_token_is_read_as_what_it_was_made_of(run: bytes, step: str) -> None:
    token = TOKENS.token(run, step)
    assert TOKENS.read(token) == (run, step)
    assert token == CallbackTokens("secret", "https://other.example").token(run, step)
    assert TOKENS.url(run, step) == f"https://detent.example/wh/{token}"


@given(RUNS, STEPS, st.integers(0, 1000), st.integers(1, 255))
def test_no_changed_token_is_taken(run: bytes, step: str, place: int, change: int) -> None:
    raw = bytearray(base64.urlsafe_b64decode(TOKENS.token(run, step) + "=="))
    raw[place % len(raw)] ^= change
    forged = base64.urlsafe_b64encode(bytes(raw)).rstrip(b"=").decode()
    assert TOKENS.read(forged) is None


def test_a_token_of_another_instance_is_not_taken() -> None:
    assert CallbackTokens("other", "https://detent.example").read(TOKEN) is None


@given(st.text(max_size=250))
def test_no_text_is_taken_for_a_token(text: str) -> None:
    assert TOKENS.read(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        "a",
        "é" * 60,
        "A" * 10_000,
        TOKEN + "=",
        TOKEN + "A",
        TOKEN[:-1],
        " " + TOKEN,
        TOKEN + "\n",
        TOKEN + "!",
    ],
)
def test_no_other_spelling_is_taken(text: str) -> None:
    assert TOKENS.read(text) is None
