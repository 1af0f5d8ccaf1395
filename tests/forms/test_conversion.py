"""Documents of one form as documents of another: what survives, what is refused, and with which words."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from detent.errors import InvalidDefinition, NotConvertible
from detent.forms.compile import compile_document
from detent.forms.compiled import Compiled
from detent.forms.conversion.convert import Converted, convert, write_document
from detent.forms.definition import read_definition
from detent.graph.fingerprint import fingerprint
from detent.graph.model import (
    ON_ANY,
    ON_RAN,
    ON_SUCCESS,
    Edge,
    FailurePolicy,
    Graph,
    Join,
    OnCrash,
    Probe,
    Route,
    Step,
    StepKind,
)
from detent.values.yaml import dump_yaml
from tests.forms import test_graph_properties, test_steps_properties
from tests.forms.graphs import FANOUT_FANIN, MONDAY_STATUS, ONBOARD_PROJECT, RETRY_DEMO
from tests.forms.workflows import CHECKOUT_FLOW, ORDER_PROCESSING, TRIAL_EXPIRY
from tests.planner.worlds import RANDOMS, World, random_graph

STEPS = {
    "name": "ship",
    "title": "Ship an order",
    "labels": {"team": "shop"},
    "trigger": "cron",
    "cron_expression": "@daily",
    "tasks": {
        "charge": {"url": "https://shop.example/charge", "retries": 2, "timeout": "700ms", "description": "Money"},
        "note": {"needs": ["charge"], "if": "tasks.charge.status != 'success'", "action": "core.log"},
        "nap": {"needs": "charge", "sleep": "1h30m"},
        "end": {"needs": ["nap", "note"], "action": "core.echo", "with": {"x": "{{ tasks.charge.body }}"}},
    },
    "tests": [{"name": "it runs", "expect": {"status": "completed"}}],
}


def graph_fitting_a_form(rng: random.Random) -> Graph:
    """A random graph as definitions have it: of the names and configs that forms can read, any shape."""
    graph = random_graph(rng)
    return replace(
        graph,
        steps=tuple(_readable(step, rng) for step in graph.steps),
        edges=_different(replace(edge, condition=_readable_text(edge.condition)) for edge in graph.edges),
    )


def _different(edges: Any) -> tuple[Edge, ...]:
    seen: dict[object, Edge] = {}
    for edge in edges:
        seen.setdefault((edge.source, edge.target, edge.on, edge.condition, edge.otherwise), edge)
    return tuple(seen.values())


def _readable_text(text: str | None) -> str | None:
    return None if text is None else text.replace(".nothing.such", ".body.such")


def _readable(step: Step, rng: random.Random) -> Step:
    configs: dict[StepKind, dict[str, Any]] = {
        StepKind.ACTION: {"action": "core.echo", "with": rng.choice(({}, {"x": "{{ trigger.body }}", "y": None}))},
        StepKind.HTTP: {
            "url": "https://x.example/",
            "method": rng.choice(("GET", "POST")),
            "headers": {},
            "body": None,
        },
        StepKind.SLEEP: {"seconds": rng.choice((0.0, 0.5, 30.0, "{{ 2 * 3 }}", "{{ trigger.body.missing }}"))},
        StepKind.WAIT: {"timeout": rng.choice((None, 1.0, 3600.0)), "early": rng.choice(("buffer", "reject"))},
        StepKind.SUBWORKFLOW: {"workflow": "child", "input": {}},
        StepKind.CONDITION: {"expression": _readable_text(step.config.get("expression"))},
    }
    has_attempts = step.kind in (StepKind.ACTION, StepKind.HTTP, StepKind.SUBWORKFLOW)
    may_probe = step.kind is StepKind.ACTION and step.repeat is None
    on_crash = step.on_crash if step.on_crash is not OnCrash.PROBE or may_probe else OnCrash.FAIL
    bare = replace(step, config=configs[step.kind], guard=_readable_text(step.guard), on_crash=on_crash)
    if on_crash is not OnCrash.PROBE:
        bare = replace(bare, probe=None)
    if step.each is not None and step.each.tolerate_share:  # a form has a number or a share, and never both
        bare = replace(bare, each=replace(step.each, tolerate=0))
    if has_attempts:
        return replace(bare, title=rng.choice((None, "A title")), rerender=rng.random() < 0.2)
    nothing = Step(step.name, step.kind)
    return replace(bare, retry=nothing.retry, timeout=None, on_crash=OnCrash.RETRY, probe=None)


def graph_fitting_steps(rng: random.Random) -> Graph:
    """A random graph that the steps form can hold."""
    graph = graph_fitting_a_form(rng)
    steps = tuple(replace(step, join=Join.ALL, route=Route.PARALLEL, delay=None) for step in graph.steps)
    guarded = {step.name for step in steps if step.guard is not None}
    place = {step.name: number for number, step in enumerate(steps)}
    ends = sorted({(edge.source, edge.target) for edge in graph.edges}, key=lambda pair: (place[pair[1]], pair[0]))
    kept = tuple(Edge(*pair, ON_ANY if pair[1] in guarded else ON_SUCCESS) for pair in ends)
    return replace(graph, steps=steps, edges=kept)


def graph_fitting_rule(rng: random.Random) -> Graph:
    """A random graph that the rule form can hold."""
    graph = graph_fitting_a_form(rng)
    kinds = {step.name: step.kind for step in graph.steps}
    steps = tuple(replace(step, join=Join.ANY, route=Route.PARALLEL, delay=None, guard=None) for step in graph.steps)
    edges = _different(_edge_of_a_rule(edge, kinds[edge.source], rng) for edge in graph.edges)
    return replace(graph, steps=steps, edges=edges)


def _edge_of_a_rule(edge: Edge, kind: StepKind, rng: random.Random) -> Edge:
    if rng.random() < 0.3:
        return Edge(edge.source, edge.target, ON_RAN, handles=False)
    if kind is StepKind.CONDITION and rng.random() < 0.8:
        answer = rng.choice(("true", "false"))
        return Edge(edge.source, edge.target, ON_SUCCESS, f"steps['{edge.source}'].output == {answer}")
    return Edge(edge.source, edge.target, ON_SUCCESS)


def around(graph: Graph, *forms: str) -> Graph:
    """The graph after it was written in each form in turn, and read again."""
    compiled = Compiled(name="random", form="steps", graph=graph)
    document: dict[str, Any] = {}
    for form in forms:
        document = write_document(compiled, document, form)
        compiled = compile_document(read_definition(dump_yaml(document)))
        assert compiled.form == form
    return compiled.graph


def converted_or_refused(document: dict[str, Any], form: str) -> Converted | NotConvertible:
    try:
        return convert(document, form)
    except NotConvertible as error:
        return error


def outcome(graph: Graph, seed: int) -> object:
    """How a run ends that the same things happen to: its status, that of every step, and what was decided."""
    play = World(graph, random.Random(seed), trouble=0.0).live()
    return play.state.status, play.statuses(), play.now


def probed(graph: Graph) -> Graph:
    """A publish finds the probes of steps that ask for one."""
    return replace(
        graph,
        steps=tuple(
            replace(step, probe=Probe("bank.find") if step.on_crash is OnCrash.PROBE else None) for step in graph.steps
        ),
    )


@settings(max_examples=40)
@given(RANDOMS)
def test_every_graph_survives_the_graph_form(rng: random.Random) -> None:
    graph = graph_fitting_a_form(rng)
    again = around(graph, "graph")
    assert fingerprint(again) == fingerprint(graph)
    seed = rng.randrange(2**32)
    assert outcome(probed(again), seed) == outcome(graph, seed)


@settings(max_examples=40)
@given(RANDOMS)
def test_a_graph_that_the_steps_form_can_hold_survives_both_forms(rng: random.Random) -> None:
    graph = graph_fitting_steps(rng)
    again = around(graph, "steps", "graph", "steps", "graph")
    assert fingerprint(again) == fingerprint(graph)
    seed = rng.randrange(2**32)
    assert outcome(probed(again), seed) == outcome(graph, seed)


@settings(max_examples=40)
@given(RANDOMS)
def test_a_graph_that_the_rule_form_can_hold_survives_both_forms(rng: random.Random) -> None:
    graph = graph_fitting_rule(rng)
    again = around(graph, "rule", "graph", "rule", "graph")
    assert fingerprint(again) == fingerprint(graph)
    seed = rng.randrange(2**32)
    assert outcome(probed(again), seed) == outcome(graph, seed)


@settings(max_examples=40)
@given(RANDOMS)
def test_the_other_forms_hold_a_graph_or_name_what_is_in_the_way(rng: random.Random) -> None:
    graph = graph_fitting_a_form(rng)
    document = write_document(Compiled(name="random", form="steps", graph=graph), {}, "graph")
    names = {step.name for step in graph.steps}
    for form in ("steps", "rule"):
        found = converted_or_refused(document, form)
        if isinstance(found, NotConvertible):
            assert {problem.field.partition(".")[2] for problem in found.problems} <= names
        else:
            assert found.fingerprint == fingerprint(graph)


@settings(max_examples=40)
@given(test_steps_properties.definitions())
def test_a_document_of_the_steps_form_comes_back_from_the_graph_form(document: dict[str, Any]) -> None:
    there = convert(document, "graph")
    back = convert(there.document, "steps")
    assert back.fingerprint == there.fingerprint == fingerprint(compile_document(document).graph)
    assert convert(back.document, "graph").document == there.document


@settings(max_examples=40)
@given(test_graph_properties.definitions)
def test_a_document_of_the_graph_form_is_written_the_same_again(document: dict[str, Any]) -> None:
    compiled = compile_document(document)
    written = write_document(compiled, document, "graph")
    assert fingerprint(compile_document(written).graph) == fingerprint(compiled.graph)


@pytest.mark.parametrize("text", [ORDER_PROCESSING, CHECKOUT_FLOW, TRIAL_EXPIRY])
def test_the_workflows_of_the_steps_form_come_back_from_the_graph_form(text: Any) -> None:
    document = read_definition(text) if isinstance(text, str) else text
    there = convert(document, "graph", name="converted")
    assert convert(there.document, "steps").fingerprint == fingerprint(compile_document(document).graph)


@pytest.mark.parametrize("text", [FANOUT_FANIN, MONDAY_STATUS, ONBOARD_PROJECT, RETRY_DEMO])
def test_the_workflows_of_the_graph_form_are_converted_or_refused(text: Any) -> None:
    document = read_definition(text) if isinstance(text, str) else text
    found = converted_or_refused(document, "steps")
    if isinstance(found, NotConvertible):
        assert all(problem.field.startswith("nodes.") for problem in found.problems)
    else:
        assert found.fingerprint == fingerprint(compile_document(document).graph)


RULE = {
    "key": "order-shipped",
    "name": "Order shipped",
    "entity": "order",
    "trigger_type": "on_update",
    "overlap": "queue",
    "trigger_conditions": {
        "field_conditions": [{"field_name": "status", "operator": "changed_to", "value": "shipped"}]
    },
    "actions": [
        {"name": "Is it large?", "action_type": "condition", "action_config": {"expression": "total > 100"}},
        {"name": "Mail", "action_config": {"recipients": ["{{email}}"], "subject": "Shipped {{number}}", "body": "Hi"}},
        {"name": "Log", "action_type": "core.log", "action_config": {"message": "{{before.status}}"}},
    ],
    "edges": [
        {"target_action_id": "temp:0", "edge_type": "start"},
        {"source_action_id": "temp:0", "target_action_id": "temp:1", "edge_type": "true_branch"},
        {"source_action_id": "temp:0", "target_action_id": "temp:2", "edge_type": "false_branch"},
        {"source_action_id": "temp:1", "target_action_id": "temp:2", "edge_type": "always"},
    ],
}


def test_a_rule_survives_the_graph_form_with_what_starts_it() -> None:
    original = compile_document(RULE)
    there = convert(RULE, "graph")
    assert there.document["scope"] == "rule"
    assert there.document["trigger"]["type"] == "on_update"
    as_graph = compile_document(there.document)
    assert as_graph.start_facts() == original.start_facts()
    back = compile_document(convert(there.document, "rule").document)
    assert back.start_facts() == original.start_facts()
    assert fingerprint(back.graph) == fingerprint(as_graph.graph) == fingerprint(original.graph)
    mail = convert(there.document, "rule").document["actions"][1]
    assert (mail["action_type"], mail["action_config"]["recipients"]) == ("send_email", ["{{email}}"])


def test_what_a_rule_cannot_hold_is_named() -> None:
    with pytest.raises(NotConvertible) as caught:
        convert({**STEPS, "trigger": "webhook", "cron_expression": None, "one_per_hero": True}, "rule")
    words = {problem.field: problem.message for problem in caught.value.problems}
    assert "waits for all of 'nap', 'note'" in words["tasks.end"]
    assert "has an if" in words["tasks.note"] or "is taken after any ending" in words["tasks.note"]
    assert "'webhook'" in words["trigger"]
    assert "hero" in words["one_per_hero"]


def test_an_action_of_a_rule_is_named_by_its_place() -> None:
    with pytest.raises(NotConvertible) as caught:
        convert(RULE, "steps")
    assert {problem.field for problem in caught.value.problems} == {"actions[1]", "actions[2]"}


@pytest.mark.parametrize(
    ("trigger", "kind"),
    [
        ({"trigger_type": "manual"}, "manual"),
        ({"trigger_type": "scheduled", "cron_expression": "0 9 * * *", "timezone": "Europe/Zurich"}, "cron"),
    ],
)
def test_a_rule_without_changes_of_records_keeps_its_trigger(trigger: dict[str, Any], kind: str) -> None:
    document = {**{key: RULE[key] for key in ("name", "actions", "edges")}, **trigger}
    as_graph = compile_document(convert(document, "graph").document)
    assert as_graph.trigger == compile_document(document).trigger
    assert as_graph.trigger.type == kind
    assert compile_document(convert(convert(document, "graph").document, "rule").document).trigger == as_graph.trigger


def test_everything_but_the_graph_survives_too() -> None:
    there = convert(STEPS, "graph")
    back = compile_document(convert(there.document, "steps").document)
    original = compile_document(STEPS)
    assert back.start_facts() == original.start_facts()
    assert (back.title, back.labels, back.tests) == (original.title, original.labels, original.tests)
    assert there.document["nodes"][0]["description"] == "Money"
    assert convert(there.document, "steps").document["tasks"]["charge"]["description"] == "Money"


def test_a_converted_document_reads_as_a_person_would_write_it() -> None:
    assert convert(STEPS, "graph").document == {
        "form": "graph",
        "id": "ship",
        "displayName": "Ship an order",
        "trigger": "cron",
        "cron_expression": "@daily",
        "labels": {"team": "shop"},
        "maxDuration": "30d",
        "onUnhandled": "settle",
        "scope": "steps",
        "startNode": "charge",
        "nodes": [
            {
                "id": "charge",
                "description": "Money",
                "actionType": "core.http.request",
                "parameters": {"url": "https://shop.example/charge"},
                "policies": {"timeoutMs": 700},
                "edges": [{"targetNode": "note", "when": "any"}, {"targetNode": "nap"}],
            },
            {
                "id": "note",
                "actionType": "core.log",
                "policies": {"timeoutMs": 30000, "retry": {"maxAttempts": 6}},
                "if": "tasks.charge.status != 'success'",
                "edges": [{"targetNode": "end"}],
            },
            {
                "id": "nap",
                "actionType": "core.delay",
                "parameters": {"duration": "1h30m"},
                "edges": [{"targetNode": "end"}],
            },
            {
                "id": "end",
                "actionType": "core.echo",
                "parameters": {"x": "{{ tasks.charge.body }}"},
                "policies": {"timeoutMs": 30000, "retry": {"maxAttempts": 6}},
                "join": "all",
            },
        ],
        "tests": STEPS["tests"],
    }


def test_a_document_that_has_the_form_already_is_unchanged() -> None:
    found = convert(STEPS, "steps")
    assert found.is_same
    assert found.document == STEPS


def _graph(**changes: Any) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = [
        {"id": "a", "actionType": "core.echo", "edges": [{"targetNode": "c"}, {"targetNode": "b"}]},
        {"id": "b", "actionType": "core.echo", "edges": [{"targetNode": "c"}]},
        {"id": "c", "actionType": "core.echo", "join": "all"},
    ]
    for node in nodes:
        node.update(changes.get(str(node["id"]), {}))
    return {"id": "x", "displayName": "X", "startNode": "a", "nodes": nodes, **changes.get("top", {})}


REFUSALS = [
    ({"c": {"join": "any"}}, "nodes.c", "runs after any of 'a', 'b'"),
    ({"a": {"routePolicy": "firstMatch"}}, "nodes.a", "firstMatch"),
    ({"b": {"onFailure": "c", "edges": []}}, "nodes.c", "the edge from 'b': is taken if no other edge"),
    ({"b": {"edges": [{"targetNode": "c", "when": "failure"}]}}, "nodes.c", "after a failure only"),
    ({"b": {"edges": [{"targetNode": "c", "when": "always"}]}}, "nodes.c", "(always)"),
    ({"b": {"edges": [{"targetNode": "c", "when": "any"}]}}, "nodes.c", "although its target has no if"),
    ({"b": {"edges": [{"targetNode": "c", "when": ["timeout"]}]}}, "nodes.c", "is taken after timeout"),
    ({"b": {"edges": [{"targetNode": "c", "condition": "1 < 2"}]}}, "nodes.c", "has a condition"),
    ({"c": {"if": "1 < 2"}}, "nodes.c", "the edge from 'a': is taken after a success only, although"),
    ({"b": {"delay": "5s"}}, "nodes.b", "has a delay"),
    (
        {"b": {"edges": [{"targetNode": "c"}, {"targetNode": "c", "when": "failure"}]}},
        "nodes.c",
        "second one between the same two steps",
    ),
    ({"top": {"contextSnapshot": {"maxBytes": 5}}}, "contextSnapshot", "no limit"),
]


@pytest.mark.parametrize(("changes", "field", "words"), REFUSALS)
def test_what_the_steps_form_cannot_hold_is_named(changes: dict[str, Any], field: str, words: str) -> None:
    assert convert(_graph(), "steps").form == "steps"
    with pytest.raises(NotConvertible) as caught:
        convert(_graph(**changes), "steps")
    assert any(problem.field == field and words in problem.message for problem in caught.value.problems)


def test_every_refusal_comes_at_once() -> None:
    document = _graph(c={"join": "any"}, a={"routePolicy": "firstMatch"}, b={"delay": "1s"})
    with pytest.raises(NotConvertible) as caught:
        convert(document, "steps")
    assert [problem.field for problem in caught.value.problems] == ["nodes.a", "nodes.b", "nodes.c"]


def test_code_has_no_form() -> None:
    graph = Graph((Step("work", StepKind.PYTHON, {"workflow": "w"}),), on_failure=FailurePolicy.PAUSE)
    for form in ("steps", "graph"):
        with pytest.raises(NotConvertible) as caught:
            write_document(Compiled(name="w", form="steps", graph=graph), {}, form)
        assert "is code" in caught.value.problems[0].message


def test_a_name_that_no_graph_can_have_is_refused_unless_another_is_given() -> None:
    document = {**STEPS, "name": "Ship It"}
    with pytest.raises(NotConvertible, match="cannot be written in the graph form") as caught:
        convert(document, "graph")
    assert caught.value.problems[0].field == "name"
    assert convert(document, "graph", name="ship-it").document["id"] == "ship-it"


def test_an_unknown_form_and_an_invalid_document_are_refused() -> None:
    with pytest.raises(NotConvertible) as caught:
        convert(STEPS, "tree")
    assert "'tree'" in caught.value.problems[0].message
    with pytest.raises(InvalidDefinition):
        convert({"name": "x", "tasks": {}}, "graph")


SPELLINGS: list[tuple[Callable[[Graph], Graph], str]] = [
    (lambda graph: replace(graph, edges=graph.edges[::-1]), "edges in another order"),
    (lambda graph: replace(graph, edges=tuple(replace(edge, order=7) for edge in graph.edges)), "other orders"),
    (
        lambda graph: replace(graph, steps=(*graph.steps[:3], replace(graph.steps[3], route=Route.FIRST_MATCH))),
        "a route of one edge",
    ),
    (lambda graph: replace(graph, steps=(replace(graph.steps[0], join=Join.ANY), *graph.steps[1:])), "join of a start"),
]


@pytest.mark.parametrize(("change", "what"), SPELLINGS)
def test_a_spelling_without_effect_has_no_part_in_the_fingerprint(change: Callable[[Graph], Graph], what: str) -> None:
    graph = compile_document(STEPS).graph
    assert fingerprint(change(graph)) == fingerprint(graph), what


def test_the_order_of_edges_counts_where_the_first_match_is_taken() -> None:
    document = _graph(a={"routePolicy": "firstMatch"})
    other = _graph(a={"routePolicy": "firstMatch", "edges": [{"targetNode": "b"}, {"targetNode": "c"}]})
    one, two = compile_document(document).graph, compile_document(other).graph
    assert fingerprint(one) != fingerprint(two)
