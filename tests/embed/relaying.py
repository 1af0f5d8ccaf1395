"""A node in a process of its own that fetches starts out of an application's database, for tests that kill it."""

from __future__ import annotations

import asyncio
import sys

from detent.embed.node import node
from detent.process import wait_for_signal


async def main(database: str, outbox: str) -> None:
    async with node(database, workflows=["tests.embed.flows"], outbox_urls=outbox):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await wait_for_signal()


asyncio.run(main(*sys.argv[1:]))
