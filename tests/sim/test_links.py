"""Resource links in the simulator: few resources, many runs, and nodes that die between claim and entry."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.sim.campaign import check_found, run_campaign
from tests.sim.counters import Counters
from tests.sim.link_bugs import BENDS, MUTANTS
from tests.sim.link_world import LinkWorld
from tests.sim.mutants import Mutant

#: Fresh worlds, and those after which everything must have happened that is counted.
WORLDS = 12
ENOUGH = 2_000
SEEN: Final = (
    "resource was claimed",
    "resource was claimed again by its run",
    "resource belonged to another run",
    "two nodes claimed the same resources",
)

pytestmark = pytest.mark.slow


def test_no_rule_of_links_is_broken_in_fresh_worlds() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    counters = Counters()

    def seeds() -> Iterator[int]:
        """So many worlds, and more until everything has happened that must."""
        for world in range(ENOUGH):
            if world >= WORLDS and all(counters[name] for name in SEEN):
                return
            yield first + world

    campaign = run_campaign(seeds(), world=LinkWorld, counters=counters)
    assert campaign.broken is None, f"{campaign.broken} in world {campaign.seed}"
    assert [name for name in SEEN if not counters[name]] == []


@pytest.mark.parametrize("bend", BENDS, ids=lambda bend: bend.__name__)
def test_no_rule_of_links_is_broken_where_its_bugs_are_found(bend: Any) -> None:
    campaign = run_campaign(range(1, 5), mutant=Mutant("none", bend=bend), world=LinkWorld)
    assert campaign.broken is None, f"{campaign.broken} in world {campaign.seed}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_links_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH, LinkWorld)
