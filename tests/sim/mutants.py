"""Deliberate bugs. Each must be found within seconds: this is the test of the simulator itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.sim.store import ModelStore
from tests.sim.swarm import Swarm


def _as_it_is(swarm: Swarm) -> Swarm:
    return swarm


@dataclass(frozen=True)
class Mutant:
    """A store with a bug, or patches of engine parts. `bend` makes worlds in which it shows sooner."""

    name: str
    store: type[ModelStore] = ModelStore
    patches: tuple[tuple[object, str, object], ...] = ()
    bend: Callable[[Swarm], Swarm] = _as_it_is


NO_MUTANT = Mutant("none")
