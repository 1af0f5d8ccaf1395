"""Results that have left the memory of a node: what needs them reads the journal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from detent.commands.rehearsal import RehearsalRequest
from detent.commands.rerun import RetryVersion
from detent.documents.answers import as_json
from detent.engine import inbox
from detent.planner.context import SMALL
from detent.planner.prepared import Prepared
from detent.run.journal import Entry
from detent.run.state import RunState
from tests.callers import commands_of
from tests.engine.commands import run_id, save, start
from tests.engine.rig import Rig, done, rig, virtual

LARGE = "x" * (SMALL + 1)
READS_A = {"action": "core.echo", "with": {"it": "{{ tasks.a.output }}"}}
#: Nothing reads the result of `a` when `b` has ended.
FIRST: dict[str, Any] = {"a": {}, "b": {"needs": ["a"], **READS_A}, "slow": {"needs": ["b"]}}
#: Another version reads it once more.
SECOND: dict[str, Any] = {**FIRST, "late": {"needs": ["slow"], **READS_A}}


async def forgetful_run(world: Rig) -> Any:
    """Start a run that waits in memory, and whose first result has left it."""
    engine = await world.engine()
    await save(world, "w", FIRST)
    world.hands.scripts["a"] = lambda call: done(LARGE)
    world.hands.hold("slow")
    run = await start(engine, "w")
    await world.until(lambda: world.hands.now == 1)
    state = engine.node.runner.owned[run.run].state
    assert state.let_go == [0]
    assert 0 not in state.results
    return run


def read(world: Rig, step: str) -> list[Any]:
    return [call.parameters["with"]["it"] for call in world.hands.calls if call.step == step]


async def moved(world: Rig) -> str:
    """Move the run to a version that reads its first result. Return how it ended."""
    run = await forgetful_run(world)
    await save(world, "w", SECOND)
    await commands_of(world.engines[0]).moves.move(run_id(run), 2, {})
    world.hands.gates["slow"].set()
    return await world.ended(run.run)


@virtual
async def test_a_run_that_is_moved_takes_back_what_the_new_version_reads() -> None:
    async with rig() as world:
        assert await moved(world) == "completed"
        assert read(world, "late") == [LARGE]


@virtual
async def test_a_move_that_takes_nothing_back_would_lose_what_the_new_version_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forget(prepared: Prepared, state: RunState, entries: Iterable[Entry]) -> None:
        state.let_go.clear()

    monkeypatch.setattr(inbox, "restore", forget)
    async with rig() as world:
        await moved(world)
        assert read(world, "late") != [LARGE]


@virtual
async def test_what_users_ask_of_a_run_is_answered_from_its_journal() -> None:
    async with rig() as world:
        run = await forgetful_run(world)
        commands = commands_of(world.engines[0])
        assert as_json(await commands.runs.get(run_id(run)))["tasks"]["a"]["output"] == LARGE
        found = await commands.runs.evaluate(run_id(run), "tasks.a.output", is_template=False, step=None)
        assert found.value == LARGE
        more = {"action": "core.echo", "with": {"it": "{{ tasks.a.output }}", "again": "{{ tasks.a.output }}"}}
        await save(world, "w", {**FIRST, "b": {"needs": ["a"], **more}})
        [group] = (await commands.rehearsals.rehearse("w", RehearsalRequest(), version=2)).groups
        [diff] = group.found.diffs
        assert (diff.step, diff.old, group.found.failures) == ("b", None, [])
        assert (diff.new or "").startswith('"xxxx')


@virtual
async def test_a_fork_and_a_retry_take_results_over_from_the_journal() -> None:
    async with rig() as world:
        run = await forgetful_run(world)
        commands = commands_of(world.engines[0])
        fork = await commands.reruns.fork(run_id(run), "b")
        await world.until(lambda: len(read(world, "b")) == 2)
        assert read(world, "b") == [LARGE, LARGE]
        for one in (run, fork):
            await commands.control.cancel(run_id(one))
            assert await world.ended(one.run) == "cancelled"
        await save(world, "w", SECOND)
        world.hands.gates["slow"].set()
        again = await commands.reruns.retry(run_id(run), version=RetryVersion.CURRENT)
        assert await world.ended(again.run) == "completed"
        assert read(world, "late") == [LARGE]
        assert [call.step for call in world.hands.calls].count("a") == 1
