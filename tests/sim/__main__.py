"""`python -m tests.sim --seconds 600 --seed 1`; `--replay SEED` tells one world; `--mutants`: bugs must be found."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys

from tests.sim.campaign import kill, run_campaign
from tests.sim.counters import Counters
from tests.sim.mutants import FOUND, MUTANTS, RECORD
from tests.sim.world import World

WORLDS = 5_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, help="the first world; a fresh one if it is left out")
    parser.add_argument(
        "--replay", type=int, metavar="SEED", help="live through one world again and tell what happened"
    )
    parser.add_argument("--events", type=int, default=150, help="how many of the last events a replay tells")
    parser.add_argument("--mutants", action="store_true", help="show that every deliberate bug is found")
    parser.add_argument("--record", action="store_true", help="with --mutants: write down where, for `make test`")
    given = parser.parse_args()
    if given.mutants:
        return _kill_mutants(record=given.record)
    if given.replay is not None:
        return _replay(given.replay, given.events)
    return _live(given.seed, given.seconds)


def _live(seed: int | None, seconds: float) -> int:
    first = int.from_bytes(os.urandom(4), "big") if seed is None else seed
    campaign = run_campaign(itertools.count(first), seconds)
    print("\n".join(campaign.counters.lines()))
    print(f"{campaign.summary()}, from seed {first}")
    verdict = campaign.verdict()
    if verdict is None:
        print("no rule was broken")
        return 0
    print(f"BROKEN: {verdict}")
    if campaign.seed is not None:
        _replay(campaign.seed, 60)
    return 1


def _replay(seed: int, events: int) -> int:
    world = World(seed, Counters(), tracing=True)
    broken = world.run()
    print("\n".join(list(world.trace)[-events:]))
    print(f"seed {seed}: {world.swarm}")
    print(f"seed {seed}: {broken or 'no rule was broken'}")
    return 1 if broken else 0


def _kill_mutants(*, record: bool) -> int:
    survivors = 0
    found = dict(FOUND)
    for mutant in MUTANTS:
        campaign = kill(mutant, WORLDS)
        survivors += campaign.broken is None
        if campaign.seed is not None:
            found[mutant.name] = campaign.seed
        if record:
            RECORD.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n")
        fate = "SURVIVED" if campaign.broken is None else "killed"
        print(f"{fate:8} {campaign.seconds:6.2f} s {campaign.worlds:5} worlds  {mutant.name}: {campaign.broken}"[:200])
    print(f"{len(MUTANTS) - survivors} of {len(MUTANTS)} mutants killed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
