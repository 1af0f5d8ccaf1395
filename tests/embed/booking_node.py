"""A node in a process of its own that books, for tests that kill it."""

from __future__ import annotations

import asyncio
import sys

from detent.embed.node import node
from detent.process import wait_for_signal


async def main(database: str, *modules: str) -> None:
    # Its runs are free that long after it was killed.
    async with node(database, workflows=["tests.embed.ledger", *modules], lease_seconds=3):
        await wait_for_signal()


asyncio.run(main(*sys.argv[1:]))
