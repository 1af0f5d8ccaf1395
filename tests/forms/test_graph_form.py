"""The graph form: what a definition becomes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml

from detent.forms.compile import compile_document, form_of, name_in
from detent.forms.compiled import Compiled, Limits, TriggerDefinition, TriggerType, limits_of
from detent.forms.definition import read_definition
from detent.forms.graph.form import compile_graph
from detent.graph import codec
from detent.graph.check import check
from detent.graph.model import (
    FAILURES,
    NO_RETRY,
    ON_ANY,
    ON_RAN,
    ON_SUCCESS,
    ContextSnapshot,
    Edge,
    FailurePolicy,
    Join,
    OnCrash,
    Overflow,
    Retry,
    Route,
    SnapshotMode,
    Step,
    StepKind,
)
from detent.settings import Settings
from tests.forms.graphs import FANOUT_FANIN, MONDAY_STATUS, ONBOARD_PROJECT, RETRY_DEMO, STAND_INS, document, edge, node


def compiled(*nodes: dict[str, Any], **fields: Any) -> Compiled:
    found = compile_graph(document(*(nodes or (node("it"),)), **fields))
    assert check(found.graph) == []
    assert codec.decode(codec.encode(found.graph)) == found.graph
    return found


def step(**fields: Any) -> Step:
    """The only step of a workflow."""
    return compiled(node("it", **fields)).graph.steps[0]


def edges(*nodes: dict[str, Any]) -> tuple[Edge, ...]:
    return compiled(*nodes).graph.edges


# The four workflows, word for word.


def test_get_monday_status_compiles_word_for_word() -> None:
    workflow = compile_graph(read_definition(MONDAY_STATUS), actions=STAND_INS)
    assert (workflow.name, workflow.title, workflow.form) == ("get-monday-status", "Get Monday Status Report", "graph")
    assert workflow.code == ("monday.get-items", "slack.post-message")
    assert workflow.graph.edges == (Edge("fetch-items", "post-slack"),)
    fetch = workflow.graph.steps[0]
    assert fetch.retry.attempts == 3
    assert fetch.config["with"]["filter"]["rules"] == [{"column": "Status", "operator": "eq", "value": "In Progress"}]
    assert workflow.warnings == ()


def test_onboard_project_compiles_word_for_word() -> None:
    graph = compile_graph(read_definition(ONBOARD_PROJECT), actions=STAND_INS).graph
    status = "context.data['get-item'].items[0].Status"
    assert graph.edges == (
        Edge("get-item", "create-confluence", condition=f"{status} === 'Approved'", order=0),
        Edge("get-item", "notify-not-approved", condition=f"{status} !== 'Approved'", order=1),
        Edge("get-item", "notify-error", FAILURES, order=2, otherwise=True),
    )
    assert (graph.on_failure, graph.max_duration, graph.scope) == (FailurePolicy.FAIL_FAST, 3600.0, "graph")


def test_fanout_fanin_compiles_word_for_word() -> None:
    workflow = compile_graph(read_definition(FANOUT_FANIN), actions=STAND_INS)
    assert [(one.source, one.target, one.condition) for one in workflow.graph.edges] == [
        ("A", "B", "true"),
        ("A", "C", "false"),
        ("B", "D", None),
        ("C", "D", None),
    ]
    assert {one.join for one in workflow.graph.steps} == {Join.ANY}
    assert workflow.code == ()


def test_retry_demo_compiles_word_for_word() -> None:
    workflow = compile_graph(read_definition(RETRY_DEMO), actions=STAND_INS)
    [only] = workflow.graph.steps
    assert only.retry == Retry(attempts=3, delay=0.2, factor=2.0, jitter=True)
    assert not only.rerender
    assert workflow.code == (), "every node has this action"


# The workflow.


def test_a_workflow_has_the_defaults_of_its_form() -> None:
    workflow = compiled()
    graph = workflow.graph
    assert (workflow.name, workflow.title, workflow.description, workflow.enabled) == ("orders", "Orders", None, True)
    assert (workflow.trigger, workflow.trigger_schema, workflow.labels) == (TriggerDefinition(), None, {})
    assert (workflow.queue, workflow.priority, workflow.code, workflow.warnings) == (None, None, (), ())
    assert (graph.on_failure, graph.max_duration, graph.parallel) == (FailurePolicy.FAIL_FAST, 3600.0, None)
    assert (graph.scope, graph.output, graph.vars, graph.one_per_hero) == ("graph", None, {}, False)


WORKFLOW: list[tuple[dict[str, Any], str, Any]] = [
    ({"description": "a\nb"}, "description", "a\nb"),
    ({"enabled": False}, "enabled", False),
    ({"labels": {"team": "shop"}}, "labels", {"team": "shop"}),
    ({"queue": "slow"}, "queue", "slow"),
    ({"priority": 7}, "priority", 7),
    ({"triggerSchema": {"type": "object"}}, "trigger_schema", {"type": "object"}),
    ({"trigger": "manual"}, "trigger", TriggerDefinition(TriggerType.MANUAL)),
    (
        {"trigger": {"type": "event", "event": "order.*"}},
        "trigger",
        TriggerDefinition(TriggerType.EVENT, {"event": "order.*"}),
    ),
]


@pytest.mark.parametrize(("fields", "name", "value"), WORKFLOW)
def test_a_key_of_the_workflow_means_what_it_means_in_every_form(fields: dict[str, Any], name: str, value: Any) -> None:
    assert getattr(compiled(**fields), name) == value


GRAPH: list[tuple[dict[str, Any], str, Any]] = [
    ({"maxDuration": "2d"}, "max_duration", 2 * 86400.0),
    ({"maxDuration": 90}, "max_duration", 90.0),
    ({"maxParallel": 4}, "parallel", 4),
    ({"vars": {"base": "x", "n": [1]}}, "vars", {"base": "x", "n": [1]}),
    ({"output": "{{ context.data['it'] }}"}, "output", "{{ context.data['it'] }}"),
    ({"onUnhandled": "fail"}, "on_failure", FailurePolicy.FAIL_FAST),
    ({"onUnhandled": "settle"}, "on_failure", FailurePolicy.SETTLE),
    ({"contextSnapshot": {}}, "context", ContextSnapshot()),
    (
        {"contextSnapshot": {"mode": "keys", "keys": ["it"], "maxBytes": 9, "overflow": "drop_oversize"}},
        "context",
        ContextSnapshot(SnapshotMode.KEYS, ("it",), 9, Overflow.DROP_OVERSIZE),
    ),
]


@pytest.mark.parametrize(("fields", "name", "value"), GRAPH)
def test_a_key_of_the_workflow_becomes_a_field_of_the_graph(fields: dict[str, Any], name: str, value: Any) -> None:
    assert getattr(compiled(**fields).graph, name) == value


def test_what_a_graph_does_not_say_of_its_context_is_as_the_operator_has_it() -> None:
    limits = limits_of(Settings(context_max_bytes=7, context_overflow="prune_oldest", context_mode="full"))
    usual = ContextSnapshot(SnapshotMode.FULL, (), 7, Overflow.PRUNE_OLDEST)
    assert compile_graph(document(node("it")), limits=limits).graph.context == usual
    written = {**document(node("it")), "contextSnapshot": {"overflow": "fail", "mode": "summary"}}
    assert compile_graph(written, limits=limits).graph.context == ContextSnapshot(max_bytes=7)
    assert compile_graph(document(node("it")), limits=limits_of(Settings())).graph.context is None, "as before"


def test_the_form_may_be_named_and_nodes_name_it_too() -> None:
    assert compiled(form="graph") == compiled()
    assert compile_document(document(node("it"))) == compiled()
    assert form_of({"nodes": 5}).name == "graph"
    assert form_of({"form": "graph"}).name == "graph"
    assert name_in(document(node("it"))) == "orders"


def test_a_key_with_null_is_not_written() -> None:
    bare = document(node("it"))
    empty = {**bare, "description": None, "vars": None, "maxParallel": None, "startNodes": None, "output": None}
    empty["nodes"] = [{**bare["nodes"][0], "edges": None, "onFailure": None, "policies": None, "parameters": None}]
    assert compile_graph(empty) == compile_graph(bare)


def test_a_workflow_may_begin_with_several_nodes() -> None:
    graph = compiled(node("a", "c"), node("b", "c"), node("c"), startNodes=["a", "b"]).graph
    assert [(one.source, one.target) for one in graph.edges] == [("a", "c"), ("b", "c")]


# Nodes.


def test_a_node_has_the_defaults_of_its_form() -> None:
    assert step(actionType="crm.get") == Step(
        "it",
        StepKind.ACTION,
        {"action": "crm.get", "with": {}},
        join=Join.ANY,
        retry=Retry(attempts=3),
        timeout=300.0,
    )


POLICIES: list[tuple[dict[str, Any], str, Any]] = [
    ({"timeoutMs": 1500}, "timeout", 1.5),
    ({"rerenderOnRetry": True}, "rerender", True),
    ({"onCrash": "ask"}, "on_crash", OnCrash.ASK),
    ({"retry": {}}, "retry", Retry(attempts=3)),
    ({"retry": {"maxAttempts": 0}}, "retry", Retry(attempts=1)),
    ({"retry": {"maxAttempts": 1}}, "retry", Retry(attempts=1)),
    ({"retry": {"maxAttempts": 101}}, "retry", Retry(attempts=101)),
    ({"retry": {"baseDelayMs": 250, "backoffFactor": 3}}, "retry", Retry(attempts=3, delay=0.25, factor=3.0)),
    ({"retry": {"jitter": False}}, "retry", Retry(attempts=3, jitter=False)),
    ({"retry": {"maxDelayMs": 5000}}, "retry", Retry(attempts=3, max_delay=5.0)),
    ({"retry": {"baseDelayMs": 7_200_000}}, "retry", Retry(attempts=3, delay=7200.0, max_delay=7200.0)),
]


@pytest.mark.parametrize(("policies", "name", "value"), POLICIES)
def test_a_policy_becomes_a_field_of_the_step(policies: dict[str, Any], name: str, value: Any) -> None:
    assert getattr(step(policies=policies), name) == value


def test_a_node_may_say_how_it_joins_routes_and_where_it_runs() -> None:
    found = step(join="all", routePolicy="firstMatch", queue="slow", priority=-3, **{"if": "trigger.x == 1"})
    assert (found.join, found.route, found.queue, found.priority) == (Join.ALL, Route.FIRST_MATCH, "slow", -3)
    assert found.guard == "trigger.x == 1"
    assert step(routePolicy="parallel").route is Route.PARALLEL


def test_a_title_and_a_description_of_a_node_are_for_people_only() -> None:
    assert step(displayName="Fetch the item", description="It\nasks") == replace(step(), title="Fetch the item")


KINDS: list[tuple[dict[str, Any], StepKind, dict[str, Any]]] = [
    ({"actionType": "core.delay", "parameters": {"seconds": 5}}, StepKind.SLEEP, {"seconds": 5.0}),
    ({"actionType": "core.delay", "parameters": {"duration": "1h"}}, StepKind.SLEEP, {"seconds": 3600.0}),
    (
        {"actionType": "core.wait", "parameters": {"timeout": "10m", "early": "reject"}},
        StepKind.WAIT,
        {"timeout": 600.0, "early": "reject"},
    ),
    (
        {"actionType": "core.http.request", "parameters": {"url": "https://shop.example/", "method": "get"}},
        StepKind.HTTP,
        {"url": "https://shop.example/", "method": "GET", "headers": {}, "body": None},
    ),
    ({"nodeType": "condition", "expression": "trigger.x > 1"}, StepKind.CONDITION, {"expression": "trigger.x > 1"}),
    ({"nodeType": "condition", "expression": "{{ trigger.x }}"}, StepKind.CONDITION, {"expression": "trigger.x"}),
    ({"nodeType": "condition", "expression": True}, StepKind.CONDITION, {"expression": "true"}),
    (
        {"nodeType": "subworkflow", "workflowId": "child"},
        StepKind.SUBWORKFLOW,
        {"workflow": "child", "input": {}},
    ),
    (
        {
            "nodeType": "subworkflow",
            "workflowId": "child",
            "workflowVersion": 2,
            "waitForCompletion": False,
            "allowRecursion": True,
            "parameters": {"x": "{{ trigger.x }}"},
        },
        StepKind.SUBWORKFLOW,
        {
            "workflow": "child",
            "input": {"x": "{{ trigger.x }}"},
            "version": 2,
            "detached": True,
            "recursion": True,
        },
    ),
]


@pytest.mark.parametrize(("fields", "kind", "config"), KINDS)
def test_a_node_becomes_a_step_of_its_kind(fields: dict[str, Any], kind: StepKind, config: dict[str, Any]) -> None:
    found = step(**fields)
    assert (found.kind, found.config) == (kind, config)


def test_a_node_that_names_a_workflow_and_no_action_is_a_child() -> None:
    found = compiled({"id": "it", "workflowId": "child"}).graph.steps[0]
    assert found.kind is StepKind.SUBWORKFLOW


def test_only_what_has_attempts_is_tried_again() -> None:
    assert step(actionType="core.delay", parameters={"seconds": 1}).retry == NO_RETRY
    assert step(nodeType="condition", expression="true").retry == NO_RETRY
    child = step(nodeType="subworkflow", workflowId="child")
    assert (child.retry, child.timeout) == (NO_RETRY, None)
    asked = step(nodeType="subworkflow", workflowId="child", policies={"timeoutMs": 10, "retry": {"maxAttempts": 2}})
    assert (asked.retry, asked.timeout) == (Retry(attempts=2), 0.01)


# Edges.


WHEN: list[tuple[str | None, Edge]] = [
    (None, Edge("a", "b", ON_SUCCESS)),
    ("success", Edge("a", "b", ON_SUCCESS)),
    ("failure", Edge("a", "b", FAILURES)),
    ("always", Edge("a", "b", ON_RAN, handles=False)),
    ("any", Edge("a", "b", ON_ANY)),
]


@pytest.mark.parametrize(("when", "wanted"), WHEN)
def test_when_names_the_endings_that_satisfy_an_edge(when: str | None, wanted: Edge) -> None:
    assert edges(node("a", edge("b", when)), node("b")) == (wanted,)


@pytest.mark.parametrize("word", [False, "false"])
def test_a_condition_may_count_as_false_if_it_cannot_be_evaluated(word: Any) -> None:
    [found] = edges(node("a", edge("b", condition="trigger.x", onError=word)), node("b"))
    assert found == Edge("a", "b", condition="trigger.x", false_on_error=True)
    assert not edges(node("a", edge("b", condition="trigger.x", onError="fail")), node("b"))[0].false_on_error


def test_the_place_of_an_edge_is_its_order() -> None:
    found = edges(node("a", "c", "b"), node("b"), node("c"))
    assert [(one.target, one.order) for one in found] == [("c", 0), ("b", 1)]


def test_on_failure_is_an_edge_that_is_considered_last() -> None:
    found = edges(node("a", edge("c", "failure"), onFailure="b"), node("b"), node("c"))
    assert found == (Edge("a", "c", FAILURES), Edge("a", "b", FAILURES, order=1, otherwise=True))


def test_a_failure_edge_and_on_failure_may_lead_to_one_node() -> None:
    found = edges(node("a", edge("b", "failure"), onFailure="b"), node("b"))
    assert [one.otherwise for one in found] == [False, True]


def test_two_edges_to_one_node_may_differ_in_when_or_in_condition() -> None:
    found = edges(
        node("a", edge("b"), edge("b", "failure"), edge("b", condition="trigger.x == 1")),
        node("b"),
    )
    assert len(found) == 3


def test_on_failure_leads_on_for_reads_too() -> None:
    compiled(node("a", onFailure="b"), node("b", parameters={"why": "{{ context.data['a'].errorNode }}"}))


# What expressions may read.


READS = [
    *("trigger", "trigger.x.y", "trigger['a b']", "spec.answers", "headers['x-y']", "query.page", "vars", "vars.base"),
    *("vars.base.deep", "run.id", "workflow.name", "attempt.number", "attempt.at", "context.data['a']"),
    *("context.data.a.b", "steps.a.status", "steps.a.output.x", "steps.a.error.code", "wait.w.url"),
    *("now()", "uuid()"),
]


@pytest.mark.parametrize("read", READS)
def test_parameters_may_read_what_is_before_them(read: str) -> None:
    graph = compiled(
        node("a", "w"),
        node("w", "b", actionType="core.wait"),
        node("b", parameters={"x": "{{ " + read + " }}"}),
        vars={"base": {"deep": 1}},
    ).graph
    assert graph.steps[2].config["with"] == {"x": "{{ " + read + " }}"}


def test_the_condition_of_an_edge_reads_its_own_node() -> None:
    text = "context.data['a'].n > 1 && steps.a.status == 'success'"
    assert edges(node("a", edge("b", condition=text)), node("b"))[0].condition == text


def test_the_output_of_the_workflow_may_read_every_node() -> None:
    output = {"a": "{{ context.data['a'] }}", "b": "{{ steps.b.status }}"}
    assert compiled(node("a", "b"), node("b"), output=output).graph.output == output


def test_a_new_function_raises_the_revision_of_the_language() -> None:
    assert compiled(node("a")).graph.language == 1
    assert compiled(node("a", parameters={"x": "{{ uuid() }}"})).graph.language == 2
    assert compiled(node("a", nodeType="condition", expression="now() > ''")).graph.language == 2


# Remarks and limits.


def test_a_wait_that_outlasts_its_run_is_remarked() -> None:
    found = compiled(node("it", actionType="core.delay", parameters={"duration": "2h"})).warnings
    assert found == ("nodes.it: it lasts up to 7200 s, and a run only 3600 s; write a longer maxDuration",)
    assert compiled(node("it", actionType="core.wait", parameters={"timeout": "2h"}), maxDuration="1d").warnings == ()


def test_as_many_nodes_as_allowed_compile() -> None:
    names = [f"n{number}" for number in range(1000)]
    chain = [node(name, *names[number + 1 : number + 2]) for number, name in enumerate(names)]
    assert len(compiled(*chain).graph.steps) == 1000
    assert len(compile_graph(document(*chain[:2], node("n2")), limits=Limits(steps=3)).graph.steps) == 3


@pytest.mark.parametrize("text", [MONDAY_STATUS, ONBOARD_PROJECT, FANOUT_FANIN, RETRY_DEMO])
def test_yaml_and_json_become_the_same_workflow(text: str) -> None:
    as_yaml = yaml.safe_dump(json.loads(text), sort_keys=False)
    one = compile_graph(read_definition(text, filename="a.json"), actions=STAND_INS)
    other = compile_graph(read_definition(as_yaml, filename="a.yaml"), actions=STAND_INS)
    assert one == other
    assert codec.encode(one.graph) == codec.encode(other.graph)
