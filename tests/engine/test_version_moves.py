"""The engine moves runs in flight to another version: when nothing is in flight, once, and never half."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from detent.graph import codec
from detent.graph.model import Edge, Graph, Step, StepKind
from detent.ids import RUN, new_id, show
from detent.run.journal import decode_data
from detent.steps.child_step import ChildExecutor
from detent.store.rows import MessageKind
from tests.callers import commands_of
from tests.engine.commands import save
from tests.engine.rig import TENANT, Rig, _compiled, failed, rig, virtual


async def save_version(world: Rig, run: bytes, steps: Mapping[str, Any]) -> int:
    """Give the workflow of a run another version. Return its number."""
    return await save_graph(world, run, _compiled(steps, {}))


async def save_graph(world: Rig, run: bytes, made: Graph) -> int:
    row = await world.row(run)
    saved = world.store.saved[row.workflow]
    graph = codec.encode(made)
    version = saved.new._replace(graph=graph, checksum=f"c{len(saved.versions)}", source=f"s{len(saved.versions)}")
    result = await world.store.save_workflow(version, replace=True)
    return result.version  # type: ignore[union-attr]


async def send_move(world: Rig, run: bytes, version: int, names: Mapping[str, str] | None = None) -> None:
    row = await world.row(run)
    wish = {"workflow": row.workflow.hex(), "version": version, "code": ["detent/2"], "names": dict(names or {})}
    assert await world.store.send(TENANT, run, MessageKind.MOVE, json.dumps({**wish, "by": "ann"}).encode())


def moves(world: Rig, run: bytes) -> list[tuple[str | None, str]]:
    """The outcome of each move in the journal, and its words."""
    found = []
    for _, entry in sorted(world.store.entries.get(run, {}).items()):
        if entry.kind == "moved":
            error = decode_data(entry.data).error
            found.append((entry.outcome, "" if error is None else error.message))
    return found


@virtual
async def test_a_sleeping_run_goes_on_in_the_new_version() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"a": {}, "nap": {"needs": ["a"], "sleep": "2m"}})
        await world.until(lambda: world.store.table[run].owner is None)
        version = await save_version(
            world, run, {"a": {}, "nap": {"needs": ["a"], "sleep": "20m"}, "b": {"needs": ["nap"]}}
        )
        await send_move(world, run, version)
        await world.until(lambda: moves(world, run) == [(None, "")])
        row = await world.row(run)
        assert (row.version, row.code) == (2, '["detent/2"]')
        assert world.store.inbox == {}
        took = await world.until(lambda: world.store.table[run].status == "completed", 300)
        assert took < 130, "the sleep was not begun again"
        assert [call.step for call in world.hands.calls] == ["a", "b"]


@virtual
async def test_an_attempt_in_flight_goes_on_and_its_outcome_counts_in_the_new_version() -> None:
    async with rig() as world:
        await world.engine()
        gate = world.hands.hold("slow")
        run = await world.start({"slow": {}, "beside": {}})
        await world.until(lambda: len(world.hands.calls) == 2)
        steps = {"new": {}, "beside": {}, "other": {}, "after": {"needs": ["other"]}}
        await send_move(world, run, await save_version(world, run, steps), {"slow": "other"})
        await world.until(lambda: moves(world, run) == [(None, "")])
        await world.until(lambda: len(world.hands.calls) == 3)
        gate.set()
        assert await world.ended(run) == "completed"
        assert [call.step for call in world.hands.calls] == ["slow", "beside", "new", "after"]
        assert world.kinds(run)[-2:] == [("ended", "other"), ("ended", "after")]


@virtual
async def test_the_pages_of_a_moved_run_have_its_new_version() -> None:
    async with rig() as world:
        commands_of(await world.engine())
        gate = world.hands.hold("slow")
        run = await world.start({"slow": {}})
        await world.until(lambda: len(world.hands.calls) == 1)
        steps = {"slow": {}, "all": {"needs": ["slow"], "for_each": [1, 2], "url": "https://shop.example/{{ item }}"}}
        await send_move(world, run, await save_version(world, run, steps))
        await world.until(lambda: moves(world, run) == [(None, "")])
        gate.set()
        assert await world.ended(run) == "completed"
        assert [row.new.version for row in world.store.table.values() if row.new.parent == run] == [2]


@virtual
async def test_mail_behind_a_move_is_read_when_the_move_is_durable() -> None:
    """The end of a child means nothing until the message before it says that it continues the child before."""
    async with rig() as world:
        world.executors[StepKind.SUBWORKFLOW] = ChildExecutor()
        commands_of(await world.engine())
        await save(world, "kid", {"w": {"wait_for_webhook": {}}})
        child_step = Step("child", StepKind.SUBWORKFLOW, {"workflow": "kid", "input": {}})
        run = await world.start(Graph((child_step,)))
        await world.until(lambda: world.store.table[run].owner is None)
        child = next(show(RUN, row.new.id) for row in world.store.table.values() if row.new.parent == run)
        later, after = show(RUN, new_id()), Step("after", StepKind.ACTION, {"action": "core.echo"})
        await send_move(world, run, await save_graph(world, run, Graph((child_step, after), (Edge("child", "after"),))))
        for said in (
            {"child": child, "status": "running", "continued_as": later},
            {"child": later, "status": "completed"},
        ):
            assert await world.store.send(TENANT, run, MessageKind.CHILD, json.dumps(said).encode())
        assert await world.ended(run) == "completed"
        assert moves(world, run) == [(None, "")]
        assert [call.step for call in world.hands.calls] == ["after"]


@virtual
async def test_an_attempt_that_ends_while_the_move_is_written_counts_after_it() -> None:
    async with rig() as world:
        engine = await world.engine()
        gate = world.hands.hold("slow")
        run = await world.start({"slow": {}})
        await world.until(lambda: len(world.hands.calls) == 1)
        version = await save_version(world, run, {"slow": {}})
        world.lines[engine].delay = 0.2
        await send_move(world, run, version)
        await world.until(lambda: bool(engine.node.runner.owned[run].unsettled is not None))
        gate.set()
        assert await world.ended(run) == "completed"
        assert (await world.row(run)).version == version
        assert world.kinds(run) == [("moved", None), ("ended", "slow")]


@virtual
async def test_a_node_without_the_code_of_the_version_lets_its_attempts_end_and_releases_the_run() -> None:
    async with rig() as world:
        await world.engine()
        gate, quick = world.hands.hold("slow"), world.hands.hold("quick")
        run = await world.start({"slow": {}, "quick": {}, "next": {"needs": ["quick"]}})
        await world.until(lambda: len(world.hands.calls) == 2)
        version = await save_version(world, run, {"slow": {}, "quick": {}, "next": {"needs": ["quick"]}, "new": {}})
        row = await world.row(run)
        wish = {"workflow": row.workflow.hex(), "version": version, "code": ["detent/2", "ours"], "by": "ann"}
        await world.store.send(TENANT, run, MessageKind.MOVE, json.dumps(wish).encode())
        await asyncio.sleep(1)
        quick.set()
        await asyncio.sleep(1)
        assert [call.step for call in world.hands.calls] == ["slow", "quick"], "nothing new begins"
        gate.set()
        await world.until(lambda: moves(world, run) == [(None, "")])
        await asyncio.sleep(1)
        row = await world.row(run)
        assert (row.owner, row.version, row.code) == (None, version, '["detent/2","ours"]')
        assert row.wake_at is not None


@virtual
async def test_a_refusal_is_journalled_and_the_run_goes_on() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"a": {}, "nap": {"needs": ["a"], "sleep": "1m"}})
        await world.until(lambda: ("ended", "a") in world.kinds(run))
        version = await save_version(world, run, {"a": {}})
        await send_move(world, run, version)
        await world.until(lambda: len(moves(world, run)) == 1)
        assert moves(world, run) == [("refused", "'nap' is sleeping, and version 2 has no step of that name")]
        await send_move(world, run, 7)
        await world.until(lambda: len(moves(world, run)) == 2)
        assert moves(world, run)[1] == ("refused", "there is no version 7 of its workflow")
        assert [facts["version"] for facts in world.told("run.move_refused")] == [2, 7]
        assert world.store.inbox == {}
        assert await world.ended(run, 70) == "completed"
        assert (await world.row(run)).version == 1


@virtual
async def test_a_retry_keeps_its_count_and_its_time() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.scripts["a"] = lambda call: failed(retry=True)
        retries = {"retries": {"attempts": 2, "delay": 20, "jitter": False}}
        run = await world.start({"a": retries})
        await world.until(lambda: ("retry", "a") in world.kinds(run))
        await send_move(world, run, await save_version(world, run, {"a": retries, "b": {"needs": ["a"]}}))
        await world.until(lambda: moves(world, run) == [(None, "")])
        assert await world.ended(run, 100) == "failed"
        assert world.hands.attempts("a") == [1, 2, 3]


@virtual
async def test_callbacks_of_new_waits_are_there_and_those_of_gone_waits_are_closed() -> None:
    async with rig() as world:
        await world.engine()
        wait = {"wait_for_webhook": {"timeout": "2h"}}
        run = await world.start({"nap": {"sleep": "1m"}, "old": {"needs": ["nap"], **wait}, "ask": wait})
        await world.until(lambda: world.store.table[run].owner is None)
        steps = {"nap": {"sleep": "1m"}, "new": {"needs": ["nap"], **wait}, "ask": wait, "now": wait}
        await send_move(world, run, await save_version(world, run, steps))
        await world.until(lambda: moves(world, run) == [(None, "")])
        states = {row.step: row.state for row in await world.store.callbacks(1, run)}
        assert states == {"old": "expired", "new": "pending", "ask": "active", "now": "active"}
        for step in ("ask", "now"):
            assert await world.call_back(run, step) == "accepted"
        await asyncio.sleep(70)
        assert await world.call_back(run, "new") == "accepted"
        assert await world.ended(run) == "completed"


@virtual
async def test_a_move_survives_the_death_of_its_node() -> None:
    async with rig() as world:
        first = await world.engine()
        gate = world.hands.hold("slow")
        run = await world.start({"slow": {}})
        await world.until(lambda: len(world.hands.calls) == 1)
        await send_move(world, run, await save_version(world, run, {"slow": {}, "next": {"needs": ["slow"]}}))
        await asyncio.sleep(0.5)
        world.crash(first)
        gate.set()
        await world.engine()
        assert await world.ended(run) == "completed"
        assert moves(world, run) == [(None, "")]
        assert [call.step for call in world.hands.calls][-1] == "next"


@virtual
async def test_a_move_whose_reply_is_lost_happens_once() -> None:
    async with rig() as world:
        engine = await world.engine()
        run = await world.start({"nap": {"sleep": "1m"}})
        await world.until(lambda: world.store.table[run].owner is None)
        version = await save_version(world, run, {"nap": {"sleep": "1m"}, "b": {"needs": ["nap"]}})
        world.lines[engine].break_next("flush", "applied")
        await send_move(world, run, version)
        assert await world.ended(run, 100) == "completed"
        assert moves(world, run) == [(None, "")]
        assert [call.step for call in world.hands.calls] == ["b"]


@virtual
async def test_a_moved_run_is_moved_back_and_adopted() -> None:
    async with rig() as world:
        first = await world.engine()
        one, two = {"nap": {"sleep": "1m"}}, {"nap": {"sleep": "1m"}, "b": {"needs": ["nap"]}}
        run = await world.start(one)
        await world.until(lambda: world.store.table[run].owner is None)
        version = await save_version(world, run, two)
        for number in (version, 1, version):
            await send_move(world, run, number)
            await world.until(lambda number=number: world.store.table[run].new.version == number)  # type: ignore[misc]
        world.crash(first)
        await world.engine()
        assert await world.ended(run, 100) == "completed"
        assert [call.step for call in world.hands.calls] == ["b"]
        assert len(moves(world, run)) == 3
