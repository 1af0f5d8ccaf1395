"""The engine's side of steps that are child runs: start the child of an attempt once, under the id in the journal."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from detent.engine.children import Children, family_of
from detent.engine.owned_run import OwnedRun
from detent.errors import Unavailable
from detent.ids import RUN, NewId, parse, show
from detent.planner.maps import pages_open
from detent.run import events
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
        if self.run_id in await existing_children(self._children, run, [self.run_id]):
            return
        family = family_of(run.state.facts, self._step, detached=detached)
        run.absent.discard(self.run_id)  # from now on it may exist, also if this attempt is stopped
        await start(run.state.facts, parse(RUN, self.run_id), replace(request, family=family), recursion)
        run.present.add(self.run_id)


def starting_event(run: OwnedRun, index: int, new_id: NewId) -> events.AttemptStarting:
    """Build the event of an attempt whose start is journalled, with ids for the runs that it may start."""
    each, step = run.prepared.graph.steps[index].each, run.prepared.steps[index]
    if each is not None:
        return events.AttemptStarting(index, pages=tuple(show(RUN, new_id()) for _ in range(pages_open(each))))
    return events.AttemptStarting(index, show(RUN, new_id()) if step.is_child else None)


async def existing_children(children: Children, run: OwnedRun, names: Sequence[str]) -> set[str]:
    """Return which of these children of steps exist. The store is asked only if this ownership cannot know it."""
    if not (run.present | run.absent).issuperset(names):
        unknown = {child.id for child in run.state.child_of.values()}.union(names) - run.present - run.absent
        asked = {parse(RUN, name): name for name in unknown}
        there = {asked[id_] for id_ in await children.existing(tuple(asked))}
        run.present |= there
        run.absent |= unknown - there - run.present
    return run.present.intersection(names)
