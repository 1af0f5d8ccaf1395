"""A rehearsal over HTTP: groups of runs, differences, moves, and nothing is done."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from detent.auth.caller import local_caller
from detent.client.events import EVENTS, Parser
from detent.commands.rehearsal import RehearsalRequest
from tests.api.server import PATIENCE, Detent
from tests.api.shop import Shop

WORKFLOWS = "/api/v1/workflows"


def order(shop: Shop, **more: Any) -> dict[str, Any]:
    tasks = {
        "reserve": {"url": f"{shop.url}/reserve", "body": {"n": "{{ trigger.body.n }}"}},
        "ask": {"needs": ["reserve"], "wait_for_webhook": {"timeout": "2h"}, "if": "trigger.body.n > 1"},
        "ship": {"needs": ["reserve"], "url": f"{shop.url}/ship"},
        **more,
    }
    return {"name": "order", "tasks": tasks}


async def test_a_draft_is_rehearsed_and_nothing_is_done(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(order(shop)))
    for number in range(4):
        started = await detent.start("order", {"n": number})
        await detent.until(started, lambda run: run["tasks"]["ship"]["status"] == "success")
    calls = len(shop.calls)
    draft = order(shop)
    draft["tasks"]["reserve"]["body"]["n"] = "{{ trigger.body.n * 2 }}"
    draft["tasks"]["ship"]["if"] = "trigger.body.n > 0"
    answer = await detent.call("POST", f"{WORKFLOWS}/order/rehearse?days=1", data=json.dumps(draft))
    assert answer.status == 200, answer.text
    found = answer.json["data"]
    assert (found["version"], found["finished"], found["in_flight"]) == (2, 2, 2)
    assert (found["same"], found["other"], found["failing"]) == (3, 1, 0)
    [other] = [group for group in found["groups"] if not group["same"]]
    assert other["detours"] == [{"step": "ship", "was": "success", "now": "skipped", "edge": None}]
    [waiting] = [group for group in found["groups"] if group["in_flight"]]
    [diff] = waiting["differences"]
    assert (diff["step"], diff["field"]) == ("reserve", "body.n")
    assert (found["matched"], found["movable"]) == (2, 2)
    assert len(shop.calls) == calls
    assert (await detent.call("GET", f"{WORKFLOWS}/order")).json["data"]["current_version"] == 1
    again = await detent.call("POST", f"{WORKFLOWS}/order/rehearse?version=1")
    assert (again.json["data"]["same"], again.json["data"]["other"]) == (4, 0)


async def test_a_rehearsal_that_is_not_possible_is_refused(detent: Detent, shop: Shop) -> None:
    await detent.save(json.dumps(order(shop)))
    place = f"{WORKFLOWS}/order/rehearse"
    assert (await detent.call("POST", place)).status == 404
    assert (await detent.call("POST", f"{place}?version=9")).status == 404
    assert (await detent.call("POST", f"{place}?days=-1", data=json.dumps(order(shop)))).status == 400
    assert (await detent.call("POST", place, data="{")).status == 400
    other = json.dumps({**order(shop), "name": "another"})
    assert (await detent.call("POST", place, data=other)).status == 400
    assert (await detent.call("POST", f"{WORKFLOWS}/nothing/rehearse", data=other)).status == 404


async def two_waiting(detent: Detent, shop: Shop) -> str:
    """Save a workflow and start two runs of it that wait. Return the place where its draft is published."""
    await detent.save(json.dumps(order(shop)))
    for number in (2, 3):
        started = await detent.start("order", {"n": number})
        await detent.until(started, lambda run: run["tasks"]["ship"]["status"] == "success")
    return f"{WORKFLOWS}/order/publish"


async def save_draft(detent: Detent, definition: dict[str, Any]) -> None:
    answer = await detent.call("PUT", f"{WORKFLOWS}/order?draft=true", data=json.dumps(definition))
    assert answer.status == 200, answer.text


def breaking(shop: Shop) -> dict[str, Any]:
    """A draft in which a run would fail, and which has no step that the runs wait for."""
    definition = order(shop, other={"needs": ["reserve"], "url": f"{shop.url}/{{{{ trigger.body.missing }}}}"})
    del definition["tasks"]["ask"]
    return definition


async def versions(detent: Detent) -> list[int]:
    return [one["version"] for one in (await detent.call("GET", f"{WORKFLOWS}/order/versions")).json["data"]]


async def test_a_publish_answers_with_the_rehearsal_and_a_strict_one_is_refused_with_it(
    detent: Detent, shop: Shop
) -> None:
    place = await two_waiting(detent, shop)
    await save_draft(detent, breaking(shop))
    refused = await detent.call("POST", f"{place}?rehearse=strict")
    assert (refused.status, refused.json["code"]) == (409, "rehearsal_failed")
    problem = "2 of 2 rehearsed runs would fail; 2 of 2 runs in flight could not be moved to it"
    assert refused.json["message"] == f"the draft of 'order' was not published as version 2: {problem}"
    [group] = refused.json["details"]["rehearsal"]["groups"]
    assert (group["runs"], [failure["step"] for failure in group["failures"]]) == (2, ["other"])
    [stuck] = refused.json["details"]["rehearsal"]["moves"]
    assert "no step of that name" in stuck["reasons"][0]["message"]
    assert await versions(detent) == [1]
    published = (await detent.call("POST", f"{place}?rehearse=report&days=1")).json["data"]
    assert (published["version"], published["changed"]) == (2, True)
    assert published["rehearsal"] == {**refused.json["details"]["rehearsal"], "days": 1}
    await save_draft(detent, order(shop))
    back = (await detent.call("POST", f"{place}?rehearse=strict")).json["data"]
    assert (back["version"], back["rehearsal"]["version"], back["rehearsal"]["failing"]) == (1, 1, 0)
    assert (await detent.call("POST", place)).json["data"]["rehearsal"] is None
    for wrong in ("rehearse=maybe", "days=3", "rehearse=report&days=-1"):
        assert (await detent.call("POST", f"{place}?{wrong}")).status == 400


async def test_a_draft_that_is_saved_while_it_is_rehearsed_is_not_published_without_a_rehearsal(
    detent: Detent, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = await two_waiting(detent, shop)
    await save_draft(detent, order(shop, note={"needs": ["ask"], "sleep": "1s"}))
    journals, saves = detent.app.store.journals_of, list[bool]()

    async def saved_meanwhile(tenant: int, runs: Any) -> Any:
        if not saves:
            saves.append(True)
            await save_draft(detent, breaking(shop))
        return await journals(tenant, runs)

    monkeypatch.setattr(detent.app.store, "journals_of", saved_meanwhile)
    refused = await detent.call("POST", f"{place}?rehearse=strict")
    assert (refused.status, refused.json["code"]) == (409, "rehearsal_failed")
    assert (saves, await versions(detent)) == ([True], [1])


def events(stream: bytes) -> list[tuple[str, Any]]:
    return [(one.event, json.loads(one.data[0])) for one in Parser().feed(stream) if one.data]


async def test_the_progress_of_a_rehearsal_is_streamed_to_a_client_that_accepts_it(
    detent: Detent, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = await two_waiting(detent, shop)
    await save_draft(detent, breaking(shop))
    journals, has_read = detent.app.store.journals_of, asyncio.Event()

    async def after_the_first_report(tenant: int, runs: Any) -> Any:
        await has_read.wait()
        return await journals(tenant, runs)

    monkeypatch.setattr(detent.app.store, "journals_of", after_the_first_report)
    async with (
        asyncio.timeout(PATIENCE),
        detent.opened("POST", f"{WORKFLOWS}/order/rehearse", {"Accept": EVENTS}) as answer,
    ):
        assert answer.content_type == EVENTS
        begun = await answer.content.readuntil(b"}\n\n")
        has_read.set()
        first, *_, (last, found) = events(begun + await answer.content.read())
    assert first == ("progress", {"stage": "moves", "done": 0, "total": 2})
    plain = await detent.call("POST", f"{WORKFLOWS}/order/rehearse")
    assert (last, found) == ("result", plain.json)
    accept = {"Accept": EVENTS}
    refused = await detent.call("POST", f"{place}?rehearse=strict", headers=accept)
    last, error = events(refused.text.encode())[-1]
    assert (last, error["status"], error["code"]) == ("error", 409, "rehearsal_failed")
    early = await detent.call("POST", f"{WORKFLOWS}/nothing/rehearse", headers=accept)
    assert (early.status, early.json["error"]) == (404, "not_found")
    published = await detent.call("POST", f"{place}?rehearse=report", headers=accept)
    last, done = events(published.text.encode())[-1]
    assert (last, done["data"]["version"], done["data"]["rehearsal"]["failing"]) == ("result", 2, 2)


async def test_a_rehearsal_ends_when_its_client_leaves_the_stream(
    detent: Detent, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = await two_waiting(detent, shop)
    await save_draft(detent, order(shop, note={"needs": ["ask"], "sleep": "1s"}))
    entered, left = asyncio.Event(), asyncio.Event()

    async def endless(tenant: int, runs: Any) -> Any:
        entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            left.set()
            raise

    monkeypatch.setattr(detent.app.store, "journals_of", endless)
    async with asyncio.timeout(PATIENCE):
        async with detent.opened("POST", f"{place}?rehearse=report", {"Accept": EVENTS}) as answer:
            await answer.content.readuntil(b"event: progress")
            await entered.wait()
        await left.wait()
    assert await versions(detent) == [1]


async def test_other_work_has_a_turn_after_each_large_run(detent: Detent) -> None:
    tasks = {f"s{number}": {"action": "core.echo"} for number in range(150)}
    definition = json.dumps({"name": "wide", "tasks": tasks})
    await detent.save(definition)
    for _ in range(3):
        await detent.ended(await detent.start("wide", {}))
    reports: list[tuple[str, int]] = []
    asked = RehearsalRequest(progress=lambda report: reports.append((report.stage, report.done)))
    bound = detent.app.commands.for_caller(local_caller("test"))
    await bound.rehearsals.rehearse("wide", asked, definition=definition.encode())
    assert [done for stage, done in reports if stage == "finished"] == [0, 1, 2, 3]
