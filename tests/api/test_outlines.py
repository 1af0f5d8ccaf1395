"""One run in parts: its outline, its graph and its steps, as it is and as it was."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from detent.documents.answers import One
from detent.documents.outline import GraphDocument, OutlineDocument, StepDetail
from detent.python.functions import Run, workflow
from tests.api.server import Detent
from tests.api.shop import Shop

RUNS = "/api/v1/runs"
ORDER = """
name: order
tasks:
  charge:
    url: "{shop}/api/charge"
    headers: {{Authorization: "Bearer {{{{trigger.body.token}}}}", X-Order: "{{{{trigger.body.id}}}}"}}
    body: {{id: "{{{{trigger.body.id}}}}", back: "{{{{wait.answer.url}}}}", lines: ["{{{{trigger.body.lines[0]}}}}"]}}
  answer: {{needs: [charge], wait_for_webhook: {{timeout: 1h}}}}
  ship: {{
    needs: [answer], if: "tasks.answer.body.ok == true", action: core.echo, with: {{x: "{{{{tasks.charge.body}}}}"}}
    }}
  refuse: {{needs: [answer], if: "tasks.answer.body.ok != true", action: core.echo}}
  nap: {{needs: [ship], sleep: "1ms"}}
"""


def twice(number: int) -> int:
    return 2 * number


@workflow(name="outlined")
async def outlined(run: Run, number: int) -> Any:
    await run.step(twice, number)
    await run.step(twice, number + 1)
    return await run.wait("approval")


def fails() -> None:
    raise ValueError("no <b>funds</b>")


@workflow(name="outlined-broken")
async def broken(run: Run) -> None:
    await run.step(fails)


async def get(detent: Detent, path: str, status: int = 200) -> Any:
    answer = await detent.call("GET", path)
    assert answer.status == status, answer.text
    return answer.json["data"] if status == 200 else answer.json


async def ordered(detent: Detent, shop: Shop) -> dict[str, Any]:
    """A run that waits for its callback."""
    await detent.save(ORDER.format(shop=shop.url))
    started = await detent.start("order", {"id": "o-1", "token": "geheim", "lines": ["a'b"]})
    return await detent.until(started, lambda run: run["tasks"]["answer"]["status"] == "waiting")


async def answered(detent: Detent, shop: Shop) -> dict[str, Any]:
    run = await ordered(detent, shop)
    await detent.call("POST", run["callbacks"][0]["url"], json={"ok": True})
    return await detent.ended({"workflow_id": run["workflow_id"], "run_id": run["id"]})


async def test_an_outline_says_why_a_run_waits_and_has_no_bodies(detent: Detent, shop: Shop) -> None:
    run = await ordered(detent, shop)
    outline = await get(detent, f"{RUNS}/{run['id']}/outline")
    msgspec.convert({"data": outline}, One[OutlineDocument])
    assert outline["why"].startswith("Step 'answer' waits for its callback until ")
    assert outline["reasons"][0]["kind"] == "callback"
    assert [step["name"] for step in outline["steps"]] == ["charge", "answer", "ship", "refuse", "nap"]
    assert [step["status"] for step in outline["steps"]] == ["success", "waiting", "pending", "pending", "pending"]
    assert outline["seq"] == 1
    assert outline["run"]["status"] == "running"
    assert "42.5" not in json.dumps(outline)
    assert outline["steps"][1]["until"].startswith(run["tasks"]["answer"]["until"][:19])
    assert outline["begun_at"] == run["started_at"]


async def test_an_outline_of_the_past_is_what_the_journal_had_then(detent: Detent, shop: Shop) -> None:
    run = await answered(detent, shop)
    now = await get(detent, f"{RUNS}/{run['id']}/outline")
    assert [step["status"] for step in now["steps"]] == ["success", "success", "success", "skipped", "success"]
    assert [step.get("guard") for step in now["steps"]] == [None, None, True, False, None]
    assert now["run"]["status"] == "completed"
    states = []
    for seq in range(now["seq"] + 1):
        then = await get(detent, f"{RUNS}/{run['id']}/outline?at={seq}")
        assert then["seq"] == seq
        states.append((then["run"]["status"], [step["status"] for step in then["steps"]]))
    assert states == [
        ("running", ["running", "pending", "pending", "pending", "pending"]),
        ("running", ["success", "waiting", "pending", "pending", "pending"]),
        ("running", ["success", "success", "running", "skipped", "pending"]),
        ("running", ["success", "success", "success", "skipped", "sleeping"]),
        ("completed", ["success", "success", "success", "skipped", "success"]),
    ]
    beyond = await get(detent, f"{RUNS}/{run['id']}/outline?at=999")
    assert beyond["seq"] == now["seq"]
    assert (await get(detent, f"{RUNS}/{run['id']}/outline?at=-1", 400))["details"]["validation_errors"]


async def test_a_graph_of_a_run_has_its_edges_taken_dead_or_open(detent: Detent, shop: Shop) -> None:
    run = await answered(detent, shop)
    graph = await get(detent, f"{RUNS}/{run['id']}/graph")
    msgspec.convert({"data": graph}, One[GraphDocument])
    assert [(edge["source"], edge["target"], edge["state"]) for edge in graph["edges"]] == [
        ("charge", "answer", "taken"),
        ("answer", "ship", "taken"),
        ("answer", "refuse", "taken"),
        ("ship", "nap", "taken"),
    ]
    before = await get(detent, f"{RUNS}/{run['id']}/graph?at=1")
    assert [edge["state"] for edge in before["edges"]] == ["taken", "open", "open", "open"]
    [charge] = [step for step in graph["steps"] if step["name"] == "charge"]
    assert charge["label"] == "POST " + shop.url.removeprefix("http://")
    assert {step["name"]: step["label"] for step in graph["steps"]}["nap"] == "sleep 0.001s"
    for version in ("1", "current"):
        plain = await get(detent, f"/api/v1/workflows/order/versions/{version}/graph")
        assert plain["version"] == 1
        assert plain["steps"] == graph["steps"]
        assert "state" not in plain["edges"][0]
    for version in ("2", "draft", "x", "-1"):
        await get(detent, f"/api/v1/workflows/order/versions/{version}/graph", 404)


async def test_a_step_is_shown_as_written_and_as_sent_without_its_secrets(detent: Detent, shop: Shop) -> None:
    run = await answered(detent, shop)
    token = run["callbacks"][0]["url"].rpartition("/")[2]
    answer = await detent.call("GET", f"{RUNS}/{run['id']}/steps/charge")
    step = answer.json["data"]
    msgspec.convert({"data": step}, One[StepDetail])
    assert token not in answer.text
    assert "geheim" not in answer.text
    assert step["template"]["body"]["id"] == "{{trigger.body.id}}"
    assert step["rendered"]["body"]["id"] == "o-1"
    assert step["rendered"]["body"]["back"].endswith("/wh/***")
    assert step["rendered"]["headers"] == {"Authorization": "***", "X-Order": "o-1"}
    values = {one["at"]: one.get("value") for one in step["expressions"]}
    assert values["headers.X-Order"] == "o-1"
    assert values["body.lines[0]"] == "a'b"
    assert values["headers.Authorization"] == "***"
    assert (step["output"], step["status_code"]) == ({"amount": 42.5}, 200)
    assert step["curl"].startswith(f"curl -g -X POST {shop.url}/api/charge \\\n")
    assert len(step["attempts"]) == 1
    refused = await get(detent, f"{RUNS}/{run['id']}/steps/refuse")
    assert refused["expressions"] == [{"at": "if", "source": "tasks.answer.body.ok != true", "value": False}]
    assert "rendered" not in refused
    before = await get(detent, f"{RUNS}/{run['id']}/steps/charge?at=0")
    assert before["status"] == "running"
    assert "output" not in before
    assert before["rendered"] == step["rendered"]
    wait = (await get(detent, f"{RUNS}/{run['id']}/steps/answer?at=1"))["wait"]
    assert (wait["status"], wait["url"]) == ("active", None)
    assert (await get(detent, f"{RUNS}/{run['id']}/steps/answer"))["wait"]["status"] == "consumed"
    missing = await get(detent, f"{RUNS}/{run['id']}/steps/charg", 404)
    assert missing["message"] == "the run has no step 'charg'; did you mean 'charge'?"


@pytest.mark.parametrize("size", [10_000, 40_000])
async def test_a_large_output_is_answered_as_its_size_and_a_part_unless_asked_for(api: Detent, size: int) -> None:
    await api.save('{"name": "big", "tasks": {"a": {"action": "core.echo", "with": {"v": "{{trigger.body}}"}}}}')
    run = await api.ended(await api.start("big", "ä" * size))
    step = await get(api, f"{RUNS}/{run['id']}/steps/a")
    if size < 20_000:
        assert step["output"] == {"v": "ä" * size}
        assert "cut" not in step
        return
    assert step["output"]["truncated"] is True
    assert step["output"]["bytes"] == 2 * size + 8
    assert step["output"]["part"].startswith('{"v":"ää')
    assert step["cut"] == ["rendered", "output"]
    assert step["expressions"][0]["value"]["bytes"] == 2 * size + 2
    whole = await get(api, f"{RUNS}/{run['id']}/steps/a?whole=true")
    assert whole["output"] == whole["rendered"]["with"] == {"v": "ä" * size}


# -- other forms, and what users and remote servers send


async def test_operations_of_a_durable_function_are_its_steps(api: Detent) -> None:
    started = await api.start("outlined", {"number": 3})
    run = await api.until(started, lambda seen: seen["callbacks"])
    at = f"{RUNS}/{run['id']}"
    outline = await get(api, f"{at}/outline")
    steps = {step["name"]: step for step in outline["steps"]}
    assert list(steps) == ["outlined", "twice", "twice#2", "@wait:approval"]
    assert [step["status"] for step in outline["steps"]][1:] == ["success", "success", "waiting"]
    graph = await get(api, f"{at}/graph")
    assert [step["name"] for step in graph["steps"]] == list(steps)
    assert ("outlined", "twice") in {(edge["source"], edge["target"]) for edge in graph["edges"]}
    assert "@wait:approval" in {edge["target"] for edge in graph["edges"]}
    step = await get(api, f"{at}/steps/twice%232")
    assert (step["kind"], step["status"], step["output"]) == ("step", "success", 8)
    wait = (await get(api, f"{at}/steps/@wait:approval"))["wait"]
    assert (wait["status"], wait["url"]) == ("active", run["callbacks"][0]["url"])
    await api.call("POST", wait["url"], json=1)
    await api.ended(started)
    assert (await get(api, f"{at}/steps/@wait:approval"))["output"] == 1
    past = await get(api, f"{at}/outline?at=0")
    assert [step["name"] for step in past["steps"]] == ["outlined"]


async def test_the_frames_of_user_code_are_told_from_those_around_it(api: Detent) -> None:
    started = await api.start("outlined-broken", {})
    run = await api.until(started, lambda seen: seen["status"] == "paused")
    step = await get(api, f"{RUNS}/{run['id']}/steps/fails")
    frames = step["error"]["frames"]
    assert frames[-1]["user"] is True
    assert frames[-1]["name"] == "fails"
    assert frames[-1]["source"] == 'raise ValueError("no <b>funds</b>")'
    assert step["error"]["message"] == "ValueError: no <b>funds</b>"
    assert not frames[0]["user"] or len(frames) == 1


async def test_a_run_that_was_moved_shows_the_graph_of_its_version_and_what_was_before(api: Detent) -> None:
    tasks: dict[str, Any] = {"a": {"action": "core.echo"}, "w": {"needs": "a", "wait_for_webhook": {}}}
    await api.save(json.dumps({"name": "moves", "tasks": tasks}))
    started = await api.start("moves", {})
    await api.until(started, lambda run: run["tasks"]["w"]["status"] == "waiting")
    changed = {"name": "moves", "tasks": {**tasks, "more": {"needs": "w", "action": "core.echo"}}}
    assert (await api.call("PUT", "/api/v1/workflows/moves", data=json.dumps(changed))).status == 200
    at = f"{RUNS}/{started['run_id']}"
    moved = await api.call("POST", f"{at}/move", json={"version": 2})
    assert moved.status == 200, moved.text
    outline = await get(api, f"{at}/outline")
    assert [step["name"] for step in outline["steps"]] == ["a", "w", "more"]
    assert [step["status"] for step in outline["steps"]] == ["success", "waiting", "pending"]
    assert outline["run"]["version"] == (await get(api, f"{at}/graph"))["version"] == 2
    before = await get(api, f"{at}/outline?at=1")
    assert ([step["name"] for step in before["steps"]], before["run"]["version"]) == (["a", "w"], 1)
    assert (await get(api, f"{at}/graph?at=1"))["version"] == 1
    assert (await get(api, f"{at}/steps/a"))["output"] == {}


async def test_a_map_shows_its_counts(api: Detent) -> None:
    each = {"for_each": "{{trigger.body}}", "action": "core.echo", "with": {"v": "{{item}}"}}
    await api.save(json.dumps({"name": "maps", "tasks": {"all": each}}))
    run = await api.ended(await api.start("maps", [1, 2, 3]))
    [step] = (await get(api, f"{RUNS}/{run['id']}/outline"))["steps"]
    assert (step["items"]["count"], step["items"]["succeeded"]) == (3, 3)
    [drawn] = (await get(api, f"{RUNS}/{run['id']}/graph"))["steps"]
    assert drawn["for_each"] == "{{trigger.body}}"
    detail = await get(api, f"{RUNS}/{run['id']}/steps/all")
    assert detail["expressions"] == [{"at": "for_each", "source": "trigger.body", "value": [1, 2, 3]}]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "\u2028\u0000'\"`$(x)", "{{", "\n" * 50, "x" * 60_000])
async def test_no_payload_breaks_a_document(api: Detent, shop: Shop, text: str) -> None:
    shop.charge = (500, {"why": text})
    task = {"url": f"{shop.url}/api/charge", "body": "{{trigger.body}}", "retries": 0}
    await api.save(json.dumps({"name": "odd", "title": "<b>title</b>", "tasks": {"a": task}}))
    answer = await api.call("POST", "/api/v1/workflows/odd/trigger", json=[text])
    if answer.status != 201:
        assert answer.status == 400, answer.text
        return
    run = await api.ended(answer.json["data"])
    for part in ("outline", "graph", "steps/a", "steps/a?whole=true", "steps/a?at=0"):
        await get(api, f"{RUNS}/{run['id']}/{part}")
    assert (await get(api, f"{RUNS}/{run['id']}/steps/{'%00%2F' + 'é' * 9}", 404))["code"] == "not_found"
