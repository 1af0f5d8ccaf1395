"""A callback that was accepted is consumed, and one that cannot be consumed is refused, whatever ends the wait."""

from __future__ import annotations

import asyncio

import pytest

from detent.graph.model import Edge, FailurePolicy, Graph, Step, StepKind
from detent.store.rows import MessageKind, Receipt
from tests.engine.rig import TENANT, failed, rig, virtual

WAIT = {"w": {"wait_for_webhook": {"timeout": "1h"}}}


@virtual
async def test_a_wait_that_was_skipped_refuses_its_callback_while_the_run_is_open() -> None:
    async with rig() as world:
        await world.engine()
        steps = {
            "a": {},
            "w": {"needs": ["a"], "if": "false", **WAIT["w"]},
            "b": {"needs": ["w"]},
            "nap": {"sleep": "1h"},
        }
        run = await world.start(steps)
        await world.until(lambda: ("ended", "a") in world.kinds(run))
        assert await world.call_back(run, "w") is Receipt.EXPIRED
        assert (await world.row(run)).status == "running"


@virtual
async def test_a_wait_that_is_skipped_at_the_start_refuses_its_callback() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"w": {"if": "false", **WAIT["w"]}, "nap": {"sleep": "1h"}})
        assert await world.call_back(run, "w") is Receipt.EXPIRED


@virtual
@pytest.mark.parametrize(("kind", "status"), [(MessageKind.CANCEL, "cancelled"), (MessageKind.FINISH, "completed")])
async def test_a_payload_that_was_accepted_beside_a_stop_is_consumed_first(kind: MessageKind, status: str) -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({**WAIT, "nap": {"sleep": "1h"}})
        assert await world.send(run, kind)
        assert await world.call_back(run, "w", "paid") is Receipt.ACCEPTED, "it is not read yet"
        assert await world.ended(run) == status
        assert world.kinds(run) == [("ended", "w"), ("cancelled" if status == "cancelled" else "finished", None)]


@virtual
async def test_a_stop_without_a_payload_closes_the_callback_first() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start(WAIT)
        await world.send(run, MessageKind.CANCEL)
        assert await world.ended(run) == "cancelled"
        assert await world.call_back(run, "w") is Receipt.EXPIRED
        assert world.kinds(run) == [("cancelled", None)]


@virtual
async def test_a_payload_that_comes_while_the_stop_is_written_is_refused_or_consumed() -> None:
    """At every moment of a cancel: the answer and the end of the wait agree."""
    for moment in range(40):
        async with rig() as world:
            engine = await world.engine(lease=10.0)
            run = await world.start({**WAIT, "nap": {"sleep": "1h"}})
            world.lines[engine].delay = 0.1
            await world.send(run, MessageKind.CANCEL)
            await asyncio.sleep(moment * 0.02)
            receipt = await world.call_back(run, "w", "paid")
            assert await world.ended(run) == "cancelled"
            assert (("ended", "w") in world.kinds(run)) is (receipt is Receipt.ACCEPTED), moment


@virtual
async def test_a_skip_of_a_wait_whose_payload_was_accepted_comes_too_late() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({**WAIT, "after": {"needs": ["w"]}})
        await world.store.send(TENANT, run, MessageKind.SKIP, b'{"step":"w","by":"ann"}')
        assert await world.call_back(run, "w", "paid") is Receipt.ACCEPTED
        assert await world.ended(run) == "completed"
        assert world.store.entries[run][1].outcome == "success"


@virtual
async def test_a_run_whose_time_is_over_consumes_what_was_accepted() -> None:
    async with rig() as world:
        engine = await world.engine()
        run = await world.start(WAIT, max_duration="30s")
        await asyncio.sleep(29.9)
        assert not world.held_by(engine, run) or world.store.table[run].is_open()
        assert await world.call_back(run, "w", "paid") is Receipt.ACCEPTED
        assert await world.ended(run) in ("completed", "timeout")
        assert ("ended", "w") in world.kinds(run)


@virtual
async def test_a_failing_run_gives_up_a_wait_unless_its_payload_was_accepted() -> None:
    for is_answered in (False, True):
        async with rig() as world:
            await world.engine()
            gate = world.hands.hold("bad")
            world.hands.scripts["bad2"] = lambda call: failed()
            actions = (Step(name, StepKind.ACTION, {"action": "core.echo"}) for name in ("bad", "bad2"))
            steps = (*actions, Step("w", StepKind.WAIT))
            graph = Graph(steps, (Edge("bad", "bad2"),), on_failure=FailurePolicy.FAIL_FAST)
            run = await world.start(graph)
            if is_answered:
                assert await world.call_back(run, "w", "paid") is Receipt.ACCEPTED
            gate.set()
            assert await world.ended(run) == "failed"
            outcomes = {entry.step: entry.outcome for entry in world.store.entries[run].values()}
            assert outcomes["w"] == ("success" if is_answered else "skipped")
            if not is_answered:
                assert await world.call_back(run, "w") is Receipt.EXPIRED


@virtual
async def test_a_node_that_dies_between_the_closing_and_the_cancel_leaves_both_to_the_next() -> None:
    async with rig() as world:
        engine = await world.engine(lease=2.0, beat=0.5, margin=0.5)
        run = await world.start(WAIT)
        world.lines[engine].delay = 0.1
        await world.send(run, MessageKind.CANCEL)
        await world.until(lambda: world.store.waits[run, "w"].state == "expired")
        world.crash(engine)
        assert world.store.table[run].is_open()
        await world.engine()
        assert await world.ended(run) == "cancelled"
        assert ("ended", "w") not in world.kinds(run)
