"""Flow control on engines: by what steps say, and by what people ask for, also while attempts are in flight."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

from detent.graph import codec
from detent.graph.model import Edge, Ending, FailurePolicy, Graph, Step, StepKind
from detent.run.call import StepCall
from detent.run.journal import Entry
from detent.run.outcomes import Cancel, Finish, Move, Outcome, Pause, Reattempt, Skip, StepError
from detent.store.rows import MessageKind, Receipt
from tests.engine.rig import TENANT, Rig, done, rig, virtual

CHAIN = {"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}}


def once(*outcomes: Outcome) -> Callable[[StepCall], Outcome]:
    """Each of these, one after the other; then success."""
    left = list(outcomes)
    return lambda call: left.pop(0) if left else done()


def hanging(begun: list[int]) -> Callable[[StepCall], Coroutine[Any, Any, Outcome]]:
    """The first attempt never ends; those after it succeed."""

    async def work(call: StepCall) -> Outcome:
        begun.append(call.attempt)
        if call.attempt == 1:
            await asyncio.sleep(10_000)
        return done()

    return work


def entries(world: Rig, run: bytes) -> list[Entry]:
    return [entry for _, entry in sorted(world.store.entries.get(run, {}).items())]


async def tell(world: Rig, run: bytes, kind: MessageKind, data: bytes) -> None:
    assert await world.store.send(TENANT, run, kind, data)


def said(step: str | None = None, **more: Any) -> bytes:
    return json.dumps({"step": step, "by": "ann", **more}).encode()


@virtual
async def test_a_step_pauses_its_run_which_leaves_memory_and_tries_it_again_when_resumed() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.hands.scripts["b"] = once(Pause("by hand", StepError("exception", "no")))
        run = await world.start({"a": {}, "b": {"needs": ["a"]}})
        await world.until(lambda: world.store.table[run].status == "paused", 2)
        assert not world.held_by(engine, run)
        await world.send(run, MessageKind.RESUME)
        assert await world.ended(run) == "completed"
        assert world.hands.attempts("b") == [1, 2]


@virtual
async def test_a_step_that_finishes_its_run_stops_what_is_in_flight_beside_it() -> None:
    async with rig() as world:
        await world.engine()
        begun: list[int] = []
        world.hands.scripts["slow"] = hanging(begun)

        async def soon(call: StepCall) -> Outcome:
            await asyncio.sleep(0.1)
            return Finish(b'{"output":"early"}')

        world.hands.scripts["quick"] = soon
        run = await world.start({"slow": {}, "quick": {}, "after": {"needs": ["slow", "quick"]}})
        assert await world.ended(run) == "completed"
        assert world.store.table[run].output == b'"early"'
        assert (begun, world.hands.attempts("after")) == ([1], [])


@virtual
async def test_a_step_that_cancels_says_why_in_the_row() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.scripts["a"] = once(Cancel("enough", StepError("exception", "ValueError: no")))
        run = await world.start(CHAIN)
        assert await world.ended(run) == "cancelled"
        assert world.store.table[run].error == "a: ValueError: no"


@virtual
async def test_a_person_skips_an_attempt_that_hangs_and_the_next_step_begins() -> None:
    async with rig() as world:
        await world.engine()
        begun: list[int] = []
        world.hands.scripts["a"] = hanging(begun)
        run = await world.start({"a": {}, "b": {"needs": ["a"], "if": "true"}})
        await world.until(lambda: bool(begun), 2)
        await tell(world, run, MessageKind.SKIP, said("a"))
        assert await world.ended(run) == "completed"
        assert world.kinds(run) == [("ended", "a"), ("ended", "b")]
        assert entries(world, run)[0].outcome == "skipped"


@virtual
async def test_a_person_has_an_attempt_that_hangs_begun_anew() -> None:
    async with rig() as world:
        await world.engine()
        begun: list[int] = []
        world.hands.scripts["a"] = hanging(begun)
        run = await world.start({"a": {}})
        await world.until(lambda: bool(begun), 2)
        await tell(world, run, MessageKind.REATTEMPT, said("a", wait=3.0))
        at = world.clock.monotonic()
        assert await world.ended(run) == "completed"
        assert 3.0 <= world.clock.monotonic() - at < 3.5
        assert begun == [1, 2]


@virtual
async def test_an_attempt_that_waits_for_a_slot_is_not_begun_once_its_step_is_skipped_or_tried_anew() -> None:
    async with rig() as world:
        await world.engine(slots=1)
        release = asyncio.Event()

        async def hold(call: StepCall) -> Outcome:
            await release.wait()
            return done()

        world.hands.scripts["first"] = hold
        run = await world.start({"first": {}, "skipped": {}, "again": {}})
        await world.until(lambda: world.hands.attempts("first") == [1], 2)
        await tell(world, run, MessageKind.SKIP, said("skipped"))
        await tell(world, run, MessageKind.REATTEMPT, said("again"))
        await world.until(lambda: len(entries(world, run)) == 2, 2)
        release.set()
        assert await world.ended(run) == "completed"
        assert world.hands.attempts("skipped") == []
        assert world.hands.attempts("again") == [2]


@virtual
async def test_a_person_finishes_a_run_that_waits() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"a": {}, "w": {"needs": ["a"], "wait_for_webhook": {}}, "b": {"needs": ["w"]}})
        await world.until(lambda: len(entries(world, run)) == 1, 2)
        await world.send(run, MessageKind.FINISH)
        assert await world.ended(run) == "completed"
        assert (world.store.table[run].output, world.hands.attempts("b")) == (b"1", [])


@virtual
async def test_a_callback_of_a_skipped_wait_is_expired() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"w": {"wait_for_webhook": {}}, "nap": {"sleep": "60s"}})
        await tell(world, run, MessageKind.SKIP, said("w"))
        await world.until(lambda: len(entries(world, run)) == 1, 3)
        await asyncio.sleep(0.1)
        assert await world.call_back(run, "w") is Receipt.EXPIRED
        assert await world.ended(run, 90) == "completed"


@virtual
async def test_messages_that_mean_nothing_are_taken_out_of_the_inbox() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"nap": {"sleep": "5s"}})
        for data in (b"no json", said("nobody"), said("nap", wait="soon")):
            await tell(world, run, MessageKind.REATTEMPT, data)
        await tell(world, run, MessageKind.REATTEMPT, said("nap"))
        await world.until(lambda: not world.store.inbox, 3)
        assert await world.ended(run) == "completed"
        assert world.kinds(run) == [("ended", "nap")]


def _chain(*names: str) -> Graph:
    edges = tuple(Edge(one, other, frozenset({Ending.SUCCESS, Ending.SKIPPED})) for one, other in pairwise(names))
    return Graph(tuple(Step(name, StepKind.ACTION) for name in names), edges, on_failure=FailurePolicy.PAUSE)


@virtual
async def test_a_moved_run_goes_on_by_its_new_graph_on_this_node_and_on_the_next() -> None:
    async with rig() as world:
        first = await world.engine()
        new = _chain("x", "a", "b", "y", "c")
        world.hands.scripts["b"] = once(Move(codec.encode(new)), Reattempt(2.0))
        run = await world.start(_chain("a", "b", "c"))
        await world.until(lambda: len(entries(world, run)) == 3, 2)
        world.crash(first)
        await world.engine()
        assert await world.ended(run) == "completed"
        assert [call.step for call in world.hands.calls] == ["a", "b", "b", "b", "y", "c"]
        assert world.hands.attempts("b") == [1, 1, 2]


@virtual
async def test_skips_and_reattempts_of_a_step_are_as_durable_as_everything_else() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.scripts["a"] = once(Reattempt(1.0), Reattempt(1.0, StepError("exception", "no")))
        world.hands.scripts["b"] = once(Skip(StepError("exception", "no")))
        run = await world.start({"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"], "if": "true"}})
        assert await world.ended(run) == "completed"
        assert world.kinds(run) == [("retry", "a"), ("retry", "a"), ("ended", "a"), ("ended", "b"), ("ended", "c")]
