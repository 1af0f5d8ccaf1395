"""Durations as people write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidInput
from detent.values.durations import LONGEST, MILLISECONDS, parse_duration


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("500ms", 0.5),
        ("30s", 30),
        ("5m", 300),
        ("2h", 7200),
        ("1d", 86400),
        ("1w", 604800),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("1w1d1h1m1s1ms", 694861.001),
        ("1.5h", 5400),
        ("0.25s", 0.25),
        ("0s", 0),
        (0, 0),
        (30, 30),
        (1.5, 1.5),
        ("3650d", LONGEST),
    ],
)
def test_a_duration_is_read(written: object, seconds: float) -> None:
    assert parse_duration(written) == pytest.approx(seconds)


def test_a_bare_number_counts_the_callers_unit_and_a_text_its_own() -> None:
    assert parse_duration(30_000, unit=MILLISECONDS) == 30
    assert parse_duration("30s", unit=MILLISECONDS) == 30


@pytest.mark.parametrize(
    "written",
    [
        *("", " ", "30", "-5s", "5", "P1Y", "PT5M", "1y", "5 minutes", "5min", "5M", "1m1h", "1h1h", " 5m", "5m "),
        *("1e3s", "٣s", "1h  30m", ".5s", "1.s", "9" * 400 + "s", "nan", "inf", "1_000s", "5m\n"),
        *(-1, -0.5, -(10**400), math.nan, math.inf, -math.inf, 1e18, 10**400, "9999999w", "3651d"),
        *(True, False, None, [], {}, [5], b"5m"),
    ],
)
def test_what_is_no_duration_is_refused_with_an_example(written: object) -> None:
    with pytest.raises(InvalidInput, match=r'write for example "500ms", "30s"'):
        parse_duration(written)


@pytest.mark.parametrize("written", [0, 0.0, "0s", "0ms"])
def test_zero_is_refused_where_it_makes_no_sense(written: object) -> None:
    with pytest.raises(InvalidInput, match="must be more than zero"):
        parse_duration(written, zero=False)


@given(st.text() | st.integers() | st.floats() | st.none() | st.booleans())
def test_anything_is_either_a_bounded_duration_or_refused(written: object) -> None:
    try:
        seconds = parse_duration(written, unit=MILLISECONDS)
    except InvalidInput:
        return
    assert 0 <= seconds <= LONGEST
