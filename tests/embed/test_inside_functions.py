"""Code of a durable function that asks Detent itself is told to use a step or a child, and the node stands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from detent.embed import sync
from detent.embed.node import node
from detent.embed.runs import RunHandle, SyncRunHandle, runs
from detent.embed.start import start
from detent.process import App
from detent.python.functions import Run, workflow
from tests.embed.flows import summing


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    async with node(f"sqlite:///{tmp_path}/detent.db", workflows=["tests.embed.flows"]) as found:
        yield found


async def _awaits_a_start(run: Run) -> None:
    await start(summing, 1, 2)


async def _starts_blocking(run: Run) -> None:
    sync.start(summing, 1, 2)


async def _starts_in_a_transaction(run: Run) -> None:
    await start(summing, 1, 2, connection=object())


async def _asks_a_handle(run: Run) -> None:
    await RunHandle(run.id).status()


async def _asks_a_handle_blocking(run: Run) -> None:
    SyncRunHandle(run.id).status()


ASKING: dict[str, Callable[[Run], Any]] = {
    "start": _awaits_a_start,
    "sync": _starts_blocking,
    "connection": _starts_in_a_transaction,
    "handle": _asks_a_handle,
    "sync handle": _asks_a_handle_blocking,
}


@workflow
async def asks_itself(run: Run, how: str) -> str:
    try:
        await ASKING[how](run)
    except RuntimeError as refused:
        return f"{type(refused).__name__}: {refused}"
    return "it was done"


@pytest.mark.parametrize("how", ASKING)
async def test_a_function_that_asks_detent_itself_is_told_what_to_use_instead(app: App, how: str) -> None:
    run = await start(asks_itself, how)
    said = await run.result(timeout=300)
    assert said.startswith("NotInFunction")
    assert "run.step" in said
    assert "run.child" in said
    assert await runs(summing).all() == []


async def _started() -> str:
    return (await start(summing, 1, 2, request_id="of a step")).id


def _started_blocking() -> str:
    return sync.start(summing, 1, 2, request_id="of a step").id


@workflow
async def starts_in_steps(run: Run) -> list[str]:
    return [await run.step(_started), await run.step(_started_blocking)]


async def test_steps_of_a_function_may_start_runs(app: App) -> None:
    run = await start(starts_in_steps)
    one, other = await run.result(timeout=300)
    assert one == other
    assert len(await runs(summing).all()) == 1


async def test_a_blocking_call_in_the_thread_of_the_node_is_refused_even_where_no_loop_runs(app: App) -> None:
    """As under a loop of somebody else's inside the node's own thread."""
    outside = asyncio.get_running_loop()
    asyncio._set_running_loop(None)  # noqa: SLF001 - what such a loop does when it steps aside
    try:
        with pytest.raises(RuntimeError, match="would block itself"):
            sync.start(summing, 1, 2)
    finally:
        asyncio._set_running_loop(outside)  # noqa: SLF001 - likewise
