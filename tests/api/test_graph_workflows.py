"""Workflows in the graph form through the API, and their JSON Schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.forms.graph.schema import SCHEMA
from tests.api.server import Detent, statuses
from tests.forms.graphs import FANOUT_FANIN, document, edge, node

WORKFLOWS = "/api/v1/workflows"


async def test_the_schema_of_the_graph_form_is_published(detent: Detent) -> None:
    answer = await detent.call("GET", "/api/v1/schemas/graph")
    assert (answer.status, json.loads(answer.text)) == (200, SCHEMA)
    assert answer.headers["Content-Type"].startswith("application/json")


async def test_a_form_without_a_schema_is_not_found(detent: Detent) -> None:
    for form in ("steps", "x" * 500, "%00", "..%2fgraph"):
        answer = await detent.call("GET", f"/api/v1/schemas/{form}")
        assert answer.status == 404, form
    assert (await detent.call("GET", "/api/v1/schemas/steps")).json["message"] == (
        "there is no JSON Schema of the form 'steps'; there is one of: graph, rule"
    )


async def test_a_graph_is_saved_started_and_read(detent: Detent) -> None:
    made = await detent.call("PUT", f"{WORKFLOWS}/fanout-fanin", data=FANOUT_FANIN)
    assert made.status == 201, made.json
    assert made.json["data"]["status"] == "draft"
    assert (await detent.call("POST", f"{WORKFLOWS}/fanout-fanin/publish")).status == 200
    run = await detent.ended(await detent.start("fanout-fanin", {}))
    assert (run["status"], run["output"]) == ("completed", {"msg": "Join"})
    assert statuses(run) == {"A": "success", "B": "success", "C": "skipped", "D": "success"}


@pytest.mark.parametrize(
    ("snapshot", "shown"),
    [
        (None, {"one": {"bytes": 4, "type": "boolean"}, "two": {"bytes": 9, "type": "object"}}),
        (
            {"mode": "full", "maxBytes": 500},
            {
                "one": {"bytes": 4, "type": "boolean", "value": True},
                "two": {"bytes": 9, "type": "object", "value": {"n": 1.5}},
            },
        ),
        ({"mode": "keys", "keys": ["one"]}, {"one": {"bytes": 4, "type": "boolean", "value": True}}),
    ],
)
async def test_the_context_of_a_run_is_shown_as_its_workflow_says(
    detent: Detent, snapshot: dict[str, Any] | None, shown: dict[str, Any]
) -> None:
    two = node("two", parameters={"n": 1.5})
    one = node("one", "two", nodeType="condition", expression="true")
    written = document(one, two, contextSnapshot=snapshot)
    await detent.call("PUT", f"{WORKFLOWS}/orders", data=json.dumps(written))
    assert (await detent.call("POST", f"{WORKFLOWS}/orders/publish")).status == 200
    started = await detent.start("orders", {})
    await detent.ended(started)
    run = (await detent.call("GET", f"/api/v1/runs/{started['run_id']}?include=context")).json["data"]
    assert run["context"]["outputs"] == shown
    assert run["context"]["max_bytes"] == (snapshot or {}).get("maxBytes", 10 * 1024 * 1024)
    assert "context" not in await detent.run(started)


async def test_every_problem_of_a_graph_is_answered_with_its_place(detent: Detent) -> None:
    wrong = {**document(node("a", edge("b", "sometimes"), edge("c")), node("b", actionType="core.ecko")), "id": "A"}
    answer = await detent.call("POST", WORKFLOWS, data=json.dumps(wrong))
    assert answer.status == 400
    assert {problem["field"] for problem in answer.json["details"]["validation_errors"]} == {
        "id",
        "nodes.a.edges[0].when",
        "nodes.a.edges[1].targetNode",
        "nodes.b.actionType",
    }


@pytest.mark.parametrize(
    ("nodes", "field", "words"),
    [
        ([node("a", edge("b")), node("b", edge("a"))], "nodes.a.edges", "cycle: a -> b -> a"),
        ([node("a"), node("b")], "nodes.b", "unreachable"),
        ([node("a", edge("gone"))], "nodes.a.edges[0].targetNode", "no node 'gone'"),
        ([node("a"), node("a")], "nodes.a", "there are two nodes with the id 'a'"),
        ([node(f"n{number}") for number in range(1001)], "nodes", "has 1001 nodes; at most 1000 are allowed"),
        ([node("a", parameters={"x": "{{ " + "(" * 500 + " }}"})], "nodes.a.parameters.x", "nested"),
        (
            [node("a", parameters={"x": "{{ " + "1+" * 9000 + "1 }}"})],
            "nodes.a.parameters.x",
            "longer than 4096 characters",
        ),
    ],
    ids=["cycle", "unreachable", "unknown target", "duplicate id", "1001 nodes", "a deep bomb", "a long bomb"],
)
async def test_a_bad_graph_is_refused_but_kept_as_a_draft(
    api: Detent, nodes: list[dict[str, Any]], field: str, words: str
) -> None:
    text = json.dumps({**document(*nodes), "id": "bad"})
    saved = await api.call("POST", WORKFLOWS, data=text)
    found = {one["field"]: one["message"] for one in saved.json["details"]["validation_errors"]}
    assert (saved.status, words in found.get(field, "")) == (400, True), found
    assert (await api.call("GET", f"{WORKFLOWS}/bad")).status == 404
    draft = await api.call("POST", f"{WORKFLOWS}?draft=true", data=text)
    assert draft.status == 201, draft.text
    published = await api.call("POST", f"{WORKFLOWS}/bad/publish")
    assert (published.status, published.json["details"]) == (400, saved.json["details"])
    assert (await api.call("POST", f"{WORKFLOWS}/bad/trigger", json={})).status == 409


async def test_a_new_title_or_description_of_a_node_is_a_new_version(detent: Detent) -> None:
    for version, fields in enumerate(({}, {"displayName": "Ask"}, {"description": "It asks."}), 1):
        written = document(node("a", **fields))
        assert (await detent.call("PUT", f"{WORKFLOWS}/orders", data=json.dumps(written))).status in (200, 201)
        assert (await detent.call("POST", f"{WORKFLOWS}/orders/publish")).json["data"]["version"] == version
        answer = await detent.call("GET", f"{WORKFLOWS}/orders")
        assert answer.json["data"]["current_version"] == version
        assert answer.json["data"]["definition"] == written
