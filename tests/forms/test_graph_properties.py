"""What holds for every definition in the graph form, good or bad."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidDefinition
from detent.forms.compile import compile_document
from detent.forms.definition import read_definition
from detent.forms.graph.form import compile_graph
from detent.graph import codec
from detent.graph.check import check
from detent.planner import prepare
from tests.forms.graphs import FANOUT_FANIN, MONDAY_STATUS, ONBOARD_PROJECT, RETRY_DEMO, STAND_INS
from tests.graph.strategies import JSON

WORDS = st.sampled_from(
    [
        *("id", "displayName", "description", "form", "startNode", "startNodes", "nodes", "triggerSchema", "vars"),
        *("output", "labels", "queue", "priority", "maxDuration", "maxParallel", "onUnhandled", "enabled", "trigger"),
        *("nodeType", "actionType", "parameters", "policies", "workflowId", "workflowVersion", "waitForCompletion"),
        *("allowRecursion", "expression", "edges", "onFailure", "routePolicy", "join", "if", "targetNode", "when"),
        *("condition", "onError", "timeoutMs", "retry", "rerenderOnRetry", "onCrash", "maxAttempts", "baseDelayMs"),
        *("success", "failure", "always", "any", "firstMatch", "action", "subworkflow", "graph", "steps", "a", "b"),
        *("contextSnapshot", "mode", "keys", "maxBytes", "overflow", "prune_oldest"),
        *("core.echo", "core.delay", "core.wait", "core.http.request", "seconds", "duration", "url", "false"),
        *("{{context.data['a'].x}}", "{{attempt.number}}", "{{", "context.data['b'] === 1", "vars.x", "1 +", "2h"),
    ]
)
GARBAGE = st.recursive(
    JSON | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=6),
    max_leaves=40,
)
PLAIN = ("", "x", "a b", "ä🙂", "y: [", "#", "no", "}}", "'\"", "\t")


def edge(random: Random, source: str, target: str, reads: list[str]) -> dict[str, Any]:
    one: dict[str, Any] = {"targetNode": target}
    if when := random.choice([None, "success", "failure", "always", "any"]):
        one["when"] = when
    if random.random() < 0.5:
        one["condition"] = f"context.data['{random.choice([source, *reads])}'].n == {random.randrange(4)}"
        one["onError"] = random.choice([False, "fail", "false"])
    return one


def node(random: Random, name: str, reads: list[str]) -> dict[str, Any]:
    """A node without its edges, reading only what it may."""
    texts = ["trigger.x", "spec", "run.id", "attempt.number", "vars.base", *(f"context.data['{one}']" for one in reads)]
    values = [*PLAIN, *("{{ " + text + " }}" for text in texts)]
    parameters: dict[str, Any] = {random.choice(PLAIN): random.choice(values) for _ in range(random.randrange(4))}
    kinds: list[dict[str, Any]] = [
        {"actionType": "core.echo", "parameters": parameters},
        {"actionType": "core.http.request", "parameters": {"url": "https://x.example/", "body": parameters}},
        {"nodeType": "subworkflow", "workflowId": "child", "parameters": parameters},
        {"actionType": "core.delay", "parameters": {"seconds": random.randrange(3600)}},
        {"actionType": "core.wait"},
        {"nodeType": "condition", "expression": "trigger.x == 1"},
    ]
    own = random.choice(kinds)
    if own in kinds[:3] and random.random() < 0.5:
        own["policies"] = {"timeoutMs": random.randrange(1, 10**6), "rerenderOnRetry": random.random() < 0.5}
    join, route = random.choice(["any", "all"]), random.choice(["parallel", "firstMatch"])
    return {"id": name, **own, "join": join, "routePolicy": route}


def definition(seed: int) -> dict[str, Any]:
    """A right definition: every node is reached, edges lead forward, reads are upstream, any written order."""
    random = Random(seed)
    names = [f"node-{number}" for number in range(random.randrange(1, 8))]
    before: dict[str, set[str]] = {name: set() for name in names}
    leads = {name: random.choice(names[:number]) for number, name in enumerate(names) if number}
    written: list[dict[str, Any]] = []
    for number, name in enumerate(names):
        reads, behind = sorted(before[name]), names[number + 1 :]
        one = node(random, name, reads)
        targets = [target for target in behind if leads[target] == name or random.random() < 0.3]
        one["edges"] = [edge(random, name, target, reads) for target in targets]
        if behind and random.random() < 0.5:
            one["onFailure"] = random.choice(behind)
        for target in (*targets, *filter(None, [one.get("onFailure")])):
            before[target] |= {*reads, name}
        written.append(one)
    random.shuffle(written)
    return {
        "id": "random",
        "displayName": "Ä random graph",
        "startNode": names[0],
        "vars": {"base": random.choice([None, 1, {"deep": list(PLAIN)}])},
        "nodes": written,
        "onUnhandled": random.choice(["fail", "settle"]),
    }


definitions = st.integers(0, 2**32).map(definition)


@given(definitions)
def test_a_right_definition_compiles_to_a_right_graph(document: dict[str, Any]) -> None:
    graph = compile_graph(document).graph
    assert check(graph) == []
    assert [step.name for step in graph.steps] == [node["id"] for node in document["nodes"]]
    wanted = sum(len(node["edges"]) + ("onFailure" in node) for node in document["nodes"])
    assert len(graph.edges) == wanted
    assert codec.decode(codec.encode(graph)) == graph
    assert len(prepare(graph).order) == len(graph.steps)


@given(definitions)
def test_yaml_and_json_become_the_same_workflow(document: dict[str, Any]) -> None:
    as_json = json.dumps(document)
    as_yaml = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    one, other = (compile_document(read_definition(text)) for text in (as_json, as_yaml))
    assert one == other == compile_graph(document)
    assert codec.fingerprint(codec.encode(one.graph)) == codec.fingerprint(codec.encode(other.graph))


@given(definitions, st.data())
def test_an_edge_turned_around_is_refused_as_a_cycle(document: dict[str, Any], data: st.DataObject) -> None:
    by_id = {node["id"]: node for node in document["nodes"]}
    pairs = [(node["id"], edge["targetNode"]) for node in document["nodes"] for edge in node["edges"]]
    if not pairs:
        return
    source, target = data.draw(st.sampled_from(pairs))
    by_id[target]["edges"].append({"targetNode": source})
    with pytest.raises(InvalidDefinition) as caught:
        compile_graph(document)
    assert any(problem.message.startswith("cycle: ") for problem in caught.value.problems)


@given(GARBAGE)
def test_any_document_compiles_or_is_refused_with_problems(document: Any) -> None:
    refused_or_compiled(document)
    refused_or_compiled({"id": "a", "displayName": "A", "startNode": "a", "nodes": document})
    refused_or_compiled(
        {"id": "a", "displayName": "A", "startNode": "a", "nodes": [{"id": "a", "actionType": "core.echo"}, document]}
    )


@given(st.sampled_from([MONDAY_STATUS, ONBOARD_PROJECT, FANOUT_FANIN, RETRY_DEMO]), st.data())
def test_a_right_document_with_one_wrong_value_compiles_or_is_refused_with_problems(
    text: str, data: st.DataObject
) -> None:
    document = json.loads(text)
    place: Any = document
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(GARBAGE)
    refused_or_compiled(document)


def refused_or_compiled(document: Any) -> None:
    """Nothing else may happen, and it must happen again in the same way."""
    outcomes = []
    for _ in range(2):
        try:
            workflow = compile_graph(document, actions=STAND_INS)
        except InvalidDefinition as error:
            outcomes.append([str(problem) for problem in error.problems])
        else:
            assert check(workflow.graph) == []
            prepare(workflow.graph)
            assert codec.decode(codec.encode(workflow.graph)) == workflow.graph
            outcomes.append([codec.fingerprint(codec.encode(workflow.graph))])
    assert outcomes[0] == outcomes[1]
    assert outcomes[0]
    assert all(outcomes[0])
