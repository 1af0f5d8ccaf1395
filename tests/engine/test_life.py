"""A run on one engine: it starts, goes on, leaves memory, comes back, and ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from detent.errors import Unavailable
from detent.forms.steps.form import compile_steps
from detent.graph.model import Graph, Step, StepKind
from detent.run.call import StepCall
from detent.run.outcomes import Outcome
from detent.store.rows import MessageKind, Receipt
from tests.engine.rig import done, failed, rig, virtual

CHAIN = {"a": {}, "b": {"needs": ["a"]}, "c": {"needs": ["b"]}}


@virtual
async def test_a_run_goes_from_its_start_to_its_end() -> None:
    async with rig() as world:
        await world.engine()
        started = await world.request(CHAIN)
        assert started.ended is not None
        await started.ended
        row = await world.row(started.id)
        assert (row.status, row.output, row.owner) == ("completed", b"1", None)
        assert world.kinds(started.id) == [("ended", "a"), ("ended", "b"), ("ended", "c")]
        assert [call.step for call in world.hands.calls] == ["a", "b", "c"]


@virtual
async def test_nothing_is_begun_before_what_it_rests_on_is_durable() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.lines[engine].delay = 0.1

        def follow(call: StepCall) -> Outcome:
            assert world.kinds(call.run_id) == [("ended", "a")]
            return done()

        world.hands.scripts["b"] = follow
        run = await world.start({"a": {}, "b": {"needs": ["a"]}})
        assert await world.ended(run) == "completed"


@virtual
async def test_a_run_with_nothing_to_do_begins_and_ends_in_one_flush() -> None:
    async with rig() as world:
        engine = await world.engine()
        started = await world.request({"a": {"if": "1 == 2"}})
        assert started.ended is not None
        await started.ended
        assert (await world.row(started.id)).status == "completed"
        assert world.lines[engine].sent.count("flush") == 1


@virtual
async def test_a_long_sleep_leaves_memory_and_wakes_at_its_time() -> None:
    async with rig() as world:
        engine = await world.engine()
        run = await world.start({"a": {}, "nap": {"needs": ["a"], "sleep": "60s"}, "b": {"needs": ["nap"]}})
        begun = world.clock.monotonic()
        await world.until(lambda: world.store.table[run].owner is None, 1)
        assert not world.held_by(engine, run)
        await world.ended(run, 70)
        assert 60.0 <= world.clock.monotonic() - begun < 60.5
        assert world.hands.attempts("b") == [1]


@virtual
async def test_a_short_sleep_stays_in_memory() -> None:
    async with rig() as world:
        engine = await world.engine()
        run = await world.start({"nap": {"sleep": "5s"}})
        await asyncio.sleep(2)
        assert world.held_by(engine, run)
        begun = world.clock.monotonic()
        await world.ended(run)
        assert 2.9 < world.clock.monotonic() - begun < 3.1
        assert (await world.row(run)).generation == 1


@virtual
async def test_a_run_that_starts_with_a_long_sleep_is_left_to_whoever_wakes_it() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"nap": {"sleep": "30s"}})
        assert (await world.row(run)).owner is None
        assert await world.ended(run) == "completed"


@virtual
async def test_no_timer_rings_early_and_none_much_too_late() -> None:
    async with rig() as world:
        await world.engine(horizon=1.0)
        lengths = {await world.start({"nap": {"sleep": seconds}}): seconds for seconds in (0.3, 1, 2.5, 9.9, 10.1, 31)}
        for run, seconds in lengths.items():
            await world.ended(run)
            row = await world.row(run)
            assert row.ended_at is not None
            took = (row.ended_at - row.started_at) / 1e6
            assert seconds <= took < seconds + 0.2


@virtual
async def test_a_retry_waits_its_time_in_memory_or_parked() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.hands.scripts["a"] = lambda call: done() if call.attempt == 3 else failed()
        retry = {"attempts": 3, "delay": "6s", "factor": 5, "jitter": False}
        run = await world.start({"a": {"action": "core.echo", "retries": retry}})
        assert world.held_by(engine, run)
        await world.until(lambda: world.store.table[run].owner is None)
        assert world.hands.attempts("a") == [1, 2]
        assert await world.ended(run) == "completed"
        assert world.hands.attempts("a") == [1, 2, 3]
        assert world.kinds(run) == [("retry", "a"), ("retry", "a"), ("ended", "a")]


@virtual
async def test_a_step_has_its_time_limit() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.hold("a")
        run = await world.start({"a": {"action": "core.echo", "timeout": "3s", "retries": 0}})
        assert await world.ended(run) == "failed"
        entry = world.store.entries[run][1]
        assert entry.outcome == "timeout"
        assert b"within 3 s" in entry.data


@virtual
async def test_every_attempt_has_a_time_limit_of_its_own() -> None:
    async def lasts(seconds: float) -> Outcome:
        await asyncio.sleep(seconds)
        return done()

    async with rig() as world:
        await world.engine()
        world.hands.scripts["a"] = lambda call: lasts(60 if call.attempt == 1 else 2)
        run = await world.start({"a": {"action": "core.echo", "timeout": "3s", "retries": 1}})
        assert await world.ended(run) == "completed"
        assert [entry.outcome for entry in world.store.entries[run].values()] == ["timeout", "success"]


@pytest.mark.case("A13")
@virtual
async def test_waiting_is_not_counted_against_a_time_limit() -> None:
    async with rig() as world:
        await world.engine()
        steps = (Step("w", StepKind.WAIT, {"timeout": 20}, timeout=1.0), Step("nap", StepKind.SLEEP, {"seconds": 20}))
        run = await world.start(Graph(steps))
        await asyncio.sleep(15)
        assert await world.call_back(run, "w") is Receipt.ACCEPTED
        assert await world.ended(run) == "completed"


@virtual
async def test_an_executor_that_raises_has_failed_its_step_and_nothing_else() -> None:
    async with rig() as world:
        await world.engine()

        async def broken() -> Outcome:
            raise RuntimeError("boom")

        def raising(call: StepCall) -> Outcome:
            raise RuntimeError(call.step)

        world.hands.scripts["a"] = lambda call: broken()
        world.hands.scripts["b"] = raising
        run = await world.start(
            {"a": {"action": "core.echo", "retries": 0}, "b": {"action": "core.echo", "retries": 0}}
        )
        assert await world.ended(run, 5) == "failed"
        other = await world.start({"c": {}})
        assert await world.ended(other, 5) == "completed"
        assert world.told("engine.error") == []


@virtual
async def test_a_step_of_a_kind_that_nobody_carries_out_fails() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start(Graph((Step("a", StepKind.PYTHON),)))
        assert await world.ended(run, 5) == "failed"
        assert world.told("engine.error") == []


@virtual
async def test_a_template_that_cannot_be_filled_in_ends_its_step() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"a": {"action": "core.echo", "with": {"x": "{{trigger.body.none}}"}}}, {})
        assert await world.ended(run) == "failed"
        assert world.store.entries[run][1].outcome == "template_error"
        assert world.hands.calls == []


@virtual
async def test_a_run_expires() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.hold("a")
        run = await world.start({"a": {}}, max_duration="5s")
        parked = await world.start({"w": {"wait_for_webhook": True}}, max_duration="30s")
        assert await world.ended(run) == "timeout"
        assert world.hands.now == 0, "the attempt in flight was stopped"
        assert await world.ended(parked) == "timeout"
        assert await world.call_back(parked, "w") is Receipt.EXPIRED


# -- callbacks


@pytest.mark.case("B11")
@virtual
async def test_a_callback_wakes_a_parked_run() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"w": {"wait_for_webhook": {"timeout": "1h"}}, "b": {"needs": ["w"]}})
        await asyncio.sleep(20)
        assert (await world.row(run)).owner is None
        assert await world.call_back(run, "w", {"paid": True}) is Receipt.ACCEPTED
        assert await world.ended(run, 1) == "completed"
        assert world.store.inbox == {}


@virtual
async def test_an_early_callback_is_kept_for_its_wait() -> None:
    async with rig() as world:
        await world.engine()
        gate = world.hands.hold("a")
        run = await world.start({"a": {}, "w": {"needs": ["a"], "wait_for_webhook": {"timeout": "1h"}}})
        assert await world.call_back(run, "w") is Receipt.EARLY
        await world.until(lambda: ("received", "w") in world.kinds(run))
        assert world.store.inbox == {}
        gate.set()
        assert await world.ended(run, 1) == "completed"


@virtual
async def test_a_callback_that_comes_too_late_is_told_so() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"w": {"wait_for_webhook": {"timeout": "5s"}}})
        assert await world.ended(run) == "failed"
        assert world.store.entries[run][1].outcome == "timeout"
        assert await world.call_back(run, "w") is Receipt.EXPIRED


@virtual
async def test_a_callback_accepted_in_the_last_moment_wins_over_the_time_limit() -> None:
    async with rig() as world:
        engine = await world.engine(mail_poll=3.0)
        run = await world.start({"w": {"wait_for_webhook": {"timeout": "5s"}}})
        await asyncio.sleep(4.999)
        assert await world.call_back(run, "w") is Receipt.ACCEPTED
        assert await world.ended(run) == "completed"
        assert engine.node.runner.owned == {}


# -- control


@virtual
async def test_a_cancel_stops_the_attempt_in_flight() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.hold("a")
        run = await world.start({"a": {}, "b": {"needs": ["a"]}})
        await world.until(lambda: world.hands.now == 1)
        assert await world.send(run, MessageKind.CANCEL)
        assert await world.ended(run, 1) == "cancelled"
        assert world.hands.now == 0
        assert world.kinds(run) == [("cancelled", None)]
        assert not await world.send(run, MessageKind.CANCEL)


@virtual
async def test_a_cancel_reaches_a_parked_run() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"nap": {"sleep": "1d"}})
        await world.send(run, MessageKind.CANCEL)
        assert await world.ended(run, 1) == "cancelled"


@virtual
async def test_a_pause_lets_the_attempt_in_flight_end_and_starts_nothing() -> None:
    async with rig() as world:
        await world.engine()
        gate = world.hands.hold("a")
        run = await world.start({"a": {}, "b": {"needs": ["a"]}})
        await world.send(run, MessageKind.PAUSE)
        await world.until(lambda: ("paused", None) in world.kinds(run))
        gate.set()
        await world.until(lambda: world.store.table[run].status == "paused")
        await asyncio.sleep(30)
        assert world.kinds(run) == [("paused", None), ("ended", "a")]
        assert world.hands.attempts("b") == []
        await world.send(run, MessageKind.RESUME)
        assert await world.ended(run, 1) == "completed"


@virtual
@pytest.mark.parametrize("seconds", [0.5, 5, 30])
async def test_a_sleep_goes_on_while_its_run_is_paused(seconds: float) -> None:
    async with rig() as world:
        engine = await world.engine()
        run = await world.start({"nap": {"sleep": seconds}, "b": {"needs": ["nap"]}})
        await world.send(run, MessageKind.PAUSE)
        took = await world.until(lambda: ("ended", "nap") in world.kinds(run))
        assert seconds - 0.01 <= took < seconds + 0.3
        await asyncio.sleep(10)
        assert (await world.row(run)).status == "paused"
        assert world.hands.attempts("b") == []
        assert (await world.row(run)).generation < 8, "it is not claimed in a circle"
        await world.send(run, MessageKind.RESUME)
        assert await world.ended(run, 1) == "completed"
        assert engine.node.runner.owned == {}


@virtual
async def test_a_paused_run_expires() -> None:
    async with rig() as world:
        await world.engine()
        run = await world.start({"nap": {"sleep": "1h"}}, max_duration="20s")
        await world.send(run, MessageKind.PAUSE)
        assert await world.ended(run) == "timeout"


# -- limits


@virtual
async def test_no_more_attempts_run_at_once_than_there_are_slots() -> None:
    async with rig() as world:
        await world.engine(slots=3)
        steps: dict[str, Any] = {f"s{number}": {} for number in range(10)}
        gates = [world.hands.hold(step) for step in steps]
        run = await world.start(steps)
        await world.until(lambda: world.hands.now == 3)
        await asyncio.sleep(1)
        assert (world.hands.now, world.hands.most) == (3, 3)
        for gate in gates:
            gate.set()
        assert await world.ended(run) == "completed"
        assert world.hands.most == 3


@virtual
async def test_a_delay_between_attempts_takes_no_slot() -> None:
    async with rig() as world:
        await world.engine(slots=1)
        world.hands.scripts["a"] = lambda call: failed() if call.attempt == 1 else done()
        retries = {"attempts": 1, "delay": "60s", "jitter": False}
        run = await world.start({"a": {"action": "core.echo", "retries": retries}})
        await world.until(lambda: world.kinds(run) == [("retry", "a")])
        other = await world.start({"b": {}})
        await world.ended(other, 5)
        assert await world.ended(run, 120) == "completed"


@virtual
async def test_a_wide_run_leaves_slots_to_the_others() -> None:
    async with rig() as world:
        await world.engine(slots=2)
        steps: dict[str, Any] = {f"s{number}": {} for number in range(40)}

        async def second() -> Outcome:
            await asyncio.sleep(1)
            return done()

        for step in (*steps, "other"):
            world.hands.scripts[step] = lambda call: second()
        wide = await world.start(steps)
        other = await world.start({"other": {}})
        await world.ended(other, 4)
        assert (await world.row(wide)).status == "running"
        assert await world.ended(wide) == "completed"


@virtual
async def test_a_full_queue_refuses_starts_and_loses_nothing() -> None:
    async with rig() as world:
        engine = await world.engine(queue_bytes=3_000, lease=10.0)
        world.lines[engine].delay = 0.5
        starts = [asyncio.ensure_future(world.start({"a": {}, "b": {"needs": ["a"]}})) for _ in range(100)]
        answers = await asyncio.gather(*starts, return_exceptions=True)
        accepted = [answer for answer in answers if isinstance(answer, bytes)]
        refused = [answer for answer in answers if isinstance(answer, Unavailable)]
        assert len(accepted) + len(refused) == 100
        assert accepted
        assert refused
        assert len(world.store.table) == len(accepted)
        for run in accepted:
            assert await world.ended(run) == "completed"


@virtual
async def test_a_node_full_of_runs_leaves_the_next_ones_to_others() -> None:
    async with rig() as world:
        await world.engine(slots=2)
        gate = world.hands.hold("a")
        runs = [await world.start({"a": {}}) for _ in range(6)]
        owners = [(await world.row(run)).owner is not None for run in runs]
        assert owners == [True] * 4 + [False] * 2
        gate.set()
        for run in runs:
            assert await world.ended(run) == "completed"


@virtual
async def test_runs_only_waiting_for_a_timer_do_not_fill_a_node() -> None:
    async with rig() as world:
        await world.engine(slots=2)
        naps = [await world.start({"nap": {"sleep": "8s"}}) for _ in range(20)]
        run = await world.start({"a": {}})
        assert await world.ended(run, 1) == "completed"
        for nap in naps:
            assert await world.ended(nap) == "completed"


@pytest.mark.slow
@pytest.mark.case("C6")
@virtual
async def test_every_one_of_many_wake_ups_at_the_same_moment_happens_once() -> None:
    async with rig() as world:
        await world.engine(idle_poll=0.5, mail_poll=0.5)
        naps = compile_steps(
            {"name": "w", "tasks": {"nap": {"sleep": "20s"}, "b": {"needs": ["nap"], "action": "core.echo"}}}
        )
        runs = [await world.start(naps.graph) for _ in range(3_000)]
        for run in runs:
            assert await world.ended(run) == "completed"
        assert len({call.run_id for call in world.hands.calls}) == len(world.hands.calls) == 3_000
