"""A process that is killed between what fired a trigger and the run it starts leaves exactly one run behind."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.cli.program import Program, started

WORKFLOW = "name: w\ntrigger: webhook\ntasks: {a: {action: core.echo}}\n"
TRIGGERS = "/api/v1/triggers"
PATIENCE = 300.0


class Served:
    """A Detent in another process."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.url = program.wait_for(r"http://127\.0\.0\.1:\d+").group()

    async def call(self, method: str, path: str, **options: Any) -> Any:
        async with aiohttp.ClientSession(self.url) as session, session.request(method, path, **options) as answer:
            assert answer.status < 300, await answer.text()
            return (await answer.json())["data"]

    async def sends_in_vain(self, path: str, **options: Any) -> None:
        """A request to which no answer comes, because the process is killed."""
        with pytest.raises(aiohttp.ClientError):
            await self.call("POST", path, **options)
        assert await asyncio.to_thread(self.program.process.wait, PATIENCE) == -signal.SIGKILL


async def settled(detent: Served, trigger: str, count: int) -> list[dict[str, Any]]:
    async with asyncio.timeout(PATIENCE):
        while True:
            firings: list[dict[str, Any]] = await detent.call("GET", f"{TRIGGERS}/{trigger}/firings")
            if len(firings) >= count and all(firing["status"] == "started" for firing in firings[-count:]):
                return firings
            await asyncio.sleep(0.1)  # the API is polled, as any of its users would


def serve(folder: Path, **variables: str) -> Any:
    """A Detent whose runs are free three seconds after it was killed."""
    database = f"sqlite:///{folder}/detent.db"
    options = ("serve", "--port", "0")
    return started(folder, *options, DETENT_DATABASE_URL=database, DETENT_LEASE_SECONDS="3", **variables)


@pytest.mark.slow
@pytest.mark.case("A1")
@pytest.mark.parametrize("place", ["after_firing", "after_turn", "after_fired_start"])
async def test_a_request_whose_process_dies_is_started_exactly_once(place: str, tmp_path: Path) -> None:
    with serve(tmp_path) as program:
        detent = Served(program)
        await detent.call("POST", "/api/v1/workflows", data=WORKFLOW)
        [trigger] = await detent.call("GET", TRIGGERS)
        program.stop()
    with serve(tmp_path, DETENT_FAILPOINT=f"{place}:1") as program:
        await Served(program).sends_in_vain(f"{TRIGGERS}/{trigger['id']}", json={"n": 1}, headers={"webhook-id": "m"})
    with serve(tmp_path) as program:
        detent = Served(program)
        [firing] = await settled(detent, trigger["id"], 1)
        again = await detent.call("POST", f"{TRIGGERS}/{trigger['id']}", json={"n": 1}, headers={"webhook-id": "m"})
        runs = await detent.call("GET", "/api/v1/runs")
        assert [run["id"] for run in runs] == [firing["run_id"]] == [again["run_id"]]


@pytest.mark.slow
@pytest.mark.case("A1", "C8")
async def test_slots_whose_process_dies_are_started_exactly_once(tmp_path: Path) -> None:
    with serve(tmp_path) as program:
        detent = Served(program)
        await detent.call("POST", "/api/v1/workflows", data=WORKFLOW)
        body = {"workflow": "w", "type": "cron", "cron_expression": "* * * * * *", "missed": "all", "enabled": False}
        trigger = (await detent.call("POST", TRIGGERS, json=body))["id"]
        program.stop()
    with serve(tmp_path, DETENT_FAILPOINT="after_slots:2") as program:
        await Served(program).call("POST", f"{TRIGGERS}/{trigger}/resume")
        assert await asyncio.to_thread(program.process.wait, PATIENCE) == -signal.SIGKILL
    with serve(tmp_path) as program:
        detent = Served(program)
        await settled(detent, trigger, 4)
        await detent.call("POST", f"{TRIGGERS}/{trigger}/pause", json={})
        taken = await detent.call("GET", f"{TRIGGERS}/{trigger}/firings")
        firings = await settled(detent, trigger, len(taken))
        slots = [firing["scheduled_at"] for firing in firings]
        runs = await detent.call("GET", "/api/v1/runs?limit=200")
        assert len(set(slots)) == len(slots)
        assert sorted(run["id"] for run in runs) == sorted(firing["run_id"] for firing in firings)
