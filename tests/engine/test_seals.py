"""Sealed runs: a seal is the same whichever node writes the end, and shows every change of a row."""

from __future__ import annotations

import random
from typing import Any

import pytest

from detent.run.journal import Entry
from detent.run.seal import MOST_MARKS, SealedRun, SealState, check_seal, seal_of

KEY = b"k" * 32
RUN = SealedRun(
    id=b"r" * 16, tenant=1, workflow=b"w" * 16, input=b'{"body":1}', opening=b"{}", started_at=5, parent=None,
    hero=("order", "7"), principal=None, via=None, correlation="c", version=1, status="completed", ended_at=9,
    output=b'{"o":1}', error=None,
)  # fmt: skip


def journal(count: int) -> list[Entry]:
    return [Entry(1, RUN.id, seq, seq * 10, "ended", f"s{seq}", 1, "success", b'{"result":%d}' % seq)
            for seq in range(1, count + 1)]  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 5, MOST_MARKS, MOST_MARKS + 1, 1000])
def test_a_run_that_was_not_changed_is_valid_and_its_seal_is_bounded(count: int) -> None:
    seal = seal_of(KEY, RUN, journal(count))
    assert check_seal(KEY, seal, RUN, journal(count)).state is SealState.VALID
    assert len(seal) < 1000
    assert check_seal(b"x" * 32, seal, RUN, journal(count)).state is SealState.CHANGED
    assert check_seal(KEY, None, RUN, journal(count)).state is SealState.NOT_SEALED


@pytest.mark.parametrize(
    ("field", "value"),
    [("tenant", 2), ("seq", 99), ("at", 31), ("kind", "retry"), ("step", None), ("attempt", 2), ("outcome", "failed"),
     ("data", b'{"result":4}'), ("run", b"q" * 16)],
)  # fmt: skip
def test_a_change_of_any_part_of_an_entry_is_found_at_its_place(field: str, value: Any) -> None:
    entries = journal(6)
    seal = seal_of(KEY, RUN, entries)
    entries[2] = entries[2]._replace(**{field: value})
    found = check_seal(KEY, seal, RUN, entries)
    assert (found.state, found.first, found.last) == (SealState.CHANGED, 3, 3)


def test_in_a_long_journal_the_place_is_a_range() -> None:
    entries = journal(1000)
    seal = seal_of(KEY, RUN, entries)
    for _ in range(20):
        place = random.Random(_).randrange(1000)
        changed = [*entries]
        changed[place] = changed[place]._replace(data=b"{}")
        found = check_seal(KEY, seal, RUN, changed)
        assert found.state is SealState.CHANGED
        if found.first is not None:
            assert found.last is not None
            assert found.first <= place + 1 <= found.last < found.first + 10


@pytest.mark.parametrize("missing", [0, 3, 5])
def test_entries_that_are_removed_added_or_swapped_are_found(missing: int) -> None:
    entries = journal(6)
    seal = seal_of(KEY, RUN, entries)
    fewer = entries[:missing] + entries[missing + 1 :]
    assert check_seal(KEY, seal, RUN, fewer).first == missing + 1
    more = [*entries, entries[-1]._replace(seq=7)]
    assert (check_seal(KEY, seal, RUN, more).state, check_seal(KEY, seal, RUN, more).first) == (SealState.CHANGED, 7)
    swapped = [entries[1], entries[0], *entries[2:]]
    assert check_seal(KEY, seal, RUN, swapped).first == 1


@pytest.mark.parametrize("field", SealedRun._fields)
def test_a_change_of_any_fact_of_the_run_is_found(field: str) -> None:
    entries = journal(3)
    seal = seal_of(KEY, RUN, entries)
    old: Any = getattr(RUN, field)
    new: Any = old + 1 if isinstance(old, int) else "new" if old is None or isinstance(old, tuple) else old + old[:1]
    assert check_seal(KEY, seal, RUN._replace(**{field: new}), entries).state is SealState.CHANGED


def test_a_seal_that_cannot_be_read_is_a_change() -> None:
    for seal in (b"", b"{}", b"null", b'{"v":2,"entries":0,"every":0,"marks":"","mac":""}'):
        assert check_seal(KEY, seal, RUN, []).state is SealState.CHANGED
