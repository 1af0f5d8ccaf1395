"""Rules in the planner: what their edges and expressions do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from detent.expressions import ExpressionError, compile_expression
from detent.forms.rules.form import compile_rule
from detent.planner import prepare
from detent.planner.maps import outer_values, page_of
from detent.planner.scope import build_scope, read_event
from detent.run.journal import Page
from detent.run.outcomes import Fail
from tests.forms.rules import action, edge, rule, start, when
from tests.planner.play import Play, facts_of, play

BEFORE = {"id": 7, "number": "A-7", "status": "paid", "total": 120, "first": "Ann", "gone": 1}
AFTER = {
    "id": 7,
    "number": "A-7",
    "status": "shipped",
    "total": 120.0,
    "first": "Ann",
    "customer_email": "ann@x.example",
    "json": "text",
    "run": "Marathon",
    "steps": [1],
    "length": 3,
    "now": "then",
    "lines": [{"sku": "x"}],
}
EVENT = {
    "id": "evt_1",
    "entity": "order",
    "operation": "update",
    "record_id": "7",
    "before": BEFORE,
    "after": AFTER,
    "actor": {"name": "ann"},
    "at": "2026-02-22T10:00:00Z",
}
SKIPPED, SUCCESS = "skipped", "success"


def play_rule(*actions: Any, edges: Any = None, body: Any = EVENT, given: Any = None, **fields: Any) -> Play:
    """A run of a rule."""
    graph = compile_rule(rule(*actions, edges=edges, **fields)).graph
    return play(graph, {"body": body, **(given or {})})


def rendered(text: Any, body: Any = EVENT, **fields: Any) -> Any:
    """What a template of a rule becomes."""
    run = play_rule(action("it", action_config={"x": text}), body=body, **fields)
    call = run.call("it")
    return call.error.message if isinstance(call, Fail) else call.parameters["with"]["x"]


# The names of a rule.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{number}}", "A-7"),
        ("{{ first }} {{ length }} {{ json }}", "Ann 3 text"),
        ("{{ now }}", "then"),
        ("Order {{number}} Shipped", "Order A-7 Shipped"),
        ("{{ customer_email }}", "ann@x.example"),
        ("{{ total }}", 120.0),
        ("{{ before.status }} to {{ after.status }}", "paid to shipped"),
        ("{{ after.run }} {{ after.steps }}", "Marathon [1]"),
        ("{{ changed }}", ["status", "customer_email", "json", "run", "steps", "length", "now", "lines", "gone"]),
        ("{{ actor.name }} {{ entity }}", "ann order"),
        (
            "{{ event.id }} {{ event.operation }} {{ event.record_id }} {{ event.at }}",
            "evt_1 update 7 2026-02-22T10:00:00Z",
        ),
        ("{{ workflow.name }} {{ vars.limit }}", "orders 5"),
        ("{{ attempt.number }}", 1),
        ("{{ upper(first) }} {{ number.length }}", "ANN 3"),
        ("{{ number(string(total)) }}", 120.0),
        ("{{ missing ?? 'none' }}", "none"),
        ("{{ lines.map(one => one.sku) }}", ["x"]),
        ("{{ lines.map(one => one.sku + number) }}", ["xA-7"]),
    ],
)
def test_a_template_reads_the_record_and_the_event(text: str, value: Any) -> None:
    assert rendered(text, vars={"limit": 5}) == value


def test_a_field_that_is_missing_is_an_error_with_the_name_that_was_meant() -> None:
    assert rendered("{{ custmer_email }}") == (
        "Failed to resolve {{custmer_email}}: 'custmer_email' is not known here; did you mean 'customer_email'?"
    )


@pytest.mark.parametrize(
    ("body", "before", "after", "number"),
    [
        ({**EVENT, "operation": "create", "before": None}, None, AFTER, "A-7"),
        ({**EVENT, "operation": "delete", "after": None}, BEFORE, None, "A-7"),
        ({"operation": "delete", "before": BEFORE}, BEFORE, None, "A-7"),
        ({"before": BEFORE, "after": {"number": "B"}}, BEFORE, {"number": "B"}, "B"),
        ({"after": {"number": "B"}}, None, {"number": "B"}, "B"),
        ({"number": "C", "before": {"number": "D"}}, None, {"number": "C", "before": {"number": "D"}}, "C"),
        ({"number": "C", "after": "lunch"}, None, {"number": "C", "after": "lunch"}, "C"),
        ({"number": "C"}, None, {"number": "C"}, "C"),
        ({}, None, {}, None),
        (None, None, None, None),
        ([1], None, None, None),
        ({"operation": "delete"}, None, None, None),
    ],
)
def test_a_run_begins_with_an_event_with_two_records_or_with_a_record(
    body: Any, before: Any, after: Any, number: Any
) -> None:
    assert rendered(["{{ before }}", "{{ after }}", "{{ number ?? null }}"], body) == [before, after, number]


def test_a_start_without_an_event_has_no_actor_and_the_time_of_its_schedule() -> None:
    run = play_rule(
        action("it", action_config={"x": ["{{ actor }}", "{{ entity }}", "{{ event.id }}", "{{ event.at }}"]}),
        body={},
        given={"scheduled_at": "2026-02-22T09:00:00Z"},
        trigger_type="scheduled",
        cron_expression="@daily",
    )
    assert run.parameters("it")["with"]["x"] == [None, None, None, "2026-02-22T09:00:00Z"]


def test_what_changed_compares_as_expressions_do() -> None:
    event = read_event({"before": {"a": 1, "b": True, "c": None, "d": [1]}, "after": {"a": 1.0, "b": 1, "d": [1]}})
    assert event.changed() == ["b"]


def test_the_scope_of_a_rule_has_its_roots_and_fields() -> None:
    run = play_rule(action("it"))
    scope = build_scope(run.prepared, run.state)
    assert {"number", "before", "steps", "wait", "vars"} <= set(scope)
    assert len(scope) == len(set(scope))
    assert "attempt" not in scope
    assert "missing" not in scope


def test_the_input_is_not_decoded_for_an_edge_that_reads_a_step() -> None:
    run = play_rule(*BRANCHED, edges=BRANCHES)
    run.state.facts = replace(run.state.facts, input=b"not JSON")
    scope = build_scope(run.prepared, run.state)
    assert compile_expression("steps['large'].output == true").test(scope)
    for text in ("after", "number", "event.at"):
        with pytest.raises(ExpressionError):
            compile_expression(text).evaluate(scope)


def test_a_rule_with_functions_of_a_newer_language_reads_its_fields_too() -> None:
    assert rendered("{{ number }}: {{ lines.map(one => one.sku).join('') }} {{ uuid().length }}") == "A-7: x 36"


# Branches.


BRANCHED = (
    action("large", "condition", action_config={"expression": "total > 100"}),
    action("ask"),
    action("ship"),
    action("note"),
)
BRANCHES = [
    start("large"),
    edge("large", "ask", "true_branch"),
    edge("large", "ship", "false_branch"),
    edge("large", "note", "always"),
]


@pytest.mark.parametrize(("total", "asked", "shipped"), [(101, SUCCESS, SKIPPED), (100, SKIPPED, SUCCESS)])
def test_a_condition_leads_to_its_true_or_its_false_branch(total: int, asked: str, shipped: str) -> None:
    run = play_rule(*BRANCHED, edges=BRANCHES, body={"total": total})
    for name in run.started[:]:
        run.give(name, name)
    assert run.statuses() == {"large": SUCCESS, "ask": asked, "ship": shipped, "note": SUCCESS}
    assert run.status == "completed"


def test_a_condition_on_fields_decides_as_the_conditions_of_the_trigger_do() -> None:
    asked = action("large", "condition", action_config=when(("status", "changed_to", "shipped"), ("vip", "is_null")))
    run = play_rule(asked, *BRANCHED[1:], edges=BRANCHES)
    assert run.statuses()["ship"] == SKIPPED


def test_a_condition_that_cannot_be_evaluated_fails_and_takes_only_its_always_edge() -> None:
    run = play_rule(*BRANCHED, edges=BRANCHES, body={"total": "many"})
    assert run.error("large").code == "condition_error"
    run.give("note", {})
    assert run.statuses() == {"large": "failed", "ask": SKIPPED, "ship": SKIPPED, "note": SUCCESS}
    assert run.status == "failed", "an always edge takes care of no failure"


def test_an_action_of_the_catalog_that_answers_neither_true_nor_false_takes_no_branch() -> None:
    edges = [start("paid"), edge("paid", "b", "true_branch"), edge("paid", "c", "false_branch")]
    for output, taken in ((True, "b"), (False, "c"), ("yes", None), (1, None)):
        run = play_rule(action("paid", "shop.is-paid"), action("b"), action("c"), edges=edges)
        run.give("paid", output)
        assert [name for name in "bc" if run.statuses()[name] != SKIPPED] == ([] if taken is None else [taken])


# Sequence, always and joins.


def test_a_sequence_goes_on_after_success_and_a_failure_ends_the_run() -> None:
    edges = [start("a"), start("d"), edge("a", "b"), edge("b", "c")]
    run = play_rule(*map(action, "abcd"), edges=edges)
    run.fail("a")
    assert run.statuses() == {"a": "failed", "b": SKIPPED, "c": SKIPPED, "d": "running"}
    run.give("d", {})
    assert run.status == "failed"


def test_unhandled_failures_may_leave_the_other_branches_alone() -> None:
    run = play_rule(*map(action, "abc"), edges=[start("a"), start("b"), edge("b", "c")], on_unhandled="settle")
    run.fail("a")
    run.give("b", {})
    run.give("c", {})
    assert (run.status, run.statuses()["c"]) == ("failed", SUCCESS)


def test_an_action_with_several_edges_runs_once_if_one_of_them_is_taken() -> None:
    edges = [start("large"), edge("large", "ask", "true_branch"), edge("large", "ship", "false_branch")]
    edges += [edge("ask", "note"), edge("ship", "note")]
    run = play_rule(*BRANCHED, edges=edges)
    run.give("ask", {})
    run.give("note", {})
    assert run.statuses() == {"large": SUCCESS, "ask": SUCCESS, "ship": SKIPPED, "note": SUCCESS}


def test_actions_behind_one_action_begin_in_the_order_of_their_edges() -> None:
    edges = [start("a"), edge("a", "b", edge_order=2), edge("a", "c", edge_order=0), edge("a", "d", edge_order=1)]
    run = play_rule(*map(action, "abcd"), edges=edges)
    run.give("a", {})
    assert run.started == ["a", "c", "d", "b"]


def test_first_actions_begin_in_their_order_of_execution() -> None:
    actions = [action(name, execution_order=order) for name, order in {"a": 3, "b": 1, "c": 2}.items()]
    assert play_rule(*actions, edges=[start("a"), start("b"), start("c")]).started == ["b", "c", "a"]


# Delay, wait, results and output.


def test_a_delay_reads_a_field_and_a_wait_is_received() -> None:
    run = play_rule(
        action("pause", "delay", action_config={"seconds": "{{ minutes * 60 }}"}),
        action("tell", action_config={"url": "{{ wait.approval.url }}"}),
        action("approval", "wait", action_config={"timeout": "1h"}),
        action("done", action_config={"by": "{{ steps.approval.output.by }}"}),
        edges=[start("pause"), edge("pause", "tell"), edge("tell", "approval"), edge("approval", "done")],
        body={"minutes": 2},
    )
    assert run.until("pause") == 120.0
    run.sleep(120)
    assert run.parameters("tell")["with"] == {"url": "https://detent.example/wh/approval"}
    run.give("tell", {})
    run.receive("approval", {"by": "ann"})
    assert run.parameters("done")["with"] == {"by": "ann"}


def test_the_output_of_a_rule_reads_its_actions_and_the_record() -> None:
    run = play_rule(action("a"), output={"id": "{{ id }}", "said": "{{ steps.a.output }}"})
    run.give("a", "yes")
    assert run.output == {"id": 7, "said": "yes"}


def test_a_call_returns_what_it_was_answered() -> None:
    run = play_rule(
        action("get", "call", action_config={"url": "https://shop.example/{{ id }}", "method": "GET"}),
        action("b", action_config={"total": "{{ steps.get.output.total }}", "code": "{{ steps.get.status_code }}"}),
        edges=[start(), edge("get", "b")],
    )
    assert run.parameters("get")["url"] == "https://shop.example/7"
    run.succeed("get", 200, {"total": 5})
    assert run.parameters("b")["with"] == {"total": 5, "code": 200}


# Attempts, repeats and maps.


def test_the_number_of_an_attempt_is_that_of_the_first_one_unless_it_is_rendered_again() -> None:
    for rerender, number in ((False, 1), (True, 2)):
        text = {"n": "{{ attempt.number }}", "of": "{{ number }}"}
        run = play_rule(action("a", action_config=text, retries=1, rerender_on_retry=rerender))
        run.fail("a", retry=True)
        run.sleep(60)
        assert run.parameters("a")["with"] == {"n": number, "of": "A-7"}


def test_a_repeated_action_reads_its_result_beside_the_record() -> None:
    run = play_rule(
        action("a", "call", action_config={"url": "https://x.example"}, repeat={"until": "result.body.n >= total"})
    )
    run.succeed("a", 200, {"n": 1})
    assert run.statuses()["a"] != SUCCESS
    run.sleep(31)
    run.succeed("a", 200, {"n": 120})
    assert run.statuses()["a"] == SUCCESS


def test_a_page_of_a_map_has_the_fields_that_its_items_read() -> None:
    graph = compile_rule(
        rule(
            action(
                "each",
                action_config={"x": "{{ item.sku }} {{ number }} {{ before.status }} {{ attempt.number }}"},
                for_each="{{ lines }}",
            )
        )
    ).graph
    run = play(graph, {"body": EVENT})
    outer = outer_values(run.prepared, run.state, 0)
    assert outer == {"number": "A-7", "before": {"status": "paid"}}
    given = {"body": {"items": [{"sku": "x"}, {"sku": "y"}]}, "outer": outer}
    page = Play(page_of(prepare(graph), Page("each", 0, 2)), facts_of(graph, given))
    assert page.parameters("i1")["with"] == {"x": "y A-7 paid 1"}


def test_a_rule_goes_on_after_its_node_died() -> None:
    run = play_rule(*BRANCHED, edges=BRANCHES)
    run.crash()
    assert run.parameters("ask")["with"] == {}
    run.give("ask", {})
    run.give("note", {})
    assert run.status == "completed"
