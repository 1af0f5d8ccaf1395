"""Workflows that are changed, switched off and deleted, by several people and while their runs are on the way."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.api.server import Answer, Detent
from tests.api.shop import Shop

WORKFLOWS = "/api/v1/workflows"


def echo(value: Any, name: str = "echo", **more: Any) -> str:
    return json.dumps({"name": name, "tasks": {"a": {"action": "core.echo", "with": {"x": value}}}, **more})


async def put(detent: Detent, definition: str, tag: str | None = None, name: str = "echo") -> Answer:
    headers = {} if tag is None else {"If-Match": tag}
    return await detent.call("PUT", f"{WORKFLOWS}/{name}", data=definition, headers=headers)


@pytest.mark.case("F7")
async def test_of_two_editors_the_second_is_told_that_the_workflow_changed(detent: Detent) -> None:
    made = await detent.call("POST", WORKFLOWS, data=echo(1))
    seen = (await detent.call("GET", f"{WORKFLOWS}/echo")).headers["ETag"]
    assert made.headers["ETag"] == seen
    answers = await asyncio.gather(*(put(detent, echo(number), seen) for number in range(2, 12)))
    assert sorted(answer.status for answer in answers) == [200] + [412] * 9
    [winner] = [answer for answer in answers if answer.status == 200]
    loser = next(answer for answer in answers if answer.status == 412)
    assert (loser.json["error"], loser.json["code"]) == ("precondition_failed", "precondition_failed")
    now = await detent.call("GET", f"{WORKFLOWS}/echo")
    assert now.json["data"]["definition"] == winner.json["data"]["definition"]
    assert now.headers["ETag"] == winner.headers["ETag"] != seen
    assert (await put(detent, echo(20), winner.headers["ETag"])).status == 200


async def test_a_precondition_that_nothing_can_meet_is_refused(detent: Detent) -> None:
    assert (await put(detent, echo(1), "*")).status == 412
    assert (await detent.call("GET", f"{WORKFLOWS}/echo")).status == 404
    await detent.save(echo(1))
    tag = (await detent.call("GET", f"{WORKFLOWS}/echo")).headers["ETag"]
    for wrong in ('"v9.1"', "nonsense", f"W/{tag}", ""):
        assert (await put(detent, echo(2), wrong)).status == 412, wrong
    assert (await put(detent, echo(2), f'"other", {tag}')).status == 200
    assert (await put(detent, echo(3), "*")).status == 200
    assert (await detent.call("DELETE", f"{WORKFLOWS}/echo", headers={"If-Match": tag})).status == 412
    assert (await detent.call("GET", f"{WORKFLOWS}/echo")).json["data"]["current_version"] == 3


async def test_switching_a_workflow_off_and_on_changes_its_tag_and_what_may_start(detent: Detent) -> None:
    await detent.save(echo(1))
    tags = [(await detent.call("GET", f"{WORKFLOWS}/echo")).headers["ETag"]]
    off = await detent.call("POST", f"{WORKFLOWS}/echo/disable")
    assert (off.status, off.json["data"]["enabled"]) == (200, False)
    refused = await detent.call("POST", f"{WORKFLOWS}/echo/trigger")
    assert (refused.status, refused.json["code"]) == (409, "WFENG002")
    assert refused.json["message"] == "Workflow is disabled: echo"
    on = await detent.call("POST", f"{WORKFLOWS}/echo/enable")
    assert (on.status, on.json["data"]["enabled"]) == (200, True)
    assert (await detent.call("POST", f"{WORKFLOWS}/echo/trigger")).status == 201
    assert len({*tags, off.headers["ETag"], on.headers["ETag"]}) == 3
    for verb in ("enable", "disable"):
        assert (await detent.call("POST", f"{WORKFLOWS}/nobody/{verb}")).status == 404


async def test_versions_are_listed_newest_first_with_what_was_written(detent: Detent) -> None:
    await detent.save(echo(1))
    for number in (2, 2, 3):
        await put(detent, echo(number))
    listed = (await detent.call("GET", f"{WORKFLOWS}/echo/versions")).json
    assert [(one["version"], one["current"]) for one in listed["data"]] == [(3, True), (2, False), (1, False)]
    assert [one["definition"]["tasks"]["a"]["with"]["x"] for one in listed["data"]] == [3, 2, 1]
    assert len({one["checksum"] for one in listed["data"]}) == 3
    first = (await detent.call("GET", f"{WORKFLOWS}/echo/versions?limit=2")).json
    rest = (await detent.call("GET", f"{WORKFLOWS}/echo/versions?limit=2&cursor={first['next_cursor']}")).json
    assert [one["version"] for one in first["data"] + rest["data"]] == [3, 2, 1]
    assert rest["next_cursor"] is None


async def test_workflows_are_listed_by_label_and_by_whether_they_may_start(detent: Detent) -> None:
    for number in range(6):
        labels = {"team": "shop" if number % 2 else "bank", "n": str(number)}
        await detent.save(echo(1, f"w{number}", labels=labels, enabled=number < 4))
    for query, wanted in {
        "label=team:shop": ["w1", "w3", "w5"],
        "label=team:shop&enabled=true": ["w1", "w3"],
        "isEnabled=false": ["w4", "w5"],
        "label=team:shop&label=n:3": ["w3"],
        "label=team:none": [],
    }.items():
        found: list[str] = []
        more: str | None = ""
        while more is not None:
            page = (await detent.call("GET", f"{WORKFLOWS}?limit=1&{query}{more and f'&cursor={more}'}")).json
            found += [row["name"] for row in page["data"]]
            more = page["next_cursor"]
        assert found == wanted, query
    bad = await detent.call("GET", f"{WORKFLOWS}?enabled=maybe&label=x&limit=0&named=w1")
    fields = {problem["field"] for problem in bad.json["details"]["validation_errors"]}
    assert (bad.status, fields) == (400, {"enabled", "label", "limit", "named"})


@pytest.mark.case("F7")
async def test_runs_go_on_while_their_workflow_is_changed_and_deleted(detent: Detent, shop: Shop) -> None:
    steps = {"ask": {"url": f"{shop.url}/api/create-checkout"}, "tell": {"needs": ["ask"], "url": f"{shop.url}/one"}}
    saved = await detent.save(json.dumps({"name": "echo", "tasks": steps}))
    shop.hold.clear()
    first = await detent.start("echo", {})
    await asyncio.wait_for(shop.arrived.wait(), 300)
    changed = {**steps, "tell": {"needs": ["ask"], "url": f"{shop.url}/two"}}
    assert (await put(detent, json.dumps({"name": "echo", "tasks": changed}))).json["data"]["current_version"] == 2
    second = await detent.start("echo", {})
    gone = await detent.call("DELETE", f"{WORKFLOWS}/echo")
    assert gone.status == 200
    assert gone.json["data"]["deleted_at"] >= gone.json["data"]["inserted_at"]
    shop.hold.set()
    for started, version, place in ((first, 1, "/one"), (second, 2, "/two")):
        run = await detent.ended(started)
        assert (run["status"], run["version"]) == ("completed", version)
        assert place in shop.paths()
    assert (await detent.call("GET", f"{WORKFLOWS}/{saved['id']}")).status == 404
    for place in (
        *(f"{WORKFLOWS}/{key}/runs" for key in ("echo", saved["id"])),
        *(f"/api/v1/runs?workflow={key}" for key in ("echo", saved["id"])),
    ):
        runs = (await detent.call("GET", place)).json["data"]
        assert [run["id"] for run in runs] == [second["run_id"], first["run_id"]]


async def test_a_name_is_free_again_once_its_workflow_is_deleted(detent: Detent) -> None:
    old = await detent.save(echo(1))
    before = await detent.ended(await detent.start("echo", {}))
    await detent.call("DELETE", f"{WORKFLOWS}/echo")
    assert (await detent.call("DELETE", f"{WORKFLOWS}/echo")).status == 404
    assert (await detent.call("POST", f"{WORKFLOWS}/echo/trigger")).status == 404
    new = await detent.save(echo(2))
    assert (new["id"] != old["id"], new["current_version"]) == (True, 1)
    after = await detent.ended(await detent.start("echo", {}))
    assert (before["output"], after["output"]) == ({"x": 1}, {"x": 2})
    assert [run["id"] for run in (await detent.call("GET", f"{WORKFLOWS}/echo/runs")).json["data"]] == [after["id"]]
    assert (await detent.call("GET", f"{WORKFLOWS}/echo/runs/{before['id']}")).status == 404
    assert (await detent.call("GET", f"/api/v1/runs/{before['id']}")).json["data"]["workflow"] == "echo"


async def test_the_secrets_of_a_definition_are_never_shown_and_cannot_be_lost_by_saving_what_was_shown(
    detent: Detent,
) -> None:
    signature = {"preset": "github", "secrets": ["canary-7f3a", {"env": "OTHER"}]}
    trigger = {"type": "webhook", "signature": signature}
    definition = {"name": "signed", "trigger": trigger, "tasks": {"a": {"action": "core.echo", "with": {"x": 1}}}}
    await put(detent, json.dumps(definition), name="signed")
    answer = await detent.call("GET", f"{WORKFLOWS}/signed")
    versions = await detent.call("GET", f"{WORKFLOWS}/signed/versions")
    assert versions.status == 200
    assert "canary-7f3a" not in json.dumps([answer.json, versions.json])
    shown = answer.json["data"]["definition"]
    assert shown["trigger"]["signature"]["secrets"] == ["***", {"env": "OTHER"}]
    refused = await put(detent, json.dumps(shown), name="signed")
    assert refused.status == 400
    assert "***" in refused.json["details"]["validation_errors"][0]["message"]
