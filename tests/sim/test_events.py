"""Entity events in the simulator: rules that are started once, nodes that die, and rules that are saved meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.sim.campaign import check_found, run_campaign
from tests.sim.counters import Counters
from tests.sim.event_bugs import BENDS, MUTANTS
from tests.sim.event_world import EventWorld
from tests.sim.mutants import Mutant

#: Fresh worlds, and those after which everything must have happened that is counted.
WORLDS = 8
ENOUGH = 1_000
SEEN: Final = ("event was acknowledged", "event started its rules", "event was taken by another")

pytestmark = pytest.mark.slow


def test_no_rule_of_events_is_broken_in_fresh_worlds() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    counters = Counters()

    def seeds() -> Iterator[int]:
        """So many worlds, and more until everything has happened that must."""
        for world in range(ENOUGH):
            if world >= WORLDS and all(counters[name] for name in SEEN):
                return
            yield first + world

    campaign = run_campaign(seeds(), world=EventWorld, counters=counters)
    assert campaign.broken is None, f"{campaign.broken} in world {campaign.seed}"
    assert [name for name in SEEN if not counters[name]] == []


@pytest.mark.parametrize("bend", BENDS, ids=lambda bend: bend.__name__)
def test_no_rule_of_events_is_broken_where_its_bugs_are_found(bend: Any) -> None:
    campaign = run_campaign(range(1, 5), mutant=Mutant("none", bend=bend), world=EventWorld)
    assert campaign.broken is None, f"{campaign.broken} in world {campaign.seed}"


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_events_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH, EventWorld)
