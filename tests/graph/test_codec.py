"""A graph's bytes: canonical, stable, and the same graph again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import UnknownGraph
from detent.graph import codec
from detent.graph.model import (
    FAILURES,
    GRAPH_SCOPE,
    RULE_SCOPE,
    Edge,
    FailurePolicy,
    Graph,
    Join,
    OnCrash,
    Retry,
    Route,
    Step,
    StepKind,
)
from tests.graph.strategies import JSON, graphs

GOLDEN = Path(__file__).parent / "golden" / "graph_v1.json"
EVERYTHING = Graph(
    steps=(
        Step("charge", StepKind.HTTP, {"url": "https://shop.example/ä", "method": "POST"}, retry=Retry(), timeout=30.0),
        Step("nap", StepKind.SLEEP, {"seconds": 1.5}, guard="tasks.charge.status == 'success'"),
        Step(
            "end",
            StepKind.ACTION,
            {"action": "mail", "with": {"b": [1, 1.0, None, True], "a": "{{trigger.body}}"}},
            join=Join.ANY,
            retry=Retry(attempts=3, delay=0.5, factor=1.0, jitter=False, max_delay=9.0),
            timeout=2.0,
            delay=60.0,
            on_crash=OnCrash.ASK,
            route=Route.FIRST_MATCH,
            queue="slow",
            priority=-1,
        ),
    ),
    edges=(
        Edge("charge", "nap"),
        Edge("charge", "end", on=FAILURES, condition="true", order=2, false_on_error=True),
    ),
    on_failure=FailurePolicy.FAIL_FAST,
    scope="graph",
    output={"id": "{{run.id}}"},
    max_duration=3600.0,
    language=2,
)


@given(graphs())
def test_a_graph_comes_back_from_its_bytes_as_it_was(graph: Graph) -> None:
    data = codec.encode(graph)
    assert codec.decode(data) == graph
    assert codec.encode(codec.decode(data)) == data


def reordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reordered(child) for key, child in reversed(value.items())}
    return [reordered(child) for child in value] if isinstance(value, list) else value


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), JSON))
def test_the_order_in_which_a_mapping_was_built_does_not_change_the_fingerprint(config: dict[str, Any]) -> None:
    one = Graph((Step("a", StepKind.ACTION, config),))
    other = Graph((Step("a", StepKind.ACTION, reordered(config)),))
    assert codec.fingerprint(codec.encode(one)) == codec.fingerprint(codec.encode(other))


def test_the_bytes_of_format_1_are_what_they_always_were() -> None:
    golden = GOLDEN.read_bytes().rstrip(b"\n")
    assert codec.decode(golden) == EVERYTHING
    # Its scope and its language were never used in format 1.
    plain = replace(EVERYTHING, scope=Graph(()).scope, language=1)
    assert codec.encode(plain) == golden.replace(b'"scope":"graph",', b"").replace(b',"language":2', b"")
    assert codec.encode(EVERYTHING) == golden.replace(b'"v":1', b'"v":2')


def test_defaults_are_left_out() -> None:
    graph = Graph((Step("a", StepKind.WAIT), Step("b", StepKind.WAIT)), (Edge("a", "b"),))
    assert json.loads(codec.encode(graph)) == {
        "v": 1,
        "steps": [{"name": "a", "kind": "wait"}, {"name": "b", "kind": "wait"}],
        "edges": [{"source": "a", "target": "b"}],
    }


def test_a_graph_that_the_first_release_cannot_run_has_a_format_that_it_refuses() -> None:
    """Its API would start a run otherwise, and evaluate the first conditions with the names of the steps form."""
    plain = Graph((Step("a", StepKind.WAIT),))
    for graph in (
        replace(plain, scope=GRAPH_SCOPE),
        Graph((Step("a", StepKind.CONDITION, {"expression": "true"}),)),
        Graph((Step("a", StepKind.SUBWORKFLOW, {"workflow": "b"}),)),
    ):
        assert codec.features(graph) == ("detent/2",)
        encoded = codec.encode(graph)
        assert json.loads(encoded)["v"] == 2
        assert codec.decode(encoded) == graph
    assert (codec.features(plain), json.loads(codec.encode(plain))["v"]) == ((), 1)


def test_a_graph_that_calls_data_or_names_its_user_is_left_to_nodes_that_know_how() -> None:
    pinned = Step("a", StepKind.ACTION, {"action": "slack.post-message", "version": "1.0.0", "with": {}})
    acting = Step("a", StepKind.HTTP, {"url": "https://x.example.com", "acting_user_headers": True})
    for step in (pinned, acting):
        graph = Graph((step,))
        assert codec.features(graph) == codec.features_of_page(graph, step) == ("detent/2", "detent/3")
        assert json.loads(codec.encode(graph))["v"] == 2
    newer = Graph((Step("a", StepKind.HTTP, {"url": "x"}),), language=3)
    assert codec.features(newer) == ("detent/2", "detent/3")
    plain = Graph((Step("a", StepKind.ACTION, {"action": "shop.pay", "with": {}}),))
    assert codec.features(plain) == ()
    assert codec.features_of_page(plain, plain.steps[0]) == ("detent/2",)


def test_a_rule_is_left_to_nodes_that_know_its_names_and_has_a_format_of_its_own() -> None:
    """A node or an API of an older release would evaluate its conditions with the names of the steps form."""
    step = Step("a", StepKind.CONDITION, {"expression": "total > 100"})
    rule = Graph((step,), scope=RULE_SCOPE)
    assert codec.features(rule) == codec.features_of_page(rule, step) == ("detent/2", "detent/3", "detent/4")
    assert json.loads(codec.encode(rule))["v"] == 3
    assert codec.decode(codec.encode(rule)) == rule


def test_a_graph_of_any_form_that_raises_an_alert_is_left_to_nodes_that_have_alerts() -> None:
    """A core action is not code that a node offers: one of an older release would claim the run and fail the step."""
    for scope in (Graph(()).scope, GRAPH_SCOPE):
        alert = Step("a", StepKind.ACTION, {"action": "core.alert", "with": {}})
        graph = Graph((alert,), scope=scope)
        assert codec.features(graph) == codec.features_of_page(graph, alert) == ("detent/2", "detent/3", "detent/4")
        assert json.loads(codec.encode(graph))["v"] == 2
        other = Step("b", StepKind.ACTION, {"action": "core.echo", "with": {}})
        assert codec.features(Graph((other,), scope=scope)) in ((), ("detent/2",))
        assert codec.features_of_page(graph, other) == ("detent/2",)


@pytest.mark.parametrize("scope", ["steps", GRAPH_SCOPE, RULE_SCOPE])
def test_a_graph_with_secrets_is_left_to_nodes_that_can_open_and_seal_them(scope: str) -> None:
    plain = Step("a", StepKind.HTTP, {"url": "https://x.example.com", "headers": {"X": "{{secrets.KEY}}"}})
    for graph in (
        Graph((plain,), scope=scope, language=4),
        Graph((replace(plain, config={"url": "https://x.example.com"}, sensitive=True),), scope=scope),
    ):
        needed = ("detent/2", "detent/3", "detent/4", "detent/5")
        assert codec.features(graph) == codec.features_of_page(graph, graph.steps[0]) == needed
        assert json.loads(codec.encode(graph))["v"] == 4
        assert codec.decode(codec.encode(graph)) == graph


@pytest.mark.parametrize(
    "step", [Step("a", StepKind.WAIT, {"ask": {}}), Step("a", StepKind.CONDITION, {"first_of": []})]
)
def test_a_graph_whose_waits_ask_people_is_left_to_nodes_that_check_their_answers(step: Step) -> None:
    graph = Graph((step,))
    assert codec.features(graph) == codec.FEATURES
    assert json.loads(codec.encode(graph))["v"] == 5
    assert codec.decode(codec.encode(graph)) == graph


def test_a_fingerprint_differs_for_graphs_that_differ() -> None:
    one, other = Graph((Step("a", StepKind.WAIT),)), Graph((Step("b", StepKind.WAIT),))
    assert codec.fingerprint(codec.encode(one)) != codec.fingerprint(codec.encode(other))


@pytest.mark.parametrize("data", [b'{"v":6,"steps":[]}', b'{"steps":[]}', b"[]"])
def test_bytes_of_another_format_are_refused(data: bytes) -> None:
    with pytest.raises(UnknownGraph, match="reads graphs up to format 5"):
        codec.decode(data)


def test_a_number_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        codec.encode(Graph((Step("a", StepKind.ACTION, {"x": float("nan")}),)))
