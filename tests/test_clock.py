"""Time comes from the database: never ahead of it, whatever the machine's own clock says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.clock import DatabaseTime, SystemClock
from detent.instant import SECOND, as_datetime, iso, micros


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def wall(self) -> int:
        return -1  # nobody may ask

    def monotonic(self) -> float:
        return self.seconds


def test_now_is_what_the_database_said_and_the_time_since() -> None:
    clock = HandClock()
    time = DatabaseTime(clock)
    time.heard(5 * SECOND)
    clock.seconds += 1.5
    assert time.now() == 6_500_000


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1)), min_size=1, max_size=20))
def test_now_is_never_ahead_of_the_database(replies: list[tuple[float, float]]) -> None:
    """Each reply is underway for a while, so what it says is already past when it arrives."""
    clock = HandClock()
    time, begun = DatabaseTime(clock), clock.seconds
    for pause, underway in replies:
        clock.seconds += pause
        said = micros(clock.seconds - begun)
        clock.seconds += underway
        time.heard(said)
        assert time.now() <= micros(clock.seconds - begun) + 1


def test_a_wrong_wall_clock_changes_nothing_but_itself() -> None:
    right, wrong = SystemClock(), SystemClock(skew=3600.0)
    assert right.wall() <= wrong.wall() - 3600 * SECOND <= right.wall()
    assert right.monotonic() <= wrong.monotonic() <= right.monotonic()


def test_instants_are_shown_in_utc() -> None:
    assert as_datetime(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert iso(1_500_000) == "1970-01-01T00:00:01.500000Z"
    assert iso(SECOND) == "1970-01-01T00:00:01Z"


@pytest.mark.parametrize(("instant", "year"), [(10**18, "9999"), (-(10**18), "0001"), (10**30, "9999")])
def test_an_instant_beyond_the_calendar_is_shown_as_its_end(instant: int, year: str) -> None:
    assert iso(instant).startswith(year)


@pytest.mark.parametrize(("seconds", "expected"), [(0, 0), (1, SECOND), (0.1, 100_000), (1e-7, 0), (2.5e-6, 2)])
def test_lengths_become_microseconds(seconds: float, expected: int) -> None:
    assert micros(seconds) == expected
