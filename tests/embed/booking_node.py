"""A node in a process of its own that books, for tests that kill it."""

from __future__ import annotations

import asyncio
import sys

from detent.embed.node import node
from detent.process import told_to_stop


async def main(database: str, *modules: str) -> None:
    async with node(database, workflows=["tests.embed.ledger", *modules]):
        await told_to_stop()


asyncio.run(main(*sys.argv[1:]))
