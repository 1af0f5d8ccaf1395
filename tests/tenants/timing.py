"""How long a foreign id takes beside one that names nothing: `python -m tests.tenants.timing [PAIRS]`.

For every operation that reads an object, it sends pairs of requests in random order. It prints the medians, how much of
the time the median difference within a pair is, and how often the foreign id was the slower one. On a busy machine the
medians drift apart for a while, and the pairs do not: both requests of a pair see the same load. If an operation is
outside of the noise, its pairs are measured again, ten times as many: chance does not repeat itself."""

from __future__ import annotations

import asyncio
import math
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from statistics import median
from typing import Final

from detent.api.app import build_routes
from tests.tenants.matrix import Case, cases
from tests.tenants.world import A, World, two_tenants

#: Standard deviations. Of a hundred operations without a difference, about one is further away.
NOISE: Final = 2.6


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


async def timed(world: World, method: str, target: str) -> float:
    begin = time.perf_counter()
    await world.call(A, method, target)
    return (time.perf_counter() - begin) * 1e6


@dataclass(frozen=True)
class Pairs:
    """The times of pairs of requests, in microseconds."""

    foreign: list[float]
    missing: list[float]

    @property
    def difference(self) -> float:
        """How much longer a foreign id takes, as a part of the time of a missing one."""
        return median([one - other for one, other in self._pairs()]) / median(self.missing)

    @property
    def score(self) -> float:
        """How far the number of pairs with a slower foreign id is from the half, in standard deviations."""
        slower = sum(one > other for one, other in self._pairs())
        return (slower - len(self.foreign) / 2) / (math.sqrt(len(self.foreign)) / 2)

    def _pairs(self) -> list[tuple[float, float]]:
        return list(zip(self.foreign, self.missing, strict=True))

    def __str__(self) -> str:
        times = f"{median(self.foreign):7.0f} us  {median(self.missing):7.0f} us"
        return f"{times}  {self.difference:+6.1%}  {self.score:+5.1f} sd"


async def measure(world: World, case: Case, pairs: int) -> Pairs:
    found = Pairs([], [])
    for _ in range(pairs):
        both = [(case.foreign, found.foreign), (case.missing, found.missing)]
        random.shuffle(both)
        for target, times in both:
            times.append(await timed(world, case.method, target))
    return found


async def main(pairs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with two_tenants(f"sqlite:///{folder}/detent.db") as world:
            differences = []
            for case in [one for one in cases(build_routes(), world) if one.method == "GET"]:
                found = await measure(world, case, pairs)
                say(f"{found}  {case.operation} {case.parameter}")
                if abs(found.score) > NOISE:
                    found = await measure(world, case, 10 * pairs)
                    say(f"{found}  {case.operation} {case.parameter}, again")
                differences.append(found.difference)
            count = f"{len(differences)} operations, {pairs} pairs each"
            say(f"{count}: differences from {min(differences):+.1%} to {max(differences):+.1%}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
