"""The tables of changed code say what the tests of changed code show, row by row."""

from __future__ import annotations

from typing import Any

from tests.docs.pages import remarked_table
from tests.python import test_drift as of_classes
from tests.python.function import test_drift as of_functions

WAITS = "waits for the old code"
SAME = "a b c with other bodies"


def cases(test: Any) -> list[tuple[Any, ...]]:
    """What a test is run with."""
    [mark] = [one for one in test.pytestmark if one.name == "parametrize"]
    return [one if isinstance(one, tuple) else (one,) for one in mark.args[1]]


def words(cell: str) -> list[str]:
    return cell.replace("`", "").split()


def test_the_table_of_classes_has_every_case_that_is_tried() -> None:
    tried = {
        " ".join(after): ([name.removesuffix("+") for name in ran if name.endswith("+")], sorted(left))
        for after, ran, left in cases(of_classes.test_a_tolerant_run_goes_on_by_the_code_of_now)
    }
    rows = {" ".join(words(row[0])): row[1:] for row in remarked_table("python-workflows.md", "drift").rows}
    same = rows.pop(SAME)
    assert {now: (words(row[0]), words(row[1])) for now, row in rows.items()} == tried
    assert {row[2] for row in rows.values()} == {"pauses"}
    assert {row[3] for row in rows.values()} | {same[3]} == {WAITS}
    assert (words(same[0]), same[2]) == (["b", "c"], "goes on")  # bodies_may_change_at_any_time


def test_what_strict_and_pinned_classes_do_is_tried_for_every_kind_of_change() -> None:
    rows = {" ".join(words(row[0])) for row in remarked_table("python-workflows.md", "drift").rows}
    strict = {" ".join(case[0]) for case in cases(of_classes.test_a_strict_run_pauses_with_the_difference)}
    pinned = {" ".join(case[0]) for case in cases(of_classes.test_a_pinned_run_waits_for_a_node_with_its_code)}
    assert strict - {"a b c"} <= rows  # there, only a wait was changed
    assert pinned - {"a b c"} <= rows
    assert "a b c" in pinned


def test_the_table_of_functions_has_every_case_that_is_tried() -> None:
    tried = {
        edit: (["sleep" if isinstance(part, str) else part.__name__ for part in now], called)
        for edit, (now, called) in of_functions.EDITS.items()
    }
    rows = {row[1]: row for row in remarked_table("durable-functions.md", "drift").rows}
    assert {edit: (words(row[0]), words(row[2])) for edit, row in rows.items()} == tried
    assert {edit for edit, row in rows.items() if row[3] == "goes on"} == of_functions.HARMLESS
    assert {row[3] for row in rows.values()} == {"goes on", "pauses"}
    assert {row[4] for row in rows.values()} == {WAITS}
