"""All attacks one after the other, then a look at every run."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.hostile.attacks import ATTACKS, killed
from tests.hostile.ledger import Ledger
from tests.hostile.server import Server
from tests.hostile.world import World, in_parallel

Tell = Callable[[str], None]
_MOST_KILLED: Final = 400  # callbacks under kills: ten lives are enough
_SETTLE: Final = 90.0


@dataclass
class Report:
    """What became of a campaign."""

    ledger: Ledger
    broken: list[str]
    requests: int
    runs: int
    kills: int
    seconds: float


async def campaign(database: str, count: int, seed: int, folder: Path, tell: Tell) -> Report:
    """Send about so many hostile callbacks and judge what became of them."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    server = Server(database, folder / "server.log")
    try:
        await server.start()
        async with World(server, seed) as world:
            telling = asyncio.create_task(_tell(world, count, tell))
            under_kills = min(count // 50, _MOST_KILLED)
            for name, (attack, share) in ATTACKS.items():
                world.phase = name
                await attack(world, math.ceil((count - under_kills) * share))
            world.phase = "killed"
            await killed(world, under_kills)
            world.phase = "judging"
            runs = await _documents(world)
            telling.cancel()
    finally:
        await server.stop()
    broken = world.ledger.judge(runs)
    return Report(world.ledger, broken, world.requests, world.runs, server.kills, loop.time() - began)


async def _tell(world: World, count: int, tell: Tell) -> None:
    while True:
        tell(f"{world.phase:<10} {world.requests:>7,} of {count:,} callbacks, {world.runs:,} runs")
        await asyncio.sleep(1)


async def _documents(world: World) -> dict[str, dict[str, Any]]:
    """Every run that was written to, once it is over or has had its time."""
    wanted = list(dict.fromkeys(run for run, _ in world.ledger.sent))
    found: dict[str, dict[str, Any]] = {}
    until = asyncio.get_running_loop().time() + _SETTLE

    async def look(number: int) -> None:
        while True:
            found[wanted[number]] = document = await world.run(wanted[number])
            if document["finished_at"] is not None or asyncio.get_running_loop().time() > until:
                return
            await asyncio.sleep(0.1)

    await in_parallel(len(wanted), look, workers=32)
    return found
