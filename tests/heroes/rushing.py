"""Starts the same workflow for the same hero many times at once, and says what came of it.

    python -m tests.heroes.rushing http://127.0.0.1:8080 500       a client of the engine that listens there
    python -m tests.heroes.rushing postgresql://... 500            a node of its own on that database

It prints `ready`, waits for a line, and prints one JSON document: how many were made, refused for which run, or failed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from detent.client import AsyncClient
from detent.errors import AlreadyActive, StoreBusy
from detent.ids import RUN, show
from detent.process import LOOPBACK, run_app
from detent.run.start import StartRequest
from detent.settings import Settings
from tests.callers import commands_of

HERO = ("User", "42")
WORKFLOW = "Signup"
DEFINITION = '{"name": "Signup", "one_per_hero": true, "tasks": {"w": {"wait_for_webhook": {}}}}'

Start = Callable[[], Awaitable[str]]


@asynccontextmanager
async def starter(target: str) -> AsyncIterator[Start]:
    """A way to start a run; gives its id."""
    if target.startswith("http"):
        async with AsyncClient(target) as client:
            await client.health()

            async def over_http() -> str:
                return (await client.start(WORKFLOW, hero=HERO)).id

            yield over_http
        return
    async with run_app(Settings(database_url=target), allow=LOOPBACK) as app:

        async def on_this_node() -> str:
            while True:
                try:
                    return show(RUN, (await commands_of(app).starts.start(StartRequest(WORKFLOW, {}, hero=HERO))).run)
                except StoreBusy:  # a caller would be answered 503 and ask again
                    await asyncio.sleep(0.05)

        yield on_this_node


async def rush(target: str, count: int) -> None:
    async with starter(target) as start:
        _say("ready")
        await asyncio.to_thread(sys.stdin.readline)
        results = await asyncio.gather(*(start() for _ in range(count)), return_exceptions=True)
    refused = Counter(error.run for error in results if isinstance(error, AlreadyActive))
    failed = Counter(
        repr(error) for error in results if isinstance(error, BaseException) and not isinstance(error, AlreadyActive)
    )
    made = [one for one in results if isinstance(one, str)]
    _say(json.dumps({"made": made, "refused": refused, "failed": failed}))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(rush(sys.argv[1], int(sys.argv[2])))
