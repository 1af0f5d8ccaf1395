"""Many worlds, one after the other, until they or the time are over or a rule is broken."""

from __future__ import annotations

import gc
import math
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.sim.counters import Counters
from tests.sim.mutants import NO_MUTANT, Mutant
from tests.sim.world import World

#: Worlds after which every counter of `SOMETIMES` must have moved.
ENOUGH = 400


@dataclass(slots=True)
class Campaign:
    """What came of it. `seed` is the world in which a rule was broken, and `broken` says which."""

    counters: Counters = field(default_factory=Counters)
    worlds: int = 0
    seconds: float = 0.0
    simulated: float = 0.0
    handles: int = 0  # callbacks of the loops: how much work it was, the same on every machine
    seed: int | None = None
    broken: str | None = None

    def verdict(self) -> str | None:
        """Why this campaign is not good enough, or null."""
        if self.broken is not None:
            return f"{self.broken}\nreplay: python -m tests.sim --replay {self.seed}"
        missing = self.counters.missing()
        if missing and self.worlds >= ENOUGH:
            return f"in {self.worlds} worlds it never happened that: {'; '.join(missing)}"
        return None

    def summary(self) -> str:
        return (
            f"{self.worlds:,} worlds in {self.seconds:.1f} s ({self.worlds / max(self.seconds, 0.001):.0f}/s), "
            f"{self.simulated / 3600:.1f} simulated hours"
        )


def run_campaign(
    seeds: Iterable[int],
    seconds: float = math.inf,
    *,
    mutant: Mutant = NO_MUTANT,
    world: type[World] = World,
    counters: Counters | None = None,
) -> Campaign:
    """Live through the worlds of these seeds, for at most so many seconds."""
    campaign, begun = Campaign(Counters() if counters is None else counters), time.perf_counter()
    with mutant.applied(), _sparing_garbage():
        for seed in seeds:
            if campaign.worlds % 50 == 49:
                gc.collect()
            lived = world(seed, campaign.counters, mutant=mutant)
            campaign.broken = lived.run()
            campaign.worlds += 1
            campaign.simulated += lived.loop.time()
            campaign.handles += lived.loop.handles
            campaign.seconds = time.perf_counter() - begun
            if campaign.broken is not None:
                campaign.seed = seed
            if campaign.broken is not None or campaign.seconds >= seconds:
                break
    return campaign


@contextmanager
def _sparing_garbage() -> Iterator[None]:
    """Worlds are full of cycles and gone in milliseconds: collecting them one by one costs a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        with warnings.catch_warnings():  # worlds that were left in their middle have coroutines that never began
            warnings.simplefilter("ignore", RuntimeWarning)
            gc.collect()


def kill(mutant: Mutant, worlds: int, world: type[World] = World) -> Campaign:
    """Look for a world in which that bug breaks a rule: in so many, from where it was found before."""
    return run_campaign(mutant.seeds(worlds), mutant=mutant, world=world)


def cheapest(mutant: Mutant, worlds: int, little: int, world: type[World] = World) -> int | None:
    """Return the first of so many worlds that shows the bug with little work, else the one that does with the least."""
    least, chosen = math.inf, None
    for seed in range(1, worlds + 1):
        found = run_campaign([seed], mutant=mutant, world=world)
        if found.broken is None or found.handles >= least:
            continue
        healthy = run_campaign([seed], mutant=mutant.healed(), world=world)
        work = found.handles + healthy.handles
        if healthy.broken is None and work < least:
            least, chosen = work, seed
        if least <= little:
            break
    return chosen


def check_found(mutant: Mutant, worlds: int, world: type[World] = World) -> None:
    """The bug breaks a rule in one of so many worlds, and nothing is broken in that world without it."""
    found = kill(mutant, worlds, world)
    assert found.seed is not None, f"it was not found in {found.worlds} worlds"
    healthy = run_campaign([found.seed], mutant=mutant.healed(), world=world)
    assert healthy.broken is None, f"world {found.seed} is broken without the bug: {healthy.broken}"
