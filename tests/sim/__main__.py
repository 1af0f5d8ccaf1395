"""`python -m tests.sim --seconds 600 --seed 1`; `--replay SEED` tells one world; `--mutants`: bugs must be found."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from tests.sim import event_bugs, link_bugs, map_bugs, probe_bugs, test_blobs, test_child_steps, test_functions
from tests.sim.campaign import cheapest, kill, run_campaign
from tests.sim.child_world import ChildWorld, MapWorld
from tests.sim.collecting_world import CollectingWorld
from tests.sim.counters import Counters
from tests.sim.event_world import EventWorld
from tests.sim.function_world import FunctionWorld
from tests.sim.link_world import LinkWorld
from tests.sim.mutants import FOUND, MUTANTS, RECORD, Mutant
from tests.sim.probe_world import ProbeWorld
from tests.sim.test_seals import SealedWorld
from tests.sim.world import World

WORLDS = 5_000
#: Worlds among which one is looked for that shows a bug with little work, and how many callbacks are little.
CHOICE = 20
LITTLE = 5_000


class Sort(NamedTuple):
    """A sort of worlds, and the deliberate bugs that show in them."""

    world: type[World]
    mutants: Sequence[Mutant]


SORTS: Final = {
    "plain": Sort(World, MUTANTS),
    "children": Sort(ChildWorld, test_child_steps.MUTANTS),
    "maps": Sort(MapWorld, map_bugs.MUTANTS),
    "links": Sort(LinkWorld, link_bugs.MUTANTS),
    "events": Sort(EventWorld, event_bugs.MUTANTS),
    "probes": Sort(ProbeWorld, probe_bugs.MUTANTS),
    "functions": Sort(FunctionWorld, (*test_functions.MUTANTS, *test_functions.FAMILY)),
    "collecting": Sort(CollectingWorld, test_functions.CONTINUING),
    "blobs": Sort(test_blobs.BlobWorld, test_blobs.MUTANTS),
    "large": Sort(test_blobs.LargeWorld, test_blobs.LARGE_MUTANTS),
    "sealed": Sort(SealedWorld, ()),
}


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
    parser.add_argument("--sort", choices=SORTS, default="plain", help="the sort of worlds; of mutants: only these")
    given = parser.parse_args()
    sort = SORTS[given.sort]
    if given.mutants:
        chosen = [sort] if "--sort" in sys.argv else [*SORTS.values()]
        return _kill_mutants(chosen, record=given.record)
    if given.replay is not None:
        return _replay(sort.world, given.replay, given.events)
    return _live(given.sort, given.seed, given.seconds)


def _live(sort: str, seed: int | None, seconds: float) -> int:
    first = int.from_bytes(os.urandom(4), "big") if seed is None else seed
    campaign = run_campaign(itertools.count(first), seconds, world=SORTS[sort].world)
    print("\n".join(campaign.counters.lines()))
    print(f"{campaign.summary()}, from seed {first}")
    verdict = campaign.verdict() if sort == "plain" else campaign.broken
    if verdict is None:
        print("no rule was broken")
        return 0
    print(f"BROKEN: {verdict}")
    if campaign.seed is not None:
        _replay(SORTS[sort].world, campaign.seed, 60)
    return 1


def _replay(sort: type[World], seed: int, events: int) -> int:
    world = sort(seed, Counters(), tracing=True)
    broken = world.run()
    print("\n".join(list(world.trace)[-events:]))
    print(f"seed {seed}: {world.swarm}")
    print(f"seed {seed}: {broken or 'no rule was broken'}")
    return 1 if broken else 0


def _kill_mutants(sorts: Sequence[Sort], *, record: bool) -> int:
    survivors = 0
    mutants = [(sort, mutant) for sort in sorts for mutant in sort.mutants]
    for sort, mutant in mutants:
        if record:
            _record(mutant, sort.world)
        campaign = kill(mutant, WORLDS, sort.world)
        survivors += campaign.broken is None
        fate = "SURVIVED" if campaign.broken is None else "killed"
        print(
            f"{fate:8} {campaign.seconds:6.2f} s {campaign.worlds:5} worlds  {mutant.name}: {campaign.broken}"[:200],
            flush=True,
        )
    print(f"{len(mutants) - survivors} of {len(mutants)} mutants killed")
    return 1 if survivors else 0


def _record(mutant: Mutant, world: type[World]) -> None:
    """Write down a world that shows a bug with little work. One that was written down stays if it still does."""
    known = run_campaign(mutant.seeds(1), mutant=mutant, world=world)
    if mutant.name not in FOUND or known.broken is None or known.handles > LITTLE:
        seed = cheapest(mutant, CHOICE, LITTLE, world) or kill(mutant, WORLDS, world).seed
        FOUND[mutant.name] = 1 if seed is None else seed
        RECORD.write_text(json.dumps(FOUND, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    sys.exit(main())
