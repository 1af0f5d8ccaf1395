"""Steps with a queue of their own are carried out by nodes that serve it, and by no other."""

from __future__ import annotations

from typing import Any

import pytest

from detent.commands import Commands, StartAnswer
from detent.graph import codec
from detent.graph.model import Edge, Graph, OnCrash, Retry, Step, StepKind
from detent.run.outcomes import Move
from tests.callers import commands_of
from tests.engine.commands import run_id, save, start
from tests.engine.rig import Rig, done, failed, rig, virtual

ACTION = StepKind.ACTION


async def two_nodes(world: Rig) -> None:
    """One for the front, one for the mail."""
    await world.engine(queues=("default",))
    await world.engine(queues=("mail",))


def who(world: Rig, run: bytes) -> tuple[str, int]:
    new = world.store.table[run].new
    return new.queue, new.priority


@virtual
async def test_a_run_goes_from_queue_to_queue_with_its_steps() -> None:
    async with rig() as world:
        await two_nodes(world)
        steps = (
            Step("a", ACTION, queue="default"),
            Step("send", ACTION, queue="mail", priority=9),
            Step("b", ACTION, queue="default", priority=0),
        )
        run = await world.start(Graph(steps, (Edge("a", "send"), Edge("send", "b"))))
        assert await world.ended(run) == "completed"
        assert [call.step for call in world.hands.calls] == ["a", "send", "b"]
        assert world.kinds(run) == [("ended", "a"), ("ended", "send"), ("ended", "b")]


@virtual
async def test_a_step_that_nobody_serves_is_not_begun_and_its_run_waits_in_its_queue() -> None:
    async with rig() as world:
        engine = await world.engine(queues=("default",))
        run = await world.start(Graph((Step("send", ACTION, queue="mail", priority=9),)))
        await world.until(lambda: world.store.table[run].owner is None, 2)
        assert (who(world, run), world.hands.calls) == (("mail", 9), [])
        assert not world.held_by(engine, run)
        await world.engine(queues=("mail",))
        assert await world.ended(run) == "completed"


@virtual
async def test_a_run_that_parks_before_a_delayed_step_parks_in_that_steps_queue() -> None:
    async with rig() as world:
        await two_nodes(world)
        steps = (Step("a", ACTION), Step("remind", ACTION, delay=60.0, queue="mail", priority=3))
        run = await world.start(Graph(steps, (Edge("a", "remind"),)))
        await world.until(lambda: world.store.table[run].owner is None, 2)
        assert who(world, run) == ("mail", 3)
        assert await world.ended(run, 100) == "completed"
        assert world.store.table[run].generation == 2, "nobody but the node of its queue looked at it"


@virtual
async def test_a_retry_waits_in_the_queue_of_its_step() -> None:
    async with rig() as world:
        await two_nodes(world)
        attempts = iter((failed(), None))
        world.hands.scripts["send"] = lambda call: next(attempts) or world.hands.scripts["other"](call)
        world.hands.scripts["other"] = lambda call: failed(retry=False)
        run = await world.start(
            Graph((Step("send", ACTION, queue="mail", retry=Retry(attempts=2, delay=30.0, jitter=False)),))
        )
        await world.until(lambda: world.kinds(run) == [("retry", "send")], 5)
        await world.until(lambda: world.store.table[run].owner is None, 2)
        assert who(world, run)[0] == "mail"
        assert await world.ended(run, 200) == "failed"


@virtual
async def test_branches_here_go_on_before_the_run_leaves_for_another_queue() -> None:
    async with rig() as world:
        await two_nodes(world)
        gate = world.hands.hold("slow")
        steps = (Step("slow", ACTION), Step("send", ACTION, queue="mail"), Step("after", ACTION, queue="default"))
        run = await world.start(Graph(steps, (Edge("slow", "after"), Edge("send", "after"))))
        await world.until(lambda: world.hands.attempts("slow") == [1], 2)
        assert world.hands.attempts("send") == []
        gate.set()
        assert await world.ended(run) == "completed"
        assert world.hands.attempts("send") == [1]
        assert world.hands.attempts("after") == [1]


@virtual
async def test_a_node_that_serves_every_queue_keeps_the_run() -> None:
    async with rig() as world:
        await world.engine()
        steps = (Step("a", ACTION), Step("send", ACTION, queue="mail"), Step("b", ACTION, queue="other"))
        run = await world.start(Graph(steps, (Edge("a", "send"), Edge("send", "b"))))
        assert await world.ended(run) == "completed"
        assert world.store.table[run].generation == 1


async def _moved_in_the_mail(world: Rig, **given: Any) -> bytes:
    """A run of the queue `front` with priority 4 that was at a step of the mail when its code changed."""
    after = (Step("a", ACTION), Step("send", ACTION), Step("remind", ACTION, delay=60.0, **given))
    graph = codec.encode(Graph(after, (Edge("a", "send"), Edge("send", "remind"))))
    engines = [await world.engine(queues=(queue,)) for queue in ("front", "mail")]
    outcomes = iter((Move(graph), done()))
    world.hands.scripts["send"] = lambda call: next(outcomes)
    await _save_mailing(world, queue="front", priority=4)
    run = (await start(engines[0], "w")).run
    await world.until(lambda: world.hands.attempts("send") == [1, 1], 5)
    await world.until(lambda: world.store.table[run].owner is None, 2)
    return run


@virtual
async def test_a_run_moved_to_a_graph_without_queues_goes_back_to_the_one_it_was_started_in() -> None:
    async with rig() as world:
        run = await _moved_in_the_mail(world)
        assert who(world, run) == ("front", 4)
        assert await world.ended(run, 100) == "completed"


@virtual
async def test_a_run_moved_to_a_step_with_a_queue_of_its_own_waits_there() -> None:
    async with rig() as world:
        run = await _moved_in_the_mail(world, queue="mail", priority=1)
        assert who(world, run) == ("mail", 1)


@virtual
async def test_a_dangerous_step_of_another_queue_is_put_on_record_where_it_is_carried_out() -> None:
    async with rig() as world:
        await two_nodes(world)
        steps = (Step("a", ACTION), Step("send", ACTION, queue="mail", on_crash=OnCrash.ASK))
        run = await world.start(Graph(steps, (Edge("a", "send"),)))
        assert await world.ended(run) == "completed"
        assert world.kinds(run) == [("ended", "a"), ("started", "send"), ("ended", "send")]


@virtual
async def test_a_run_is_adopted_by_a_node_of_its_queue_after_its_own_died_there() -> None:
    async with rig() as world:
        await world.engine(queues=("default",))
        lost = await world.engine(queues=("mail",))
        world.hands.hold("send")
        run = await world.start(Graph((Step("send", ACTION, queue="mail"),)))
        await world.until(lambda: world.hands.attempts("send") == [1], 5)
        world.crash(lost)
        del world.hands.scripts["send"]
        await world.engine(queues=("mail",))
        assert await world.ended(run, 30) == "completed"
        assert world.hands.attempts("send") == [1, 2]


async def _failed_in_the_mail(world: Rig, **options: Any) -> str:
    """A run of a workflow of the queue `front` with priority 4, which failed at a step of its own queue and priority.
    The nodes that ran it are gone."""
    engines = [await world.engine(queues=(queue,)) for queue in ("front", "mail")]
    await _save_mailing(world, queue="front", priority=4)
    world.hands.scripts["send"] = lambda call: failed(retry=False)
    first = await start(engines[0], "w", **options)
    assert await world.ended(first.run) == "failed"
    assert who(world, first.run) == ("mail", 9)
    for engine in engines:
        world.crash(engine)
    return run_id(first)


async def _save_mailing(world: Rig, **given: Any) -> None:
    send = {"needs": ["a"], "action": "core.echo", "retries": 0, "queue": "mail", "priority": 9}
    await save(world, "w", {"a": {}, "send": send}, **given)


async def _begin_again(commands: Commands, again: str, run: str) -> StartAnswer:
    if again == "fork":
        return await commands.reruns.fork(run, "send")
    return await (commands.reruns.retry(run) if again == "retry" else commands.reruns.rerun(run))


@pytest.mark.parametrize(("options", "priority"), [({}, 4), ({"priority": 7}, 7), ({"priority": 0}, 0)])
@pytest.mark.parametrize("again", ["retry", "rerun", "fork"])
@virtual
async def test_a_run_begins_again_in_the_queue_and_with_the_priority_it_was_started_with(
    again: str, options: dict[str, int], priority: int
) -> None:
    async with rig() as world:
        first = await _failed_in_the_mail(world, **options)
        commands = commands_of(await world.engine(claims=False))
        second = await _begin_again(commands, again, first)
        assert who(world, second.run) == ("front", priority)
        third = await commands.reruns.rerun(run_id(second))
        assert who(world, third.run) == ("front", priority)


@pytest.mark.parametrize(
    ("again", "options", "place"),
    [("retry", {}, ("front", 4)), ("fork", {}, ("front", 4)), ("rerun", {}, ("back", 6)),
     ("retry", {"priority": 4}, ("front", 4)), ("rerun", {"priority": 4}, ("back", 4))],
)  # fmt: skip
@virtual
async def test_a_rerun_takes_queue_and_priority_of_the_current_version_unless_a_priority_was_asked_for(
    again: str, options: dict[str, int], place: tuple[str, int]
) -> None:
    async with rig() as world:
        first = await _failed_in_the_mail(world, **options)
        await _save_mailing(world, queue="back", priority=6)
        commands = commands_of(await world.engine(claims=False))
        second = await _begin_again(commands, again, first)
        assert who(world, second.run) == place


@virtual
async def test_a_run_of_the_default_queue_begins_again_there() -> None:
    async with rig() as world:
        await two_nodes(world)
        await _save_mailing(world)
        world.hands.scripts["send"] = lambda call: failed(retry=False)
        first = await start(world.engines[0], "w")
        assert await world.ended(first.run) == "failed"
        for engine in list(world.engines):
            world.crash(engine)
        second = await commands_of(await world.engine(claims=False)).reruns.retry(run_id(first))
        assert who(world, second.run) == ("default", 0)
