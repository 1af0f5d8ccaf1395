"""Blobs in the simulator: whichever nodes die, no run names a blob before the store knows that it does."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest

from detent.blobs.uses import BlobUses
from detent.run.outcomes import Done, Outcome
from detent.store.blobs.rows import BlobRow
from detent.values.blob import MARK, Blob, named_blobs
from tests.sim.campaign import check_found, run_campaign
from tests.sim.counters import Counters
from tests.sim.effects import Effect
from tests.sim.link_bugs import meeting
from tests.sim.mutants import Mutant
from tests.sim.node import SimNode
from tests.sim.world import World

WORLDS: Final = 8
ENOUGH: Final = 2_000
BLOBS: Final = 5
TENANT: Final = 1
SEEN: Final = ("blob was named", "use was written again")

pytestmark = pytest.mark.slow


class BlobNode(SimNode):
    """A node whose steps return blobs."""

    def boot(self) -> None:
        super().boot()
        world = self._world
        assert isinstance(world, BlobWorld)
        for executor in self.executors:
            executor.decide = world.decide


class BlobWorld(World):
    """A world with a few blobs, which some results name."""

    def __init__(self, seed: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(seed, *args, **kwargs)
        self._chance = random.Random(seed + 2)
        self._blobs = [Blob(bytes([0, number]) * 8, 10**6, "image/png", "0" * 64) for number in range(BLOBS)]
        for blob in self._blobs:
            self.database.model.blobs_by_id[blob.id] = BlobRow(
                blob.id, TENANT, blob.id * 2, blob.size, blob.type, "database", 1, 1
            )

    def make_node(self, number: int) -> SimNode:
        return BlobNode(self, number)

    def decide(self, effect: Effect) -> Outcome | None:
        if self._chance.random() < 0.5:
            return None
        body = {"picture": self._chance.choice(self._blobs).document()}
        return Done(msgspec.json.encode({"status_code": 200, "headers": {}, "body": body}))

    def _watched(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        uses = self.database.model.uses
        if verb == "use_blobs" and any(key in uses for key in args[1]):
            self.counters.add("use was written again")
        result = super()._watched(verb, args, kwargs)
        if verb == "flush" and result is not None:
            for entry in args[2].entries:
                # A run of another tenant may name these blobs too, and does not use them.
                for blob in named_blobs(entry.data) if entry.tenant == TENANT and MARK in entry.data else ():
                    self.counters.add("blob was named")
                    if (entry.run, blob) not in uses:
                        self.fail(f"run {entry.run.hex()} names {blob.hex()}, and the store has no use of it")
        return result


def test_no_run_names_a_blob_before_the_store_knows_its_use() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    counters = Counters()

    def seeds() -> Iterator[int]:
        for world in range(ENOUGH):
            if world >= WORLDS and all(counters[name] for name in SEEN):
                return
            yield first + world

    campaign = run_campaign(seeds(), world=BlobWorld, counters=counters)
    assert campaign.broken is None, f"{campaign.broken} in world {campaign.seed}"
    assert [name for name in SEEN if not counters[name]] == []


_note = BlobUses.note


async def _never(self: Any, found: Any, may_wait: Any) -> None:
    return None


async def _later(self: Any, found: Any, may_wait: Any) -> None:
    asyncio.get_running_loop().create_task(_note(self, found, may_wait))


async def _once(self: Any, found: Any, may_wait: Any) -> None:
    await _note(self, found, lambda: False)


MUTANTS: Final = (
    Mutant("uses of blobs are not written", patches=((BlobUses, "note", _never),), bend=meeting),
    Mutant("uses of blobs are written beside the flush", patches=((BlobUses, "note", _later),), bend=meeting),
    Mutant("uses of blobs are given up when the database is busy", patches=((BlobUses, "note", _once),)),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_uses_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH, BlobWorld)
