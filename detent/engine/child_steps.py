"""The engine's side of steps that are child runs: start the child of an attempt once, under the id in the journal."""

from __future__ import annotations

from msgspec.structs import replace

from detent.engine.children import Children, family_of
from detent.engine.owned_run import OwnedRun
from detent.errors import Unavailable
from detent.ids import RUN, parse
from detent.run.start import StartRequest


class StepChild:
    """The child run of one attempt of a step.

    Whether the child exists is known if this ownership of the run has written its id or has started it. Otherwise the
    store is asked, once for all such children of the run.
    """

    def __init__(self, children: Children, run: OwnedRun, index: int) -> None:
        self._children, self._run = children, run
        self._step = run.prepared.steps[index].name
        self.run_id = run.state.child_of[index].id

    async def start(self, request: StartRequest, *, detached: bool, recursion: bool) -> None:
        """Start the child unless it exists. Raise the errors of a start."""
        run, start = self._run, self._children.start
        if start is None:
            raise Unavailable("this engine cannot start runs")
        if await self._exists():
            return
        family = family_of(run.state.facts, self._step, detached=detached)
        run.absent.discard(self.run_id)  # from now on it may exist, also if this attempt is stopped
        await start(run.state.facts, parse(RUN, self.run_id), replace(request, family=family), recursion)
        run.present.add(self.run_id)

    async def _exists(self) -> bool:
        run = self._run
        if self.run_id not in run.present and self.run_id not in run.absent:
            unknown = {child.id for child in run.state.child_of.values()} - run.present - run.absent
            asked = {parse(RUN, name): name for name in unknown | {self.run_id}}
            there = {asked[id_] for id_ in await self._children.existing(tuple(asked))}
            run.present |= there
            run.absent |= set(asked.values()) - there - run.present
        return self.run_id in run.present
