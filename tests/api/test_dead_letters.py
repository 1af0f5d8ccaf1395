"""Dead letters over HTTP: each kind, requeued once, purged, one by one and by a filter."""

from __future__ import annotations

import asyncio
from typing import Any

from detent.ids import LETTER, RUN, WORKFLOW, new_id, parse, show
from detent.store.letters import NewLetter
from detent.store.rows import Flush
from tests.api.conftest import EVERY_DATABASE
from tests.api.server import Detent

PLACE = "/api/v1/dead-letters"
ECHO = '{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}'
FAILS = '{"name": "fails", "tasks": {"a": {"action": "core.fail", "with": {"message": "no"}}}}'
STRICT = """
name: strict
trigger_schema: {type: object, required: [order]}
tasks: {a: {action: core.echo}}
"""


async def lettered(detent: Detent, **given: Any) -> str:
    """A dead letter as the engine would have written it."""
    values: dict[str, Any] = {
        "id": new_id(), "tenant": 1, "kind": "step", "workflow": new_id(), "run": None, "step": "a", "source": None,
        "trigger": None, "reason": "poison", "message": "it died", "payload": b'{"n":1}', "attempts": 3,
        "last_error": "boom",
    }  # fmt: skip
    new = NewLetter(**{**values, **given})
    store, node = detent.app.store, new_id()
    epoch, _ = await store.register(node, ttl=60)
    assert await store.flush(node, epoch, Flush(letters=[new])) is not None
    await store.retire(node)
    return show(LETTER, new.id)


async def letters(detent: Detent, query: str = "") -> list[dict[str, Any]]:
    answer = await detent.call("GET", f"{PLACE}{query}")
    assert answer.status == 200, answer.text
    found: list[dict[str, Any]] = answer.json["data"]
    return found


async def test_an_event_that_can_never_start_leaves_a_letter_and_is_replayed_once_it_can(detent: Detent) -> None:
    await detent.save(STRICT)
    made = await detent.call(
        "POST", "/api/v1/triggers", json={"workflow": "strict", "type": "event", "config": {"event": "order.paid"}}
    )
    assert made.status == 201, made.text
    await detent.call("POST", "/api/v1/events", json={"type": "order.paid", "data": {"wrong": 1}})
    [letter] = await letters(detent, "?kind=event")
    assert (letter["state"], letter["workflow"], letter["run_id"]) == ("open", "strict", None)
    assert letter["trigger_id"] == made.json["data"]["id"]
    whole = (await detent.call("GET", f"{PLACE}/{letter['id']}")).json["data"]
    assert whole["payload"]["body"] == {"wrong": 1}
    again = await detent.call("POST", f"{PLACE}/{letter['id']}/requeue")
    assert again.status == 200, again.text
    assert again.json["data"]["result"].startswith("fir_"), "it was refused again"
    assert len(await letters(detent, "?kind=event&state=open")) == 1, "and left another letter"
    await detent.call("PUT", "/api/v1/workflows/strict", data="name: strict\ntasks: {a: {action: core.echo}}")
    [second] = await letters(detent, "?kind=event&state=open")
    started = (await detent.call("POST", f"{PLACE}/{second['id']}/requeue")).json["data"]
    assert started["result"].startswith("run_")
    assert (started["state"], started["settled_by"]) == ("requeued", "api")


async def test_a_firing_whose_condition_breaks_leaves_a_letter_and_one_beside_an_active_run_none(
    detent: Detent,
) -> None:
    await detent.save(ECHO)
    trigger = await detent.call(
        "POST", "/api/v1/triggers", json={"workflow": "echo", "type": "manual", "condition": "body.a.b > 1"}
    )
    place = f"/api/v1/triggers/{trigger.json['data']['id']}"
    fired = await detent.call("POST", f"{place}/fire", json={"body": {}})
    assert fired.json["data"]["status"] == "errored"
    [letter] = await letters(detent)
    assert (letter["kind"], letter["reason"], letter["firing_id"]) == (
        "firing",
        "condition_error",
        fired.json["data"]["id"],
    )
    await detent.call("DELETE", place)
    refused = await detent.call("POST", f"{PLACE}/{letter['id']}/requeue")
    assert (refused.status, "was deleted; purge" in refused.json["message"]) == (409, True)
    assert (await letters(detent))[0]["state"] == "open", "it can be requeued when that is possible"


@EVERY_DATABASE
async def test_two_operators_who_requeue_a_step_at_once_get_one_run(detent: Detent) -> None:
    await detent.save(FAILS)
    run = await detent.ended(await detent.start("fails", {}))
    letter = await lettered(detent, run=parse(RUN, run["id"]))
    answers = await asyncio.gather(*(detent.call("POST", f"{PLACE}/{letter}/requeue") for _ in range(4)))
    assert sorted(answer.status for answer in answers) == [200, 409, 409, 409]
    [done] = [answer.json["data"] for answer in answers if answer.status == 200]
    retried = (await detent.call("GET", f"/api/v1/runs/{done['result']}")).json["data"]
    assert retried["origin"] == {"run_id": run["id"], "kind": "retry"}
    late = await detent.call("POST", f"{PLACE}/{letter}/requeue")
    assert done["result"] in late.json["message"]
    runs = (await detent.call("GET", f"/api/v1/runs?origin={run['id']}")).json["data"]
    assert len(runs) == 1


async def test_a_quarantined_run_is_resumed_and_one_that_is_open_or_gone_is_not_retried(detent: Detent) -> None:
    await detent.save('{"name": "nap", "tasks": {"a": {"sleep": "1h"}}}')
    started = await detent.start("nap", {})
    place = f"/api/v1/runs/{started['run_id']}"
    await detent.call("POST", f"{place}/pause")
    letter = await lettered(detent, kind="run", step=None, reason="quarantined", run=parse(RUN, started["run_id"]))
    done = await detent.call("POST", f"{PLACE}/{letter}/requeue")
    assert (done.status, done.json["data"]["result"]) == (200, started["run_id"])
    assert (await detent.call("GET", place)).json["data"]["status"] == "running"
    step = await lettered(detent, run=parse(RUN, started["run_id"]))
    refused = await detent.call("POST", f"{PLACE}/{step}/requeue")
    assert (refused.status, refused.json["message"]) == (409, "Cannot retry a running workflow")
    gone = await lettered(detent, run=new_id())
    refused = await detent.call("POST", f"{PLACE}/{gone}/requeue")
    assert (refused.status, "was deleted; purge the dead letter" in refused.json["message"]) == (409, True)


async def test_letters_are_counted_requeued_and_purged_by_a_filter(api: Detent) -> None:
    await api.save(FAILS)
    runs = [parse(RUN, (await api.ended(await api.start("fails", {})))["id"]) for _ in range(3)]
    for run in runs:
        await lettered(api, run=run)
    await lettered(api, run=new_id())
    await lettered(api, kind="run", run=new_id(), reason="quarantined")
    wish = {"action": "requeue", "filter": {"kind": "step", "reason": "poison"}}
    counted = (await api.call("POST", f"{PLACE}/bulk", json=wish)).json["data"]
    assert (counted["matched"], counted["dry_run"], counted["done"]) == (4, True, 0)
    part = (await api.call("POST", f"{PLACE}/bulk", json=wish | {"dry_run": False, "limit": 1})).json["data"]
    assert (part["done"], part["more"]) == (1, True)
    done = (await api.call("POST", f"{PLACE}/bulk", json=wish | {"dry_run": False})).json["data"]
    assert (done["matched"], done["done"], len(done["refused"]), done["more"]) == (3, 2, 1, False)
    assert len(await letters(api, "?state=requeued")) == 3
    one = (await letters(api, "?state=requeued"))[0]["id"]
    assert (await api.call("DELETE", f"{PLACE}/{one}")).json["data"]["id"] == one
    assert (await api.call("DELETE", f"{PLACE}/{one}")).status == 404
    assert (await api.call("GET", f"{PLACE}/{one}")).status == 404
    every = {"action": "purge", "filter": {}, "all": True, "dry_run": False}
    assert (await api.call("POST", f"{PLACE}/bulk", json=every)).json["data"]["done"] == 4
    assert await letters(api) == []


async def test_letters_are_listed_in_pages_by_every_filter(api: Detent) -> None:
    saved = await api.save(ECHO)
    workflow, run = parse(WORKFLOW, saved["id"]), new_id()
    one = await lettered(api, workflow=workflow)
    two = await lettered(api, run=run)
    assert [row["id"] for row in await letters(api)] == [two, one]
    first = (await api.call("GET", f"{PLACE}?limit=1")).json
    second = (await api.call("GET", f"{PLACE}?limit=1&cursor={first['next_cursor']}")).json
    assert ([row["id"] for row in second["data"]], second["next_cursor"]) == ([one], None)
    assert [row["id"] for row in await letters(api, "?workflow=echo")] == [one]
    assert [row["id"] for row in await letters(api, f"?run={show(RUN, run)}")] == [two]
    assert await letters(api, "?before=2020-01-01T00:00:00Z") == []
    assert "payload" not in (await letters(api))[0]


WRONG: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({}, ["action", "filter"]),
    ({"action": "eat", "filter": {"kind": "step"}}, ["action"]),
    ({"action": "purge", "filter": {}}, ["filter"]),
    ({"action": "purge", "filter": {"kind": "stepp"}}, ["filter.kind"]),
    ({"action": "purge", "filter": {"kind": 1}}, ["filter.kind"]),
    ({"action": "requeue", "filter": {"state": "requeued"}}, ["filter.state"]),
    ({"action": "purge", "filter": {"kind": "step"}, "all": True}, ["all"]),
    (
        {"action": "purge", "filter": {"workflow": "nope", "colour": "red"}, "limit": 0},
        ["filter.colour", "filter.workflow", "limit"],
    ),
)


async def test_a_wrong_wish_says_everything_that_is_wrong(api: Detent) -> None:
    for body, fields in WRONG:
        answer = await api.call("POST", f"{PLACE}/bulk", json=body)
        assert answer.status == 400, answer.text
        found = [problem["field"] for problem in answer.json["details"]["validation_errors"]]
        assert sorted(found) == fields, body


async def test_an_id_that_is_none_is_not_found(api: Detent) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/requeue")):
        assert (await api.call(method, f"{PLACE}/nonsense{path}")).status == 404
