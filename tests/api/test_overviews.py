"""Overviews over all runs: the inbox, received requests, nodes, queues, storage, grids, exports, and who asks."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from detent.auth.scopes import Scope
from detent.documents.answers import Many, One
from detent.documents.outline import ExportDocument, GridDocument
from detent.documents.overview import (
    MeDocument,
    NodeDocument,
    QueueDocument,
    ReceivedPage,
    StorageDocument,
    WaitItem,
)
from tests.api.server import Detent

V1 = "/api/v1"
ASK = """
name: ask
tasks:
  first: {action: core.echo, with: {x: 1}}
  answer: {needs: [first], wait_for_webhook: {timeout: %s}}
  last: {needs: [answer], action: core.echo, with: {said: "{{tasks.answer.body}}"}}
"""


async def asked(detent: Detent, body: Any, timeout: str = "1h") -> dict[str, Any]:
    """A run that waits for its answer."""
    saved = await detent.call("PUT", f"{V1}/workflows/ask", data=ASK % timeout)
    assert saved.status in (200, 201), saved.text
    started = await detent.start("ask", body)
    await detent.until(started, lambda run: run["tasks"]["answer"]["status"] == "waiting")
    return started


async def test_a_wait_is_in_the_inbox_until_it_is_answered_by_its_name(detent: Detent) -> None:
    late, soon = await asked(detent, {"n": "x" * 5_000}, "2h"), await asked(detent, {"n": 1})
    page = await detent.call("GET", f"{V1}/waits")
    msgspec.convert(page.json, Many[WaitItem])
    assert [item["run"]["id"] for item in page.json["data"]] == [soon["run_id"], late["run_id"]]
    assert (page.json["data"][0]["input"], page.json["data"][1]["input"]["truncated"]) == ({"n": 1}, True)
    first = await detent.call("GET", f"{V1}/waits?limit=1&workflow=ask")
    second = await detent.call("GET", f"{V1}/waits?limit=1&workflow=ask&cursor={first.json['next_cursor']}")
    assert [item["run"]["id"] for item in second.json["data"]] == [late["run_id"]]
    assert second.json["next_cursor"] is None
    assert (await detent.call("GET", f"{V1}/waits?workflow=none")).status == 400
    assert (await detent.call("GET", f"{V1}/waits?cursor=abc")).status == 400
    assert (await detent.call("GET", f"{V1}/waits?hero=order:1")).json["data"] == []

    place = f"{V1}/runs/{soon['run_id']}/steps"
    answer = await detent.call("POST", f"{place}/answer/answer", json={"ok": True})
    assert (answer.status, answer.json["data"]) == (200, {"status": "accepted", "step": "answer"})
    run = await detent.ended(soon)
    assert run["tasks"]["last"]["output"] == {"said": {"ok": True}}
    again = await detent.call("POST", f"{place}/answer/answer", json={"ok": False})
    assert (again.status, again.json["code"]) == (409, "webhook_used")
    for path, status in ((f"{place}/first/answer", 404), (f"{V1}/runs/run_x/steps/answer/answer", 404)):
        assert (await detent.call("POST", path, json=1)).status == status
    assert (await detent.call("POST", f"{place}/answe/answer", json=1)).json["message"].endswith("mean 'answer'?")
    assert [item["run"]["id"] for item in (await detent.call("GET", f"{V1}/waits")).json["data"]] == [late["run_id"]]
    await detent.call("POST", f"{V1}/runs/{late['run_id']}/cancel")
    gone = await detent.call("POST", f"{V1}/runs/{late['run_id']}/steps/answer/answer", json=1)
    assert gone.status == 410
    assert gone.json["message"].startswith("step 'answer' does not wait any more")
    large = await detent.call("POST", f"{place}/answer/answer", json="x" * 300_000)
    assert large.status == 413


async def test_an_answer_with_the_same_key_is_answered_as_the_first(api: Detent) -> None:
    started = await asked(api, {})
    place, key = f"{V1}/runs/{started['run_id']}/steps/answer/answer", {"Idempotency-Key": "k"}
    answers = [await api.call("POST", place, json=1, headers=key) for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 200]


async def test_requests_of_all_triggers_are_listed_with_refused_ones(api: Detent) -> None:
    hook = {"name": "hooked", "trigger": {"type": "webhook"}, "tasks": {"a": {"action": "core.echo"}}}
    await api.save(json.dumps(hook))
    [trigger] = (await api.call("GET", f"{V1}/triggers")).json["data"]
    await api.call("POST", f"{V1}/triggers/{trigger['id']}", json={"x": 1})
    await api.call("POST", f"{V1}/triggers/{trigger['id']}/fire", json={})
    page = (await api.call("GET", f"{V1}/firings")).json
    msgspec.convert(page, ReceivedPage)
    assert [(one["workflow"], one["status"], one["type"]) for one in page["data"]] == [
        ("hooked", "started", "manual"),
        ("hooked", "started", "webhook"),
    ]
    assert (page["next_cursor"], page["searched_until"]) == (None, None)
    one = (await api.call("GET", f"{V1}/firings?limit=1")).json
    rest = (await api.call("GET", f"{V1}/firings?limit=1&cursor={one['next_cursor']}")).json
    assert rest["data"] == page["data"][1:]
    assert (await api.call("GET", f"{V1}/firings?status=refused")).json["data"] == []
    assert len((await api.call("GET", f"{V1}/firings?type=webhook")).json["data"]) == 1
    for wrong in ("type=x", "status=x", "foo=1", "limit=0"):
        assert (await api.call("GET", f"{V1}/firings?{wrong}")).status == 400


async def test_nodes_queues_and_storage_say_what_there_is(detent: Detent) -> None:
    started = await asked(detent, {})
    [node] = msgspec.convert((await detent.call("GET", f"{V1}/nodes")).json, One[list[NodeDocument]]).data
    assert node.alive
    assert (node.queues, node.slots, node.busy) == (None, 1000, 0)
    assert node.started_at < node.lease_until
    queues = msgspec.convert((await detent.call("GET", f"{V1}/queues")).json, One[list[QueueDocument]]).data
    assert [queue.queue for queue in queues] in (["default"], [])
    assert sum(queue.owned + queue.sleeping + queue.ready for queue in queues) == 1
    storage = msgspec.convert((await detent.call("GET", f"{V1}/storage")).json, One[StorageDocument]).data
    [ask] = storage.workflows
    assert (ask.workflow, ask.runs, ask.journal_rows) == ("ask", 1, 1)
    assert storage.database_bytes
    await detent.call("POST", f"{V1}/runs/{started['run_id']}/cancel")
    again = msgspec.convert((await detent.call("GET", f"{V1}/storage")).json, One[StorageDocument]).data
    assert again == storage, "it is measured once an hour"


async def test_a_grid_has_a_row_for_each_step_and_a_cell_for_each_run(api: Detent) -> None:
    fails = {"needs": "a", "if": "trigger.body.n > 1", "action": "core.fail", "with": {"message": "no"}, "retries": 0}
    await api.save(json.dumps({"name": "grid", "tasks": {"a": {"action": "core.echo"}, "b": fails}}))
    runs = [await api.ended(await api.start("grid", {"n": number})) for number in (1, 2)]
    grid = msgspec.convert((await api.call("GET", f"{V1}/workflows/grid/grid")).json, One[GridDocument]).data
    assert [run.id for run in grid.runs] == [run["id"] for run in runs[::-1]]
    assert grid.steps == ["a", "b"]
    letters = [[None if cell is None else cell.s for cell in row] for row in grid.cells]
    assert letters == [["s", "s"], ["f", None]]
    assert all(cell is None or cell.ms is not None for row in grid.cells for cell in row)
    one = (await api.call("GET", f"{V1}/workflows/grid/grid?runs=1")).json["data"]
    assert len(one["runs"]) == 1
    assert (await api.call("GET", f"{V1}/workflows/grid/grid?runs=1000")).status == 400
    assert (await api.call("GET", f"{V1}/workflows/none/grid")).status == 404


async def test_a_run_is_exported_as_json_and_as_a_test(api: Detent) -> None:
    started = await asked(api, {})
    place = f"{V1}/runs/{started['run_id']}/export"
    early = await api.call("GET", f"{place}?as=test")
    assert (early.status, early.json["message"][:18]) == (400, "the run is running")
    await api.call("POST", f"{V1}/runs/{started['run_id']}/steps/answer/answer", json={"ok": 1})
    run = await api.ended(started)
    whole = await api.call("GET", place)
    assert whole.headers["Content-Disposition"] == f'attachment; filename="{run["id"]}.json"'
    document = msgspec.convert(whole.json, ExportDocument)
    assert document.definition["name"] == "ask"
    assert [entry.seq for entry in document.journal] == [1, 2, 3]
    assert whole.json["run"] == run
    text = await api.call("GET", f"{place}?as=test")
    assert "def test_ask_takes_the_same_route_again():" in text.text
    assert text.headers["Content-Type"].startswith("text/x-python")
    compile(text.text, "test.py", "exec")
    assert (await api.call("GET", f"{place}?as=pdf")).status == 400


async def test_a_caller_learns_who_it_is_and_what_the_server_has(api: Detent) -> None:
    me = msgspec.convert((await api.call("GET", f"{V1}/me")).json, One[MeDocument]).data
    assert (me.caller.tenant, me.role, me.via, me.authenticated) == ("default", "instance-admin", "loose", False)
    assert set(me.scopes) == set(Scope)
    assert me.base_path == "/"
    assert "inbox" in me.features


@pytest.mark.parametrize("step", ["%00", "a%2Fb", "%F0%9F%92%A5", "x" * 5_000])
async def test_odd_names_of_steps_are_not_found(api: Detent, step: str) -> None:
    started = await asked(api, {})
    for method, path in (("GET", f"steps/{step}"), ("POST", f"steps/{step}/answer")):
        answer = await api.call(method, f"{V1}/runs/{started['run_id']}/{path}")
        assert answer.status == 404, answer.text
