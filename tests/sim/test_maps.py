"""Maps in the simulator: items in pages, which are runs of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.sim.campaign import check_found
from tests.sim.child_world import MapWorld, child_campaign
from tests.sim.counters import Counters
from tests.sim.map_bugs import BENDS, MUTANTS
from tests.sim.mutants import Mutant

#: Fresh worlds, and those after which everything must have happened that is counted.
WORLDS = 30
ENOUGH = 3_000
#: What must happen in fresh worlds.
SEEN: Final = (
    "map began",
    "map completed",
    "map of several pages completed",
    "map of no items",
    "map failed because of its items",
    "page completed",
    "page failed",
    "page cancelled",
    "as many items were in flight as the map allows",
    "run moved to another version",
    "memory compared after an event",
)

pytestmark = pytest.mark.slow


def test_no_rule_of_maps_is_broken_in_fresh_worlds() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    counters = Counters()

    def seeds() -> Iterator[int]:
        """So many worlds, and more until everything has happened that must."""
        for world in range(ENOUGH):
            if world >= WORLDS and all(counters[name] for name in SEEN):
                return
            yield first + world

    broken, seed = child_campaign(seeds(), counters=counters, world=MapWorld)
    assert broken is None, f"{broken} in world {seed}"
    assert [name for name in SEEN if not counters[name]] == []


@pytest.mark.parametrize("bend", BENDS, ids=lambda bend: bend.__name__)
def test_no_rule_of_maps_is_broken_where_its_bugs_are_found(bend: Any) -> None:
    broken, seed = child_campaign(range(1, 11), mutant=Mutant("none", bend=bend), world=MapWorld)
    assert broken is None, f"{broken} in world {seed}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_maps_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH, MapWorld)
