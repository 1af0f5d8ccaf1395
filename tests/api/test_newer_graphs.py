"""A graph of a newer Detent: this one answers 503 where it has to read it, and everything else works."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.api.server import Detent, serving

W = "/api/v1/workflows"
WAITS = {"a": {"action": "core.echo"}, "go": {"needs": "a", "wait_for_webhook": {}}}


class Scene(NamedTuple):
    """A Detent, a run of version 1 that waits, and one that has ended. This Detent cannot read version 1."""

    detent: Detent
    run: str
    ended: str


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with serving(url) as detent:
        await detent.save(json.dumps({"name": "newer", "tasks": WAITS}))
        await detent.save(json.dumps({"name": "plain", "tasks": {"a": {"action": "core.echo"}}}))
        waits, ended = await detent.start("newer", {}), await detent.start("newer", {})
        for one in (waits, ended):
            await detent.until(one, lambda run: run["callbacks"])
        await detent.call("POST", f"/api/v1/runs/{ended['run_id']}/cancel")
        await detent.ended(ended)
    with sqlite3.connect(tmp_path / "detent.db") as file:
        query = (
            "select workflow, graph from workflow_version where workflow in (select id from workflow where name = ?)"
        )
        [(workflow, graph)] = file.execute(query, ("newer",)).fetchall()
        written = json.dumps({**json.loads(graph), "hologram": 1}).encode()
        file.execute("update workflow_version set graph = ? where workflow = ?", (written, workflow))
    async with serving(url) as detent:
        yield Scene(detent, waits["run_id"], ended["run_id"])


async def statuses(scene: Scene, requests: list[tuple[str, str, Any]]) -> dict[str, int]:
    """The status of each answer. A 503 says which code it is."""
    found = {}
    for method, path, body in requests:
        answer = await scene.detent.call(method, path.format(**scene._asdict()), json=body)
        assert answer.status != 503 or answer.json["code"] == "unknown_graph", answer.text
        found[f"{method} {path}"] = answer.status
    return found


async def test_what_needs_the_graph_is_unavailable_and_not_an_error(scene: Scene) -> None:
    run, ended = "/api/v1/runs/{run}", "/api/v1/runs/{ended}"
    requests: list[tuple[str, str, Any]] = [
        ("GET", f"{W}/newer/versions/1", None),
        ("GET", f"{W}/newer/diff?from=1&to=1", None),
        ("POST", f"{W}/newer/trigger", {}),
        ("POST", f"{W}/newer/execute", {"trigger": {}, "version": 1}),
        ("POST", f"{W}/newer/versions/1/activate", {}),
        ("GET", run, None),
        ("GET", f"{run}/why", None),
        ("GET", f"{run}/history", None),
        ("GET", f"{run}/steps/a/items", None),
        ("POST", f"{run}/evaluate", {"expression": "1"}),
        ("POST", f"{run}/pause", {}),
        ("POST", f"{run}/cancel", {}),
        ("POST", f"{run}/move", {"version": 1}),
        ("POST", "/api/v1/runs/move", {"filter": {"workflow": "newer"}, "version": 1}),
        ("POST", f"{ended}/retry", {}),
        ("POST", f"{ended}/rerun", {}),
    ]
    found = await statuses(scene, requests)
    assert found == dict.fromkeys(found, 503)


async def test_lists_and_all_other_workflows_are_as_ever(scene: Scene) -> None:
    run = "/api/v1/runs/{run}"
    requests: list[tuple[str, str, Any]] = [
        ("GET", W, None),
        ("GET", f"{W}/newer", None),
        ("GET", f"{W}/newer/versions", None),
        ("GET", "/api/v1/runs", None),
        ("GET", f"{run}/hierarchy", None),
        ("GET", f"{run}/events", None),
        ("POST", "/api/v1/runs/bulk", {"action": "retry", "filter": {"workflow": "newer"}}),
        ("PUT", f"{W}/newer", {"name": "newer", "tasks": {"b": {"action": "core.echo"}}}),
        ("POST", "/api/v1/runs/move", {"filter": {"workflow": "newer"}, "version": 2}),
        ("POST", f"{W}/newer/rehearse", {"name": "newer", "tasks": WAITS}),
        ("POST", f"{W}/newer/archive", {}),
        ("POST", f"{W}/newer/reactivate", {}),
    ]
    found = await statuses(scene, requests)
    assert found == dict.fromkeys(found, 200)
    listed = (await scene.detent.call("GET", W)).json["data"]
    assert {one["name"]: one["task_count"] for one in listed} == {"newer": 1, "plain": 1}
    ended = await scene.detent.ended(await scene.detent.start("plain", {}))
    assert ended["status"] == "completed"
    row = (await scene.detent.call("GET", "/api/v1/runs?status=running")).json["data"]
    assert [one["id"] for one in row] == [scene.run], "it waits for a node that can read its graph"
