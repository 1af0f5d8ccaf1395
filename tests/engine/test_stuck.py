"""What doctor says of runs that nobody moves on, and the command it gives for each."""

from __future__ import annotations

import asyncio

from detent.auth.caller import local_caller
from detent.graph.model import Graph, Step, StepKind
from detent.ids import RUN, show
from detent.run.outcomes import Pause
from detent.views.stuck import stuck_runs
from tests.engine.rig import Rig, rig, virtual

DAY = 86400.0


async def said(world: Rig) -> list[str]:
    return [finding.message for finding in await stuck_runs(world.store, local_caller("test").tenant)]


async def pass_time(world: Rig, seconds: float) -> None:
    """The database's clock goes on; nodes that are late for it register anew."""
    world.clock.skew += seconds
    await asyncio.sleep(3)


@virtual
async def test_where_all_is_well_it_says_so() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"nap": {"sleep": "60s"}})
        await world.until(lambda: world.store.table[run].owner is None, 2)
        assert await said(world) == ["none is stuck"]


@virtual
async def test_runs_of_a_queue_that_nobody_serves_are_told_after_an_hour() -> None:
    async with rig() as world:
        engine = await world.engine(queues=("default",))
        for _ in range(2):
            await world.start(Graph((Step("send", StepKind.ACTION, queue="mail"),)))
        await pass_time(world, 3000)
        assert await said(world) == ["none is stuck"]
        await pass_time(world, 700)
        cause = "no node serves the queue 'mail'; start one with `detent worker --queues mail`"
        assert await said(world) == [f"2 runs have been due for more than 1 h: {cause}"]
        await engine.stop()
        world.engines.clear()
        assert (await said(world))[0].endswith("no node is at work; start one with `detent serve`")


@virtual
async def test_runs_whose_code_no_node_has_are_told_with_what_is_missing() -> None:
    async with rig() as world:
        await world.engine(queues=("other",))
        await world.engine()
        run = await world.start({"nap": {"sleep": "60s"}})
        stored = world.store.table[run]
        await world.until(lambda: stored.owner is None, 2)
        stored.new = stored.new._replace(code='["workflow:Signup"]')
        await pass_time(world, 3700)
        cause = "no node of queue 'default' has workflow:Signup; start one with `detent worker MODULE` that brings it"
        assert await said(world) == [f"1 run has been due for more than 1 h: {cause}"]


@virtual
async def test_runs_that_belong_to_a_node_that_is_gone_are_told() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.hands.hold("a")
        run = await world.start({"a": {}})
        await world.until(lambda: world.hands.attempts("a") == [1], 2)
        world.crash(engine)
        await asyncio.sleep(5)
        owner = world.store.table[run].owner
        assert owner is not None
        assert await world.store.take_over(owner)
        [message] = await said(world)
        assert message.startswith("1 run belongs to a node that is gone (queue default)")
        assert "`detent worker`" in message


@virtual
async def test_a_pause_that_was_forgotten_is_told_after_a_week_with_what_can_be_done() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.scripts["a"] = lambda call: Pause("by hand")
        run = await world.start({"a": {}})
        await world.until(lambda: world.store.table[run].status == "paused", 2)
        await pass_time(world, 6 * DAY)
        assert await said(world) == ["none is stuck"]
        await pass_time(world, 1.1 * DAY)
        [message] = await said(world)
        assert message.startswith("1 run has been paused for more than 7 days")
        assert f"`detent runs resume|skip|cancel {show(RUN, run)}`" in message
