"""What steps log, as the API has it: pages, filters, the stream, and how far a step is."""

from __future__ import annotations

import json
import logging
import threading
from typing import Any

from detent.steps.actions import ActionContext, action
from tests.api.server import Answer, Detent

shop = logging.getLogger("shop.pages")
GATES: dict[str, threading.Event] = {}
TASKS = """
name: copying
tasks:
  ask: {action: logs.ask}
  copy: {needs: [ask], action: logs.copy, with: {gate: '{{trigger.body.gate ?? ""}}'}}
"""


@action("logs.ask")
def _ask(context: ActionContext) -> None:
    context.log.info("asking", at="noon")
    shop.warning("no answer")
    context.log.error("again")


@action("logs.copy")
def _copy(context: ActionContext, gate: str = "") -> None:
    context.log.info("page 4")
    context.progress(0.4, "page 4 of 10")
    if gate:
        assert GATES[gate].wait(300)
    context.log.info("done")


async def logs(api: Detent, run: str, query: str = "", code: int = 200) -> Answer:
    answer = await api.call("GET", f"/api/v1/runs/{run}/logs?{query}")
    assert answer.status == code, answer.text
    return answer


async def messages(api: Detent, run: str, query: str = "") -> list[str]:
    return [line["message"] for line in (await logs(api, run, query)).json["data"]]


async def test_lines_are_read_in_pages_and_by_step_attempt_and_level(api: Detent) -> None:
    await api.save(TASKS)
    started = await api.start("copying", {})
    await api.ended(started)
    run = started["run_id"]
    whole = (await logs(api, run)).json
    assert whole["next_cursor"] is None
    assert [line["message"] for line in whole["data"]] == ["asking", "no answer", "again", "page 4", "done"]
    first, second, *_ = whole["data"]
    wanted = {"step": "ask", "attempt": 1, "number": 1, "level": "info", "logger": "detent.action"}
    assert {name: first[name] for name in wanted} == wanted
    assert (first["facts"], first["left_out"], second["logger"], second["number"]) == (
        {"at": "noon"},
        0,
        "shop.pages",
        2,
    )
    found: list[Any] = []
    cursor: str | None = ""
    while cursor is not None:
        page = (await logs(api, run, f"limit=2&after={cursor}" if cursor else "limit=2")).json
        assert len(page["data"]) <= 2
        found += page["data"]
        cursor = page["next_cursor"]
    assert found == whole["data"]
    assert await messages(api, run, "step=copy") == ["page 4", "done"]
    assert await messages(api, run, "step=ask&level=warning") == ["no answer", "again"]
    assert await messages(api, run, "attempt=2") == []


async def test_a_log_that_cannot_be_read_says_why(api: Detent) -> None:
    await api.save(TASKS)
    run = (await api.start("copying", {}))["run_id"]
    for query, field in {"level=loud": "level", "after=x": "after", "attempt=0": "attempt", "limit=0": "limit"}.items():
        for path in (f"/api/v1/runs/{run}/logs", f"/api/v1/runs/{run}/logs/stream"):
            answer = await api.call("GET", f"{path}?{query}")
            if field != "limit" or not path.endswith("stream"):
                assert (answer.status, answer.json["details"]["validation_errors"][0]["field"]) == (400, field), (
                    answer.text
                )
    for path in ("logs", "logs/stream"):
        assert (await api.call("GET", f"/api/v1/runs/run_nobody/{path}")).status == 404


async def test_a_page_says_how_many_lines_are_left_out_before_it(api: Detent) -> None:
    await api.save(TASKS)
    started = await api.start("copying", {})
    await api.ended(started)
    store: Any = api.app.store
    for row in list(store.logs.values()):
        if row.step == "copy":
            store.logs[row.id] = row._replace(first=98)
            later = row._replace(id=b"\xff" * 16, first=200)
            store.logs[later.id] = later
    for query in ("step=copy", "step=copy&limit=1", "limit=1000"):
        page = (await logs(api, started["run_id"], query)).json
        copied = [line for line in page["data"] if line["step"] == "copy"]
        assert (copied[0]["number"], copied[0]["left_out"]) == (99, 98)
    left_out = {line["number"]: line["left_out"] for line in (await logs(api, started["run_id"])).json["data"]}
    assert left_out[201] == 100


async def test_a_run_shows_how_far_it_is_and_a_stream_its_lines_until_it_ends(api: Detent) -> None:
    await api.save(TASKS)
    GATES["stream"] = gate = threading.Event()
    started = await api.start("copying", {"gate": "stream"})
    run = started["run_id"]
    try:
        document = await api.until(started, lambda run: run["tasks"]["copy"].get("progress"))
        progress = document["tasks"]["copy"]["progress"]
        assert (progress["fraction"], progress["text"]) == (0.4, "page 4 of 10")
        seen: list[tuple[str, Any]] = []
        headers = {"Accept": "text/event-stream"}
        async with api.opened("GET", f"/api/v1/runs/{run}/logs/stream?step=copy", headers) as answer:
            event = ""
            async for raw in answer.content:
                name, _, value = raw.decode().rstrip("\n").partition(": ")
                event = value if name == "event" else event
                if name == "data":
                    seen.append((event, json.loads(value)))
                    gate.set()
    finally:
        gate.set()
    assert [line["message"] for event, lines in seen if event == "lines" for line in lines] == ["page 4", "done"]
    shown = [reports for event, reports in seen if event == "progress"]
    assert (shown[0][0]["fraction"], shown[-1]) == (0.4, [])
    assert seen[-1] == ("end", {"run_id": run, "status": "completed"})
    assert "progress" not in (await api.run(started))["tasks"]["copy"]
