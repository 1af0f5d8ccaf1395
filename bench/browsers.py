"""What open browsers cost a node: `python -m bench.browsers [--browsers 500] [--seconds 60] [--rate 5]`.

Each browser is one event stream, as the list of runs opens it. The node runs on SQLite in a process of its own and gets
the same starts with and without the browsers. Processor time is that of the node alone.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

import aiohttp
import psutil

from tests.cli.program import free_port

_WORKFLOW = (
    '{"name": "shown", "tasks": {"one": {"action": "core.echo"}, "two": {"action": "core.echo", "needs": ["one"]}}}'
)
_STREAM = "/api/v1/stream?topics=" + quote(",".join(map(quote, ("counts", "inbox", "runs:"))))


@asynccontextmanager
async def serving(folder: str) -> AsyncIterator[tuple[str, psutil.Process]]:
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "detent",
        "serve",
        "--port",
        str(port),
        "--database",
        f"sqlite:///{folder}/detent.db",
    ]
    environment = {**os.environ, "DETENT_ALLOW_LOOSE_AUTH": "true"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        async with aiohttp.ClientSession() as session, asyncio.timeout(60):
            while True:
                try:
                    async with session.get(f"{url}/health/ready") as answer:
                        if answer.status == 200:
                            break
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.1)
        yield url, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=60)


class Browsers:
    """Open event streams, and how much they have received."""

    def __init__(self, url: str) -> None:
        self._session = aiohttp.ClientSession(
            url, connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout()
        )
        self._tasks: list[asyncio.Task[None]] = []
        self.opened = 0
        self.events = 0
        self.bytes = 0

    async def open(self, count: int) -> None:
        self._tasks = [asyncio.create_task(self._read()) for _ in range(count)]
        while self.opened < count and not any(task.done() for task in self._tasks):
            await asyncio.sleep(0.05)

    async def _read(self) -> None:
        async with self._session.get(_STREAM) as answer:
            answer.raise_for_status()
            self.opened += 1
            async for piece in answer.content.iter_any():
                self.events += piece.count(b"\nevent:")
                self.bytes += len(piece)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._session.close()


async def watched(url: str, node: psutil.Process, seconds: float, rate: float) -> str:
    """Start runs at a rate, and say what that cost the node."""
    used, begun, started = sum(node.cpu_times()[:2]), time.perf_counter(), 0
    async with aiohttp.ClientSession(url) as session:
        while (passed := time.perf_counter() - begun) < seconds:
            if started < passed * rate:
                async with session.post("/api/v1/workflows/shown/trigger", json={}) as answer:
                    answer.raise_for_status()
                started += 1
            else:
                await asyncio.sleep(0.005)
    share = (sum(node.cpu_times()[:2]) - used) / (time.perf_counter() - begun)
    return f"{started / seconds:.1f} starts/s, {100 * share:.1f} % of a core, {node.memory_info().rss / 2**20:.0f} MB"


async def measure(browsers: int, seconds: float, rate: float) -> None:
    with tempfile.TemporaryDirectory(prefix="detent-browsers-") as folder:
        async with serving(folder) as (url, node):
            async with (
                aiohttp.ClientSession(url) as session,
                session.post("/api/v1/workflows", data=_WORKFLOW) as answer,
            ):
                answer.raise_for_status()
            print(f"no browsers, no starts: {await watched(url, node, seconds / 4, 0)}", flush=True)
            print(f"no browsers: {await watched(url, node, seconds, rate)}", flush=True)
            many = Browsers(url)
            await many.open(browsers)
            print(f"{many.opened} browsers, no starts: {await watched(url, node, seconds / 4, 0)}", flush=True)
            before, size = many.events, many.bytes
            told = await watched(url, node, seconds, rate)
            each = (many.events - before) / max(1, many.opened) / seconds
            share = (many.bytes - size) / seconds / 1024
            print(f"{many.opened} browsers: {told}; {each:.2f} events/s each, {share:.0f} kB/s in all", flush=True)
            await many.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.browsers")
    parser.add_argument("--browsers", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=5.0)
    options = parser.parse_args()
    asyncio.run(measure(options.browsers, options.seconds, options.rate))


if __name__ == "__main__":
    main()
