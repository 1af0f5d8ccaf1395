"""Deliberate bugs of resource links."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from msgspec.structs import replace as changed

from detent.engine.records.links import LinkClaims
from detent.store.memory.links import MemoryLinks
from detent.store.rows import Flush, Flushed
from tests.sim.mutants import Mutant
from tests.sim.store import ModelStore
from tests.sim.swarm import Swarm


class OneSnapshot(ModelStore):
    """Says whose a resource is by what it saw when the statement was sent: a claim that came since is not seen."""

    async def flush(
        self, node: bytes, epoch: int, flush: Flush, *, again: bool = False, patience: float | None = None
    ) -> Flushed | None:
        flushed = await super().flush(node, epoch, flush, again=again, patience=patience)
        if flushed is None:
            return None
        seen = frozenset(one for one in flushed.unlinked if self.links[one[0]].at < self.sent_at)
        return flushed._replace(unlinked=seen)


def _as_they_came(self: Flush) -> Any:
    return list({link.key: link for link in reversed(self.links)}.values())[::-1]


def _end_at_once(self: Any, run: Any, index: int, number: int, outcome: Any, ms: float) -> None:
    self.claim(run, run.prepared.steps[index].name, outcome.links, lambda error: None)
    self._ended(run, index, number, changed(outcome, links=()), ms)


_owners_known = LinkClaims.owners_known


def _of_nobody(self: Any, claim: Any, owners: Any) -> None:
    _owners_known(self, claim, {row.key: claim.run.id for row in claim.rows})


def _of_another(self: Any, claim: Any, owners: Any) -> None:
    own = {key for key, owner in owners.items() if owner == claim.run.id}
    _owners_known(self, claim, {**owners, **{key: bytes(16) for key in own}})


def _anybody(self: Any, run: bytes) -> set[bytes]:
    return set(self.table)


def meeting(swarm: Swarm) -> Swarm:
    """Several nodes, many runs, slow statements, and little else."""
    calm = replace(swarm, jumps=0.0, outages=0.0, edits=0.0, schedules=0.0, deadly=0.0, moves=0.0, arrests=0.0)
    return replace(calm, nodes=3, runs=10, slow=0.3, failing=0.0, controls=0.0)


def _dying(swarm: Swarm) -> Swarm:
    return replace(meeting(swarm), crashes=10.0, reply_lost=0.1, late=0.1)


BENDS: Final = (meeting, _dying)
MUTANTS: Final = (
    Mutant("links are claimed in any order", patches=((Flush, "sorted_links", _as_they_came),), bend=meeting),
    Mutant("links are decided by one snapshot", store=OneSnapshot, bend=meeting),
    Mutant(
        "a step ends before its links are durable",
        patches=((LinkClaims, "claim_outcome", _end_at_once),),
        bend=meeting,
    ),
    Mutant(
        "a resource is handed over to any run",
        patches=((MemoryLinks, "_ended_origins", _anybody),),
        bend=meeting,
    ),
    Mutant("a resource of another run is taken", patches=((LinkClaims, "owners_known", _of_nobody),), bend=meeting),
    Mutant(
        "a resource of the own run is a conflict", patches=((LinkClaims, "owners_known", _of_another),), bend=_dying
    ),
)
