"""After the last fault: everything that does not wait for somebody outside comes to its end, and so does the rest."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Final

import msgspec

from detent.graph.model import StepKind
from detent.instant import SECOND
from detent.planner.suspects import UNCERTAIN
from detent.run.state import Phase
from detent.store.rows import MessageKind
from tests.sim.node import SimNode
from tests.sim.store import finished
from tests.sim.story import RUNNABLE, Story, Violation

if TYPE_CHECKING:
    from tests.sim.world import World

#: Virtual seconds until everything that was begun has ended.
PATIENCE = 35.0
#: For so many times its patience a run may wait while others go on: with one slot they go on one after the other.
_TURNS: Final = 10


async def settle(world: World) -> None:
    """Wait for the runs to end; then help those that wait for us, until none is left."""
    seen: dict[bytes, tuple[object, float]] = {}
    written, quiet_since = 0, world.loop.time()
    while True:
        await asyncio.sleep(2.0)
        count = sum(len(story.entries) for story in world.checks.stories.values())
        if count != written:
            written, quiet_since = count, world.loop.time()
        stories = [story for story in world.checks.stories.values() if _is_open(world, story)]
        if not stories and not world.clients.asking and world.schedules.is_idle():
            break
        if not stories and world.loop.time() > world.swarm.chaos + 40 * PATIENCE:
            raise Violation("firings are left open")
        for story in stories:
            if _waits_for_us(world, story):
                _help(world, story)
            _complain_if_stuck(world, story, seen, quiet_since)
        _complain_if_unanswered(world)
    _check_all(world)
    world.schedules.check_all()
    await _nothing_is_left(world)


def _is_open(world: World, story: Story) -> bool:
    return world.database.model.table[story.row.id].is_open()


def _has_mail(world: World, story: Story) -> bool:
    return any(mail.run == story.row.id for mail in world.database.model.inbox.values())


def _waits_for_us(world: World, story: Story) -> bool:
    if _has_mail(world, story):
        return False
    state = story.state()
    if state.paused_by is not None:
        return True
    if world.awaits_child(story) and Phase.WAITING not in state.phase:
        return False
    if state.opens_at is not None:
        return False
    timed = (Phase.SLEEPING, *RUNNABLE)
    if any(phase in timed for phase in state.phase):
        return False
    waiting = [index for index, phase in enumerate(state.phase) if phase is Phase.WAITING]
    return all(state.until.get(index) is None for index in waiting)


def _help(world: World, story: Story) -> None:
    state, model = story.state(), world.database.model
    if state.paused_by is not None:
        if state.paused_by == UNCERTAIN and Phase.UNCERTAIN not in state.phase:
            raise Violation("a run stands still though nothing of it is uncertain any more")
        doubts = [step.name for step in story.prepared.steps if state.phase[step.index] is Phase.UNCERTAIN]
        error = None if state.paused_step is None else state.errors.get(state.paused_step)
        at = state.paused_step
        step = None if at is None else story.prepared.steps[at]
        is_child = step is not None and (step.kind is StepKind.SUBWORKFLOW or step.items is not None)
        if is_child or (error is not None and error.code in ("poison", "crashed", "did_not_happen")):
            world.note(
                "a step that kills or fails again and again is skipped"
            )  # to resume the run would go on for ever
            finished(model.send(story.row.tenant, story.row.id, MessageKind.SKIP, b'{"by":"healing"}'))
        elif doubts and world.rng.random() < 0.5:
            world.note(f"{doubts[0]} is resolved")
            said = {"step": doubts[0], "happened": world.rng.random() < 0.5, "by": "healing"}
            finished(model.send(story.row.tenant, story.row.id, MessageKind.RESOLVE, msgspec.json.encode(said)))
        else:
            world.note("a paused run is resumed")
            finished(model.send(story.row.tenant, story.row.id, MessageKind.RESUME, b'{"by":"healing"}'))
    for index, phase in enumerate(state.phase):
        if phase is Phase.WAITING:
            name = story.prepared.steps[index].name
            if name in story.accepted:
                raise Violation(f"the callback of {name} was accepted and is lost")
            data = msgspec.json.encode({"body": {"n": 1, "id": "help"}, "headers": {}})
            world.note(f"{name} is called back")
            world.database.watcher("deliver", (story.row.id, name), {"data": data, "message_id": None})


def _complain_if_stuck(world: World, story: Story, seen: dict[bytes, tuple[object, float]], quiet_since: float) -> None:
    """A run may only stand still until its next time comes."""
    now = world.loop.time()
    if world.awaits_child(story):
        seen.pop(story.row.id, None)
        return
    row, state = world.database.model.table[story.row.id], story.state()
    news = (len(story.entries), len(story.accepted), row.status)
    wakes = [until for step, until in state.until.items() if until is not None and state.phase[step] is not Phase.ENDED]
    wake = max([*wakes, state.opens_at or 0], default=0)
    # Steps that kill their nodes keep all others waiting until each was found out.
    patience = world.patience * (8 if world.has_killers else 1) + max(0.0, (wake - world.clock.wall()) / SECOND)
    known = seen.get(story.row.id)
    if known is None or known[0] != news:
        seen[story.row.id] = (news, now + patience)
    elif now > known[1] and (now > quiet_since + world.patience or now > known[1] + _TURNS * world.patience):
        phases = {story.prepared.steps[index].name: phase.name for index, phase in enumerate(state.phase)}
        mail = _has_mail(world, story)
        owner = "nobody" if row.owner is None else row.owner.hex()[-4:]
        where = f"owner {owner}, {row.status}, wake_at {row.wake_at}, mail {mail}"
        raise Violation(f"run {story.row.id.hex()[-4:]} is stuck: {phases}, {where}")


def _complain_if_unanswered(world: World) -> None:
    if world.loop.time() < world.swarm.chaos + PATIENCE:
        return
    for process in world.clients.asking.values():
        if not process.is_dead:
            raise Violation("a start was never answered")
    world.clients.asking.clear()


def _check_all(world: World) -> None:
    model = world.database.model
    for run in world.clients.acknowledged:
        if run not in world.checks.stories:
            raise Violation("an acknowledged run is not there")
    for story in world.checks.stories.values():
        labels = json.loads(model.table[story.row.id].new.labels or "{}")
        if labels.get("asked") in world.clients.refused:
            raise Violation("a start was answered as not made, and its run is there")
        for step, payload in story.accepted.items():
            ending = story.closed.get(step)
            if ending == "timeout":
                raise Violation(f"{step} timed out though its callback was accepted")
            if ending == "success" and payload not in (
                story.early.get(step),
                story.results.get(step),
            ):
                raise Violation(f"{step} did not get the payload that was accepted")
    world.drop_late_mail()
    if model.inbox:
        raise Violation(f"mail was left behind: {list(model.inbox.values())[:3]}")


async def _nothing_is_left(world: World) -> None:
    """When all runs have ended, a node soon holds nothing, and every slot is free."""
    for sim in world.nodes:
        left = _left(sim)
        until = world.loop.time() + PATIENCE
        while left and world.loop.time() < until:
            await asyncio.sleep(1.0)
            left = _left(sim)
        if left:
            raise Violation(f"all runs have ended, and {sim.process} still has {left}")


def _left(sim: SimNode) -> dict[str, int]:
    node = sim.engine._node if sim.is_alive else None
    if node is None:
        return {}
    runner = node.runner
    left = {
        "runs": len(runner.owned),
        "attempts": runner.busy,
        "waiting attempts": len(runner._attempts._waiting),
        "writes": 0 if node.committer.is_idle() else 1,
        "leaving runs": len(runner.releases),
        "resting runs": runner._resting,
    }
    return {name: count for name, count in left.items() if count}
