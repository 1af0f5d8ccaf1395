"""Lists of runs: what narrows them, how they are paged, and what a cursor is good for."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.api.server import Detent

RUNS = "/api/v1/runs"
WORKFLOWS = "/api/v1/workflows"
ECHO = '{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}'
WAITS = '{"name": "waits", "tasks": {"w": {"wait_for_webhook": {}}}}'


async def stock(detent: Detent) -> dict[str, str]:
    """Four runs by name: two that completed, one later, one that waits."""
    for definition in (ECHO, WAITS):
        await detent.save(definition)
    runs: dict[str, str] = {}
    for name, place in (
        ("first", "echo/trigger?wait=20s&label=team:shop&label=day:mon&hero=order:1"),
        ("second", "echo/trigger?wait=20s&label=team:shop&hero=order:2"),
        ("later", "echo/trigger?start_at=1h"),
        ("open", "waits/trigger"),
    ):
        answer = await detent.call("POST", f"{WORKFLOWS}/{place}", headers={"Idempotency-Key": f"key {name}"})
        assert answer.status == 201, answer.text
        runs[name] = answer.json["data"]["run_id"]
    return runs


async def names(detent: Detent, runs: dict[str, str], query: str, place: str = RUNS) -> list[str]:
    answer = await detent.call("GET", f"{place}?{query}")
    assert answer.status == 200, answer.text
    known = {id_: name for name, id_ in runs.items()}
    return [known[run["id"]] for run in answer.json["data"]]


async def test_every_filter_narrows_the_list(detent: Detent) -> None:
    runs = await stock(detent)
    first = (await detent.call("GET", f"{RUNS}/{runs['first']}")).json["data"]
    again = await detent.call("POST", f"{RUNS}/{runs['first']}/rerun")
    runs["again"] = again.json["data"]["id"]
    await detent.call("GET", f"{RUNS}/{runs['again']}?wait=20s")
    wanted = {
        "": ["again", "open", "later", "second", "first"],
        "status=completed": ["again", "second", "first"],
        "status=Succeeded&status=Pending": ["again", "later", "second", "first"],
        "status=Running": ["open"],
        "workflow=waits": ["open"],
        f"workflowId={first['workflow_id']}&status=pending": ["later"],
        "label=team:shop": ["again", "second", "first"],
        "label=team:shop&label=day:mon": ["again", "first"],
        "hero=order:2": ["second"],
        "requestId=key%20first": ["first"],
        f"origin={runs['first']}": ["again"],
        "triggerType=Api&status=running": ["open"],
        "trigger=cron": [],
        "trigger=trg_01h455vb4pex5vsknk084sn02q": [],
        f"started_after={first['started_at']}&started_before=2026-01-01": [],
        f"startedAfter={first['started_at']}&label=day:mon": ["again", "first"],
        f"started_before={first['started_at']}": [],
        "workflow=wf_01h455vb4pex5vsknk084sn02q": [],
        "sort=started_at&label=team:shop": ["first", "second", "again"],
    }
    for query, found in wanted.items():
        assert await names(detent, runs, query) == found, query
    assert await names(detent, runs, "label=day:mon", f"{WORKFLOWS}/echo/runs") == ["again", "first"]
    executions = (await detent.call("GET", "/api/v1/executions?hero=order:2")).json["data"]
    assert [(run["id"], run["execution_id"]) for run in executions] == [(runs["second"], runs["second"])]


async def test_all_problems_of_a_filter_are_told_at_once(api: Detent) -> None:
    query = (
        "status=done&workflow=nobody&trigger=moon&hero=x&label=&request_id=%00&origin=run_1&started_after=soon"
        "&started_before=2026-01-01T10:00&sort=name&limit=0&stauts=failed&limit=3"
    )
    answer = await api.call("GET", f"{RUNS}?{query}")
    assert (answer.status, answer.json["code"]) == (400, "WFENG005")
    found = {problem["field"]: problem["message"] for problem in answer.json["details"]["validation_errors"]}
    assert set(found) == {
        *("status", "workflow", "trigger", "hero", "label", "request_id", "origin"),
        *("started_after", "started_before", "sort", "limit", "stauts"),
    }
    assert "did you mean 'status'?" in found["stauts"]
    assert "completed" in found["status"]
    below = await api.call("GET", f"{WORKFLOWS}/nobody/runs?status=x")
    assert below.status == 404


async def pages(detent: Detent, query: str) -> tuple[list[str], list[str]]:
    found, cursors = [], []
    more: str | None = ""
    while more is not None:
        page = (await detent.call("GET", f"{RUNS}?{query}{more and f'&cursor={more}'}")).json
        found += [run["id"] for run in page["data"]]
        more = page["next_cursor"]
        cursors += [more] if more else []
    return found, cursors


@pytest.mark.parametrize("sort", ["-started_at", "started_at"])
async def test_a_filtered_list_is_paged_without_gaps_or_repeats_in_both_orders(detent: Detent, sort: str) -> None:
    await detent.save(ECHO)
    kept = []
    for number in range(9):
        label = "a" if number % 2 else "b"
        answer = await detent.call("POST", f"{WORKFLOWS}/echo/trigger?label=side:{label}")
        kept += [answer.json["data"]["run_id"]] if label == "b" else []
    found, cursors = await pages(detent, f"limit=2&label=side:b&sort={sort}")
    assert found == (kept if sort == "started_at" else kept[::-1])
    assert len(cursors) == 2


@pytest.mark.case("K5")
async def test_a_cursor_is_good_for_its_own_list_only(detent: Detent) -> None:
    await detent.save(ECHO)
    for _ in range(3):
        await detent.call("POST", f"{WORKFLOWS}/echo/trigger?label=a:b&wait=20s")
    _, [cursor, _] = await pages(detent, "limit=1&label=a:b")
    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    forged = [
        f"label=a:c&cursor={cursor}",
        f"cursor={cursor}",
        f"label=a:b&sort=started_at&cursor={cursor}",
        f"label=a:b&status=completed&cursor={cursor}",
        f"label=a:b&cursor={cursor}x",
        f"label=a:b&cursor={cursor}=",
        f"label=a:b&cursor={cursor[:-3]}",
        f"label=a:b&cursor={base64.urlsafe_b64encode(raw[-16:]).decode().rstrip('=')}",
        f"label=a:b&cursor={base64.urlsafe_b64encode(bytes(9) + raw[9:]).decode().rstrip('=')}",
        "label=a:b&cursor=",
    ]
    for query in forged:
        answer = await detent.call("GET", f"{RUNS}?{query}")
        assert answer.status == 400, query
        assert answer.json["details"]["validation_errors"] == [
            {"field": "cursor", "message": "is not a cursor of this list; use `next_cursor` of the same query"}
        ]
    below = await detent.call("GET", f"{WORKFLOWS}/echo/runs?label=a:b&cursor={cursor}")
    assert below.status == 400
    same = await detent.call("GET", f"/api/v1/executions?label=a:b&cursor={cursor}&limit=200")
    assert (same.status, len(same.json["data"])) == (200, 2)


async def bulk(detent: Detent, body: Any, place: str = RUNS) -> Any:
    return await detent.call("POST", f"{place}/bulk", json=body)


async def test_bulk_counts_first_and_then_does_it_to_those_it_means(detent: Detent) -> None:
    runs = await stock(detent)
    dry = await bulk(detent, {"action": "cancel", "filter": {"workflow": "waits"}})
    assert dry.json["data"] == {
        "action": "cancel", "matched": 1, "dry_run": True, "done": 0, "refused": [], "more": False, "previews": [],
    }  # fmt: skip
    assert (await detent.call("GET", f"{RUNS}/{runs['open']}")).json["data"]["status"] == "running"
    done = await bulk(detent, {"action": "cancel", "filter": {}, "all": True, "dryRun": False})
    assert (done.json["data"]["matched"], done.json["data"]["done"], done.json["data"]["more"]) == (2, 2, False)
    for name, status in (("open", "cancelled"), ("later", "cancelled"), ("first", "completed")):
        run = (await detent.call("GET", f"{RUNS}/{runs[name]}?wait=20s")).json["data"]
        assert run["status"] == status
    again = await bulk(
        detent,
        {"action": "rerun", "filter": {"status": ["cancelled"], "workflow": "waits"}, "dry_run": False},
        "/api/v1/executions",
    )
    assert again.json["data"]["done"] == 1
    twice = await bulk(
        detent, {"action": "rerun", "filter": {"status": "Cancelled", "workflow": "waits"}, "dry_run": False}
    )
    assert (twice.json["data"]["done"], twice.json["data"]["refused"][0]["run_id"]) == (0, runs["open"])
    assert "again already" in twice.json["data"]["refused"][0]["message"]


@pytest.mark.parametrize(
    ("body", "fields"),
    [({}, {"action", "filter"}), ({"action": "cancel"}, {"filter"}), ({"action": "cancel", "filter": {}}, {"filter"}),
     ({"action": "delete", "filter": {"status": "failed"}}, {"action"}),
     ({"action": "cancel", "filter": {"status": "x", "label": 3, "stauts": 1}},
      {"filter.status", "filter.label", "filter.stauts"}),
     ({"action": "cancel", "filter": {"status": "failed"}, "all": True}, {"all"}),
     ({"action": "cancel", "filter": {"status": "failed"}, "limit": 0, "dry_run": "no", "tenant_id": 2},
      {"limit", "dry_run", "tenant_id"})],
)  # fmt: skip
async def test_bulk_refuses_what_could_mean_more_than_was_meant(
    api: Detent, body: dict[str, Any], fields: set[str]
) -> None:
    await api.save(WAITS)
    started = await api.start("waits", {})
    answer = await bulk(api, body)
    assert answer.status == 400
    assert {problem["field"] for problem in answer.json["details"]["validation_errors"]} == fields
    assert (await api.run(started))["status"] == "running"
