"""A node that is killed between the answer of a provider and its own commit does not lose the grant."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from subprocess import CompletedProcess

from detent.clock import SystemClock
from detent.observe.failpoints import VARIABLE
from detent.store.factory import open_store
from tests.servers.programs import run
from tests.steps.provider import CLIENT, Provider, providing
from tests.steps.vaults import put

KILLS = 20


async def node(url: str, failpoint: str | None = None) -> CompletedProcess[str]:
    environment = {**os.environ, **({} if failpoint is None else {VARIABLE: failpoint})}
    command = [sys.executable, "-m", "tests.steps.refresher", url]
    return await asyncio.to_thread(run, command, cwd=Path(__file__).parents[2], env=environment, timeout=300)


async def put_grant(url: str, provider: Provider) -> None:
    store = await open_store(url, SystemClock())
    await put(
        store,
        "crm",
        refresh=provider.connect(),
        kind="oauth2_code",
        authorization_url=f"{provider.url}/authorize",
        token_url=f"{provider.url}/token",
        client_id=CLIENT[0],
        client_secret=CLIENT[1],
        hosts=["127.0.0.1"],
    )
    await store.close()


async def test_a_grant_survives_kills_between_the_answer_and_the_commit(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with providing() as provider:
        provider.life = 0.001  # every node finds an expired token
        await put_grant(url, provider)
        for number in range(KILLS):
            killed = await node(url, "after_token_answer")
            assert killed.returncode == -signal.SIGKILL, killed.stderr
            if number % 4 == 3:
                survivor = await node(url)
                assert survivor.returncode == 0, survivor.stderr
                assert survivor.stdout.strip() in provider.tokens
        assert len(provider.forms) == KILLS + KILLS // 4


async def test_a_strict_provider_that_sees_a_token_twice_leaves_the_credential_to_a_person(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/detent.db"
    async with providing() as provider:
        provider.is_strict = True
        await put_grant(url, provider)
        assert (await node(url, "after_token_answer")).returncode == -signal.SIGKILL
        refused = await node(url)
        assert "invalid_grant" in refused.stderr
    store = await open_store(url, SystemClock())
    row = await store.credential(1, "crm")
    await store.close()
    assert row is not None
    assert row.state == "reconnect"
