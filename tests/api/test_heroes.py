"""Heroes over HTTP: one active run each, scopes, their timeline, and the attempts of a run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.api.conftest import POSTGRES_TOO
from tests.api.server import Answer, Detent

RUNS = "/api/v1/runs"
WAIT = '{"name": "Signup", "one_per_hero": true, "tasks": {"w": {"wait_for_webhook": {}}}}'
ECHO = '{"name": "echo", "tasks": {"a": {"action": "core.echo"}, "b": {"needs": ["a"], "action": "core.echo"}}}'
FAIL = '{"name": "fail", "tasks": {"f": {"action": "core.fail", "with": {"message": "no money"}}}}'


async def trigger(detent: Detent, query: str = "?hero=User:42", name: str = "Signup", **options: Any) -> Answer:
    return await detent.call("POST", f"/api/v1/workflows/{name}/trigger{query}", **options)


async def listed(detent: Detent, query: str) -> list[str]:
    answer = await detent.call("GET", f"{RUNS}?{query}")
    assert answer.status == 200, answer.text
    return [run["id"] for run in answer.json["data"]]


@POSTGRES_TOO
async def test_a_second_start_for_a_hero_is_a_conflict_that_names_the_active_run(detent: Detent) -> None:
    await detent.save(WAIT)
    first = await trigger(detent)
    assert first.status == 201
    run = first.json["data"]["run_id"]
    for second in (
        await trigger(detent),
        await detent.call("POST", "/api/v1/workflows/Signup/execute", json={"hero": {"type": "User", "id": "42"}}),
    ):
        assert second.status == 409, second.text
        assert second.json == {
            "error": "conflict",
            "code": "already_active",
            "message": f"there is an active run of 'Signup' for User 42: {run}",
            "details": {"run_id": run},
        }
    assert (await trigger(detent, "?hero=User:43")).status == 201
    assert (await trigger(detent, "?hero=User:42&allow_multiple=true")).status == 201
    envelope = {"hero": "User:42", "allowMultiple": True}
    assert (await detent.call("POST", "/api/v1/workflows/Signup/execute", json=envelope)).status == 202
    assert len(await listed(detent, "hero=User:42&status=active")) == 3


async def test_retry_and_rerun_answer_with_the_same_conflict(detent: Detent) -> None:
    await detent.save(WAIT)
    first = (await trigger(detent)).json["data"]
    await detent.call("POST", f"{RUNS}/{first['run_id']}/cancel")
    second = (await trigger(detent)).json["data"]
    for verb in ("retry", "rerun"):
        refused = await detent.call("POST", f"{RUNS}/{first['run_id']}/{verb}")
        assert (refused.status, refused.json["details"]) == (409, {"run_id": second["run_id"]})
    refused = await detent.call("POST", f"{RUNS}/{first['run_id']}/fork", json={"step": "w"})
    assert (refused.status, refused.json["code"]) == (409, "already_active")


async def test_a_webhook_for_a_hero_that_is_taken_is_a_conflict(detent: Detent) -> None:
    await detent.save(WAIT.replace('"tasks"', '"trigger": {"type": "webhook"}, "tasks"'))
    place = "/webhook/workflow/trigger/Signup?hero=User:42"
    first = await detent.call("POST", place, json={})
    second = await detent.call("POST", place, json={})
    assert (first.status, second.status, second.json["code"]) == (201, 409, "already_active")
    assert second.json["details"] == {"run_id": first.json["data"]["run_id"]}
    assert (await detent.call("POST", f"{place}&allow_multiple=true", json={})).status == 201


async def test_what_is_wrong_with_allow_multiple_is_said(api: Detent) -> None:
    await api.save(WAIT)
    assert (await trigger(api, "?allow_multiple=perhaps")).status == 400
    both = await api.call("POST", "/api/v1/workflows/Signup/execute?allow_multiple=true", json={"allowMultiple": False})
    assert "in two places" in both.text
    assert (await api.call("POST", "/api/v1/workflows", data=WAIT.replace("true", '"yes"'))).status == 400


async def test_scopes_are_words_for_several_statuses(detent: Detent) -> None:
    await detent.save(WAIT)
    await detent.save(ECHO)
    waiting = (await trigger(detent)).json["data"]
    paused = (await trigger(detent, "?hero=User:43")).json["data"]
    await detent.call("POST", f"{RUNS}/{paused['run_id']}/pause")
    gone = (await trigger(detent, "?hero=User:44")).json["data"]
    await detent.call("POST", f"{RUNS}/{gone['run_id']}/cancel")
    done = (await trigger(detent, "?hero=User:42&wait=20s", "echo")).json["data"]
    later = (await trigger(detent, "?start_at=10m", "echo")).json["data"]
    async with asyncio.timeout(300):
        while await listed(detent, "status=performing"):  # noqa: ASYNC110 - polled, as any user of the API would
            await asyncio.sleep(0.02)
    ids = {name: run["run_id"] for name, run in
           {"waiting": waiting, "paused": paused, "gone": gone, "done": done, "later": later}.items()}  # fmt: skip
    assert set(await listed(detent, "status=active")) == {ids["waiting"], ids["paused"], ids["later"]}
    assert set(await listed(detent, "status=ready")) == {ids["waiting"], ids["later"]}
    assert await listed(detent, "status=paused") == [ids["paused"]]
    assert await listed(detent, "status=finished") == [ids["done"]]
    assert await listed(detent, "status=canceled") == [ids["gone"]]
    assert await listed(detent, "status=active&hero=User:42") == [ids["waiting"]]
    assert set(await listed(detent, "status=finished&status=canceled")) == {ids["done"], ids["gone"]}
    bulk = {"action": "cancel", "filter": {"status": "ready", "hero": "User:42"}}
    assert (await detent.call("POST", f"{RUNS}/bulk", json=bulk)).json["data"]["matched"] == 1


async def test_performing_runs_are_those_a_node_has_in_its_hands(detent: Detent) -> None:
    await detent.save('{"name": "nap", "tasks": {"s": {"sleep": "3s"}}}')
    run = (await trigger(detent, "", "nap")).json["data"]["run_id"]
    assert await listed(detent, "status=performing") == [run]
    assert await listed(detent, "status=ready") == []


async def test_words_that_do_not_go_together_are_refused(api: Detent) -> None:
    answer = await api.call("GET", f"{RUNS}?status=ready&status=paused")
    assert (answer.status, "cannot be combined" in answer.text) == (400, True)
    assert "performing" in (await api.call("GET", f"{RUNS}?status=sitting")).text


@POSTGRES_TOO
async def test_a_timeline_has_the_runs_of_one_hero_in_the_order_of_time_page_by_page(detent: Detent) -> None:
    await detent.save(ECHO)
    await detent.save(FAIL)
    for name, hero in (("echo", "a/b:c"), ("fail", "a/b:c"), ("echo", "other:c"), ("echo", "a/b:c")):
        assert (await trigger(detent, f"?hero={hero}&wait=20s", name)).status == 201
    whole = (await detent.call("GET", "/api/v1/timeline?hero=a/b:c")).json
    assert whole["next_cursor"] is None
    told = [(one["workflow"], one["kind"], one["step"]) for one in whole["data"]]
    echo = [("echo", "run_started", None), ("echo", "ended", "a"), ("echo", "ended", "b")]
    assert told == [*echo, ("fail", "run_started", None), ("fail", "ended", "f"), *echo]
    assert [one["at"] for one in whole["data"]] == sorted(one["at"] for one in whole["data"])
    assert len({one["run_id"] for one in whole["data"]}) == 3
    pieces: list[Any] = []
    more: str | None = ""
    while more is not None:
        answer = (await detent.call("GET", f"/api/v1/timeline?hero=a/b:c&limit=3{more}")).json
        pieces += answer["data"]
        if answer["next_cursor"]:
            foreign = f"/api/v1/heroes/other/c/timeline?cursor={answer['next_cursor']}"
            assert (await detent.call("GET", foreign)).status == 400, "a cursor belongs to one hero"
        more = answer["next_cursor"] and f"&cursor={answer['next_cursor']}"
    assert pieces == whole["data"]
    other = (await detent.call("GET", "/api/v1/heroes/other/c/timeline")).json["data"]
    assert [one["kind"] for one in other] == ["run_started", "ended", "ended"]
    assert (await detent.call("GET", "/api/v1/heroes/nobody/x/timeline")).status == 404
    assert (await detent.call("GET", "/api/v1/timeline?hero=nobody:x")).json == {"data": [], "next_cursor": None}
    assert (await detent.call("GET", "/api/v1/timeline")).status == 400


async def test_the_history_of_a_run_tells_each_attempt_and_its_outcome(detent: Detent) -> None:
    step = '{"url": "http://127.0.0.1:1/", "retry": {"attempts": 1, "delay": "10ms"}}'
    await detent.save(f'{{"name": "fail", "tasks": {{"f": {step}}}}}')
    run = (await trigger(detent, "?wait=20s", "fail")).json["data"]["run_id"]
    rows = (await detent.call("GET", f"{RUNS}/{run}/history")).json["data"]
    told = [(row["step"], row["attempt"], row["state"], row["outcome"]) for row in rows]
    assert told == [("f", 1, "failed", "reattempted"), ("f", 2, "failed", "failed")]
    assert rows[-1]["failed_at"] is not None
    assert (rows[-1]["completed_at"], "127.0.0.1" in rows[-1]["error_message"]) == (None, True)
    assert rows[-1]["scheduled_for"] <= rows[-1]["started_at"] <= rows[-1]["failed_at"]


@pytest.mark.parametrize("base", ["runs", "executions"])
async def test_a_history_comes_in_pages(api: Detent, base: str) -> None:
    await api.save(ECHO)
    run = (await trigger(api, "?wait=20s", "echo")).json["data"]["run_id"]
    place = f"/api/v1/{base}/{run}/history"
    first = (await api.call("GET", f"{place}?limit=1")).json
    second = (await api.call("GET", f"{place}?limit=1&cursor={first['next_cursor']}")).json
    assert [row["step"] for row in first["data"] + second["data"]] == ["a", "b"]
    assert second["next_cursor"] is None
    assert (await api.call("GET", f"{place}?cursor=x")).status == 400
    assert (await api.call("GET", "/api/v1/runs/run_nothing/history")).status == 404
