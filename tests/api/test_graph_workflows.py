"""Workflows in the graph form through the API, and their JSON Schema."""

from __future__ import annotations

import json

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
        "there is no JSON Schema of the form 'steps'; there is one of: graph"
    )


async def test_a_graph_is_saved_started_and_read(detent: Detent) -> None:
    made = await detent.call("PUT", f"{WORKFLOWS}/fanout-fanin", data=FANOUT_FANIN)
    assert made.status == 201, made.json
    assert made.json["data"]["status"] == "draft"
    assert (await detent.call("POST", f"{WORKFLOWS}/fanout-fanin/publish")).status == 200
    run = await detent.ended(await detent.start("fanout-fanin", {}))
    assert (run["status"], run["output"]) == ("completed", {"msg": "Join"})
    assert statuses(run) == {"A": "success", "B": "success", "C": "skipped", "D": "success"}


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


async def test_a_new_title_or_description_of_a_node_is_a_new_version(detent: Detent) -> None:
    for version, fields in enumerate(({}, {"displayName": "Ask"}, {"description": "It asks."}), 1):
        written = document(node("a", **fields))
        assert (await detent.call("PUT", f"{WORKFLOWS}/orders", data=json.dumps(written))).status in (200, 201)
        assert (await detent.call("POST", f"{WORKFLOWS}/orders/publish")).json["data"]["version"] == version
        answer = await detent.call("GET", f"{WORKFLOWS}/orders")
        assert answer.json["data"]["current_version"] == version
        assert answer.json["data"]["definition"] == written
