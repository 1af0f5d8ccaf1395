"""Everything that can be wrong with a rule, each with its field and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidDefinition, Problem
from detent.forms.compile import compile_document, name_in
from detent.forms.compiled import Limits
from detent.forms.rules import form
from detent.forms.rules.entity_fields import check_fields, fields_of
from detent.forms.rules.form import compile_rule
from tests.forms.rules import STAND_INS, WHEN_SHIPPED, action, edge, rule, start, when

MAIL = {"recipients": ["ann@shop.example"], "subject": "Shipped", "body": "It is on its way."}
ALERT = {"alert_type": "order_shipped", "severity": "low", "title": "Shipped", "message": "It is on its way."}


def problems(written: Any, **options: Any) -> list[Problem]:
    with pytest.raises(InvalidDefinition) as caught:
        compile_rule(written, **options)
    assert caught.value.message == "workflow validation failed"
    return list(caught.value.problems)


def only(written: Any, **options: Any) -> tuple[str, str]:
    """The one problem of a document."""
    found = problems(written, **options)
    assert len(found) == 1, found
    return found[0].field, found[0].message


def said(written: Any, **options: Any) -> list[str]:
    return [str(one) for one in problems(written, **options)]


# The two errors of the editor's contract, in its words.


def test_the_example_of_a_validation_error_has_its_fields_and_words() -> None:
    written = rule(
        action("Create Alert", "create_alert", action_config=ALERT),
        {"name": "Send Email", "action_config": {**MAIL, "recipients": []}},
        edges=[start(), edge("temp:0", "temp:1"), edge("temp:1", "temp:0")],
    )
    first, second = problems(written)
    assert first == Problem("actions[1].action_config.recipients", "at least one recipient required")
    assert second.field == "edges"
    assert second.message.startswith("cycle detected between actions")


# Rules of the rule.


def test_name_is_required_and_not_empty() -> None:
    assert only(rule(action(), name=None)) == ("name", "is missing")
    assert only(rule(action(), name="")) == ("name", "must not be empty")
    assert only(rule(action(), name="  ")) == ("name", "must not be empty")


RULE: list[tuple[dict[str, Any], str, str]] = [
    ({"name": 5}, "name", "must be text"),
    ({"name": "x" * 201}, "name", "at most 200"),
    ({"name": "注文"}, "key", "is missing, and '注文' has no letter that can be in it; write a key"),
    ({"key": "a/b"}, "key", "cannot be the name of a workflow"),
    ({"key": ""}, "key", "must not be empty"),
    ({"key": 5}, "key", "must be text"),
    ({"form": "graph"}, "form", "must be 'rule'"),
    ({"nodes": []}, "nodes", "unknown field 'nodes'"),
    ({"enabled": True}, "enabled", "unknown field 'enabled'"),
    ({"is_active": "yes"}, "is_active", "must be true or false"),
    ({"description": 5}, "description", "must be text"),
    ({"entity": None}, "entity", "is missing: on_update is about the records of an entity"),
    ({"entity": 5}, "entity", "must be text"),
    ({"entity": " order"}, "entity", "' order' has blanks at its ends"),
    ({"entity_id": "order"}, "entity_id", "is another spelling of 'entity'"),
    ({"trigger_type": None}, "trigger_type", "is missing; write one of on_create, on_update, on_delete"),
    ({"trigger_type": "on_updated"}, "trigger_type", "did you mean 'on_update'?"),
    ({"trigger_type": 5}, "trigger_type", "must be one of on_create"),
    ({"trigger_type_id": "on_update"}, "trigger_type_id", "is another spelling of 'trigger_type'"),
    ({"trigger_type": None, "trigger_type_id": "9"}, "trigger_type_id", "'9' is not one of on_create"),
    ({"trigger_conditions": []}, "trigger_conditions", "must be a mapping, not a list"),
    ({"trigger_conditions": {"x": 1}}, "trigger_conditions.x", "unknown field 'x'"),
    ({"cron_expression": "@daily"}, "cron_expression", "is only for trigger_type scheduled, not on_update"),
    ({"overlap": "skip"}, "overlap", "'skip' is not one of allow, queue"),
    ({"overlap": "queue", "trigger_type": "manual"}, "overlap", "is only for trigger_type scheduled, not manual"),
    ({"trigger_type": "scheduled"}, "cron_expression", "is missing"),
    ({"trigger_type": "scheduled", "cron_expression": "often"}, "cron_expression", "is not a cron expression"),
    ({"max_duration": 0}, "max_duration", ""),
    ({"max_parallel": 0}, "max_parallel", "must be from 1"),
    ({"on_unhandled": "stop"}, "on_unhandled", "is not one of fail, settle"),
    ({"vars": []}, "vars", "must be a mapping"),
    ({"vars": {str(number): 1 for number in range(1001)}}, "vars", "has 1001 variables; at most 1000"),
    ({"labels": {"a": 5}}, "labels.a", "must be text"),
    ({"queue": "a b"}, "queue", "cannot be the name of a queue"),
    ({"priority": 2000}, "priority", "must be from -1000 to 1000"),
    ({"tests": [{"name": "x"}]}, "tests[0].expect", "is missing"),
    ({"actions": None}, "actions", "there are no actions"),
    ({"actions": []}, "actions", "there are no actions"),
    ({"actions": {}}, "actions", "must be a list of actions"),
    ({"actions": 5}, "actions", "must be a list of actions"),
    ({"canvas_layout": []}, "canvas_layout", "must be a mapping"),
    ({"edges": {}}, "edges", "must be a list of edges"),
]


@pytest.mark.parametrize(("fields", "field", "message"), RULE)
def test_a_wrong_field_of_a_rule_is_refused(fields: dict[str, Any], field: str, message: str) -> None:
    found = problems({**rule(action()), **fields})
    assert found[0].field == field
    assert message in found[0].message
    rest = {one.field for one in found[1:]}
    # Without actions or edges, the others have problems of their own.
    assert rest <= {"actions[0]", "edges[0].target_action_id"}


def test_trigger_conditions_must_be_a_valid_structure() -> None:
    written = rule(action(), trigger_conditions=when(("status", "became", "x"), ("total", "gt", None)))
    assert [one.field for one in problems(written)] == [
        "trigger_conditions.field_conditions[0].operator",
        "trigger_conditions.field_conditions[1].value",
    ]


@pytest.mark.parametrize("operator", ["changed", "changed_to", "changed_from"])
@pytest.mark.parametrize(
    "kind", [{"trigger_type": "manual"}, {"trigger_type": "scheduled", "cron_expression": "@daily"}]
)
def test_a_rule_without_events_cannot_ask_what_changed(operator: str, kind: dict[str, Any]) -> None:
    value = () if operator == "changed" else ("x",)
    written = rule(action(), trigger_conditions=when({"any": [("status", operator, *value)]}), **kind)
    field, message = only(written)
    assert field == "trigger_conditions.field_conditions[0].any[0].operator"
    assert f"'{operator}' compares a record before and after its change" in message


def test_a_document_without_a_key_and_a_name_has_no_name() -> None:
    for fields in ({"name": None}, {"name": "注文"}):
        with pytest.raises(InvalidDefinition) as caught:
            name_in(rule(action(), **fields))
        assert [one.field for one in caught.value.problems] == ["key"]


# Rules of actions.


def test_each_action_must_have_a_name_and_a_config() -> None:
    assert said(rule({})) == ["actions[0].name: is missing", "actions[0].action_config: is missing"]
    assert said(rule({"name": "a", "action_type": "wait"})) == ["actions[0].action_config: is missing"]


@pytest.mark.parametrize("order", [0, -1, 1.5, "1", True, []])
def test_execution_order_must_be_a_positive_integer(order: Any) -> None:
    field, message = only(rule(action(execution_order=order)))
    assert field == "actions[0].execution_order"
    assert "must be" in message


ACTION: list[tuple[Any, str, str]] = [
    ("x", "", "an action must be a mapping with name and action_config, not the text 'x'"),
    (action(5), ".name", "must be text"),
    (action(""), ".name", "must not be empty"),
    (action("x" * 201), ".name", "at most 200"),
    (action(steps="a"), ".steps", "unknown field 'steps'; did you mean 'step'?"),
    (action(step="a b"), ".step", "'a b' cannot be the name of a step"),
    (action(step=5), ".step", "must be text"),
    (action(step=""), ".step", "must not be empty"),
    (action(step="x" * 65), ".step", "at most 64"),
    (action(id=5), ".id", "must be text"),
    (action(id="x" * 256), ".id", "at most 255"),
    (action(id="temp:1"), ".id", "'temp:1' is not the place of this action, which is temp:0"),
    (action(is_active=False), ".is_active", "an action cannot be inactive; remove it, or deactivate the rule"),
    (action(is_active="no"), ".is_active", "must be true or false"),
    (action(description=5), ".description", "must be text"),
    (action(queue="a b"), ".queue", "cannot be the name of a queue"),
    (action(action_config=[]), ".action_config", "must be a mapping, not a list"),
    (action("a", 5), ".action_type", "must be text"),
    (action("a", "core.ecko"), ".action_type", "no core action 'core.ecko'; did you mean 'core.echo'?"),
    (action("a", "a b"), ".action_type", "no action type 'a b'"),
    (action("a", "1.x"), ".action_type", "'1.x' cannot be the name of an action"),
    ({"name": "a", "action_config": {}}, ".action_type", "is missing, and no type fits the config; write one of send"),
    ({"name": "a", "action_config": {"x": 1}}, ".action_type", "or an action of the catalog"),
    (action(retries=101), ".retries", "must be from 0 to 100"),
    (action(timeout=0), ".timeout", ""),
    (action(on_crash="panic"), ".on_crash", "is not one of"),
    (action(for_each=5), ".for_each", "must be a list"),
    (action(collect="x"), ".collect", "'collect' has no meaning without 'for_each'"),
    (action(repeat={}), ".repeat.until", "is missing"),
    (action("a", "wait", retries=3), ".retries", "'retries' has no meaning for 'wait': it has no attempts"),
    (action("a", "delay", action_config={"seconds": 1}, timeout=3), ".timeout", "no meaning for 'delay'"),
    (action("a", "core.wait", retries=3), ".retries", "'retries' has no meaning for 'core.wait': it has no attempts"),
    (action("a", "wait", for_each=[1]), ".for_each", "a wait cannot run for each item"),
    (
        action("a", "start_workflow", action_config={"workflow": "x"}, on_crash="ask"),
        ".on_crash",
        "has no meaning for a child workflow",
    ),
]


@pytest.mark.parametrize(("written", "field", "message"), ACTION)
def test_a_wrong_action_is_refused(written: Any, field: str, message: str) -> None:
    found = only(rule(written))
    assert found[0] == f"actions[0]{field}"
    assert message in found[1]


CONFIG: list[tuple[str, Any, str, str]] = [
    ("send_email", {**MAIL, "recipients": None}, ".recipients", "at least one recipient required"),
    ("send_email", {**MAIL, "recipients": []}, ".recipients", "at least one recipient required"),
    ("send_email", {**MAIL, "recipients": " "}, ".recipients", "at least one recipient required"),
    ("send_email", {**MAIL, "recipients": 5}, ".recipients", "must be a list of addresses, or one address"),
    ("send_email", {**MAIL, "recipients": ["a", ""]}, ".recipients[1]", "must be an address, not the text ''"),
    ("send_email", {**MAIL, "recipients": [5]}, ".recipients[0]", "must be an address, not the number 5"),
    ("send_email", {**MAIL, "subject": None}, ".subject", "is missing"),
    ("send_email", {**MAIL, "subject": ""}, ".subject", "must not be empty"),
    ("send_email", {**MAIL, "body": 5}, ".body", "must be text"),
    ("send_email", {**MAIL, "to": "x"}, ".to", "unknown field 'to'"),
    ("send_email", {**MAIL, "body": "{{ x"}, ".body", "'{{' is not closed by '}}'"),
    ("send_email", {**MAIL, "cc": 5}, ".cc", "must be a list of addresses, or one address"),
    ("send_email", {**MAIL, "bcc": " "}, ".bcc", "must not be empty"),
    ("send_email", {**MAIL, "attachments": 5}, ".attachments", "must be a list of files"),
    ("send_email", {**MAIL, "html": ""}, ".html", "must not be empty"),
    ("send_email", {**MAIL, "subject": "x" * 501}, ".subject", "has 501 characters; at most 500 are allowed"),
    ("create_alert", {**ALERT, "alert_type": None}, ".alert_type", "is missing"),
    ("create_alert", {**ALERT, "severity": "lowest"}, ".severity", "is not one of low, medium, high, critical"),
    ("create_alert", {**ALERT, "severity": 5}, ".severity", "must be text"),
    ("create_alert", {**ALERT, "title": ""}, ".title", "must not be empty"),
    ("create_alert", {**ALERT, "colour": "red"}, ".colour", "unknown field 'colour'"),
    ("condition", {}, ".expression", "is missing: a condition such as total > 100"),
    ("condition", {"expression": 5}, ".expression", 'must be a condition, such as "total > 100"'),
    ("condition", {"expression": "a +"}, ".expression", "the expression ends too early"),
    ("condition", {"expression": "a", "match": "any"}, "", "write either expression or field_conditions"),
    ("condition", {"field_conditions": []}, ".field_conditions", "there are no conditions"),
    ("condition", when(("a", "is")), ".field_conditions[0].operator", "is not one of changed"),
    ("condition", {"expression": "a", "x": 1}, ".x", "unknown field 'x'"),
    ("delay", {}, "", 'write either "seconds" or "duration"; one is needed'),
    ("delay", {"duration": "soon"}, ".duration", ""),
    ("wait", {"timeot": 1}, ".timeot", "did you mean 'timeout'?"),
    ("call", {}, ".url", "is missing"),
    ("call", {"url": "ftp://x"}, ".url", "must begin with http:// or https://"),
    ("start_workflow", {}, ".workflow", "is missing: name the workflow that this action starts"),
    ("start_workflow", {"workflow": "x", "with": {}}, ".with", "unknown field 'with'"),
    ("start_workflow", {"workflow": "x", "version": 0}, ".version", "must be from 1"),
    ("start_workflow", {"workflow": "x", "input": []}, ".input", "must be a mapping"),
]


@pytest.mark.parametrize(("action_type", "config", "field", "message"), CONFIG)
def test_a_config_must_match_the_schema_of_its_action_type(
    action_type: str, config: Any, field: str, message: str
) -> None:
    found = only(rule(action("a", action_type, action_config=config)))
    assert found[0] == f"actions[0].action_config{field}"
    assert message in found[1]


def test_an_action_that_no_process_has_is_refused_where_actions_are_known() -> None:
    written = rule(action("a", "slack.post"))
    assert compile_rule(written).code == ("slack.post",)
    assert only(written, actions=("slack.posts",)) == (
        "actions[0].action_type",
        "no action 'slack.post'; did you mean 'slack.posts'?",
    )
    unknown = only(rule(action("a", "sendemail")), actions=STAND_INS)
    assert unknown[1] == "no action type 'sendemail'; did you mean 'send_email'?"
    assert "it is one of send_email, create_alert" in only(rule(action("a", "xyz")), actions=STAND_INS)[1]


def test_two_actions_cannot_have_the_same_id_or_step() -> None:
    written = rule(
        action("a", id="act_1"),
        action("b", id="act_1"),
        edges=[start("a"), start("temp:1")],
    )
    assert said(written) == ["actions[1].id: 'act_1' is the id of actions[0] already"]
    clash = rule(action("x", step="a"), action("y", step="A"), edges=[start()])
    assert said(clash)[0] == "actions[1].step: 'A' and 'a' differ only in case; give one of them another name"


# Rules of edges.


TWO = (action("a"), action("b"))


def test_a_start_edge_must_have_no_source() -> None:
    first, *_ = problems(rule(*TWO, edges=[edge("a", "b", "start"), start("a")]))
    assert first.field == "edges[0].source_action_id"
    assert first.message == "must be null, because a start edge has no source"


@pytest.mark.parametrize("source", [None, ""])
def test_an_edge_that_is_not_a_start_must_have_a_source(source: str | None) -> None:
    written = {"source_action_id": source, "target_action_id": "b", "edge_type": "sequence"}
    first, *_ = problems(rule(*TWO, edges=[start("a"), written]))
    assert first.field == "edges[1].source_action_id"
    assert first.message == "is missing: a sequence edge leads from an action; only a start edge has no source"


@pytest.mark.parametrize("end", ["source_action_id", "target_action_id"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("c", "no action 'c'"),
        ("act_unknown", "no action 'act_unknown'"),
        ("temp:2", "'temp:2' is not the place of an action; there is temp:0 to temp:1"),
        ("temp:-1", "'temp:-1' is not the place of an action"),
        ("temp:", "'temp:' is not the place of an action"),
        ("temp:x", "'temp:x' is not the place of an action"),
        ("temp:1.0", "'temp:1.0' is not the place of an action"),
        ("temp:²", "is not the place of an action"),
        ("temp:99999999999999999999", "is not the place of an action"),
        (5, "must be text"),
        ("x" * 256, "at most 255"),
    ],
)
def test_both_ends_of_an_edge_must_be_valid_actions(end: str, name: Any, message: str) -> None:
    written = {**edge("a", "b"), end: name}
    found = problems(rule(*TWO, edges=[start("a"), start("b"), written]))
    assert [(one.field, message in one.message) for one in found] == [(f"edges[2].{end}", True)]


def test_a_temporary_id_that_two_actions_have_is_refused() -> None:
    actions = (action("a", id="temp:0"), action("b", id="temp:0"))
    assert said(rule(*actions, edges=[start("temp:0"), edge("temp:0", "temp:1")])) == [
        "actions[1].id: 'temp:0' is not the place of this action, which is temp:1; a new action needs no id"
    ]


def test_an_edge_must_name_its_target_and_its_type() -> None:
    assert said(rule(action(), edges=[start(), {}])) == [
        "edges[1].edge_type: is missing; write one of start, sequence, true_branch, false_branch, always",
        "edges[1].target_action_id: is missing",
    ]


EDGE: list[tuple[Any, str, str]] = [
    ("x", "", "an edge must be a mapping with a target_action_id, not the text 'x'"),
    (edge("a", "b", "sequense"), ".edge_type", "did you mean 'sequence'?"),
    (edge("a", "b", edge_order=-1), ".edge_order", "must be from 0"),
    (edge("a", "b", edge_order="1"), ".edge_order", "must be a whole number"),
    (edge("a", "b", id=5), ".id", "must be text"),
    (edge("a", "b", condition="x"), ".condition", "unknown field 'condition'"),
    (edge("a", "a"), ".target_action_id", "an action cannot lead to itself"),
    (edge("temp:0", "a"), ".target_action_id", "an action cannot lead to itself"),
]


@pytest.mark.parametrize(("written", "field", "message"), EDGE)
def test_a_wrong_edge_is_refused(written: Any, field: str, message: str) -> None:
    edges = (
        [start("a"), written]
        if field.startswith((".edge_order", ".id", ".cond"))
        else [start("a"), start("b"), written]
    )
    found = only(rule(*TWO, edges=edges))
    assert found[0] == f"edges[{len(edges) - 1}]{field}"
    assert message in found[1]


def test_a_second_edge_like_another_is_refused() -> None:
    field, message = only(rule(*TWO, edges=[start("a"), edge("a", "b"), edge("temp:0", "b")]))
    assert field == "edges[2]"
    assert message == "a second sequence edge from 'a' to 'b', like edges[1]; remove one of them"


def test_two_start_edges_to_one_action_are_refused() -> None:
    assert only(rule(action("a"), edges=[start("a"), start("temp:0")])) == (
        "edges[1].target_action_id",
        "'a' has a start edge already, edges[0]; remove one of them",
    )


def test_an_action_that_follows_another_is_not_a_start() -> None:
    assert only(rule(*TWO, edges=[start("a"), start("b"), edge("a", "b")])) == (
        "edges[1].target_action_id",
        "'b' follows 'a', so it is not a start; remove one of the edges",
    )


@pytest.mark.parametrize("edge_type", ["true_branch", "false_branch"])
@pytest.mark.parametrize("kind", ["wait", "core.delay", "send_email"])
def test_only_an_action_that_answers_true_or_false_has_branches(edge_type: str, kind: str) -> None:
    config = {"wait": {}, "core.delay": {"seconds": 1}, "send_email": MAIL}[kind]
    source = action("a", kind, action_config=config)
    field, message = only(rule(source, action("b"), edges=[start(), edge("a", "b", edge_type)]))
    assert field == "edges[1].edge_type"
    assert message.startswith(f"a {edge_type} needs a source whose output is true or false, and 'a' is not one")


# Rules of the whole.


def test_cycles_are_refused_in_the_words_of_the_contract() -> None:
    actions = [action(name) for name in "abcd"]
    edges = [start("a"), edge("a", "b"), edge("b", "c", "always"), edge("c", "b"), edge("c", "d")]
    assert only(rule(*actions, edges=edges)) == ("edges", "cycle detected between actions: b -> c -> b")


def test_orphaned_actions_are_refused() -> None:
    assert only(rule(*TWO, edges=[start("a")])) == (
        "actions[1]",
        "orphaned: no edge leads to it; add an edge to it, or remove it",
    )
    assert len(problems(rule(*TWO, edges=[]))) == 2
    assert len(problems(rule(*TWO, edges=None) | {"edges": None})) == 2


def test_actions_that_no_start_edge_leads_to_are_refused() -> None:
    written = rule(*TWO, action("c"), edges=[start("a"), edge("b", "c")])
    assert said(written) == [
        "actions[1]: unreachable: no path of edges leads from a start edge to it",
        "actions[2]: unreachable: no path of edges leads from a start edge to it",
    ]


@pytest.mark.parametrize("count", [1_001, 10_000])
def test_too_many_actions_are_refused_before_anything_is_compiled(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("an action was read")

    monkeypatch.setattr(form, "read_rule_action", fail)
    monkeypatch.setattr(form, "step_names", fail)
    written = rule(*[action(str(number)) for number in range(count)])
    assert only(written) == ("actions", f"has {count} actions; at most 1000 are allowed")


def test_a_thousand_actions_are_allowed_and_the_operator_may_allow_others() -> None:
    actions = [action(f"a{number}") for number in range(1_000)]
    edges = [start(), *(edge(f"temp:{number}", f"temp:{number + 1}") for number in range(999))]
    assert len(compile_rule(rule(*actions, edges=edges)).graph.steps) == 1_000
    assert only(rule(*TWO), limits=Limits(steps=1))[0] == "actions"


def test_too_many_edges_are_refused_before_anything_is_compiled() -> None:
    edges = [start()] * 21
    assert only(rule(action(), edges=edges), limits=Limits(steps=1)) == (
        "edges",
        "has 21 edges; at most 20 are allowed",
    )


def test_every_problem_is_reported_at_once() -> None:
    written = rule(
        action("a", action_config={"x": "{{ steps.b.output }}"}),
        action("", "core.ecko", execution_order=0),
        edges=[start(), edge("a", "temp:7")],
        trigger_type="sometimes",
        priority=5_000,
    )
    assert [one.field for one in problems(written)] == [
        "trigger_type",
        "actions[1].name",
        "actions[1].execution_order",
        "actions[1].action_type",
        "edges[1].target_action_id",
        "priority",
        "actions[1]",
        "actions[0].action_config.x",
    ]


def test_a_rule_is_compiled_like_every_other_form() -> None:
    with pytest.raises(InvalidDefinition):
        compile_document({"actions": []})


# The names that expressions read.


READS: list[tuple[str, str]] = [
    ("{{ trigger.body.x }}", "a rule has no 'trigger'; write the field itself, or after.FIELD"),
    ("{{ tasks.first.output }}", "a rule has no 'tasks'; write steps.STEP.output"),
    ("{{ context.data['first'] }}", "a rule has no 'context'; write steps.STEP.output"),
    ("{{ $input.x }}", "a rule has no '$input'"),
    ("{{ $execution.resume_url }}", "a rule has no '$execution'; write wait.STEP.url"),
    ("{{ steps }}", "name an action and a part of its result: steps.STEP.output"),
    ("{{ steps.first }}", "name a part: steps.first.status"),
    ("{{ steps.frist.output }}", "no action 'frist'; did you mean 'first'?"),
    ("{{ steps.it.output }}", "an action cannot read its own result"),
    ("{{ steps.other.output }}", "no path of edges leads from 'other' to 'it', so its result may not be there"),
    ("{{ first.output }}", "write steps.first to read the result of that action"),
    ("{{ wait }}", "write wait.STEP.url with the step of an action that waits"),
    ("{{ wait.first.url }}", "'first' is not a wait action, so it has no callback URL"),
    ("{{ vars.limt }}", "no variable 'limt'; did you mean 'limit'?"),
    ("{{ vars.x }}", "no variable 'x'; write it under vars"),
    ("{{ run.name }}", "run has no 'name'"),
    ("{{ event }}", "name a part: event.id, event.operation, event.record_id, event.at"),
    ("{{ event.data }}", "event has no 'data'"),
    ("{{ attempt }}", "name a part: attempt.number, attempt.at"),
    ("{{ item }}", "only the templates of an action with for_each know 'item'; a field with this name is after.item"),
    ("{{ result }}", "only 'collect' and 'until' know 'result'; a field with this name is after.result"),
]


@pytest.mark.parametrize(("text", "message"), READS)
def test_a_name_that_cannot_be_read_is_refused(text: str, message: str) -> None:
    actions = (action("first"), action("it", action_config={"x": text}), action("other"))
    edges = [start("first"), edge("first", "it"), edge("first", "other")]
    field, found = only(rule(*actions, edges=edges, vars={"limit": 1}))
    assert field == "actions[1].action_config.x"
    assert message in found


@pytest.mark.parametrize(
    ("kind", "config"),
    [("condition", {"expression": "attempt.number > 1"}), ("delay", {"seconds": "{{ attempt.number }}"})],
)
def test_what_is_not_tried_knows_no_attempt(kind: str, config: dict[str, Any]) -> None:
    _, message = only(rule(action("a", kind, action_config=config)))
    assert "only the config of an action that is tried knows the attempt" in message
    _, message = only(rule(action(), output="{{ attempt.number }}"))
    assert "only the config of an action that is tried knows the attempt" in message


# The fields of an entity.


ENTITY = {
    "type": "object",
    "properties": {"status": {}, "number": {}, "customer_email": {}},
    "allOf": [{"$ref": "#/$defs/base"}, True, {"if": {"properties": {"vip": {}}}, "then": {}}],
    "$defs": {"base": {"properties": {"id": {}}, "$ref": "#/$defs/base"}},
}


def test_a_field_that_the_entity_does_not_have_is_a_problem() -> None:
    mail = {**MAIL, "recipients": ["{{customer_mail}}"], "subject": "{{ number }} {{ after.nmber }} {{ before.id }}"}
    written = rule(
        action("a", "send_email", action_config=mail),
        trigger_conditions=when(("statu", "changed"), ("vip", "is_null")),
    )
    found = check_fields(compile_rule(written).rule, ENTITY)
    assert [str(one) for one in found] == [
        "trigger_conditions.field_conditions[0].field_name: order has no field 'statu'; did you mean 'status'?",
        "actions[0].action_config.recipients[0]: order has no field 'customer_mail'; did you mean 'customer_email'?",
        "actions[0].action_config.subject: order has no field 'nmber'; did you mean 'number'?",
    ]


def test_a_field_like_no_other_is_reported_with_those_that_exist() -> None:
    written = rule(action(), trigger_conditions=when(("colour", "changed")), trigger_type="on_create")
    [problem] = check_fields(compile_rule(written).rule, {"properties": {"status": {}, "a": {}}})
    assert problem.message == "order has no field 'colour'; it has a, status"


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        {},
        {"type": "object"},
        {"properties": {"a": {}}, "additionalProperties": True},
        {"properties": {"a": {}}, "additionalProperties": {"type": "string"}},
        {"properties": {"a": {}}, "patternProperties": {"^x": {}}},
        {"properties": {"a": {}}, "allOf": [{"additionalProperties": True}]},
        {"$ref": "#/nowhere/at/all"},
        {"$ref": "https://elsewhere.example"},
    ],
)
def test_a_schema_that_allows_any_field_is_not_compared(schema: Any) -> None:
    assert check_fields(compile_rule(rule(action(), trigger_conditions=WHEN_SHIPPED)).rule, schema) == []


def test_additional_fields_may_be_refused_explicitly() -> None:
    assert fields_of({"properties": {"a": {}}, "additionalProperties": False}) == {"a"}


def test_a_workflow_that_is_not_a_rule_reads_no_fields() -> None:
    graph = compile_document({"name": "x", "tasks": {"a": {"action": "core.echo"}}})
    assert check_fields(graph.rule, {"properties": {"a": {}}}) == []
