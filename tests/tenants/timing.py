"""How long a foreign id takes beside one that names nothing: `python -m tests.tenants.timing [PAIRS]`.

For every operation that reads an object, it sends pairs of requests in random order, and prints the medians."""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from statistics import median

from detent.api.app import build_routes
from tests.tenants.matrix import cases
from tests.tenants.world import A, World, two_tenants


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


async def timed(world: World, method: str, target: str) -> float:
    begin = time.perf_counter()
    await world.call(A, method, target)
    return (time.perf_counter() - begin) * 1e6


async def main(pairs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with two_tenants(f"sqlite:///{folder}/detent.db") as world:
            ratios = []
            for case in [one for one in cases(build_routes(), world) if one.method == "GET"]:
                foreign: list[float] = []
                missing: list[float] = []
                for _ in range(pairs):
                    both = [(case.foreign, foreign), (case.missing, missing)]
                    random.shuffle(both)
                    for target, times in both:
                        times.append(await timed(world, case.method, target))
                ratio = median(foreign) / median(missing)
                ratios.append(ratio)
                times_of = f"{median(foreign):7.0f} us  {median(missing):7.0f} us"
                say(f"{ratio:5.2f}  {times_of}  {case.operation} {case.parameter}")
            count = f"{len(ratios)} operations, {pairs} pairs each"
            say(f"{count}: median ratio {median(ratios):.3f}, from {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
