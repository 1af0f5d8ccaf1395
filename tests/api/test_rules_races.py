"""Many editors of one rule at once: one of them saves, the others learn what has changed, and nothing is mixed."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.api.conftest import EVERY_DATABASE
from tests.api.rules import ENTITIES, FULL, RULES, add_entity, create, request_of
from tests.api.server import Answer, Detent

EDITORS = 50


@EVERY_DATABASE
async def test_of_fifty_saves_with_one_tag_one_wins_and_the_others_learn_what_changed(detent: Detent) -> None:
    made = await create(detent)
    rule, tag = made.json, made.headers["ETag"]
    place, (first, second) = f"{FULL}/{rule['id']}/full", [one["id"] for one in rule["actions"]]

    async def save(number: int) -> Answer:
        actions = [{**rule["actions"][0], "name": f"Mail {number}"}, {**rule["actions"][1], "name": f"Alert {number}"}]
        new = {"name": f"Wait {number}", "action_type": "delay", "action_config": {"seconds": number + 1}}
        edges = [
            *rule["edges"],
            {"source_action_id": second, "target_action_id": "temp:2", "edge_type": "always"},
        ]
        sent = request_of(name=f"Editor {number}", actions=[*actions, new], edges=edges, canvas_layout=None)
        return await detent.call("PUT", place, json=sent, headers={"If-Match": tag})

    async def move(number: int) -> Answer:
        return await detent.call("PATCH", f"{RULES}/{rule['id']}/layout", json=layout(first, number))

    answers = await asyncio.gather(*(one for n in range(EDITORS) for one in (save(n), move(n))))
    saves, moves = answers[::2], answers[1::2]

    assert [one.status for one in moves] == [200] * EDITORS, "a layout never conflicts"
    winners = [number for number, one in enumerate(saves) if one.status == 200]
    assert len(winners) == 1
    assert sorted(one.status for one in saves) == [200] + [412] * (EDITORS - 1)
    won = saves[winners[0]]
    names = [one["name"] for one in won.json["actions"]]
    assert names == [f"Mail {winners[0]}", f"Alert {winners[0]}", f"Wait {winners[0]}"]
    now = await detent.call("GET", f"{FULL}/{rule['id']}")
    assert now.headers["ETag"] == won.headers["ETag"], "layouts do not change the tag"
    assert without_layout(now.json) == without_layout(won.json), "nothing is mixed"
    for refused in (one for one in saves if one.status == 412):
        assert refused.headers["ETag"] == won.headers["ETag"]
        current = refused.json["details"]["current"]
        assert (current["etag"], current["version"], current["updated_by"]) == (won.headers["ETag"], 2, "api")
        assert current["updated_date"] == won.json["updated_date"]
        difference = current["difference"]
        assert [one["id"] for one in difference["actions"]["added"]] == [won.json["actions"][2]["id"]]
        assert {one["id"] for one in difference["actions"]["changed"]} == {first, second}
        assert {"field": "name", "old": rule["name"], "new": f"Editor {winners[0]}"} in difference["settings"]
    versions = (await detent.call("GET", f"{RULES}/{rule['id']}/versions")).json["data"]
    assert [one["version"] for one in versions] == [2, 1]


def layout(action: str, number: int) -> dict[str, Any]:
    return {"node_positions": {action: {"x": number, "y": number}}}


def without_layout(rule: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in rule.items() if name not in ("canvas_layout", "warnings")}


@EVERY_DATABASE
async def test_saves_without_a_tag_follow_one_another(detent: Detent) -> None:
    """Each has resolved its names against what it found; one that found something else is resolved again."""
    made = (await create(detent)).json

    async def add(number: int) -> Answer:
        body = {
            "name": f"Wait {number}",
            "action_config": {"seconds": number + 1},
            "edges": [{"source_action_id": made["actions"][1]["id"], "edge_type": "sequence"}],
        }
        return await detent.call("POST", f"{RULES}/{made['id']}/actions", json=body)

    answers = await asyncio.gather(*(add(number) for number in range(8)))
    assert [one.status for one in answers] == [201] * 8, [one.text for one in answers]
    now = (await detent.call("GET", f"{FULL}/{made['id']}")).json
    assert sorted(one["name"] for one in now["actions"][2:]) == [f"Wait {number}" for number in range(8)]
    assert {one.json["data"]["id"] for one in answers} == {one["id"] for one in now["actions"][2:]}
    assert now["version"] == 9


@EVERY_DATABASE
async def test_an_entity_is_not_deleted_under_a_rule_that_is_being_saved(detent: Detent) -> None:
    for number in range(6):
        entity = await add_entity(detent, f"thing{number}")
        sent = request_of(name=f"Rule {number}", entity_id=entity["id"])
        saved, deleted = await asyncio.gather(
            detent.call("POST", f"{FULL}/full", json=sent),
            detent.call("DELETE", f"{ENTITIES}/{entity['id']}"),
        )
        assert (saved.status, deleted.status) in ((201, 409), (400, 200)), (saved.text, deleted.text)
