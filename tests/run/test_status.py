"""The moves of a run: a terminal run never reopens."""

from __future__ import annotations

import pytest

from detent.errors import IllegalMove
from detent.run.status import OPEN, TERMINAL, Status, moved


@pytest.mark.parametrize("was", sorted(TERMINAL))
@pytest.mark.parametrize("to", list(Status))
def test_a_terminal_run_never_reopens(was: Status, to: Status) -> None:
    with pytest.raises(IllegalMove, match=f"cannot go from {was} to {to}"):
        moved(was, to)


@pytest.mark.parametrize(
    ("was", "to"),
    [
        (Status.PENDING, Status.RUNNING),
        (Status.PENDING, Status.CANCELLED),
        (Status.PENDING, Status.TIMEOUT),
        (Status.PENDING, Status.PAUSED),
        (Status.PAUSED, Status.PENDING),
        (Status.RUNNING, Status.PAUSED),
        (Status.PAUSED, Status.RUNNING),
        *((was, to) for was in (Status.RUNNING, Status.PAUSED) for to in sorted(TERMINAL)),
    ],
)
def test_open_runs_move_on(was: Status, to: Status) -> None:
    assert moved(was, to) is to


@pytest.mark.parametrize("status", sorted(OPEN))
def test_no_run_moves_to_where_it_is(status: Status) -> None:
    with pytest.raises(IllegalMove):
        moved(status, status)


def test_a_run_that_never_began_neither_completes_nor_fails() -> None:
    for to in (Status.COMPLETED, Status.FAILED):
        with pytest.raises(IllegalMove):
            moved(Status.PENDING, to)


def test_a_run_that_began_is_not_pending_again() -> None:
    with pytest.raises(IllegalMove):
        moved(Status.RUNNING, Status.PENDING)


def test_every_status_is_open_or_terminal() -> None:
    assert set(Status) == OPEN | TERMINAL
    assert not OPEN & TERMINAL
