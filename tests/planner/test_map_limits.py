"""The limits of maps: items, pages and results that are too large, and what a page takes with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.graph.model import Each
from detent.planner.maps import MapError, list_of_map, no_values, outer_values, page_counts, page_size, result_of_map
from detent.run.state import MapState
from detent.values.limits import SIZE_LIMIT
from tests.planner.play import Play, play_steps
from tests.planner.test_context import page

LARGE = "x" * (SIZE_LIMIT // 3)


def mapped(given: dict[str, Any], **fields: Any) -> Play:
    return play_steps({"m": {"for_each": [1, 2], "action": "core.echo", **fields}}, {"body": given})


def test_a_page_is_halved_until_its_items_fit() -> None:
    each = Each([], parallel=40)
    assert page_size(each, [LARGE] * 8) < page_size(each, [1] * 8)


def test_a_single_item_that_does_not_fit_is_refused_with_its_number() -> None:
    with pytest.raises(MapError) as refused:
        page_size(Each([]), [1, LARGE * 4, 2])
    assert refused.value.error.code == "item_too_large"
    assert refused.value.error.message.startswith("item 1 has ")


def test_a_page_takes_what_its_templates_read_beside_the_item() -> None:
    run = mapped(
        {"a": {"x": 1, "y": 2}, "n": 5, "rest": 0},
        **{"with": {"i": "{{ item }}", "x": "{{ trigger.body.a.x }}", "a": "{{ trigger.body.a }}"}},
        collect="{{ trigger.body.n + index }}",
    )
    assert outer_values(run.prepared, run.state, 0) == {"trigger": {"body": {"a": {"x": 1, "y": 2}, "n": 5}}}


def test_what_a_template_reads_in_vain_is_missing_in_the_page_too() -> None:
    run = mapped({"n": 5}, **{"with": {"x": "{{ trigger.body.z.y ?? 1 }}", "n": "{{ trigger.body.n.deep ?? 2 }}"}})
    assert outer_values(run.prepared, run.state, 0) == {"trigger": {"body": {"n": 5}}}
    whole = mapped({"n": 5}, **{"with": {"n": "{{ trigger.body.n }}", "deep": "{{ trigger.body.n.deep ?? 2 }}"}})
    assert outer_values(whole.prepared, whole.state, 0) == {"trigger": {"body": {"n": 5}}}


def test_the_outputs_of_pages_are_one_list_unless_they_are_too_large() -> None:
    found = MapState(5, 2, succeeded=4, failed=1)
    counts = {"count": 5, "succeeded": 4, "failed": 1}
    whole = json.loads(result_of_map(found, list_of_map([b"[1,2]", b"[]", b"[3]"])))
    assert whole == {"output": [1, 2, 3], "items": counts}
    assert list_of_map([b"[]", b"[]"]) == b"[]"
    assert json.loads(result_of_map(found, None)) == {"items": counts, "truncated": True}


def test_a_page_without_an_output_has_null_for_each_item() -> None:
    found = MapState(5, 2)
    assert [json.loads(no_values(found, number)) for number in (0, 2)] == [[None, None], [None]]


def test_a_page_whose_values_are_too_large_or_cannot_be_collected_has_no_output() -> None:
    run = page(2)
    run.give("i0", LARGE * 2)
    run.give("i1", LARGE * 2)
    assert (run.status, run.output) == ("completed", None)
    run = page(3, collect="{{ result.output.n }}")
    run.give("i2", {})
    run.give("i0", {})
    run.cancel()
    assert (run.status, run.output) == ("cancelled", None)


def test_the_items_of_a_page_are_counted_by_how_they_ended() -> None:
    run = page(3, keeps_results=True, on_item_failure="continue", retries=0)
    run.give("i0", 1)
    run.fail("i1")
    run.skip("i2")
    assert page_counts(run.state) == (1, 1)
    assert run.output == [1, None, None]


def test_a_path_that_ends_in_a_value_is_not_gone_into() -> None:
    run = mapped({"n": 5}, **{"with": {"deep": "{{ trigger.body.n.a.b ?? 1 }}", "x": "{{ trigger.body.n }}"}})
    assert outer_values(run.prepared, run.state, 0) == {"trigger": {"body": {"n": 5}}}


def test_a_path_through_a_value_that_the_page_has_whole_changes_nothing() -> None:
    run = mapped({"n": None}, **{"with": {"n": "{{ trigger.body.n }}", "deep": "{{ trigger.body.n.a.b ?? 1 }}"}})
    assert outer_values(run.prepared, run.state, 0) == {"trigger": {"body": {"n": None}}}


def test_results_that_are_too_large_together_are_not_kept_by_a_page() -> None:
    run = page(3)
    for name in ("i0", "i1"):
        run.give(name, "x" * (SIZE_LIMIT // 2 - 100))
    run.give("i2", 1)
    assert run.output is not None
    run = page(4)
    for name in ("i0", "i1", "i2", "i3"):
        run.give(name, "x" * (SIZE_LIMIT // 3))
    assert (run.status, run.output) == ("completed", None)
