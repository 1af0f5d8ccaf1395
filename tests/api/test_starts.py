"""Starting runs: options, request ids, later starts, and waiting for the end."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from detent.errors import StoreBusy
from detent.ids import RUN, show
from tests.api.conftest import POSTGRES_TOO
from tests.api.server import Answer, Detent
from tests.callers import commands_of

WORKFLOWS = "/api/v1/workflows"
ECHO = (
    '{"name": "echo", "labels": {"a": "b"}, "tasks": {"a": {"action": "core.echo", "with": {"x": "{{trigger.body}}"}}}}'
)
SLEEP = '{"name": "sleeps", "tasks": {"s": {"sleep": "1h"}}}'


async def trigger(detent: Detent, query: str = "", name: str = "echo", **options: Any) -> Answer:
    return await detent.call("POST", f"{WORKFLOWS}/{name}/trigger{query}", **options)


def problems(answer: Answer) -> dict[str, str]:
    assert answer.status == 400, answer.text
    assert (answer.json["error"], answer.json["code"]) == ("invalid_argument", "WFENG005")
    return {problem["field"]: problem["message"] for problem in answer.json["details"]["validation_errors"]}


@pytest.mark.case("F6")
async def test_a_request_id_starts_one_run_of_one_workflow_with_one_body(detent: Detent) -> None:
    await detent.save(ECHO)
    await detent.save(SLEEP)
    key = {"Idempotency-Key": "order-1"}
    first = await trigger(detent, json={"n": 1}, headers=key)
    again = await trigger(detent, json={"n": 1}, headers=key)
    assert (first.status, again.status) == (201, 200)
    assert first.json["data"]["run_id"] == again.json["data"]["run_id"]
    body = await trigger(detent, json={"n": 2}, headers=key)
    assert (body.status, body.json["error"], body.json["code"]) == (409, "conflict", "request_id_reused")
    other = await trigger(detent, name="sleeps", json={"n": 1}, headers=key)
    assert (other.status, other.json["error"], other.json["code"]) == (409, "conflict", "WFENG001")
    assert len((await detent.call("GET", "/api/v1/runs")).json["data"]) == 1


@POSTGRES_TOO
@pytest.mark.slow
@pytest.mark.case("F6")
async def test_fifty_starts_with_one_request_id_at_the_same_time_start_one_run(detent: Detent) -> None:
    await detent.save(ECHO)
    envelope = {"requestId": "r-1", "trigger": {"n": 1}}
    calls = [detent.call("POST", f"{WORKFLOWS}/echo/execute", json=envelope) for _ in range(50)]
    answers = await asyncio.gather(*calls)
    assert sorted(answer.status for answer in answers) == [200] * 49 + [202]
    assert len({answer.json["data"]["run_id"] for answer in answers}) == 1
    assert len((await detent.call("GET", "/api/v1/runs")).json["data"]) == 1


async def test_a_start_that_is_repeated_after_its_workflow_was_deleted_gets_its_run(detent: Detent) -> None:
    await detent.save(ECHO)
    key = {"Idempotency-Key": "order-1"}
    first = await trigger(detent, json={}, headers=key)
    await detent.call("DELETE", f"{WORKFLOWS}/echo")
    again = await trigger(detent, json={}, headers=key)
    assert (again.status, again.json["data"]["run_id"]) == (200, first.json["data"]["run_id"])


async def test_options_are_the_runs_and_the_rest_of_the_query_is_the_triggers(detent: Detent) -> None:
    await detent.save(ECHO)
    answer = await trigger(detent, "?label=team:shop&label=day:mon:1&hero=order:12&color=red&wait=20s", json={"n": 1})
    assert answer.status == 201, answer.text
    assert answer.json["data"]["status"] == "completed"
    assert answer.json["data"]["output"] == {"x": {"n": 1}}
    assert answer.json["data"]["finished_at"] is not None
    run = await detent.run(answer.json["data"])
    assert run["labels"] == {"a": "b", "team": "shop", "day": "mon:1"}
    assert run["hero"] == {"type": "order", "id": "12"}
    assert run["input"]["query"] == {"color": "red"}


async def test_a_start_is_not_refused_because_its_end_cannot_be_read(
    api: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StoreBusy("the database went away after the start")

    await api.save(ECHO)
    with monkeypatch.context() as patch:
        patch.setattr(api.app.store, "run", away)
        waited = await trigger(api, "?wait=20s", json={})
        assert waited.status == 201, "a refusal would make the caller start it again"
        executed = await api.call("POST", f"{WORKFLOWS}/echo/execute?wait=20s", json={})
        assert executed.status == 202
        known = waited.json["data"]
        assert "output" not in known
    run = await api.ended(known)
    assert run["status"] == "completed"


async def test_a_retry_that_cannot_be_read_is_answered_as_unknown(api: Detent, monkeypatch: pytest.MonkeyPatch) -> None:
    await api.save(ECHO)
    first = await api.ended((await trigger(api, json={})).json["data"])
    store = api.app.store
    read = store.run
    reads = 0

    async def away(tenant: int, run: bytes) -> Any:
        nonlocal reads
        if show(RUN, run) != first["id"]:
            reads += 1
            raise StoreBusy("the database went away after the start")
        return await read(tenant, run)

    monkeypatch.setattr(store, "run", away)
    answer = await api.call("POST", f"/api/v1/runs/{first['id']}/rerun", json={})
    assert (answer.status, answer.json["code"]) == (503, "commit_unknown"), answer.text
    assert "it is unknown whether this was done" in answer.json["message"]
    assert "Idempotency-Key" in answer.json["message"]
    assert reads


async def test_all_problems_of_options_are_told_at_once_and_nothing_starts(api: Detent) -> None:
    await api.save(ECHO)
    query = "?start_at=tomorrow&wait=2m&label=x&hero=order:&label=a:%00"
    answer = await trigger(api, query, json={}, headers={"Idempotency-Key": "k" * 256})
    assert set(problems(answer)) == {"start_at", "wait", "label", "hero", "Idempotency-Key"}
    assert problems(answer)["wait"] == "must be at most 60s"
    naive = await trigger(api, "?start_at=2031-01-01T00:00:00")
    assert "time zone" in problems(naive)["start_at"]
    twice = await trigger(api, "?wait=1s&wait=2s")
    assert problems(twice) == {"wait": "is given twice"}
    labels = await trigger(api, "?label=a:1&label=a:2")
    assert "twice" in problems(labels)["label"]
    assert (await trigger(api, "?x=%FF")).status == 400
    assert (await trigger(api, "?start_at=2099-01-01T00:00:00Z")).status == 400
    assert (await api.call("GET", "/api/v1/runs")).json["data"] == []


@pytest.mark.parametrize("start_at", ["3s", "in-iso"])
async def test_a_later_start_is_pending_until_its_time_and_then_runs(detent: Detent, start_at: str) -> None:
    await detent.save(ECHO)
    if start_at == "in-iso":
        now = commands_of(detent.app).now() / 1_000_000 + 3
        start_at = datetime.fromtimestamp(now).astimezone().isoformat().replace("+", "%2B")
    answer = await trigger(detent, f"?start_at={start_at}", json={"n": 1})
    assert answer.status == 201, answer.text
    started = answer.json["data"]
    assert (started["status"], started["started_at"]) == ("pending", None)
    listed = (await detent.call("GET", "/api/v1/runs?status=Pending")).json["data"]
    assert [(run["id"], run["started_at"], run["start_at"]) for run in listed] == [
        (started["run_id"], None, started["start_at"])
    ]
    run = (await detent.call("GET", f"/api/v1/runs/{started['run_id']}?wait=20s")).json["data"]
    assert (run["status"], run["output"]) == ("completed", {"x": {"n": 1}})
    assert run["started_at"] >= started["start_at"]


async def test_a_pending_run_can_be_cancelled(detent: Detent) -> None:
    await detent.save(ECHO)
    started = (await trigger(detent, "?start_at=1h")).json["data"]
    answer = await detent.call("POST", f"/api/v1/runs/{started['run_id']}/cancel")
    assert (answer.status, answer.json["data"]["status"]) == (200, "cancelled")


async def test_a_wait_that_is_over_answers_with_the_run_as_it_is(detent: Detent) -> None:
    await detent.save(SLEEP)
    answer = await trigger(detent, "?wait=200ms", name="sleeps")
    assert (answer.status, answer.json["data"]["status"]) == (201, "running")
    assert {name: answer.json["data"][name] for name in ("output", "error", "finished_at")} == {
        "output": None,
        "error": None,
        "finished_at": None,
    }
    run = await detent.call("GET", f"/api/v1/runs/{answer.json['data']['run_id']}?wait=200ms")
    assert run.json["data"]["status"] == "running"


async def test_whoever_waits_for_a_run_hears_of_its_end_at_once(detent: Detent) -> None:
    await detent.save(SLEEP)
    started = await detent.start("sleeps", {})
    waiting = asyncio.create_task(detent.call("GET", f"/api/v1/runs/{started['run_id']}?wait=60s"))
    await asyncio.sleep(0.1)
    await detent.call("POST", f"/api/v1/runs/{started['run_id']}/cancel")
    async with asyncio.timeout(300):
        assert (await waiting).json["data"]["status"] == "cancelled"


async def test_an_envelope_starts_a_run_as_somebody(detent: Detent) -> None:
    await detent.save(ECHO)
    envelope = {
        "requestId": "ext-event-12345",
        "principal": {"userId": "U123", "displayName": "Doug", "email": "doug@example.com"},
        "trigger": {"source": "channel-x", "userId": "abc"},
        "priority": 5,
        "tenantId": "default",
        "spec": {"a": [1]},
        "labels": {"team": "shop"},
        "hero": {"type": "order", "id": "12"},
    }
    answer = await detent.call("POST", f"{WORKFLOWS}/echo/execute", json=envelope)
    assert answer.status == 202, answer.text
    data = answer.json["data"]
    assert set(data) == {"execution_id", "run_id", "workflow_id", "status", "status_url"}
    assert data["execution_id"] == data["run_id"]
    again = await detent.call("POST", f"{WORKFLOWS}/echo/execute", json=envelope)
    assert (again.status, again.json["data"]["run_id"]) == (200, data["run_id"])
    run = (await detent.call("GET", data["status_url"] + "?wait=20s")).json["data"]
    assert run["execution_id"] == run["id"] == data["run_id"]
    assert run["output"] == {"x": envelope["trigger"]}
    assert run["input"]["principal"] == envelope["principal"]
    assert run["input"]["spec"] == {"a": [1]}
    assert (run["request_id"], run["labels"]["team"], run["hero"]["id"]) == ("ext-event-12345", "shop", "12")


async def test_an_envelope_without_a_principal_is_started_by_the_system_and_may_be_snake_case(api: Detent) -> None:
    await api.save(ECHO)
    envelope = {"request_id": "r", "start_at": "1h", "hero": "order:12"}
    answer = await api.call("POST", f"{WORKFLOWS}/echo/execute", json=envelope)
    assert (answer.status, answer.json["data"]["status"]) == (202, "pending")
    run = (await api.call("GET", answer.json["data"]["status_url"])).json["data"]
    assert run["input"]["principal"] == {"userId": "system", "displayName": "System", "email": None}
    assert (run["request_id"], run["hero"], run["input"]["body"]) == ("r", {"type": "order", "id": "12"}, {})


@pytest.mark.case("K6")
@pytest.mark.parametrize(
    ("envelope", "fields"),
    [({"status": "completed", "epoch": 3, "id": "run_1"}, {"status", "epoch", "id"}),
     ({"tenantId": "acme"}, {"tenantId"}), ({"tenant_id": 2}, {"tenant_id"}), ({"tenant": 1}, {"tenant"}),
     ({"principal": {"userId": "U1", "isAdmin": True}}, {"principal.isAdmin"}),
     ({"principal": {"displayName": "D"}}, {"principal.userId"}), ({"priority": 10**9}, {"priority"}),
     ({"labels": {"a": 1}, "hero": {"type": "x"}}, {"labels.a", "hero.id"}),
     ({"hero": {"type": "a:b", "id": "1"}}, {"hero.type"}), ({"hero": {"type": "a", "id": "1\n"}}, {"hero.id"}),
     ({"requestId": "a", "request_id": "a"}, {"request_id"}), ({"requestId": ""}, {"request_id"}),
     ({"workflowId": "x", "origin": "run_1", "startAt": 5}, {"workflowId", "origin", "start_at"})],
)  # fmt: skip
async def test_a_field_that_is_not_the_callers_to_set_is_refused(
    api: Detent, envelope: dict[str, Any], fields: set[str]
) -> None:
    await api.save(ECHO)
    answer = await api.call("POST", f"{WORKFLOWS}/echo/execute", json=envelope)
    assert set(problems(answer)) == fields
    assert (await api.call("GET", "/api/v1/runs")).json["data"] == []


async def test_what_stands_in_two_places_must_be_the_same(api: Detent) -> None:
    await api.save(ECHO)
    place = f"{WORKFLOWS}/echo/execute"
    differs = await api.call("POST", place, json={"requestId": "a"}, headers={"Idempotency-Key": "b"})
    assert set(problems(differs)) == {"request_id"}
    same = await api.call("POST", place, json={"requestId": "a"}, headers={"Idempotency-Key": "a"})
    assert same.status == 202


async def test_an_envelope_must_be_an_object(api: Detent) -> None:
    await api.save(ECHO)
    for body in ("[]", "3", '"x"'):
        answer = await api.call("POST", f"{WORKFLOWS}/echo/execute", data=body)
        assert (answer.status, answer.json["error"]) == (400, "invalid_argument")
    assert (await api.call("POST", f"{WORKFLOWS}/echo/execute")).status == 202
