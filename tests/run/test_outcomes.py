"""The words of an outcome are texts that every store takes, whatever they were made of."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec
import pytest

from detent.run.outcomes import Cancel, Pause, StepError


class Reason(Enum):
    NO_STOCK = "no stock"
    CODE = 7


class Mute:
    def __str__(self) -> str:
        raise SystemExit


WORDS: list[tuple[Any, str]] = [
    ("no stock", "no stock"),
    ("Größe", "Größe"),
    (5, "5"),
    (None, "None"),
    (Reason.NO_STOCK, "no stock"),
    (Reason.CODE, "7"),
    (ValueError("no funds"), "ValueError: no funds"),
    (Mute(), "(cannot be shown)"),
    (10**5000, "(cannot be shown)"),
    ("a\ud800b", "a?b"),
    ("a\0b", "a\ufffdb"),
]


@pytest.mark.parametrize(("given", "kept"), WORDS, ids=map(str, range(len(WORDS))))
def test_words_are_kept_as_text(given: Any, kept: str) -> None:
    outcomes = (Cancel(given), Pause(given), StepError(given, given))
    read = [msgspec.json.decode(msgspec.json.encode(one), type=type(one)) for one in outcomes]
    assert read == list(outcomes)
    assert (outcomes[0].reason, outcomes[1].reason) == (kept, kept)
    assert (outcomes[2].code, outcomes[2].message) == (kept, kept)


def test_words_are_bounded() -> None:
    endless = "ä" * 5_000_000
    assert len(Cancel(endless).reason) == len(Pause(endless).reason) == 1_000
    error = StepError(endless, endless)
    assert (len(error.code), len(error.message)) == (128, 4_000)


def test_words_that_are_well_are_the_same_object() -> None:
    words = f"it failed at {len(WORDS)}"
    assert StepError("exception", words).message is words
