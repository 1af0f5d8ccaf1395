"""Runs are paused, resumed and cancelled by their id, over HTTP, on real databases."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from detent.auth.scopes import Role
from tests.api.server import Answer, Detent
from tests.auth.test_principals import key_of

pytestmark = pytest.mark.slow

RUNS = "/api/v1/runs"
WORKFLOW = """
name: waits
tasks:
  nap: {sleep: 50ms}
  answer: {needs: [nap], wait_for_webhook: {timeout: 1h}}
  after: {needs: [answer], action: core.echo, with: {x: 1}}
"""
ECHO = "name: echo\ntasks:\n  a: {action: core.echo}\n"


async def waiting(detent: Detent) -> dict[str, Any]:
    """A run that waits for its callback, parked: its document does not change by itself any more."""
    await detent.save(WORKFLOW)
    started = await detent.start("waits", {})
    return await detent.until(started, lambda run: run["stage"]["kind"] == "waiting")


async def wish(detent: Detent, run: dict[str, Any], word: str) -> Answer:
    return await detent.call("POST", f"{RUNS}/{run['id']}/{word}")


async def test_a_paused_run_begins_nothing_until_it_is_resumed_and_then_completes(detent: Detent) -> None:
    run = await waiting(detent)
    for _ in range(2):
        answer = await wish(detent, run, "pause")
        paused = answer.json["data"]
        assert (answer.status, paused["status"], paused["paused_by"]) == (200, "paused", "api")
    answered = await detent.call("POST", run["callbacks"][0]["url"], json={"ok": True})
    assert answered.status == 200
    place = {"workflow_id": run["workflow_id"], "run_id": run["id"]}
    stood = await detent.until(place, lambda seen: seen["tasks"]["answer"]["status"] == "success")
    assert (stood["status"], stood["tasks"]["after"]["status"]) == ("paused", "scheduled")
    resumed = await wish(detent, run, "resume")
    assert (resumed.status, resumed.json["data"]["paused_by"]) == (200, None)
    ended = await detent.ended(place)
    assert (ended["status"], ended["output"]) == ("completed", {"x": 1})


async def test_the_answer_to_a_resume_is_not_older_than_the_resumption(
    detent: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await waiting(detent)
    assert (await wish(detent, run, "pause")).json["data"]["status"] == "paused"
    journal = detent.app.store.journal

    async def slow(*arguments: Any, **options: Any) -> Any:
        if options.get("after") is not None:
            await asyncio.sleep(0.3)  # meanwhile the run is resumed
        return await journal(*arguments, **options)

    monkeypatch.setattr(detent.app.store, "journal", slow)
    resumed = (await wish(detent, run, "resume")).json["data"]
    assert (resumed["status"], resumed["paused_by"], resumed["resume_requested"]) == ("running", None, False)


async def test_to_resume_a_run_that_goes_on_changes_nothing(detent: Detent) -> None:
    run = await waiting(detent)
    answer = await wish(detent, run, "resume")
    assert (answer.status, answer.json["data"]) == (200, run)


async def test_a_run_is_cancelled_by_its_id_alone_and_again_without_harm(detent: Detent) -> None:
    run = await waiting(detent)
    for _ in range(2):
        answer = await wish(detent, run, "cancel")
        assert (answer.status, answer.json["data"]["status"]) == (200, "cancelled")
    late = await wish(detent, run, "resume")
    assert (late.status, late.json["message"]) == (409, "Cannot resume a canceled workflow")


@pytest.mark.case("K17")
async def test_wishes_of_two_people_at_once_are_done_in_one_order_and_a_run_ends_once(detent: Detent) -> None:
    people = [await key_of(detent, name, Role.OPERATOR) for name in ("alice", "bob")]
    run = await waiting(detent)
    words = ("pause", "resume", "cancel", "resume", "retry", "cancel")

    async def ask(word: str, headers: dict[str, str]) -> tuple[str, Answer]:
        return word, await detent.call("POST", f"{RUNS}/{run['id']}/{word}", headers=headers)

    answers = await asyncio.gather(*(ask(word, headers) for word in words for headers in people))
    for word, answer in answers:
        assert answer.status in ((200,) if word == "cancel" else (201, 409) if word == "retry" else (200, 409)), answer
    ended = (await detent.call("GET", f"{RUNS}/{run['id']}")).json["data"]
    assert ended["status"] == "cancelled", "a cancel that was accepted is not undone by a resume"
    events = (await detent.call("GET", f"{RUNS}/{run['id']}/events")).json["data"]
    kinds = [event["kind"] for event in events]
    assert (kinds.count("cancelled"), kinds[-1]) == (1, "cancelled"), kinds
    for word, status in (("pause", 409), ("resume", 409), ("cancel", 200)):
        assert (await ask(word, people[0]))[1].status == status
    assert (await detent.call("GET", f"{RUNS}/{run['id']}")).json["data"] == ended


@pytest.mark.parametrize("word", ["cancel", "pause", "resume"])
async def test_a_finished_run_refuses_every_wish(api: Detent, word: str) -> None:
    await api.save(ECHO)
    run = await api.ended(await api.start("echo", {}))
    answer = await wish(api, run, word)
    assert (answer.status, answer.json["code"]) == (409, "WFENG002")
    assert answer.json["message"] == f"Cannot {word} a finished workflow"
    assert (await api.call("GET", f"{RUNS}/{run['id']}")).json["data"] == run


@pytest.mark.parametrize("run", ["run_nobody", "x", "run_01h455vb4pex5vsknk084sn02q"])
async def test_a_run_that_is_not_there_is_not_found_on_any_route(api: Detent, run: str) -> None:
    answers = [await api.call("GET", f"{RUNS}/{run}")]
    answers += [await wish(api, {"id": run}, word) for word in ("cancel", "pause", "resume")]
    assert {(answer.status, answer.json["error"]) for answer in answers} == {(404, "not_found")}


async def test_a_sleep_and_a_wait_that_are_over_say_when_they_began_and_how_long_they_took(detent: Detent) -> None:
    run = await waiting(detent)
    await detent.call("POST", run["callbacks"][0]["url"])
    ended = await detent.ended({"workflow_id": run["workflow_id"], "run_id": run["id"]})
    assert ended["tasks"]["nap"]["duration_ms"] >= 50
    assert ended["tasks"]["answer"]["started_at"] == run["tasks"]["answer"]["started_at"]
    for name in ("nap", "answer"):
        step = ended["tasks"][name]
        took = datetime.fromisoformat(step["finished_at"]) - datetime.fromisoformat(step["started_at"])
        assert took == timedelta(milliseconds=step["duration_ms"])
