"""Probes in the simulator: nodes that die before and after an effect, and probes that see it, see nothing or fail."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

import pytest

from tests.sim.campaign import check_found, run_campaign
from tests.sim.counters import Counters
from tests.sim.mutants import Mutant
from tests.sim.probe_bugs import MUTANTS
from tests.sim.probe_world import ProbeWorld

#: Fresh worlds, and those after which everything must have happened that is counted.
WORLDS = 10
ENOUGH = 2_000
SEEN: Final = (
    "probe saw the effect",
    "probe saw no effect",
    "probe could not tell",
    "probe failed",
    "step ended by its probe",
    "step tried again after its probe",
)

pytestmark = pytest.mark.slow


def test_no_rule_of_probes_is_broken_in_fresh_worlds() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    counters = Counters()

    def seeds() -> Iterator[int]:
        """So many worlds, and more until everything has happened that must."""
        for world in range(ENOUGH):
            if world >= WORLDS and all(counters[name] for name in SEEN):
                return
            yield first + world

    campaign = run_campaign(seeds(), world=ProbeWorld, counters=counters)
    assert campaign.broken is None, f"{campaign.broken} in world {campaign.seed}"
    assert [name for name in SEEN if not counters[name]] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_probes_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH, ProbeWorld)
