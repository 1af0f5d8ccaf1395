"""Blobs in the simulator: whichever nodes die, no run names a blob before the store knows that it does, and an output
that became a blob is that blob."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final

import msgspec
import pytest

from detent.blobs.contents import BlobContents
from detent.blobs.uses import BlobUses
from detent.run.outcomes import Done, Fail, Outcome, StepError
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
#: A start was never answered: its node ended while it noted which blobs the start uses.
BROKEN_ONCE: Final = (5_355,)
ENOUGH: Final = 2_000
BLOBS: Final = 5
TENANT: Final = 1
SEEN: Final = ("blob was named", "use was written again")

pytestmark = pytest.mark.slow


class BlobNode(SimNode):
    """A node whose world decides what steps return."""

    def boot(self) -> None:
        super().boot()
        world = self._world
        assert isinstance(world, BlobWorld | LargeWorld)
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


def _until_seen(counters: Counters, seen: Sequence[str]) -> Iterator[int]:
    """The seeds of fresh worlds, until all of that was seen."""
    first = int.from_bytes(os.urandom(4), "big")
    for world in range(ENOUGH):
        if world >= WORLDS and all(counters[name] for name in seen):
            return
        yield first + world


def test_no_run_names_a_blob_before_the_store_knows_its_use() -> None:
    counters = Counters()
    seeds = itertools.chain(BROKEN_ONCE, _until_seen(counters, SEEN))
    campaign = run_campaign(seeds, world=BlobWorld, counters=counters)
    assert campaign.broken is None, f"{campaign.broken} in world {campaign.seed}"
    assert [name for name in SEEN if not counters[name]] == []


class LargeWorld(World):
    """A world in which outputs become blobs. The rules of effects look at each."""

    def __init__(self, seed: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(seed, *args, **kwargs)
        self._chance = random.Random(seed + 3)

    def make_node(self, number: int) -> SimNode:
        return BlobNode(self, number)

    def decide(self, effect: Effect) -> Outcome | None:
        if self._chance.random() < 0.5:
            return None
        large = Done(b'{"output":' + msgspec.json.encode({"n": self._chance.randrange(20)}) + b"}")
        return Fail(StepError("output_too_large", "the output has too many bytes"), retry=False, large=large)

    def _watched(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if verb in _STORING:
            self.counters.add(verb)
        return super()._watched(verb, args, kwargs)


_STORING: Final = ("begin_upload", "finish_upload")


def test_an_output_that_became_a_blob_is_that_blob() -> None:
    counters = Counters()
    seen = ("large output was stored", *_STORING)
    campaign = run_campaign(_until_seen(counters, seen), world=LargeWorld, counters=counters)
    assert campaign.broken is None, f"{campaign.broken} in world {campaign.seed}"
    assert [name for name in seen if not counters[name]] == []


_save = BlobContents.save


async def _give_up(self: Any, tenant: int, run: bytes, parts: AsyncIterator[bytes]) -> Blob:
    raise ValueError("it was given up")


async def _name_only(self: Any, tenant: int, run: bytes, parts: AsyncIterator[bytes]) -> Blob:
    asyncio.get_running_loop().create_task(_save(self, tenant, run, parts))
    return Blob(os.urandom(16), 1, "application/json", "0" * 64)


LARGE_MUTANTS: Final = (
    Mutant("a large output is given up", patches=((BlobContents, "save", _give_up),)),
    Mutant("a large output is named and not stored", patches=((BlobContents, "save", _name_only),)),
)


@pytest.mark.parametrize("mutant", LARGE_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_deliberate_bug_of_large_outputs_is_found(mutant: Mutant) -> None:
    check_found(mutant, ENOUGH, LargeWorld)


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
