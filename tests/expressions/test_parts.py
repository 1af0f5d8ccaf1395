"""Parts of paths that exist, what one piece of work has compiled, and objects that are built of entries."""

from __future__ import annotations

from typing import Any

import pytest

from detent.expressions import ExpressionError, compile_expression, keep_compiled, read_known
from detent.expressions.cache import kept

SCOPE: Any = {"trigger": {"body": {"n": 1}}}


@pytest.mark.parametrize(
    ("path", "known", "value"),
    [
        (("trigger", "body", "n"), ("trigger", "body", "n"), 1),
        (("trigger", "body", "missing"), ("trigger", "body"), {"n": 1}),
        (("nothing", "such"), (), None),
    ],
)
def test_the_longest_part_of_a_path_that_exists_is_found(path: Any, known: Any, value: object) -> None:
    assert read_known(SCOPE, path) == (known, value)


def test_a_text_is_compiled_once_in_one_piece_of_work() -> None:
    compiled: list[str] = []

    def work(text: str) -> str:
        compiled.append(text)
        return text.upper()

    with keep_compiled():
        assert [kept(work, text) for text in ("a", "b", "a")] == ["A", "B", "A"]
        assert compiled == ["a", "b"]
    assert kept(work, "a") == "A"
    assert compiled == ["a", "b", "a"]


def test_entries_become_an_object_and_the_last_one_of_a_key_wins() -> None:
    found = compile_expression("fromEntries([['a', 1], ['b', 2], ['a', 3]])", language=3).evaluate({})
    assert found == {"a": 3, "b": 2}


@pytest.mark.parametrize("wrong", ["[1]", "[['a']]", "[['a', 1, 2]]", "[[1, 2]]"])
def test_entries_that_are_not_a_text_and_a_value_are_refused(wrong: str) -> None:
    with pytest.raises(ExpressionError, match="arrays of two, each a text and a value"):
        compile_expression(f"fromEntries({wrong})", language=3).evaluate({})
