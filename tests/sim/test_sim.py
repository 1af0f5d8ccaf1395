"""The simulator in `make test`: fresh worlds, worlds that once were broken, and bugs that must be found."""

import itertools
import os

import pytest

from tests.sim.campaign import kill, run_campaign
from tests.sim.counters import Counters
from tests.sim.mutants import MUTANTS, Mutant
from tests.sim.world import World

SECONDS = float(os.environ.get("DETENT_SIM_SECONDS", "30"))

#: Worlds in which a rule was broken once.
REGRESSIONS = (3, 5, 6, 11, 25, 35, 54, 101, 116, 229, 240, 265, 332, 351, 200034, 200136)

pytestmark = pytest.mark.slow


@pytest.mark.timeout(int(SECONDS) + 60)
def test_no_rule_is_broken_in_fresh_worlds() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    campaign = run_campaign(itertools.count(first), SECONDS)
    print("\n".join(campaign.counters.lines()))
    print(campaign.summary())
    assert campaign.verdict() is None


def test_no_rule_is_broken_in_worlds_that_were_broken_once() -> None:
    campaign = run_campaign(REGRESSIONS, 60.0)
    assert campaign.verdict() is None
    assert campaign.worlds == len(REGRESSIONS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_is_found(mutant: Mutant) -> None:
    assert kill(mutant, 60.0).broken is not None


def test_a_world_is_the_same_each_time() -> None:
    worlds = [World(41, Counters(), tracing=True) for _ in range(2)]
    assert [world.run() for world in worlds] == [None, None]
    assert worlds[0].trace == worlds[1].trace
    assert len(worlds[0].trace) > 100
