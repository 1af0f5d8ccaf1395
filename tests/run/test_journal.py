"""Entries as text: what is written is what is read, and nothing is written that says nothing."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.run.journal import NO_DATA, Decided, EntryData, decode_data, decode_opening, encode_data, encode_opening
from detent.run.outcomes import StepError

NAMES = st.text(min_size=1, max_size=5)
ERRORS = st.builds(StepError, NAMES, st.text(max_size=9), st.none() | st.dictionaries(NAMES, st.integers(0, 9)))
INSTANTS = st.integers(0, 2**53)
DECIDED = st.builds(
    Decided,
    edges=st.dictionaries(st.integers(0, 99), st.booleans(), max_size=3),
    skipped=st.lists(NAMES, max_size=3),
    given_up=st.lists(NAMES, max_size=3),
    errors=st.dictionaries(NAMES, ERRORS, max_size=2),
    sleep=st.dictionaries(NAMES, INSTANTS, max_size=2),
    wait=st.dictionaries(NAMES, st.none() | INSTANTS, max_size=2),
    run=st.none() | st.just("completed"),
    start=st.none() | INSTANTS,
)


@given(DECIDED)
def test_a_decision_is_read_as_it_was_written(decided: Decided) -> None:
    raw = encode_opening(decided)
    assert decode_opening(raw) == decided
    assert (raw is None) is decided.is_empty()


@given(DECIDED | st.none(), ERRORS | st.none(), st.none() | INSTANTS, st.dictionaries(NAMES, ERRORS, max_size=2))
def test_data_is_read_as_it_was_written(
    decided: Decided | None, error: StepError | None, retry_at: int | None, crashed: dict[str, StepError]
) -> None:
    data = EntryData(msgspec.Raw(b'{"output":1e5}'), error, 1.5, retry_at, "ann", 7, crashed, decided)
    found = decode_data(encode_data(data))
    assert bytes(found.result) == b'{"output":1e5}'
    assert (found.error, found.retry_at, found.crashed, found.decided) == (error, retry_at, crashed, decided)
    assert (found.ms, found.by, found.message) == (1.5, "ann", 7)


def test_an_entry_without_data_is_two_characters() -> None:
    assert encode_data(EntryData()) == NO_DATA == b"{}"
    assert not decode_data(NO_DATA).result


def test_a_start_that_decided_nothing_writes_nothing() -> None:
    assert encode_opening(Decided()) is None
    assert decode_opening(None).is_empty()


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"decided":5}', b"\xff"])
def test_data_that_is_broken_is_an_error(raw: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        decode_data(raw)


def test_fields_of_a_newer_release_are_passed_over() -> None:
    assert decode_data(b'{"by":"ann","later":1}').by == "ann"


def test_data_of_another_shape_is_an_error_still() -> None:
    with pytest.raises(msgspec.ValidationError):
        decode_data(b'{"by":"ann","retry_at":"soon"}')
    with pytest.raises(msgspec.ValidationError):
        decode_data(b'{"error":{"code":404}}')
