"""DBOS under measurement, each work in every way that it offers: `python -m bench.peers.dbos_peer URL`.

Sync workflows called from threads, async ones awaited side by side, and its queue. Read by the peer's own environment:
nothing of Detent is imported here."""

import argparse
import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import aiohttp
import httpx
import uvloop
from dbos import DBOS, DBOSClient  # type: ignore[import-not-found]

from bench.serving import Meter, Voice, serve

F = TypeVar("F", bound=Callable[..., Any])
step: Callable[[F], F] = DBOS.step()
workflow: Callable[[F], F] = DBOS.workflow()

CHAIN = 10
FAN = 100
POSTS = 3
THREADS = 16
TOGETHER = 64
QUEUE = "bench"
#: A queue that nobody serves: what is measured is the enqueueing alone.
RESTING = "resting"
SLEEP = 5.0


class Client:
    """The HTTP clients of the steps, opened before a work and closed after it."""

    url = ""
    sync: httpx.Client
    session: aiohttp.ClientSession


@step
def echo(number: int) -> dict[str, int]:
    return {"n": number}


@step
async def echo_async(number: int) -> dict[str, int]:
    return {"n": number}


@step
def post(number: int) -> Any:
    return Client.sync.post(Client.url, json={"n": number}).json()


@step
async def post_async(number: int) -> Any:
    async with Client.session.post(Client.url, json={"n": number}) as response:
        return await response.json()


@workflow
def chain() -> int:
    for number in range(CHAIN):
        echo(number)
    return CHAIN


@workflow
async def chain_async() -> int:
    for number in range(CHAIN):
        await echo_async(number)
    return CHAIN


@workflow
async def fan_async() -> int:
    return len(await asyncio.gather(*(echo_async(number) for number in range(FAN))))


@workflow
def posts() -> int:
    for number in range(POSTS):
        post(number)
    return POSTS


@workflow
async def posts_async() -> int:
    for number in range(POSTS):
        await post_async(number)
    return POSTS


@workflow
async def nap() -> tuple[float, float]:
    due = time.time() + SLEEP
    await DBOS.sleep_async(SLEEP)
    return due, time.time()


class Peer:
    """What the parent can ask for."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def enqueue(self, seconds: float) -> dict[str, float]:
        """Starts by the client alone."""
        return await enqueue(self._url, seconds)

    async def chain(self, way: str, seconds: float) -> dict[str, float]:
        """Many runs of the ten steps at once."""
        if way == "threads":
            return await in_threads(chain, seconds)
        if way == "async":
            return await side_by_side(chain_async, seconds)
        return await asyncio.to_thread(queued, seconds)

    async def latency(self, way: str, count: int) -> dict[str, Any]:
        """One run of the ten steps at a time."""
        if way == "async":
            return {"took": [await timed(chain_async) for _ in range(count)]}
        return {"took": await asyncio.to_thread(lambda: [timed_in_thread(chain) for _ in range(count)])}

    async def fan(self, count: int) -> dict[str, Any]:
        """A hundred steps side by side, one run at a time."""
        return {"took": [await timed(fan_async) for _ in range(count)]}

    async def posts(self, way: str, seconds: float, url: str) -> dict[str, float]:
        """Many runs of the HTTP steps at once."""
        Client.url = url
        if way == "threads":
            with httpx.Client(limits=httpx.Limits(max_connections=TOGETHER)) as Client.sync:
                return await in_threads(posts, seconds)
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=TOGETHER)) as Client.session:
            return await side_by_side(posts_async, seconds)

    async def naps(self, count: int) -> dict[str, Any]:
        """Runs that sleep, all at once: how late each woke."""
        room = asyncio.Semaphore(TOGETHER)

        async def one() -> float:
            async with room:
                handle = await DBOS.start_workflow_async(nap)
            due, woke = await handle.get_result()
            return float(woke - due)

        late = await asyncio.gather(*(one() for _ in range(count)), return_exceptions=True)
        return {"late": [value for value in late if isinstance(value, float)]}


async def enqueue(url: str, seconds: float) -> dict[str, float]:
    """Starts by its client, which writes them and leaves them to others: the best of some numbers of threads."""
    client = DBOSClient(system_database_url=url)
    options = {"queue_name": RESTING, "workflow_name": chain.__qualname__}
    best: dict[str, float] = {}
    for threads in (8, 16):
        until, meter = time.perf_counter() + seconds / 2, Meter()

        def one_after_the_other(_: int, until: float = until) -> int:
            done = 0
            while time.perf_counter() < until:
                client.enqueue(options)
                done += 1
            return done

        def all_threads(threads: int = threads, one: Callable[[int], int] = one_after_the_other) -> int:
            with ThreadPoolExecutor(threads) as pool:
                return sum(pool.map(one, range(threads)))

        facts = {"done": await asyncio.to_thread(all_threads), **meter.read(), "threads": threads}
        if not best or facts["done"] / facts["seconds"] > best["done"] / best["seconds"]:
            best = facts
    client.destroy()
    return best


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    begun = time.perf_counter()
    await work()
    return time.perf_counter() - begun


def timed_in_thread(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


async def in_threads(work: Callable[[], Any], seconds: float) -> dict[str, float]:
    until, meter = time.perf_counter() + seconds, Meter()

    def one_after_the_other(_: int) -> int:
        done = 0
        while time.perf_counter() < until:
            work()
            done += 1
        return done

    def all_threads() -> int:
        with ThreadPoolExecutor(THREADS) as pool:
            return sum(pool.map(one_after_the_other, range(THREADS)))

    return {"done": await asyncio.to_thread(all_threads), **meter.read()}


async def side_by_side(work: Callable[[], Awaitable[Any]], seconds: float) -> dict[str, float]:
    until, meter, done = time.perf_counter() + seconds, Meter(), 0

    async def one_after_the_other() -> None:
        nonlocal done
        while time.perf_counter() < until:
            await work()
            done += 1

    await asyncio.gather(*(one_after_the_other() for _ in range(TOGETHER)))
    return {"done": done, **meter.read()}


def queued(seconds: float) -> dict[str, float]:
    """Enqueue for a third of the time, then wait until all have ended."""
    until, meter = time.perf_counter() + seconds / 3, Meter()

    def enqueue(_: int) -> list[Any]:
        handles = []
        while time.perf_counter() < until:
            handles.append(DBOS.enqueue_workflow(QUEUE, chain))
        return handles

    with ThreadPoolExecutor(8) as pool:
        handles = [handle for part in pool.map(enqueue, range(8)) for handle in part]
    for handle in handles:
        handle.get_result(polling_interval_sec=0.05)
    return {"done": len(handles), **meter.read()}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    url = parser.parse_args().database
    voice = Voice()
    config = {"name": "bench", "system_database_url": url, "log_level": "ERROR", "application_version": "1"}
    DBOS(config=config | {"executor_id": f"bench-{os.getpid()}"})
    DBOS.launch()
    await DBOS.register_queue_async(QUEUE, worker_concurrency=50)
    peer = Peer(url)
    verbs = ("chain", "latency", "fan", "posts", "naps", "enqueue")
    try:
        await serve({verb: getattr(peer, verb) for verb in verbs}, voice)
    finally:
        DBOS.destroy()


if __name__ == "__main__":
    uvloop.run(main())
