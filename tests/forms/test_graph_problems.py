"""Everything that can be wrong with a definition in the graph form, each with its field and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import InvalidDefinition, Problem
from detent.forms.compile import compile_document
from detent.forms.compiled import Limits
from detent.forms.graph.form import compile_graph
from tests.forms.graphs import document, edge, node

GOOD = node("it")


def problems(written: Any, **options: Any) -> list[Problem]:
    with pytest.raises(InvalidDefinition) as caught:
        compile_graph(written, **options)
    assert caught.value.message == "workflow validation failed"
    return list(caught.value.problems)


def only(written: Any, **options: Any) -> tuple[str, str]:
    """The one problem of a document."""
    found = problems(written, **options)
    assert len(found) == 1, found
    return found[0].field, found[0].message


WORKFLOW: list[tuple[dict[str, Any], str, str]] = [
    ({"id": None}, "id", "is missing"),
    ({"id": 5}, "id", "must be text, not the number 5"),
    ({"id": ""}, "id", "must not be empty"),
    ({"id": "Orders"}, "id", "small letters, digits and - only; put other text in displayName"),
    ({"id": "a b"}, "id", "'a b' cannot be the id of a workflow"),
    ({"id": "a_b"}, "id", "cannot be the id of a workflow"),
    ({"id": "bestellung-ü"}, "id", "cannot be the id of a workflow"),
    ({"id": "x" * 201}, "id", "has 201 characters; at most 200 are allowed"),
    ({"displayName": None}, "displayName", "is missing: it is the name that people read"),
    ({"displayName": ["x"]}, "displayName", "must be text, not a list"),
    ({"displayName": "x" * 201}, "displayName", "at most 200"),
    ({"displayName": "a\nb"}, "displayName", "control character"),
    ({"description": 5}, "description", "must be text"),
    ({"description": "x" * 10_001}, "description", "at most 10000"),
    ({"form": "steps"}, "form", "must be 'graph', not the text 'steps'"),
    ({"form": 5}, "form", "must be 'graph', not the number 5"),
    ({"startnode": "it"}, "startnode", "unknown field 'startnode'; did you mean 'startNode'?"),
    ({"tasks": {}}, "tasks", "unknown field 'tasks'"),
    ({"name": "x"}, "name", "unknown field 'name'"),
    ({"startNode": None}, "startNode", "is missing: name the node that runs first"),
    ({"startNode": 5}, "startNode", "must be text, not the number 5"),
    ({"startNode": "its"}, "startNode", "no node 'its'; did you mean 'it'?"),
    ({"startNode": "nothing-like-it"}, "startNode", "no node 'nothing-like-it'"),
    ({"startNodes": ["it"]}, "startNodes", "write either startNode or startNodes"),
    ({"startNode": None, "startNodes": "it"}, "startNodes", "must be a list of ids of nodes, not the text 'it'"),
    ({"startNode": None, "startNodes": []}, "startNodes", "must be a list of ids of nodes, not a list"),
    ({"startNode": None, "startNodes": [5]}, "startNodes", "must be a list of ids of nodes"),
    ({"startNode": None, "startNodes": ["it", "its"]}, "startNodes[1]", "no node 'its'; did you mean 'it'?"),
    ({"startNode": None, "startNodes": ["it", "it"]}, "startNodes[1]", "'it' is given twice"),
    ({"nodes": None}, "nodes", "there are no nodes"),
    ({"nodes": []}, "nodes", "there are no nodes"),
    ({"nodes": {"it": {}}}, "nodes", "must be a list of nodes, not a mapping"),
    ({"nodes": "it"}, "nodes", "must be a list of nodes, not the text 'it'"),
    ({"nodes": [GOOD, 5]}, "nodes[1]", "a node must be a mapping with an id"),
    ({"nodes": [GOOD, None]}, "nodes[1]", "a node must be a mapping with an id"),
    ({"nodes": [GOOD, {}]}, "nodes[1]", "a node must be a mapping with an id"),
    ({"nodes": [GOOD, {"id": 5}]}, "nodes[1]", "a node must be named by a text, not the number 5"),
    ({"nodes": [GOOD, GOOD]}, "nodes.it", "there are two nodes with the id 'it'"),
    ({"nodes": [GOOD, node("It")]}, "nodes.It", "'It' and 'it' differ only in case; give one of them another name"),
    ({"triggerSchema": 5}, "triggerSchema", "must be a mapping"),
    ({"triggerSchema": {"type": "objekt"}}, "triggerSchema.type", "must be one of array"),
    ({"enabled": "no"}, "enabled", "must be true or false"),
    ({"vars": []}, "vars", "must be a mapping, not a list"),
    ({"vars": {f"v{number}": 1 for number in range(1001)}}, "vars", "has 1001 variables; at most 1000 are allowed"),
    ({"output": "{{ context.data['its'] }}"}, "output", "no node 'its'; did you mean 'it'?"),
    (
        {"output": {"x": ["{{ attempt.number }}"]}},
        "output.x[0]",
        "only the parameters of a node that is tried know the attempt",
    ),
    ({"labels": []}, "labels", "must be a mapping"),
    ({"labels": {"a": 5}}, "labels.a", "must be text"),
    ({"queue": "a b"}, "queue", "'a b' cannot be the name of a queue"),
    ({"priority": 1001}, "priority", "must be from -1000 to 1000, not 1001"),
    ({"maxDuration": "soon"}, "maxDuration", "'soon' is not a duration"),
    ({"maxDuration": 0}, "maxDuration", "must be more than zero"),
    ({"maxParallel": 0}, "maxParallel", "must be from 1 to 100000, not 0"),
    ({"maxParallel": 1.5}, "maxParallel", "must be a whole number"),
    ({"maxParallel": True}, "maxParallel", "must be a whole number, not true"),
    ({"onUnhandled": "stop"}, "onUnhandled", "'stop' is not one of fail, settle"),
    ({"contextSnapshot": 5}, "contextSnapshot", "must be a mapping"),
    ({"contextSnapshot": {"max": 5}}, "contextSnapshot.max", "unknown field 'max'"),
    ({"contextSnapshot": {"mode": "all"}}, "contextSnapshot.mode", "'all' is not one of full, summary, keys"),
    ({"contextSnapshot": {"mode": "keys"}}, "contextSnapshot.keys", "is missing"),
    ({"contextSnapshot": {"keys": "it"}}, "contextSnapshot.keys", "must be a list of ids of nodes"),
    ({"contextSnapshot": {"keys": ["ti"]}}, "contextSnapshot.keys", "no node 'ti'"),
    ({"contextSnapshot": {"maxBytes": 0}}, "contextSnapshot.maxBytes", "must be from 1 to 1073741824, not 0"),
    ({"contextSnapshot": {"overflow": "drop"}}, "contextSnapshot.overflow", "'drop' is not one of fail"),
    ({"trigger": "crom"}, "trigger", "did you mean 'cron'?"),
    ({"trigger": "cron"}, "cron_expression", "is missing"),
]


@pytest.mark.parametrize(("fields", "field", "message"), WORKFLOW)
def test_a_problem_of_a_workflow_is_named(fields: dict[str, Any], field: str, message: str) -> None:
    where, what = only({**document(GOOD), **fields})
    assert where == field
    assert message in what


NODE: list[tuple[dict[str, Any], str, str]] = [
    ({"actionType": None}, ".actionType", "is missing: name the action of this node"),
    ({"actionType": 5}, ".actionType", "must be text, not the number 5"),
    ({"actionType": ""}, ".actionType", "must not be empty"),
    ({"actionType": "a b"}, ".actionType", "'a b' cannot be the name of an action"),
    ({"actionType": "core.ecko"}, ".actionType", "no core action 'core.ecko'; did you mean 'core.echo'?"),
    ({"actiontype": "core.echo"}, ".actiontype", "unknown field 'actiontype'; did you mean 'actionType'?"),
    ({"needs": ["a"]}, ".needs", "unknown field 'needs'"),
    ({"nodeType": "task"}, ".nodeType", "'task' is not one of action, subworkflow, condition"),
    ({"nodeType": 5}, ".nodeType", "must be one of action, subworkflow, condition, not the number 5"),
    ({"displayName": 5}, ".displayName", "must be text"),
    ({"description": 5}, ".description", "must be text"),
    ({"parameters": ["x"]}, ".parameters", "must be a mapping, not a list"),
    ({"parameters": {"a": {"b": ["{{ trigger. }}"]}}}, ".parameters.a.b[0]", "at character"),
    ({"parameters": {"a": "{{"}}, ".parameters.a", "'{{' is not closed"),
    ({"parameters": {"a": "{{ nothing.x }}"}}, ".parameters.a", "unknown name 'nothing'"),
    ({"parameters": {"a": "{{ triger.x }}"}}, ".parameters.a", "did you mean 'trigger'?"),
    ({"parameters": {"a": "{{ it.x }}"}}, ".parameters.a", "write context.data['it'] to read the output of that node"),
    ({"parameters": {"a": "{{ tasks.it.body }}"}}, ".parameters.a", "unknown name 'tasks'"),
    ({"parameters": {"a": "{{ context }}"}}, ".parameters.a", "write context.data['NODE'] with the id of a node"),
    ({"parameters": {"a": "{{ context.data }}"}}, ".parameters.a", "write context.data['NODE']"),
    ({"parameters": {"a": "{{ context.dat['it'] }}"}}, ".parameters.a", "write context.data['NODE']"),
    ({"parameters": {"a": "{{ context.data['its'] }}"}}, ".parameters.a", "no node 'its'; did you mean 'it'?"),
    ({"parameters": {"a": "{{ context.data['it'] }}"}}, ".parameters.a", "a node cannot read its own result"),
    ({"parameters": {"a": "{{ steps }}"}}, ".parameters.a", "name a node and a part of its result: steps.NODE.output"),
    ({"parameters": {"a": "{{ steps.it.status }}"}}, ".parameters.a", "a node cannot read its own result"),
    ({"parameters": {"a": "{{ wait }}"}}, ".parameters.a", "write wait.NODE.url with the id of a node that waits"),
    ({"parameters": {"a": "{{ wait.it.url }}"}}, ".parameters.a", "'it' is not a wait node, so it has no callback URL"),
    ({"parameters": {"a": "{{ vars.base }}"}}, ".parameters.a", "no variable 'base'; write it under vars"),
    ({"parameters": {"a": "{{ run }}"}}, ".parameters.a", "name a part: run.id"),
    ({"parameters": {"a": "{{ run.ids }}"}}, ".parameters.a", "run has no 'ids'; did you mean 'id'?"),
    ({"parameters": {"a": "{{ workflow.version }}"}}, ".parameters.a", "workflow has no 'version'"),
    ({"parameters": {"a": "{{ attempt.count }}"}}, ".parameters.a", "there is attempt.number, attempt.at"),
    ({"parameters": {"a": "{{ shout(trigger.x) }}"}}, ".parameters.a", "shout"),
    ({"parameters": {"a": "{{ item.x }}"}}, ".parameters.a", "only the templates of a node with forEach know 'item'"),
    ({"parameters": {"a": "{{ result }}"}}, ".parameters.a", "only 'collect' and 'until' know 'result'"),
    ({"forEach": "{{ item }}"}, ".forEach", "only the templates of a node with forEach know 'item'"),
    ({"forEach": [1], "parameters": {"a": "{{ itm.x }}"}}, ".parameters.a", "did you mean 'item'?"),
    ({"forEach": [1], "collect": "{{ resul.output }}"}, ".collect", "did you mean 'result'?"),
    ({"forEach": [1], "collect": "{{ nothing }}"}, ".collect", "workflow, attempt, item, index, result"),
    ({"repeat": {"until": "resul.output.ok"}}, ".repeat.until", "did you mean 'result'?"),
    ({"if": 5}, ".if", "must be a condition, such as \"context.data['NODE'].total > 100\", not the number 5"),
    ({"if": "trigger.x ="}, ".if", "at character"),
    ({"if": "attempt.number > 1"}, ".if", "only the parameters of a node that is tried know the attempt"),
    ({"if": "context.data['it']"}, ".if", "a node cannot read its own result"),
    ({"join": "some"}, ".join", "'some' is not one of all, any"),
    ({"routePolicy": "first"}, ".routePolicy", "'first' is not one of parallel, firstMatch"),
    ({"queue": "a b"}, ".queue", "cannot be the name of a queue"),
    ({"priority": "high"}, ".priority", "must be a whole number"),
    ({"edges": {}}, ".edges", "must be a list of edges, not a mapping"),
    ({"edges": "b"}, ".edges", "must be a list of edges, not the text 'b'"),
    ({"edges": ["b"]}, ".edges[0]", "an edge must be a mapping with a targetNode, not the text 'b'"),
    ({"edges": [None]}, ".edges[0]", "an edge must be a mapping with a targetNode, not nothing"),
    ({"edges": [{}]}, ".edges[0].targetNode", "is missing"),
    ({"edges": [{"targetNode": 5}]}, ".edges[0].targetNode", "must be text"),
    ({"edges": [{"targetNode": "it"}]}, ".edges[0].targetNode", "a node cannot lead to itself"),
    ({"edges": [{"targetNode": "its"}]}, ".edges[0].targetNode", "no node 'its'; did you mean 'it'?"),
    ({"onFailure": 5}, ".onFailure", "must be text"),
    ({"onFailure": "its"}, ".onFailure", "no node 'its'; did you mean 'it'?"),
    ({"onFailure": "it"}, ".onFailure", "a node cannot lead to itself"),
    ({"policies": []}, ".policies", "must be a mapping"),
    ({"policies": {"timeout": 5}}, ".policies.timeout", "did you mean 'timeoutMs'?"),
    ({"policies": {"timeoutMs": 0}}, ".policies.timeoutMs", "must be from 1 to"),
    ({"policies": {"timeoutMs": 2**62}}, ".policies.timeoutMs", f"must be from 1 to 315360000000, not {2**62}"),
    ({"policies": {"timeoutMs": "5s"}}, ".policies.timeoutMs", "must be a number, not the text '5s'"),
    ({"policies": {"rerenderOnRetry": 1}}, ".policies.rerenderOnRetry", "must be true or false"),
    ({"policies": {"onCrash": "panic"}}, ".policies.onCrash", "'panic' is not one of retry, fail, ask"),
    ({"policies": {"retry": 3}}, ".policies.retry", "must be a mapping, not the number 3"),
    ({"policies": {"retry": {"attempts": 3}}}, ".policies.retry.attempts", "known are backoffFactor"),
    ({"policies": {"retry": {"maxAttempts": -1}}}, ".policies.retry.maxAttempts", "must be from 0 to 101, not -1"),
    ({"policies": {"retry": {"maxAttempts": 1.5}}}, ".policies.retry.maxAttempts", "must be a whole number"),
    ({"policies": {"retry": {"baseDelayMs": -1}}}, ".policies.retry.baseDelayMs", "must be from 0 to"),
    ({"policies": {"retry": {"backoffFactor": 0.5}}}, ".policies.retry.backoffFactor", "must be from 1 to 100"),
    ({"policies": {"retry": {"jitter": "yes"}}}, ".policies.retry.jitter", "must be true or false"),
    ({"policies": {"retry": {"baseDelayMs": 9, "maxDelayMs": 5}}}, ".policies.retry.maxDelayMs", "first delay of 9 ms"),
    ({"workflowId": "child"}, ".workflowId", "'workflowId' has no meaning for a node of type 'action'"),
    ({"expression": "true"}, ".expression", "'expression' has no meaning for a node of type 'action'"),
    ({"nodeType": "subworkflow", "actionType": None}, ".workflowId", "is missing: name the workflow"),
    ({"nodeType": "subworkflow", "workflowId": "c"}, ".actionType", "has no meaning for a node of type 'subworkflow'"),
    ({"nodeType": "condition", "actionType": None}, ".expression", "is missing: a condition needs an expression"),
    ({"nodeType": "condition", "actionType": None, "expression": "1 +"}, ".expression", "at character"),
    (
        {"nodeType": "condition", "actionType": None, "expression": "attempt.number == 1"},
        ".expression",
        "only the parameters of a node that is tried know the attempt",
    ),
    ({"nodeType": "condition", "actionType": None, "expression": "true", "policies": {}}, ".policies", "no meaning"),
    ({"actionType": "core.delay"}, ".parameters", 'write either "seconds" or "duration"; one is needed'),
    ({"actionType": "core.delay", "parameters": {"seconds": 1, "duration": "1s"}}, ".parameters", "one is enough"),
    ({"actionType": "core.wait", "policies": {}}, ".policies", "give the wait a timeout in its parameters"),
    ({"actionType": "core.wait", "parameters": {"timeot": 1}}, ".parameters.timeot", "did you mean 'timeout'?"),
    (
        {"actionType": "core.delay", "parameters": {"seconds": "{{ attempt.number }}"}},
        ".parameters.seconds",
        "only the parameters of a node that is tried know the attempt",
    ),
    ({"actionType": "core.http.request"}, ".parameters.url", "is missing"),
    ({"actionType": "core.http.request", "parameters": {"url": "x"}}, ".parameters.url", "must begin with http://"),
]


@pytest.mark.parametrize(("fields", "field", "message"), NODE)
def test_a_problem_of_a_node_is_named(fields: dict[str, Any], field: str, message: str) -> None:
    where, what = only(document({**GOOD, **fields}))
    assert where == f"nodes.it{field}"
    assert message in what


def child(**fields: Any) -> dict[str, Any]:
    return node("it", nodeType="subworkflow", **{"workflowId": "child", **fields})


CHILD: list[tuple[dict[str, Any], str, str]] = [
    ({"workflowId": 5}, ".workflowId", "must be text"),
    ({"workflowVersion": "2"}, ".workflowVersion", "must be a whole number"),
    ({"workflowVersion": 0}, ".workflowVersion", "must be from 1 to"),
    ({"waitForCompletion": "no"}, ".waitForCompletion", "must be true or false"),
    ({"allowRecursion": 1}, ".allowRecursion", "must be true or false"),
    ({"parameters": {"x": "{{ nothing }}"}}, ".parameters.x", "unknown name 'nothing'"),
]


@pytest.mark.parametrize(("fields", "field", "message"), CHILD)
def test_a_problem_of_a_child_is_named(fields: dict[str, Any], field: str, message: str) -> None:
    where, what = only(document(child(**fields)))
    assert where == f"nodes.it{field}"
    assert message in what


EDGE: list[tuple[dict[str, Any], str, str]] = [
    ({"when": "sucess"}, ".when", "'sucess' is not one of success, failure, always, any; did you mean 'success'?"),
    ({"when": True}, ".when", "must be one of success, failure, always, any, not true"),
    ({"condition": 5}, ".condition", "must be a condition"),
    ({"condition": "context.data['a'].x ==="}, ".condition", "at character"),
    ({"condition": "context.data['b'].x"}, ".condition", "no path of edges leads from 'b' to 'a'"),
    ({"condition": "context.data['c'].x"}, ".condition", "no node 'c'"),
    ({"condition": "attempt.number > 1"}, ".condition", "only the parameters of a node that is tried know the attempt"),
    ({"condition": "foo(1)"}, ".condition", "foo"),
    ({"condition": "steps.a.bdy"}, ".condition", "steps.a has no 'bdy'; did you mean 'body'?"),
    ({"onError": "ignore"}, ".onError", "'ignore' is not one of fail, false"),
    ({"onError": True}, ".onError", "must be one of fail, false, not true"),
    ({"order": 1}, ".order", "unknown field 'order'"),
    ({"cond": "true"}, ".cond", "did you mean 'condition'?"),
]


@pytest.mark.parametrize(("fields", "field", "message"), EDGE)
def test_a_problem_of_an_edge_is_named(fields: dict[str, Any], field: str, message: str) -> None:
    where, what = only(document(node("a", {**edge("b"), **fields}), node("b")))
    assert where == f"nodes.a.edges[0]{field}"
    assert message in what


@pytest.mark.parametrize("name", ["1st", "a b", "ä", "a.b", "x" * 65, "a/b", "emoji-🙂", "a\u202eb"])
def test_an_id_of_a_node_that_cannot_be_its_name_is_named(name: str) -> None:
    where, what = only(document(node(name)))
    assert where.startswith("nodes")
    assert "letters, digits, - and _, at most 64, the first a letter or _" in what


# The shape.


def test_a_cycle_is_shown_as_a_path() -> None:
    where, what = only(document(node("a", "b"), node("b", "c"), node("c", "b")))
    assert (where, what) == ("nodes.b.edges", "cycle: b -> c -> b")


def test_on_failure_closes_a_cycle_too() -> None:
    where, what = only(document(node("a", "b"), node("b", onFailure="a")))
    assert (where, what) == ("nodes.a.edges", "cycle: a -> b -> a")


def test_a_condition_that_is_never_true_closes_a_cycle_too() -> None:
    assert only(document(node("a", "b"), node("b", edge("a", condition="false"))))[1] == "cycle: a -> b -> a"


def test_every_cycle_is_named() -> None:
    found = problems(document(node("a", "b", "d"), node("b", "c"), node("c", "b"), node("d", "e"), node("e", "d")))
    assert [problem.message for problem in found] == ["cycle: b -> c -> b", "cycle: d -> e -> d"]


def test_nodes_that_no_edge_leads_to_are_unreachable() -> None:
    found = problems(document(node("a"), node("b", "c"), node("c")))
    assert [(problem.field, problem.message) for problem in found] == [
        ("nodes.b", "unreachable: no path of edges leads from startNode 'a' to it; add an edge to it, or remove it"),
        ("nodes.c", "unreachable: no path of edges leads from startNode 'a' to it"),
    ]


def test_a_cycle_that_no_edge_leads_to_is_unreachable_as_well() -> None:
    found = [problem.message for problem in problems(document(node("a"), node("b", "c"), node("c", "b")))]
    assert found[0] == "cycle: b -> c -> b"
    assert all(message.startswith("unreachable") for message in found[1:])


def test_a_node_before_the_start_is_unreachable() -> None:
    where, what = only(document(node("a", "b"), node("b"), startNode="b"))
    assert where == "nodes.a"
    assert what.startswith("unreachable: no path of edges leads from startNode 'b' to it")


def test_a_start_behind_another_start_is_no_start() -> None:
    where, what = only(document(node("a", "b"), node("b"), startNodes=["a", "b"]))
    assert (where, what) == ("startNodes", "'b' follows another start node, so it is not a start; remove it here")


def test_a_second_edge_like_another_is_named() -> None:
    where, what = only(document(node("a", edge("b"), edge("b", "success")), node("b")))
    assert where == "nodes.a.edges[1].targetNode"
    assert what == "a second edge to 'b' like nodes.a.edges[0].targetNode; remove one of them"


def test_a_result_that_is_not_before_its_reader_is_named() -> None:
    where, what = only(document(node("a", "b", "c"), node("b"), node("c", parameters={"x": "{{ context.data['b'] }}"})))
    assert where == "nodes.c.parameters.x"
    assert "no path of edges leads from 'b' to 'c', so its result may not be there (at character 4)" in what


# How much.


def test_one_node_too_many_is_refused_before_any_is_read() -> None:
    where, what = only({**document(GOOD), "nodes": [5] * 1001})
    assert (where, what) == ("nodes", "has 1001 nodes; at most 1000 are allowed")
    assert only(document(node("a", "b"), node("b")), limits=Limits(steps=1))[1].startswith("has 2 nodes")


def test_too_many_edges_are_refused() -> None:
    many = [edge("b", condition=f"trigger.x == {number}") for number in range(41)]
    where, what = only(document(node("a", *many), node("b")), limits=Limits(steps=2))
    assert (where, what) == ("nodes", "there are 41 edges in all; at most 40 are allowed")


def test_an_action_that_is_not_registered_is_named_if_the_actions_are_known() -> None:
    where, what = only(document(node("a", actionType="crm.gte")), actions=["crm.get"])
    assert (where, what) == ("nodes.a.actionType", "no action 'crm.gte'; did you mean 'crm.get'?")
    compile_graph(document(node("a", actionType="crm.get")), actions=["crm.get"])
    compile_graph(document(node("a", actionType="crm.gte")))


def test_all_problems_are_reported_at_once() -> None:
    written = {
        "id": "Orders",
        "startNode": "first",
        "vars": 5,
        "nodes": [
            node("a", "b", edge("c", "sometimes"), timeout=5),
            node("b", parameters={"x": "{{ context.data['z'] }}"}, onFailure="nowhere"),
            {"id": "c"},
            7,
        ],
    }
    assert {problem.field for problem in problems(written)} == {
        "id",
        "displayName",
        "startNode",
        "vars",
        "nodes.a.timeout",
        "nodes.a.edges[1].when",
        "nodes.b.parameters.x",
        "nodes.b.onFailure",
        "nodes.c.actionType",
        "nodes[3]",
    }


def test_a_list_of_a_thousand_problems_ends() -> None:
    found = problems({**document(GOOD), **{f"x{number}": 1 for number in range(1500)}})
    assert len(found) == 1001
    assert str(found[-1]).endswith("and 500 more problems")


@pytest.mark.parametrize("written", [None, [], "x", 5])
def test_a_document_that_is_not_a_mapping_is_refused(written: Any) -> None:
    assert "a definition is a mapping" in only(written)[1]


def test_a_form_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(InvalidDefinition) as caught:
        compile_document({**document(GOOD), "form": "grpah"})
    assert [str(problem) for problem in caught.value.problems] == [
        "form: must be 'steps', 'graph' or 'rule', not 'grpah'; did you mean 'graph'?"
    ]
