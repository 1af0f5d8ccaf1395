"""Ids: 16 sorted bytes inside, one spelling outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.ids import RUN, WORKFLOW, InvalidId, new_id, parse, show

IDS = st.binary(min_size=16, max_size=16)
GOOD = show(RUN, bytes(range(16)))


@given(IDS)
def test_an_id_is_read_as_it_is_shown(raw: bytes) -> None:
    assert parse(RUN, show(RUN, raw)) == raw


@given(IDS, IDS)
def test_texts_sort_as_the_bytes_do(one: bytes, other: bytes) -> None:
    assert (show(RUN, one) < show(RUN, other)) == (one < other)


def test_an_id_has_26_digits_after_its_prefix() -> None:
    assert show(RUN, bytes(16)) == "run_" + "0" * 26
    assert show(WORKFLOW, b"\xff" * 16) == "wf_7" + "z" * 25


@pytest.mark.parametrize(
    "text",
    [
        "",
        "run_",
        GOOD.upper(),
        GOOD.replace("run_", "wf_"),
        GOOD.replace("run_", ""),
        GOOD[:-1],
        GOOD + "0",
        GOOD[:-1] + "u",
        GOOD[:-1] + "é",
        GOOD[:-1] + "\n",
        " " + GOOD,
        "run_8" + "0" * 25,
        "run__" + "0" * 25,
        "x" * 10_000,
    ],
)
def test_any_other_spelling_is_refused(text: str) -> None:
    with pytest.raises(InvalidId):
        parse(RUN, text)


@given(st.text(max_size=40))
def test_no_text_is_read_as_an_id_but_its_own_spelling(text: str) -> None:
    try:
        raw = parse(RUN, text)
    except InvalidId:
        return
    assert show(RUN, raw) == text


def test_new_ids_differ_and_are_sorted_by_time() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert sorted(id_[:6] for id_ in ids) == [id_[:6] for id_ in ids]
    assert all(len(id_) == 16 for id_ in ids)
