"""The simulator in `make test`: fresh worlds, worlds that once were broken, and bugs that must be found."""

import os
import random
import subprocess
import sys
from functools import partial

import pytest

from detent.graph.model import FailurePolicy, Graph, Join, Route, StepKind
from tests.sim.campaign import check_found, run_campaign
from tests.sim.child_programs import make_family
from tests.sim.graph_programs import in_graph_form, make_form_version
from tests.sim.map_programs import with_maps
from tests.sim.mutants import MUTANTS, Mutant, dying_of_two_tenants

#: Fresh worlds in `make test`; `make sim` has as many as it has time for.
WORLDS = 200
#: Worlds in which a deliberate bug is looked for. Most are found in the first.
ENOUGH = 5_000

#: Worlds in which a rule was broken once. They become other worlds when the way worlds are drawn changes; the bugs
#: themselves live on as mutants.
REGRESSIONS = (
    3,
    116,
    229,
    351,
    200136,
    655876301,
    3769103874,  # a node died after the code of a step had its run stopped and the callbacks closed
    2486614971,
    4251560321,
    3771156164,
    808399606,
    4053809816,
    2761364745,
)

pytestmark = pytest.mark.slow


@pytest.mark.case("A11")
def test_no_rule_is_broken_in_fresh_worlds() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    campaign = run_campaign(range(first, first + WORLDS))
    print("\n".join(campaign.counters.lines()))
    print(campaign.summary())
    assert campaign.verdict() is None
    assert campaign.worlds == WORLDS


def test_no_rule_is_broken_in_worlds_that_were_broken_once() -> None:
    campaign = run_campaign(REGRESSIONS)
    assert campaign.verdict() is None
    assert campaign.worlds == len(REGRESSIONS)


def test_no_rule_is_broken_while_suspects_of_two_tenants_wait_die_and_are_released() -> None:
    missing = {"suspects of two tenants waited", "suspect attempt released", "released attempt began again"}
    for first in range(1, 401, 20):
        bent = Mutant("none", bend=dying_of_two_tenants)
        campaign = run_campaign(range(first, first + 20), 600.0, mutant=bent)
        assert campaign.verdict() is None
        missing = {name for name in missing if not campaign.counters[name]}
        if not missing:
            break
    assert missing == set()


def test_the_random_graphs_have_everything_that_a_graph_can_say() -> None:
    """Also together with children and maps, and in the versions that runs are moved to."""
    graphs: list[Graph] = []
    for rng in map(random.Random, range(40)):
        family = make_family(rng, lambda: bytes(16), partial(in_graph_form, rng))
        graphs += [make_form_version(rng, with_maps(rng, program.graph)) for program in family]
    steps = [step for graph in graphs for step in graph.steps]
    edges = [edge for graph in graphs for edge in graph.edges]
    assert {step.join for step in steps} == set(Join)
    assert {step.route for step in steps} == set(Route)
    assert {step.kind for step in steps} >= {StepKind.CONDITION, StepKind.SUBWORKFLOW, StepKind.SLEEP, StepKind.WAIT}
    assert {graph.on_failure for graph in graphs} == set(FailurePolicy)
    assert {graph.parallel for graph in graphs} == {None, 1, 2, 3}
    assert {(edge.otherwise, edge.handles) for edge in edges} == {(False, True), (True, True), (False, False)}
    cannot_be_read = [edge for edge in edges if ".nothing.such" in (edge.condition or "")]
    assert {edge.false_on_error for edge in cannot_be_read} == {False, True}
    maps = [graph for graph in graphs if any(step.each for step in graph.steps)]
    assert any(graph.parallel and any(edge.otherwise for edge in graph.edges) for graph in maps)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH)


def test_a_world_is_the_same_in_every_process() -> None:
    told = [_tell_world(41, hash_seed) for hash_seed in ("1", "2")]
    assert told[0] == told[1]
    assert len(told[0].splitlines()) > 100


def _tell_world(seed: int, hash_seed: str) -> str:
    command = [sys.executable, "-m", "tests.sim", "--replay", str(seed), "--events", "100000"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300).stdout
