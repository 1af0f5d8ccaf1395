"""Rows of an outbox that wait for somebody else's transaction."""

from __future__ import annotations

from detent.instant import SECOND
from detent.outbox.relay import AT_ONCE, LONGEST_PAUSE, MOST, ContendedRows
from detent.outbox.table import BATCH, OutboxRow

ANN, BOB = frozenset({"ann"}), frozenset({"bob"})


def read(*numbers: int) -> list[OutboxRow]:
    return [OutboxRow(number, "", "", "", "") for number in numbers]


def test_a_row_that_is_held_up_again_is_tried_less_and_less_often() -> None:
    rows, now, pauses = ContendedRows(), 0, []
    for _ in range(7):
        assert rows.add(1, ANN, now)
        begun = now
        while rows.not_now(now) == [1]:
            now += SECOND // 2
        pauses.append((now - begun) / SECOND)
    assert pauses == [1, 2, 4, 8, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]


def test_those_behind_a_row_wait_until_it_is_forgotten() -> None:
    rows = ContendedRows()
    rows.add(1, ANN, 0)
    assert rows.is_behind(2, ANN)
    rows.add(2, ANN, 0)
    assert (rows.is_behind(1, ANN), rows.is_behind(3, BOB)) == (False, False)
    assert rows.not_now(3600 * SECOND) == [2]
    rows.forget(1)
    assert rows.not_now(0) == []
    assert not rows.is_behind(2, ANN)


def test_a_row_that_was_deleted_holds_up_none_behind_it() -> None:
    rows = ContendedRows()
    rows.add(1, ANN, 0)
    rows.add(2, ANN, 0)
    rows.not_now(SECOND)
    rows.were_read([])
    assert rows.not_now(SECOND) == []


def test_a_row_that_may_stand_behind_those_that_were_read_is_not_gone() -> None:
    rows = ContendedRows()
    rows.add(500, ANN, 0)
    rows.not_now(SECOND)
    rows.were_read(read(*range(BATCH)))
    assert rows.not_now(0) == [500]
    rows.not_now(SECOND)
    rows.were_read(read(*range(BATCH - 1), 501))
    assert rows.not_now(0) == []


def test_few_are_tried_again_at_a_time_and_no_more_are_kept_than_can_be_named() -> None:
    rows = ContendedRows()
    assert all(rows.add(number, frozenset({str(number)}), 0) for number in range(MOST))
    assert not rows.add(MOST, ANN, 0)
    assert rows.add(0, frozenset({"0"}), 0), "one that is known has its room"
    assert len(rows.not_now(SECOND)) == MOST - AT_ONCE
