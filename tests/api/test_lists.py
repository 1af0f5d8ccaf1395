"""Lists over many runs: stages, saved views, searches that stop, histogram, counts, facets, heroes, statistics."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from detent.clock import SystemClock
from detent.commands import lists
from detent.instant import as_datetime
from tests.api.conftest import POSTGRES_TOO
from tests.api.server import Detent

API = "/api/v1"
RUNS = f"{API}/runs"
WORKFLOWS = f"{API}/workflows"
ECHO = '{"name": "echo", "tasks": {"a": {"action": "core.echo"}, "b": {"needs": ["a"], "action": "core.echo"}}}'
WAITS = '{"name": "waits", "tasks": {"ask": {"wait_for_webhook": {"timeout": "2h"}}}}'
SLEEPS = '{"name": "sleeps", "tasks": {"nap": {"sleep": "3h"}}}'
FAILS = '{"name": "fails", "tasks": {"break": {"action": "core.fail", "with": {"message": "the Card was refused"}}}}'
CRON = """{"name": "nightly", "tasks": {"a": {"action": "core.echo"}},
           "trigger": {"type": "cron", "cron_expression": "0 0 * * *"}}"""


async def get(detent: Detent, path: str) -> Any:
    answer = await detent.call("GET", path)
    assert answer.status == 200, answer.text
    return answer.json


async def stock(detent: Detent) -> dict[str, str]:
    """Five runs by name: one that completed, one that failed, one that waits, one that sleeps, one delayed."""
    for definition in (ECHO, WAITS, SLEEPS, FAILS):
        await detent.save(definition)
    runs: dict[str, str] = {}
    for name, place in (
        ("done", "echo/trigger?wait=20s&label=team:Shop&hero=order:a-1"),
        ("failed", "fails/trigger?wait=20s&hero=order:a-2"),
        ("waits", "waits/trigger?label=team:Shop"),
        ("sleeps", "sleeps/trigger?hero=user:b"),
        ("later", "echo/trigger?start_at=1h"),
    ):
        answer = await detent.call("POST", f"{WORKFLOWS}/{place}", headers={"Idempotency-Key": f"Key-{name}"})
        assert answer.status == 201, answer.text
        runs[name] = answer.json["data"]["run_id"]
    for name in ("waits", "sleeps"):
        await parked(detent, runs[name])
    return runs


async def parked(detent: Detent, run: str) -> None:
    """Wait until no node has the run."""
    while (await get(detent, f"{RUNS}/{run}"))["data"]["node"] is not None:
        await detent.call("GET", f"{RUNS}/{run}?wait=100ms")


async def names(detent: Detent, runs: dict[str, str], query: str) -> list[str]:
    known = {id_: name for name, id_ in runs.items()}
    return [known[run["id"]] for run in (await get(detent, f"{RUNS}?{query}"))["data"]]


@POSTGRES_TOO
async def test_a_list_says_what_each_run_does_and_finds_runs_by_it(detent: Detent) -> None:
    runs = await stock(detent)
    listed = {run["id"]: run for run in (await get(detent, f"{RUNS}?include=progress"))["data"]}
    stages = {name: listed[id_]["stage"] and (listed[id_]["stage"]["kind"], listed[id_]["stage"]["step"])
              for name, id_ in runs.items()}  # fmt: skip
    assert stages == {
        "done": None, "failed": None, "waits": ("waiting", "ask"), "sleeps": ("sleeping", "nap"),
        "later": ("delayed", None),
    }  # fmt: skip
    for name in ("waits", "sleeps", "later"):
        assert listed[runs[name]]["stage"]["until"] is not None, name
    whole = (await get(detent, f"{RUNS}/{runs['waits']}"))["data"]
    assert whole["stage"] == listed[runs["waits"]]["stage"]
    done = listed[runs["done"]]
    assert (done["progress"], done["node"]) == ({"done": 2, "total": 2, "failed": 0}, None)
    assert listed[runs["failed"]]["progress"] == {"done": 1, "total": 1, "failed": 1}
    assert listed[runs["waits"]]["progress"] == {"done": 0, "total": 1, "failed": 0}
    assert done["duration_ms"] >= 0
    assert listed[runs["sleeps"]]["duration_ms"] is None
    assert listed[runs["later"]]["duration_ms"] is None
    assert (await get(detent, f"{RUNS}/{runs['done']}"))["data"]["queued_ms"] >= 0
    wanted = {
        "stage=waiting": ["waits"],
        "stage=sleeping&stage=delayed": ["later", "sleeps"],
        "stage=running": [],
        "view=waiting": ["waits"],
        "view=person": [],
        "view=failed": ["failed"],
        "view=failing": ["failed"],
        "view=stuck": [],
        "view=paused": [],
        "version=1&status=completed": ["done"],
        "version=2": [],
        f"ids={runs['done']},{runs['waits']}": ["waits", "done"],
        "text=shop": ["waits", "done"],
        "text=CARD%20was": ["failed"],
        "text=key-sl": ["sleeps"],
        "text=A-2": ["failed"],
        "text=slee": ["sleeps"],
        "text=nap": ["sleeps"],
        "text=echo": ["later", "done"],
        f"text={runs['failed']}": ["failed"],
        f"text={runs['failed'][-8:]}": ["failed"],
        f"text={runs['failed'][-6:]}": ["failed"],
        "text=no-such-thing": [],
        "error=card": ["failed"],
        "error=shop": [],
    }
    for query, found in wanted.items():
        assert await names(detent, runs, query) == found, query
    await detent.call("POST", f"{RUNS}/{runs['sleeps']}/pause")
    await parked(detent, runs["sleeps"])
    assert await names(detent, runs, "stage=paused") == ["sleeps"]
    counts = (await get(detent, f"{RUNS}/counts"))["data"]
    assert counts == {
        "views": {"all": 5, "running": 0, "waiting": 1, "person": 0, "failing": 1, "stuck": 0, "paused": 1},
        "capped_at": 10_000,
    }


@POSTGRES_TOO
async def test_counts_by_time_and_by_value_tell_the_same_runs(detent: Detent) -> None:
    await stock(detent)
    await detent.save(CRON)
    begin = as_datetime(SystemClock().wall()) - timedelta(hours=1)
    end = begin + timedelta(hours=49)
    window = f"from={quote(begin.isoformat())}&to={quote(end.isoformat())}"
    histogram = (await get(detent, f"{RUNS}/histogram?{window}&buckets=49"))["data"]
    wanted = {"completed": 1, "running": 0, "waiting": 3, "attention": 0, "failed": 1, "cancelled": 0, "scheduled": 2}
    assert (histogram["totals"], histogram["bucket_ms"], len(histogram["buckets"])) == (wanted, 3_600_000, 49)
    for name, total in wanted.items():
        assert sum(bucket[name] for bucket in histogram["buckets"]) == total
    assert [histogram["buckets"][0][name] + histogram["buckets"][1][name] for name in ("completed", "failed")] == [1, 1]
    other = (await get(detent, f"{RUNS}/histogram?{window}&label=team:Shop"))["data"]["totals"]
    assert other == {**dict.fromkeys(wanted, 0), "completed": 1, "waiting": 1}
    echo = (await get(detent, f"{RUNS}/histogram?{window}&workflow=echo"))["data"]["totals"]
    assert echo == {**dict.fromkeys(wanted, 0), "completed": 1, "waiting": 1}
    past = (await get(detent, f"{RUNS}/histogram?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z"))["data"]
    assert past["totals"] == dict.fromkeys(wanted, 0)
    facets = (await get(detent, f"{RUNS}/facets?{window}"))["data"]
    assert {one["value"]: one["count"] for one in facets["workflows"]} == {
        "echo": 2,
        "fails": 1,
        "waits": 1,
        "sleeps": 1,
    }
    assert {one["value"]: one["count"] for one in facets["statuses"]} == {
        "completed": 1, "failed": 1, "running": 2, "pending": 1,
    }  # fmt: skip
    assert facets["labels"] == [{"key": "team", "value": "Shop", "count": 2}]
    assert (facets["versions"], facets["runs"], facets["sampled"]) == ([], 5, False)
    assert (await get(detent, f"{RUNS}/facets?workflow=echo"))["data"]["versions"] == [{"value": "1", "count": 2}]
    open_ = (await get(detent, f"{RUNS}/facets?status=active"))["data"]
    assert (open_["runs"], open_["searched_until"]) == (3, None)


@POSTGRES_TOO
async def test_heroes_searches_and_statistics(detent: Detent) -> None:
    runs = await stock(detent)
    await detent.save(CRON)
    heroes = await get(detent, f"{API}/heroes?limit=2")
    assert [(one["type"], one["id"], one["runs"], one["last_run"]["id"]) for one in heroes["data"]] == [
        ("order", "a-1", 1, runs["done"]),
        ("order", "a-2", 1, runs["failed"]),
    ]
    rest = await get(detent, f"{API}/heroes?limit=2&cursor={heroes['next_cursor']}")
    assert ([one["id"] for one in rest["data"]], rest["next_cursor"]) == (["b"], None)
    assert [one["id"] for one in (await get(detent, f"{API}/heroes?type=order&prefix=a-2"))["data"]] == ["a-2"]

    async def search(text: str) -> dict[str, list[Any]]:
        found = (await get(detent, f"{API}/search?q={quote(text)}"))["data"]
        return {kind: [one.get("name", one["id"]) for one in rows] for kind, rows in found.items() if rows}

    assert await search("slee") == {"workflows": ["sleeps"]}
    assert await search("a-") == {"heroes": ["a-1", "a-2"]}
    assert await search("order:a-1") == {"heroes": ["a-1"], "runs": [runs["done"]]}
    assert await search(runs["waits"]) == {"runs": [runs["waits"]]}
    assert await search("Key-later") == {"runs": [runs["later"]]}
    assert await search("nothing") == {}
    every = {one["workflow"]: one for one in (await get(detent, "/api/v1/stats"))["data"]}
    assert sorted(every) == ["echo", "fails", "nightly", "sleeps", "waits"]
    echo = every["echo"]
    assert [run["id"] for run in echo["recent"]] == [runs["done"], runs["later"]]
    assert (echo["runs"], echo["success_rate"], echo["in_flight"]) == (2, 1.0, {"1": 1})
    assert echo["p50_ms"] == echo["p95_ms"] == echo["recent"][0]["duration_ms"]
    assert (every["fails"]["success_rate"], every["waits"]["success_rate"]) == (0.0, None)
    assert (every["nightly"]["next_at"] is None, every["nightly"]["last_at"]) == (False, None)
    one = (await get(detent, f"{WORKFLOWS}/echo/stats?days=1"))["data"]
    assert {**one, "recent": None} == {**echo, "recent": None}
    page = await get(detent, "/api/v1/stats?limit=3")
    more = await get(detent, f"/api/v1/stats?limit=3&cursor={page['next_cursor']}")
    assert [one["workflow"] for one in page["data"] + more["data"]] == sorted(every)


async def test_a_search_that_stops_says_how_far_it_looked_and_goes_on(
    detent: Detent, monkeypatch: pytest.MonkeyPatch
) -> None:
    await detent.save(ECHO)
    answers = [await detent.call("POST", f"{WORKFLOWS}/echo/trigger?label=n:{number}") for number in range(10)]
    ids = [answer.json["data"]["run_id"] for answer in answers]
    monkeypatch.setattr(lists, "MOST_SECONDS", 3600.0)
    monkeypatch.setattr(lists, "_FIRST_LOOK", 2)
    monkeypatch.setattr(lists, "_GROWTH", 1)
    monkeypatch.setattr(lists, "MOST_LOOKED_AT", 4)
    query, found, pages = f"{RUNS}?label=n:1", [], 0
    page = await get(detent, query)
    assert (page["data"], page["searched_until"] is None) == ([], False)
    while True:
        found += [run["id"] for run in page["data"]]
        pages += 1
        if page["next_cursor"] is None:
            break
        page = await get(detent, f"{query}&cursor={page['next_cursor']}")
    assert (found, pages, page["searched_until"]) == ([ids[1]], 3, None)
    assert (await get(detent, f"{RUNS}?limit=3"))["searched_until"] is None
    facets = (await get(detent, f"{RUNS}/facets?label=n:1"))["data"]
    assert (facets["runs"], facets["sampled"], facets["searched_until"] is None) == (0, True, False)


async def test_pages_of_maps_are_in_no_count(detent: Detent) -> None:
    await detent.save('{"name": "maps", "tasks": {"m": {"for_each": "{{ [1, 2, 3] }}", "action": "core.echo"}}}')
    answer = await detent.call("POST", f"{WORKFLOWS}/maps/trigger?wait=20s")
    assert answer.json["data"]["status"] == "completed", answer.text
    totals = (await get(detent, f"{RUNS}/histogram"))["data"]["totals"]
    assert (totals["completed"], totals["running"]) == (1, 0)
    assert (await get(detent, f"{RUNS}/facets"))["data"]["runs"] == 1
    assert (await get(detent, f"{RUNS}/counts"))["data"]["views"]["all"] == 1
    assert (await get(detent, f"{WORKFLOWS}/maps/stats"))["data"]["runs"] == 1


@pytest.mark.parametrize(
    ("query", "field", "says"),
    [
        ("runs?stage=dozing", "stage", "must be one of queued, running"),
        ("runs?view=mine", "view", "must be one of running, waiting"),
        ("runs?view=failed&status=completed", "view", "cannot be combined"),
        ("runs?version=x", "version", "number"),
        ("runs?ids=run_1", "ids", "not an id"),
        ("runs?ids=,", "ids", "1 to 200"),
        ("runs?text=%20", "text", "1 to 200 characters"),
        ("runs?include=everything", "include", "must be progress"),
        ("runs/histogram?buckets=201", "buckets", "200"),
        ("runs/histogram?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "from", "must be before `to`"),
        ("runs/histogram?limit=3", "limit", ""),
        ("runs/facets?buckets=3", "buckets", ""),
        ("search", "q", "is missing"),
        ("search?q=x&limit=51", "limit", "50"),
        ("heroes?cursor=abc", "cursor", "not a cursor"),
        ("stats?days=0", "days", "1"),
    ],
)
async def test_a_wrong_query_is_refused_with_what_to_do(api: Detent, query: str, field: str, says: str) -> None:
    answer = await api.call("GET", f"{API}/{query}")
    assert answer.status == 400, answer.text
    [problem] = answer.json["details"]["validation_errors"]
    assert problem["field"] == field
    assert says in problem["message"]


async def test_a_cursor_of_a_view_is_good_for_the_next_page_although_time_goes_on(api: Detent) -> None:
    await api.save(FAILS)
    for _ in range(3):
        await api.call("POST", f"{WORKFLOWS}/fails/trigger?wait=20s")
    first = await get(api, f"{RUNS}?view=failing&limit=2")
    rest = await get(api, f"{RUNS}?view=failing&limit=2&cursor={first['next_cursor']}")
    assert (len(first["data"]), len(rest["data"])) == (2, 1)
    assert (await api.call("GET", f"{RUNS}?view=failed&cursor={first['next_cursor']}")).status == 400


async def test_a_bulk_action_takes_the_same_filter(api: Detent) -> None:
    await api.save(WAITS)
    for number in range(2):
        await api.call("POST", f"{WORKFLOWS}/waits/trigger?label=n:{number}")
    body = {"action": "cancel", "filter": {"text": "waits", "stage": ["waiting", "running"], "version": 1}}
    answer = await api.call("POST", f"{RUNS}/bulk", json=body)
    assert answer.json["data"]["matched"] == 2, answer.text
    ids = [run["id"] for run in (await get(api, RUNS))["data"]]
    answer = await api.call("POST", f"{RUNS}/bulk", json={"action": "cancel", "filter": {"ids": ids, "text": "waits"}})
    assert answer.json["data"]["matched"] == 2, answer.text
    answer = await api.call(
        "POST", f"{RUNS}/bulk", json={"action": "cancel", "filter": {"ids": [1], "stage": "wating"}}
    )
    assert [(one["field"], one["message"][-22:]) for one in answer.json["details"]["validation_errors"]] == [
        ("filter.stage", "did you mean 'waiting'?"[-22:]),
        ("filter.ids", "must be text, not the number 1"[-22:]),
    ]
