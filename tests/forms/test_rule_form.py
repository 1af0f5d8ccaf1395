"""The rule form: what a definition becomes."""

from __future__ import annotations

from typing import Any

import pytest

from detent.forms.compile import FORMS, compile_document, form_of, name_in, schema_of
from detent.forms.compiled import Compiled, RuleFacts, TriggerDefinition, TriggerType
from detent.forms.definition import read_definition
from detent.forms.rules.action import step_names
from detent.forms.rules.action_types import ACTION_TYPES, infer_type
from detent.forms.rules.conditions import conditions_of
from detent.forms.rules.form import compile_rule
from detent.forms.rules.schema import SCHEMA
from detent.graph import codec
from detent.graph.check import check
from detent.graph.model import (
    NO_RETRY,
    ON_RAN,
    ON_SUCCESS,
    RULE_SCOPE,
    Each,
    Edge,
    FailurePolicy,
    Join,
    OnCrash,
    Repeat,
    Retry,
    Step,
    StepKind,
)
from tests.forms.rules import ORDER_STATUS, STAND_INS, WHEN_SHIPPED, action, edge, rule, start, when


def compiled(*actions: dict[str, Any], edges: Any = None, **fields: Any) -> Compiled:
    found = compile_rule(rule(*(actions or (action(),)), edges=edges, **fields))
    assert check(found.graph) == []
    assert codec.decode(codec.encode(found.graph)) == found.graph
    return found


def step(action_type: str = "core.echo", config: Any = None, **fields: Any) -> Step:
    """The only step of a rule."""
    return compiled(action("It", action_type, action_config=config or {}, **fields)).graph.steps[0]


# The request of the editor.


def test_the_request_of_the_editor_compiles_as_written() -> None:
    found = compile_document(read_definition(ORDER_STATUS), actions=STAND_INS)
    assert (found.name, found.title, found.form, found.enabled) == (
        *("order-status-notification", "Order Status Notification"),
        *("rule", True),
    )
    assert found.rule is not None
    assert (found.rule.entity, found.rule.trigger_type, found.rule.operations) == ("order", "on_update", ("update",))
    assert found.rule.condition == (
        "(before['status'] ?? null) != (after['status'] ?? null) && (after['status'] ?? null) == 'shipped'"
    )
    assert found.rule.conditions == WHEN_SHIPPED
    mail, alert = found.graph.steps
    assert (mail.name, mail.title, mail.config) == (
        "send-email",
        "Send Email",
        {
            "action": "email.send",
            "with": {
                "to": ["{{customer_email}}"],
                "subject": "Order {{number}} Shipped",
                "text": "Your order has shipped!",
            },
        },
    )
    assert (alert.name, alert.config["action"]) == ("create-alert", "core.alert")
    assert alert.config["with"] == {
        "alert_type": "order_shipped",
        "severity": "low",
        "title": "Order shipped",
        "message": "Order {{number}} shipped to {{customer_name}}",
    }
    assert found.graph.edges == (Edge("send-email", "create-alert"),)
    assert [warning.partition(":")[0] for warning in found.warnings] == ["canvas_layout"]


def test_a_document_with_actions_is_a_rule_and_is_live_at_its_save() -> None:
    document = rule(action())
    assert form_of(document) is FORMS["rule"]
    assert form_of({**document, "form": "rule"}) is FORMS["rule"]
    assert FORMS["rule"].is_live_at_save
    assert schema_of("rule") is SCHEMA


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"name": "Order  Status: Notification!"}, "order-status-notification"),
        ({"name": "Größere Bestellung 2"}, "grossere-bestellung-2"),
        ({"name": "Orders", "key": "Old name"}, "Old name"),
        ({"name": "注文", "key": "orders"}, "orders"),
    ],
)
def test_the_name_of_the_workflow_is_the_key_or_a_slug_of_what_people_read(fields: dict[str, Any], name: str) -> None:
    assert compiled(**fields).name == name
    assert name_in(rule(action(), **fields)) == name
    assert compiled(**fields).title == fields["name"]


# The workflow.


def test_a_rule_has_the_defaults_of_its_form() -> None:
    found = compiled()
    graph = found.graph
    assert (found.description, found.enabled, found.labels, found.code, found.warnings) == (None, True, {}, (), ())
    assert (found.trigger, found.trigger_schema, found.queue, found.priority) == (TriggerDefinition(), None, None, None)
    assert (graph.scope, graph.on_failure, graph.max_duration) == (RULE_SCOPE, FailurePolicy.FAIL_FAST, 30 * 86400.0)
    assert (graph.output, graph.vars, graph.parallel, graph.context) == (None, {}, None, None)
    assert found.rule == RuleFacts("order", "on_update", ("update",), ids=(("it", "it"),))
    [only] = graph.steps
    assert (only.join, only.retry, only.timeout) == (Join.ANY, Retry(attempts=3), 300.0)


WORKFLOW: list[tuple[dict[str, Any], str, Any]] = [
    ({"description": "a\nb"}, "description", "a\nb"),
    ({"is_active": False}, "enabled", False),
    ({"labels": {"team": "shop"}}, "labels", {"team": "shop"}),
    ({"queue": "slow"}, "queue", "slow"),
    ({"priority": 7}, "priority", 7),
]


@pytest.mark.parametrize(("fields", "name", "value"), WORKFLOW)
def test_a_key_of_the_rule_becomes_a_fact_of_the_workflow(fields: dict[str, Any], name: str, value: Any) -> None:
    assert getattr(compiled(**fields), name) == value


GRAPH: list[tuple[dict[str, Any], str, Any]] = [
    ({"max_duration": "2h"}, "max_duration", 7200.0),
    ({"max_duration": 90}, "max_duration", 90.0),
    ({"max_parallel": 3}, "parallel", 3),
    ({"on_unhandled": "settle"}, "on_failure", FailurePolicy.SETTLE),
    ({"vars": {"limit": 100}}, "vars", {"limit": 100}),
    ({"output": "{{ steps.it.output }}"}, "output", "{{ steps.it.output }}"),
]


@pytest.mark.parametrize(("fields", "name", "value"), GRAPH)
def test_a_key_of_the_rule_becomes_a_field_of_the_graph(fields: dict[str, Any], name: str, value: Any) -> None:
    assert getattr(compiled(**fields).graph, name) == value


def test_what_a_matcher_needs_is_in_the_facts_of_a_start() -> None:
    facts = compiled(trigger_conditions=WHEN_SHIPPED).start_facts()
    assert facts["rule"] == {"entity": "order", "trigger_type": "on_update", "conditions": WHEN_SHIPPED}
    assert facts["code"] == ("detent/2", "detent/3", "detent/4")
    assert conditions_of(facts["rule"]["conditions"]).anchor() == ("status", "shipped")


def test_the_runs_of_one_record_may_be_ordered() -> None:
    found = compiled(overlap="queue")
    assert found.rule is not None
    assert found.rule.is_ordered
    assert found.start_facts()["rule"]["overlap"] == "queue"
    assert "overlap" not in compiled(overlap="allow").start_facts()["rule"]


@pytest.mark.parametrize(
    ("word", "operations"), [("on_create", ("create",)), ("on_update", ("update",)), ("on_delete", ("delete",))]
)
def test_a_rule_of_an_entity_is_started_by_its_events_and_by_no_trigger(word: str, operations: tuple[str, ...]) -> None:
    found = compiled(trigger_type=word)
    assert found.rule is not None
    assert found.rule.operations == operations
    assert found.trigger == TriggerDefinition()


def test_a_scheduled_rule_has_a_schedule_and_needs_no_entity() -> None:
    found = compiled(trigger_type="scheduled", cron_expression="0 9 * * *", timezone="Europe/Zurich", entity=None)
    assert (found.trigger.type, found.trigger.cron, found.trigger.timezone) == (
        *(TriggerType.CRON, "0 9 * * *"),
        "Europe/Zurich",
    )
    assert found.rule is not None
    assert (found.rule.entity, found.rule.operations) == (None, ())


def test_the_conditions_of_a_manual_rule_are_those_of_its_trigger() -> None:
    found = compiled(trigger_type="manual", trigger_conditions=when(("total", "gt", 100)))
    assert found.trigger == TriggerDefinition(TriggerType.MANUAL, {}, "((body.after ?? body)['total'] ?? null) > 100")
    assert found.warnings == ()


def test_conditions_of_a_scheduled_rule_are_a_warning_because_there_is_no_record() -> None:
    [warning] = compiled(
        trigger_type="scheduled", cron_expression="@daily", trigger_conditions=when(("a", "is_null"))
    ).warnings
    assert warning.startswith("trigger_conditions: a schedule sends no record")


def test_tests_of_a_rule_are_read() -> None:
    tests = [{"name": "it runs", "input": {"status": "new"}, "expect": {"status": "completed"}}]
    assert [one.name for one in compiled(tests=tests).tests] == ["it runs"]


# Actions.


def test_actions_are_in_the_order_of_their_execution_and_then_of_the_list() -> None:
    orders = {"a": 2, "b": 1, "c": 2, "d": 1}
    actions = [action(name, execution_order=order) for name, order in orders.items()]
    found = compiled(*actions, edges=[start(f"temp:{number}") for number in range(4)])
    assert [one.name for one in found.graph.steps] == ["b", "d", "a", "c"]


def test_the_step_of_an_action_is_a_slug_of_its_name_that_no_other_action_has() -> None:
    names = ["Send Email", "send  email", "Send-Email!", "Größe", "2nd reminder", "注文", "注文", "x" * 70, "x" * 70]
    assert step_names([{"name": name} for name in names]) == [
        *("send-email", "send-email-2", "send-email-3", "grosse", "action-2nd-reminder", "action", "action-2"),
        *("x" * 64, "x" * 62 + "-2"),
    ]


def test_a_step_that_is_written_is_kept_and_not_given_to_another_action() -> None:
    actions = [{"name": "Mail"}, {"name": "Renamed", "step": "mail"}, {"name": None}, "not an action", {"step": ""}]
    assert step_names(actions) == ["mail-2", "mail", "action", "action-2", "action-3"]


def test_the_title_of_a_step_is_the_name_of_its_action_where_they_differ() -> None:
    found = compiled(action("Tell Ann", step="tell"), action("ask"), edges=[start(), start("ask")])
    assert [(one.name, one.title) for one in found.graph.steps] == [("tell", "Tell Ann"), ("ask", None)]


def test_descriptions_of_actions_are_kept_for_people() -> None:
    assert compiled(action(description="why")).step_descriptions == {"it": "why"}


KINDS: list[tuple[str, dict[str, Any], StepKind, dict[str, Any]]] = [
    ("condition", {"expression": "total > 100"}, StepKind.CONDITION, {"expression": "total > 100"}),
    ("condition", {"expression": True}, StepKind.CONDITION, {"expression": "true"}),
    (
        "condition",
        when(("vip", "equals", True), ("total", "gt", 5), match="any"),
        StepKind.CONDITION,
        {
            "expression": "((after ?? before)['vip'] ?? null) == true || ((after ?? before)['total'] ?? null) > 5",
        },
    ),
    ("delay", {"duration": "2h"}, StepKind.SLEEP, {"seconds": 7200.0}),
    ("delay", {"seconds": "{{ pause }}"}, StepKind.SLEEP, {"seconds": "{{ pause }}"}),
    ("wait", {"timeout": "3d"}, StepKind.WAIT, {"timeout": 259200.0, "early": "buffer"}),
    ("wait", {"early": "reject"}, StepKind.WAIT, {"timeout": None, "early": "reject"}),
    (
        "call",
        {"url": "https://shop.example/{{ id }}", "body": {"a": 1}},
        StepKind.HTTP,
        {"url": "https://shop.example/{{ id }}", "method": "POST", "headers": {}, "body": {"a": 1}},
    ),
    (
        "start_workflow",
        {"workflow": "other", "input": {"id": "{{ id }}"}, "version": 2, "wait": False, "allow_recursion": True},
        StepKind.SUBWORKFLOW,
        {"workflow": "other", "input": {"id": "{{ id }}"}, "version": 2, "detached": True, "recursion": True},
    ),
    ("core.delay", {"seconds": 5}, StepKind.SLEEP, {"seconds": 5.0}),
    ("shop.pay", {"id": 5}, StepKind.ACTION, {"action": "shop.pay", "with": {"id": 5}}),
    (
        "send_email",
        {"recipients": "{{ people }}", "subject": "s", "body": "b", "cc": "ann@shop.example", "attachments": []},
        StepKind.ACTION,
        {
            "action": "email.send",
            "with": {"to": "{{ people }}", "subject": "s", "text": "b", "cc": "ann@shop.example", "attachments": []},
        },
    ),
    (
        "create_alert",
        {"alert_type": "a", "severity": "{{ level }}", "title": "t", "message": "m"},
        StepKind.ACTION,
        {
            "action": "core.alert",
            "with": {"alert_type": "a", "severity": "{{ level }}", "title": "t", "message": "m"},
        },
    ),
]


@pytest.mark.parametrize(("action_type", "config", "kind", "wanted"), KINDS)
def test_an_action_type_becomes_a_kind_of_step(
    action_type: str, config: dict[str, Any], kind: StepKind, wanted: dict[str, Any]
) -> None:
    found = step(action_type, config)
    assert (found.kind, found.config) == (kind, wanted)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ({"recipients": ["a"], "subject": "s", "body": "b"}, "send_email"),
        ({"recipients": []}, "send_email"),
        ({"subject": "s", "body": "b"}, "send_email"),
        ({"alert_type": "a", "severity": "low", "title": "t", "message": "m"}, "create_alert"),
        ({"title": "t", "message": "m"}, "create_alert"),
        ({"expression": "a"}, "condition"),
        ({"field_conditions": []}, "condition"),
        ({"seconds": 5}, "delay"),
        ({"timeout": "1h"}, "wait"),
        ({"url": "x", "body": {}}, "call"),
        ({"workflow": "x"}, "start_workflow"),
        ({"body": "b", "url": None}, None),
        ({}, None),
        ({"subject": "s", "title": "t"}, None),
        ({"channel": "x"}, None),
    ],
)
def test_a_missing_action_type_is_the_one_that_the_config_fits(config: dict[str, Any], name: str | None) -> None:
    found = infer_type(config)
    assert (None if found is None else found.name) == name


def test_every_action_type_can_be_inferred_from_a_config_with_its_required_keys() -> None:
    for one in ACTION_TYPES.values():
        keys = one.required or one.keys
        assert infer_type(dict.fromkeys(keys, "x")) is one


def test_an_action_has_the_policies_that_are_written() -> None:
    found = step(retries=4, timeout="10s", on_crash="ask", rerender_on_retry=True, queue="slow", priority=3)
    assert (found.retry, found.timeout, found.on_crash) == (Retry(attempts=5), 10.0, OnCrash.ASK)
    assert (found.rerender, found.queue, found.priority) == (True, "slow", 3)
    whole = compiled(action(retry={"attempts": 1, "delay": 5}, timeout=90))
    assert (whole.retried, whole.limited) == (frozenset({"it"}), frozenset({"it"}))
    assert (whole.graph.steps[0].retry.delay, whole.graph.steps[0].timeout) == (5.0, 90.0)


def test_a_child_is_tried_once_and_without_a_limit() -> None:
    found = step("start_workflow", {"workflow": "other"})
    assert (found.retry, found.timeout, found.config) == (NO_RETRY, None, {"workflow": "other", "input": {}})


def test_an_action_can_run_for_each_item_of_a_list() -> None:
    found = step(
        config={"text": "{{ item }} {{ index }} {{ number }}"}, for_each="{{ lines }}", collect="{{ result.output }}"
    )
    assert found.each == Each("{{ lines }}", collect="{{ result.output }}")


def test_an_action_can_be_repeated_until_its_result_is_as_wanted() -> None:
    found = step("call", {"url": "https://x.example"}, repeat={"until": "result.body.done", "every": 5})
    assert found.repeat == Repeat("result.body.done", every=5.0)


def test_a_word_like_an_action_type_is_a_warning_where_actions_are_not_known() -> None:
    assert compiled(action("a", "send_mail")).warnings == (
        "actions[0].action_type: 'send_mail' is not an action type of Detent; did you mean 'send_email'?",
    )
    assert compiled(action("a", "pay")).warnings == ()


def test_an_action_that_lasts_longer_than_the_run_is_a_warning() -> None:
    [warning] = compiled(action("a", "delay", action_config={"duration": "2h"}), max_duration="1h").warnings
    assert warning.startswith("actions[0]: it lasts up to 7200 s, and a run only 3600 s")


# Edges.


def two(edge_type: str, **fields: Any) -> Edge:
    source = action("a", "condition", action_config={"expression": "true"})
    found = compiled(source, action("b"), edges=[start(), edge("a", "b", edge_type, **fields)])
    return found.graph.edges[0]


def test_each_type_of_edge_is_taken_by_its_endings() -> None:
    assert two("sequence") == Edge("a", "b", ON_SUCCESS)
    assert two("true_branch") == Edge("a", "b", ON_SUCCESS, "steps['a'].output == true")
    assert two("false_branch") == Edge("a", "b", ON_SUCCESS, "steps['a'].output == false")
    assert two("always") == Edge("a", "b", ON_RAN, handles=False)


def test_the_order_of_edges_is_kept() -> None:
    assert two("sequence", edge_order=3).order == 3


@pytest.mark.parametrize("name", ["act_01", "tell", "temp:1"])
def test_an_edge_names_an_action_by_its_id_its_step_or_its_place(name: str) -> None:
    found = compiled(action("a"), action("Tell", id="act_01"), edges=[start(), edge("temp:0", name)])
    assert found.graph.edges == (Edge("a", "tell"),)


def test_a_new_action_may_name_its_place_as_its_id() -> None:
    assert compiled(action("a", id="temp:0")).graph.steps[0].name == "a"


def test_an_empty_source_is_no_source() -> None:
    assert compiled(action("a"), edges=[start(source_action_id="")]).graph.edges == ()


def test_several_actions_may_be_the_first_and_one_may_be_reached_in_several_ways() -> None:
    found = compiled(
        action("a"),
        action("b"),
        action("c"),
        edges=[start("a"), start("b"), edge("a", "c"), edge("b", "c"), edge("a", "c", "always")],
    )
    assert len(found.graph.edges) == 3


def test_an_action_of_the_catalog_may_have_branches() -> None:
    found = compiled(action("a", "shop.is-paid"), action("b"), edges=[start(), edge("a", "b", "true_branch")])
    assert found.graph.edges[0].condition == "steps['a'].output == true"


# The names that expressions read.


def test_the_fields_that_a_rule_reads_are_known_with_their_places() -> None:
    found = compiled(
        action("a", action_config={"text": "{{number}} {{ before.status }} {{ after['odd name'] }} {{ event.at }}"}),
        action("b", "condition", action_config={"expression": "total > vars.limit && contains(changed, 'x')"}),
        action("c", "condition", action_config=when(("vip", "is_null"))),
        edges=[start(), edge("a", "b"), edge("b", "c")],
        trigger_conditions=WHEN_SHIPPED,
        vars={"limit": 5},
        output={"id": "{{ id }}", "run": "{{ run.id }}"},
    )
    assert found.rule is not None
    assert found.rule.reads == (
        ("trigger_conditions.field_conditions[0].field_name", "status"),
        ("actions[0].action_config.text", "number"),
        ("actions[0].action_config.text", "status"),
        ("actions[0].action_config.text", "odd name"),
        ("actions[1].action_config.expression", "total"),
        ("output.id", "id"),
        ("actions[2].action_config.field_conditions[0].field_name", "vip"),
    )


def test_every_root_can_be_read() -> None:
    roots = (
        *("before", "after", "changed", "actor", "entity", "event.id", "event.operation", "event.record_id"),
        *("event.at", "run.id", "workflow.name", "attempt.number", "attempt.at", "vars", "vars.x"),
        *("steps.first.output", "wait.first.url"),
    )
    texts = ["{{ " + root + " }}" for root in roots]
    compiled(
        action("first", "wait"),
        action("a", action_config={"texts": texts}),
        edges=[start(), edge("first", "a")],
        vars={"x": 1},
    )


def test_places_of_the_graph_are_those_of_the_document() -> None:
    found = compiled(
        action("Mail", "send_email", action_config={"recipients": "a@b.example", "subject": "s", "body": "b"}),
        action("Other", "start_workflow", action_config={"workflow": "x"}),
        action("Pay", "shop.pay"),
        edges=[start(f"temp:{number}") for number in range(3)],
    )
    place = FORMS["rule"].place
    places = {
        "steps.mail": "actions[0]",
        "steps.mail.action": "actions[0].action_type",
        "steps.mail.with.to[0]": "actions[0].action_config.recipients[0]",
        "steps.mail.with.text": "actions[0].action_config.body",
        "steps.mail.with.cc": "actions[0].action_config.cc",
        "steps.mail.on_crash": "actions[0].on_crash",
        "steps.other.workflow": "actions[1].action_config.workflow",
        "steps.other.input.a.b": "actions[1].action_config.input.a.b",
        "steps.pay.with": "actions[2].action_config",
        "output": "output",
    }
    assert {path: place(path, found) for path in places} == places
