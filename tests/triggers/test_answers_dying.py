"""Callers that wait for the answers of runs while a node is killed: another node has every answer, and only one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.cli.program import started
from tests.triggers.test_dying import PATIENCE, Served

CALLERS = 20
WORKFLOW = """
name: asks
trigger: {type: webhook, respond: step, wait: 60s}
tasks:
  hold: {wait_for_webhook: {timeout: 1h}}
  say: {needs: [hold], respond: {status: 201, headers: {x-n: "{{trigger.body.n}}"}, body: "{{tasks.hold.body}}"}}
  later: {needs: [say], wait_for_webhook: {timeout: 1h}}
"""
Got = tuple[int, str | None, str]


async def ask(url: str, n: int) -> Got:
    """Send a request under its id, again and again as a sender would, until there is an answer."""
    async with aiohttp.ClientSession(url) as session:
        while True:
            headers = {"webhook-id": f"m{n}"}
            async with session.post("/webhook/workflow/trigger/asks", json={"n": n}, headers=headers) as answer:
                text = await answer.text()
                if answer.status not in (202, 503):
                    return answer.status, answer.headers.get("x-n"), text
                assert "Retry-After" in answer.headers, text


async def waiting_runs(detent: Served) -> list[dict[str, Any]]:
    while True:
        runs: list[dict[str, Any]] = await detent.call("GET", "/api/v1/runs?limit=200")
        found = [await detent.call("GET", f"/api/v1/runs/{run['id']}") for run in runs]
        if len(found) == CALLERS and all(run["callbacks"] for run in found):
            return found
        await asyncio.sleep(0.1)  # the API is polled, as any of its users would


@pytest.mark.slow
async def test_callers_of_a_node_that_is_killed_get_the_answers_of_their_runs_from_another(
    postgres_database: str, tmp_path: Path
) -> None:
    variables = {"DETENT_DATABASE_URL": postgres_database, "DETENT_LEASE_SECONDS": "3"}
    options = ("serve", "--port", "0")
    with started(tmp_path, *options, **variables) as one, started(tmp_path, *options, **variables) as other:
        first, second = Served(one), Served(other)
        await first.call("POST", "/api/v1/workflows", data=WORKFLOW)
        async with asyncio.timeout(PATIENCE):
            here = [asyncio.create_task(ask(first.url, n)) for n in range(CALLERS // 2)]
            there = [asyncio.create_task(ask(second.url, n)) for n in range(CALLERS // 2, CALLERS)]
            runs = await waiting_runs(second)
            one.process.kill()
            lost = await asyncio.gather(*here, return_exceptions=True)
            assert all(isinstance(error, aiohttp.ClientError | OSError) for error in lost)
            there += [asyncio.create_task(ask(second.url, n)) for n in range(CALLERS // 2)]  # they send it again
            for run in runs:
                await second.call("POST", run["callbacks"][0]["url"], json={"run": run["id"]})
            got = await asyncio.gather(*there)
            assert sorted(int(n or "-1") for _, n, _ in got) == list(range(CALLERS))
            assert {status for status, _, _ in got} == {201}
            assert len({text for _, _, text in got}) == CALLERS
            again = [await ask(second.url, int(n or "-1")) for _, n, _ in got]
            assert again == got
            assert len(await second.call("GET", "/api/v1/runs?limit=200")) == CALLERS
