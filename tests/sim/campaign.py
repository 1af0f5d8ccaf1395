"""Many worlds, one after the other, for so many seconds; the first broken one ends the campaign."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tests.sim.counters import Counters
from tests.sim.mutants import NO_MUTANT, Mutant
from tests.sim.world import World

SHOWN = 150


@dataclass
class Campaign:
    """What came of it."""

    worlds: int = 0
    seconds: float = 0.0
    simulated: float = 0.0
    handles: int = 0
    seed: int | None = None
    broken: str | None = None


def run_campaign(seeds: Iterator[int], seconds: float, counters: Counters, mutant: Mutant = NO_MUTANT) -> Campaign:
    campaign = Campaign()
    begun = time.perf_counter()
    for seed in seeds:
        world = World(seed, counters, mutant=mutant)
        campaign.broken = world.run()
        campaign.worlds += 1
        campaign.simulated += world.loop.time()
        campaign.handles += world.loop.handles
        campaign.seconds = time.perf_counter() - begun
        if campaign.broken is not None:
            campaign.seed = seed
            break
        if campaign.seconds >= seconds:
            break
    return campaign


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--replay", type=int)
    parser.add_argument("--shown", type=int, default=SHOWN)
    args = parser.parse_args()
    if args.replay is not None:
        return replay(args.replay, args.shown)
    first = args.seed if args.seed is not None else int.from_bytes(os.urandom(4), "big")
    counters = Counters()
    import itertools
    c = run_campaign(itertools.count(first), args.seconds, counters)
    print("\n".join(counters.lines()))
    print(f"{c.worlds} worlds in {c.seconds:.1f} s, {c.simulated/3600:.1f} simulated hours, {c.handles/max(1,c.worlds):.0f} handles per world, first seed {first}")
    if c.broken:
        print(f"broken: {c.broken}\nreplay: python -m tests.sim --replay {c.seed}")
        return 1
    return 0


def replay(seed: int, shown: int) -> int:
    world = World(seed, Counters(), tracing=True)
    broken = world.run()
    print("\n".join(list(world.trace)[-shown:]))
    print(world.swarm)
    print(f"seed {seed}: {broken or 'nothing is broken'}")
    return 1 if broken else 0
