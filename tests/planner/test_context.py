"""Results leave memory when no step can read them any more, and what can be read has a limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from detent.forms.graph.form import compile_graph
from detent.graph import codec
from detent.graph.model import ContextSnapshot, Overflow
from detent.planner import context, prepare
from detent.planner.context import restore
from detent.planner.maps import page_of
from detent.planner.reuse import retry_plan
from detent.run.journal import Page
from detent.run.outcomes import Fail
from detent.values.limits import SIZE_LIMIT
from tests.forms.graphs import document, edge, node
from tests.planner.play import Play, facts_of, graph_of, play_steps

pytestmark = pytest.mark.usefixtures("nothing_is_small")
READS_A = {"with": {"n": "{{ tasks.a.output }}"}, "action": "core.echo"}


@pytest.fixture
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "SMALL", 0)


def test_counting_begins_with_the_first_large_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "SMALL", 100)
    tasks = {"a": {}, "b": {"needs": ["a"], **READS_A}, "c": {"needs": ["b"], **READS_A}, "d": {"needs": ["c"]}}
    run = lean(tasks, output={})
    run.give("a", 1)
    run.give("b", 2)
    assert in_memory(run) == {"a", "b"}
    run.give("c", "x" * 100)
    assert in_memory(run) == set(), "a was read for the last time, and no step reads b and c"


def lean(tasks: dict[str, Any], **document: Any) -> Play:
    graph = graph_of(tasks, **document)
    return Play(prepare(graph), facts_of(graph), keeps_results=False)


def in_memory(run: Play) -> set[str]:
    return {run.prepared.steps[index].name for index in run.state.results}


def test_a_result_leaves_memory_when_its_last_reader_has_ended() -> None:
    tasks = {"a": {}, "b": {"needs": ["a"], **READS_A}, "c": {"needs": ["b"], **READS_A}, "d": {"needs": ["c"]}}
    run = lean(tasks, output="{{ tasks.d.output }}")
    run.give("a", 1)
    assert in_memory(run) == {"a"}
    run.give("b", 2)
    assert in_memory(run) == {"a"}, "c still reads a, and no step reads b"
    run.give("c", 3)
    assert in_memory(run) == set()
    run.give("d", 4)
    assert run.output == 4


def test_a_reader_that_is_skipped_reads_nothing_any_more() -> None:
    run = lean({"a": {}, "b": {"needs": ["a"], "if": "tasks.a.output == 1", **READS_A}}, output={})
    run.give("a", 2)
    assert run.status == "completed"
    assert in_memory(run) == set()


def test_the_condition_of_an_edge_is_evaluated_before_the_result_goes() -> None:
    graph = compile_graph(
        document(node("a", edge("b", condition="context.data['a'] === 1"), edge("c", "failure")), node("b"), node("c"))
    ).graph
    run = Play(prepare(replace(graph, output="x")), facts_of(graph), keeps_results=False)
    run.give("a", 1)
    assert run.statuses()["b"] == "running"
    assert in_memory(run) == set()


def test_a_run_that_is_finished_returns_what_its_last_step_returned() -> None:
    run = lean({"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}})
    run.give("a", 1)
    run.give("b", 2)
    assert in_memory(run) == {"b"}
    run.finish()
    assert run.output == 2


def test_a_journal_gives_back_what_has_left_memory() -> None:
    run = lean({"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}}, output="x")
    run.give("a", 1)
    run.give("b", 2)
    assert in_memory(run) == set()
    restore(run.prepared, run.state, run.entries[:1])
    assert in_memory(run) == {"a"}
    assert run.state.let_go == [run.number("b")], "its entry is not durable yet"
    restore(run.prepared, run.state, run.entries)
    assert run.state.results == run.complete().results


def limited(overflow: Overflow, most: int = 60) -> Play:
    """Three nodes in a row; the last one reads the first two."""
    reads = {"one": "{{ context.data['one'] }}", "two": "{{ context.data['two'] }}"}
    written = document(node("one", "two"), node("two", "three"), node("three", parameters=reads))
    graph = replace(compile_graph(written).graph, context=ContextSnapshot(max_bytes=most, overflow=overflow))
    run = Play(prepare(codec.decode(codec.encode(graph))), facts_of(graph), keeps_results=False)
    run.give("one", "x" * 20)
    run.give("two", "y" * 20)
    return run


def test_a_step_fails_whose_result_is_too_much() -> None:
    run = limited(Overflow.FAIL)
    assert (run.status, run.error("two").code) == ("failed", "context_too_large")
    assert "contextSnapshot.maxBytes allows 60" in run.error("two").message
    assert b"yyyy" in run.complete().results[run.number("two")], "the journal has it"
    assert limited(Overflow.FAIL, 100).parameters("three")["with"] == {"one": "x" * 20, "two": "y" * 20}


@pytest.mark.parametrize(("overflow", "gone"), [(Overflow.PRUNE_OLDEST, "one"), (Overflow.DROP_OVERSIZE, "two")])
def test_a_dropped_result_cannot_be_read_and_the_error_says_why(overflow: Overflow, gone: str) -> None:
    run = limited(overflow)
    assert run.status == "running"
    call = run.call("three")
    assert isinstance(call, Fail)
    assert f"that of '{gone}' was dropped" in call.error.message
    assert "contextSnapshot.maxBytes" in call.error.message
    assert run.complete().dropped == {run.number(gone)}


def test_what_no_later_step_reads_does_not_count() -> None:
    written = document(node("one", "two"), node("two"))
    graph = replace(compile_graph(written).graph, context=ContextSnapshot(max_bytes=10), output="x")
    run = Play(prepare(graph), facts_of(graph), keeps_results=False)
    run.give("one", "x" * 1000)
    run.give("two", "x" * 1000)
    assert run.status == "completed"


def test_the_steps_form_has_no_limit() -> None:
    run = play_steps({"a": {}, "b": {"needs": ["a"], **READS_A}})
    assert run.prepared.context is None


# -- pages of maps


def page(size: int = 3, *, keeps_results: bool = False, **each: Any) -> Play:
    graph = graph_of({"m": {"for_each": list(range(size)), "max_parallel": 50, **each}})
    prepared = page_of(prepare(graph), Page("m", 0, size))
    given = {"body": {"items": list(range(size))}, "outer": {}}
    return Play(prepared, facts_of(graph, given), keeps_results=keeps_results)


def test_the_result_of_an_item_leaves_memory_when_its_value_is_collected() -> None:
    run = page(collect="{{ result.output.n * 10 + index }}")
    run.give("i2", {"n": 2, "more": "x"})
    assert in_memory(run) == set()
    run.give("i0", {"n": 0, "more": "x"})
    run.reload()
    assert in_memory(run) == set(), "a page that another node reads is as lean"
    assert set(run.complete().results) == {0, 2}, "the journal has them"
    run.crash()
    run.give("i1", {"n": 1, "more": "x"})
    assert (run.status, run.output) == ("completed", [0, 11, 22])


def test_a_page_that_is_stopped_has_the_values_of_the_items_until_then() -> None:
    run = page()
    run.give("i1", "one")
    run.cancel()
    assert run.output == [None, "one", None]


def test_an_item_without_a_result_is_null() -> None:
    run = page(on_item_failure="continue")
    run.give("i0", 1)
    run.fail("i1")
    run.skip("i2")
    assert run.output == [1, None, None]


def test_values_that_are_too_large_together_leave_memory_too() -> None:
    run = page()
    run.give("i0", "x" * (SIZE_LIMIT // 2))
    assert held(run) > SIZE_LIMIT // 2
    run.give("i1", "x" * (SIZE_LIMIT // 2))
    assert held(run) == 0
    run.give("i2", 1)
    assert held(run) == 0
    assert run.ended is not None
    assert run.ended.output is None
    assert "gather less with collect" in (run.ended.error or "")


def held(run: Play) -> int:
    assert run.state.gathered is not None
    return sum(map(len, (*run.state.gathered.values.values(), *run.state.results.values())))


@pytest.mark.parametrize("keeps", [True, False])
def test_values_that_fit_exactly_are_gathered(keeps: bool) -> None:
    run = page(2, keeps_results=keeps)
    run.give("i0", "x" * (SIZE_LIMIT - 6))
    run.give("i1", 1)
    assert run.ended is not None
    assert len(run.ended.output or b"") == SIZE_LIMIT
    run = page(2, keeps_results=keeps)
    run.give("i0", "x" * (SIZE_LIMIT - 6))
    run.give("i1", 10)
    assert run.ended is not None
    assert run.ended.output is None


@pytest.mark.parametrize("keeps", [True, False])
def test_the_first_item_that_cannot_be_collected_is_named_at_the_end(keeps: bool) -> None:
    run = page(collect="{{ result.output.value.x }}", keeps_results=keeps)
    run.give("i2", {"other": 2})
    run.give("i1", {"value": "text"})
    assert run.status == "running"
    run.give("i0", {"value": {"x": 0}})
    assert run.ended is not None
    assert run.ended.output is None
    assert (run.ended.error or "").startswith("collect: ")
    assert "is text" in (run.ended.error or "")


def test_a_page_that_is_retried_takes_results_over_and_keeps_none_of_them() -> None:
    before = page(on_item_failure="continue", tolerate=1)
    before.give("i0", "a")
    before.give("i2", "c")
    before.fail("i1")
    run = Play(
        before.prepared,
        before.facts,
        now=before.now,
        reuse=retry_plan(before.prepared, before.complete()),
        keeps_results=False,
    )
    assert run.started == ["i1"]
    assert in_memory(run) == set()
    assert set(run.state.reused.values()) == {b""}
    run.reload()
    assert in_memory(run) == set()
    run.crash()
    run.give("i1", "b")
    assert run.output == ["a", "b", "c"]
    assert retry_plan(run.prepared, run.complete()).results.keys() == {0, 1, 2}
