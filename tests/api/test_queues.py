"""Steps with a queue of their own, on real databases: two nodes, each with its queues, share the work of one run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.auth.caller import local_caller
from detent.ids import RUN, parse
from tests.api.server import Detent, serving

pytestmark = pytest.mark.slow

WORKFLOW = """
name: letters
tasks:
  write: {action: core.echo}
  send: {needs: [write], action: core.echo, queue: mail, priority: 7}
  file: {needs: [send], action: core.echo, with: {done: true}}
"""


async def row(detent: Detent, started: dict[str, Any]) -> Any:
    return await detent.app.store.run(local_caller("test").tenant, parse(RUN, started["run_id"]))


@pytest.mark.parametrize("database_url", ["postgres", "mariadb"], indirect=True)
async def test_a_run_goes_from_node_to_node_with_the_queues_of_its_steps(database_url: str) -> None:
    async with serving(database_url, queues=("default",)) as front, serving(database_url, queues=("mail",)):
        await front.save(WORKFLOW)
        started = await front.start("letters", {})
        ended = await front.ended(started)
        assert (ended["status"], ended["output"]) == ("completed", {"done": True})
        found = await row(front, started)
        assert (found.queue, found.generation) == ("default", 3)


async def test_a_step_waits_in_its_queue_until_a_node_serves_it(database_url: str) -> None:
    async with serving(database_url, queues=("default",)) as front:
        await front.save(WORKFLOW)
        started = await front.start("letters", {})
        place = f"/api/v1/runs/{started['run_id']}"
        await front.until(started, lambda run: run["tasks"]["write"]["status"] == "success")
        reasons: list[dict[str, Any]] = []
        while not reasons or reasons[0]["kind"] != "queue":
            reasons = (await front.call("GET", f"{place}/why")).json["data"]["reasons"]
        assert json.dumps(reasons[0]["details"]) == '{"queue": "mail"}'
        found = await row(front, started)
        assert (found.queue, found.priority, found.owner) == ("mail", 7, None)
        [listed] = (await front.call("GET", "/api/v1/runs?stage=queued")).json["data"]
        since = listed["stage"]["since"]
        assert (listed["id"], listed["stage"]["kind"]) == (started["run_id"], "queued")
        assert listed["started_at"] <= since <= (await front.call("GET", "/api/v1/me")).json["data"]["server_time"]
    async with serving(database_url) as all_queues:
        assert (await all_queues.ended(started))["status"] == "completed"
