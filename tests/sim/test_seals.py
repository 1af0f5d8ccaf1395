"""Seals in the simulator: whichever nodes died on the way, the seal of a run is that of its journal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from detent.commands.identity.audit import sealed_run
from detent.run.journal import Kind
from detent.run.seal import SealState, check_seal
from tests.sim.campaign import run_campaign
from tests.sim.counters import Counters
from tests.sim.world import World

KEY: Final = b"simulated"
WORLDS: Final = 8
ENOUGH: Final = 2_000
SEEN: Final = ("run was sealed", "run was sealed by a node that adopted it")


class SealedWorld(World):
    """A world whose nodes seal runs."""

    seal_key = KEY

    def run(self) -> str | None:
        return super().run() or self._judge_seals()

    def _judge_seals(self) -> str | None:
        model = self.database.model
        for id_, stored in model.table.items():
            if stored.ended_at is None:
                continue
            entries = [model.entries.get(id_, {})[seq] for seq in sorted(model.entries.get(id_, {}))]
            found = check_seal(KEY, stored.seal, sealed_run(model._run_row(stored)), entries)
            if found.state is SealState.NOT_SEALED:
                self.counters.add("run ended without a seal")
            elif found.state is SealState.CHANGED:
                return f"the seal of run {id_.hex()} is not that of its journal: {found}"
            else:
                was_adopted = any(entry.kind == Kind.ADOPTED for entry in entries)
                self.counters.add(SEEN[1] if was_adopted else SEEN[0])
        return None


def test_the_seal_of_a_run_is_that_of_its_journal_whichever_nodes_died() -> None:
    first = int.from_bytes(os.urandom(4), "big")
    counters = Counters()

    def seeds() -> Iterator[int]:
        for world in range(ENOUGH):
            if world >= WORLDS and all(counters[name] for name in SEEN):
                return
            yield first + world

    campaign = run_campaign(seeds(), world=SealedWorld, counters=counters)
    assert campaign.broken is None, f"{campaign.broken} in world {campaign.seed}"
    assert [name for name in SEEN if not counters[name]] == []
    assert counters["run ended without a seal"] <= counters[SEEN[0]] // 10, "only runs that could not be read"
