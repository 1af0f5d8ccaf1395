"""Claims of resource links: a step that names resources ends after its run owns them.

A step that succeeded with links has no entry yet. First its claims are written. The store answers which of them it did
not insert. Only then, and only for these, it is asked whose they are. A resource of a run that this one repeats or
continues is handed over to it. If another run has one of the resources, the step fails. Otherwise it ends as it did.
The entry could not be written together with the claims: everything that was decided because of the success would be in
the journal beside a conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from msgspec.structs import replace

from detent.engine.owned_run import OwnedRun
from detent.ids import RUN, show
from detent.run.links import CONFLICT, CONFLICT_NAME, Link
from detent.run.outcomes import Done, Fail, Finish, Outcome, StepError
from detent.run.plan import Plan
from detent.store.links import LinkKey, LinkStore, NewLink
from detent.store.rows import Flushed

#: Seconds between two looks of the poller, which is nudged.
IDLE: Final = 3600.0

Answered = Callable[[StepError | None], None]


@dataclass(slots=True, eq=False)
class LinkClaim:
    """The claims of one step. `answered` is called with the conflict, or with None if the run has every resource."""

    run: OwnedRun
    rows: tuple[NewLink, ...]
    answered: Answered
    step: int | None  # None: the step of a durable function

    def size(self) -> int:
        """Return about how many characters its rows have."""
        return sum(len(row.system) + len(row.type) + len(row.id) + len(row.url or "") for row in self.rows)


class ClaimingRunner(Protocol):
    """The part of the runner that claims of links use."""

    def write(self, run: OwnedRun, plan: Plan, *, claim: LinkClaim | None = None) -> None:
        """Queue the rows of a plan and of a claim."""

    def go_on(self, run: OwnedRun) -> None:
        """Start what became ready, and look whether the run can leave memory."""


class LinkClaims:
    """The claims of one node that are being written or asked for."""

    def __init__(self, runner: ClaimingRunner, ended: Callable[[OwnedRun, int, int, Outcome, float], None]) -> None:
        """`ended` handles the outcome of an attempt."""
        self._runner, self._ended = runner, ended
        self.asked: list[LinkClaim] = []
        self.nudge: Callable[[], None] = lambda: None  # set once: it makes the node read the owners

    def claim_outcome(self, run: OwnedRun, index: int, number: int, outcome: Outcome, ms: float) -> None:
        """Claim the links of an attempt that succeeded. It ends when the store has answered."""
        assert isinstance(outcome, Done | Finish)

        def answered(error: StepError | None) -> None:
            ended = replace(outcome, links=()) if error is None else Fail(error, outcome.result, retry=False)
            self._ended(run, index, number, ended, ms)

        self.claim(run, run.prepared.steps[index].name, outcome.links, answered, index)

    def claim(
        self, run: OwnedRun, name: str, links: Sequence[Link], answered: Answered, step: int | None = None
    ) -> None:
        """Write the claims of a step of the run. `name` is that of the step."""
        tenant = run.state.facts.tenant
        rows = tuple(NewLink(tenant, one.system, one.type, one.id, run.id, name, one.url) for one in links)
        if step is not None:
            run.linking = (*run.linking, step)
        self._write(LinkClaim(run, rows, answered, step))

    def written(self, claim: LinkClaim, flushed: Flushed) -> None:
        """Handle the answer of the store to claims that are durable."""
        run = claim.run
        if flushed.unlinked and any((row.key, run.id) in flushed.unlinked for row in claim.rows):
            run.pending += 1  # until the owners are known
            self.asked.append(claim)
            self.nudge()
        else:
            self._answer(claim, None)

    def owners_known(self, claim: LinkClaim, owners: Mapping[LinkKey, bytes]) -> None:
        """Handle the owners of the resources of a claim."""
        run = claim.run
        run.pending -= 1
        if run.gone:
            return
        for row in claim.rows:
            if owners.get(row.key, run.id) != run.id:
                self._answer(claim, _conflict(row, owners[row.key]))
                self._runner.go_on(run)
                return
        if all(row.key in owners for row in claim.rows):
            self._answer(claim, None)
            self._runner.go_on(run)
        else:
            self._write(claim)  # the run that had a resource was deleted meanwhile

    def _write(self, claim: LinkClaim) -> None:
        self._runner.write(claim.run, Plan(None, [], [], []), claim=claim)

    def _answer(self, claim: LinkClaim, error: StepError | None) -> None:
        if claim.step is not None:
            claim.run.linking = tuple(step for step in claim.run.linking if step != claim.step)
        claim.answered(error)


def _conflict(row: NewLink, owner: bytes) -> StepError:
    message = f"{CONFLICT_NAME}: {row.system} {row.type} {row.id!r} is linked to {show(RUN, owner)}"
    detail = {"system": row.system, "type": row.type, "id": row.id, "run_id": show(RUN, owner)}
    return StepError(CONFLICT, message, detail)


class LinkOwners:
    """The poller that asks whose resources are that the runs of this node could not claim. The runner nudges it."""

    name = "link owners"

    def __init__(self, store: LinkStore, claims: LinkClaims) -> None:
        self._store, self._claims = store, claims

    async def poll(self) -> float:
        asked = list(self._claims.asked)
        if not asked:
            return IDLE
        keys = sorted({row.key for claim in asked for row in claim.rows})
        owners = await self._store.link_owners(keys)
        inherited = {}
        for claim in asked:
            others = [row for row in claim.rows if owners.get(row.key, claim.run.id) != claim.run.id]
            if others:  # they may belong to a run that this one repeats
                inherited[claim] = await self._store.hand_over_links(claim.run.id, others)
        del self._claims.asked[: len(asked)]
        for claim in asked:
            self._claims.owners_known(claim, {**owners, **inherited.get(claim, {})})
        return 0.0
