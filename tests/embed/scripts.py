"""Programs of users, each run in a process of its own: what they print is looked at."""

from __future__ import annotations

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from detent.embed import sync
from detent.embed.runs import RunHandle
from detent.embed.start import start
from tests.embed.flows import Greeting


def one(who: str = "you") -> None:
    run = sync.start(Greeting, hero=("User", who), input={"who": who})
    print(run.id, flush=True)


def waits(who: str = "you") -> None:
    print(sync.start(Greeting, hero=("User", who), input={"who": who}).result(timeout=300), flush=True)


def awaits(who: str = "you") -> None:
    async def main() -> None:
        run = await start(Greeting, hero=("User", who), input={"who": who})
        print(await run.result(timeout=300), flush=True)

    asyncio.run(main())


def threads(count: str = "8") -> None:
    def work(number: int) -> str:
        return str(sync.start(Greeting, hero=("User", f"t{number}"), input={"who": f"t{number}"}).result(timeout=300))

    with ThreadPoolExecutor(int(count)) as pool:
        print(sorted(pool.map(work, range(int(count)))), flush=True)


def forks(count: str = "3") -> None:
    """A server that forks its workers after it has used Detent itself."""
    waits("parent")
    children = []
    for number in range(int(count)):
        child = os.fork()
        if child == 0:
            waits(f"child{number}")
            sys.exit(0)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    waits("again")
    print(codes, flush=True)


def abandons(who: str = "you") -> None:
    """Ends while something is open."""
    run: RunHandle = asyncio.run(start(Greeting, hero=("User", who), input={"who": who}))
    print(run.id, flush=True)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
