"""What steps do under chaos beside echoing."""

import asyncio
import os
import time
from pathlib import Path

from detent.steps.actions import Registry

REGISTRY = Registry()


@REGISTRY.action("chaos.nap")
async def nap(ms: int) -> int:
    """Take some time on the loop."""
    await asyncio.sleep(ms / 1000)
    return ms


@REGISTRY.action("chaos.block")
def block(ms: int) -> int:
    """Take some time in a thread."""
    time.sleep(ms / 1000)
    return ms


@REGISTRY.action("chaos.stand_still", inline=True)
def stand_still(ms: int) -> int:
    """Keep the engine's own loop from doing anything else."""
    time.sleep(ms / 1000)
    return ms


@REGISTRY.action("chaos.hold")
async def hold(folder: str, n: int) -> str:
    """Note in the folder that this was begun, and last until the file `go` is there."""
    with (Path(folder) / "begun").open("a") as begun:
        begun.write(f"{n}\n")
    while not (Path(folder) / "go").exists():
        await asyncio.sleep(0.02)
    return "gone"


@REGISTRY.action("chaos.abort")
def abort() -> None:
    """Take the node down."""
    os.abort()


@REGISTRY.action("chaos.die_once")
def die_once(note: str) -> str:
    """Take the node down the first time only; `note` is a file that remembers."""
    try:
        with Path(note).open("x"):
            os.abort()
    except FileExistsError:
        return "alive"
