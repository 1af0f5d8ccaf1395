"""What the composition root puts together: keys that outlive a restart, retention, addresses, the engine's numbers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from detent.app import tuning_of
from detent.errors import InvalidInput
from detent.process import bind
from detent.settings import Settings, url_of
from tests.api.server import Detent, serving

WAIT = "name: waits\ntasks:\n  w: {wait_for_webhook: {timeout: 1h}}\n"
ECHO = "name: echo\ntasks:\n  a: {action: core.echo}\n"


async def callback_url(detent: Detent) -> tuple[dict[str, str], str]:
    await detent.save(WAIT)
    started = await detent.start("waits", {})
    run = await detent.until(started, lambda run: run["tasks"]["w"]["status"] == "waiting")
    return started, run["callbacks"][0]["url"].rpartition("/")[2]


async def test_a_callback_of_before_a_restart_is_taken_after_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with serving(url) as detent:
        started, token = await callback_url(detent)
    async with serving(url) as detent:
        assert (await detent.run(started))["status"] == "running"
        assert (await detent.call("POST", f"/wh/{token}", json={"a": 1})).status == 200
        assert (await detent.ended(started))["status"] == "completed"


async def test_a_token_made_with_another_key_is_not_found(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with serving(url, secret_key="one-secret-key-of-mine") as detent:
        _, token = await callback_url(detent)
    async with serving(url, secret_key="another-secret-key-of-mine") as detent:
        assert (await detent.call("POST", f"/wh/{token}")).status == 404


async def test_callback_urls_begin_with_the_base_url(tmp_path: Path) -> None:
    async with serving("memory://", base_url="https://detent.example/x") as detent:
        await detent.save(WAIT)
        run = await detent.run(await detent.start("waits", {}))
        assert run["callbacks"][0]["url"].startswith("https://detent.example/x/wh/")


async def test_ended_runs_are_deleted_when_their_time_is_over_and_others_stay(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with serving(url) as detent:
        await detent.save(ECHO)
        await detent.save(ECHO.replace("echo\n", "fails\n").replace("core.echo", "core.fail"))
        gone = await detent.ended(await detent.start("echo", {}))
        stays = await detent.ended(await detent.start("fails", {}))
        waiting, _ = await callback_url(detent)
    async with serving(url, retention=(("completed", 0), ("failed", 3600))) as detent:
        async with asyncio.timeout(300):
            while True:
                if (await detent.call("GET", f"/api/v1/workflows/echo/runs/{gone['id']}")).status == 404:
                    break
                await asyncio.sleep(0.02)  # nothing tells that a run was deleted
        assert (await detent.call("GET", f"/api/v1/workflows/fails/runs/{stays['id']}")).status == 200
        assert (await detent.run(waiting))["status"] == "running"


def test_a_port_that_is_taken_is_told() -> None:
    with bind("127.0.0.1", 0) as taken, pytest.raises(InvalidInput, match="cannot listen"):
        bind("127.0.0.1", taken.getsockname()[1])


def test_addresses_are_written_as_a_browser_would() -> None:
    assert url_of(("127.0.0.1", 80)) == "http://127.0.0.1:80"
    assert url_of(("::1", 80)) == "http://[::1]:80"
    assert url_of(("0.0.0.0", 80)) == "http://127.0.0.1:80"


def test_a_shorter_lease_beats_more_often() -> None:
    tuning = tuning_of(Settings(lease_seconds=1.0, queues=("a",), poison_attempts=5))
    assert (tuning.lease, tuning.beat, tuning.margin) == (1.0, 0.2, 0.2)
    assert (tuning.queues, tuning.poison_after) == (("a",), 5)
    assert tuning_of(Settings()).queues is None
