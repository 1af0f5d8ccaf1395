"""Resource links: a step ends after its run owns what it names, and fails if another run owns it."""

from __future__ import annotations

from typing import Any

import pytest

from detent.graph.model import Graph, OnCrash, Step, StepKind
from detent.ids import RUN, show
from detent.run.call import StepCall
from detent.run.journal import decode_data
from detent.run.links import Link
from detent.run.outcomes import Done, Finish, Outcome
from detent.store.rows import MessageKind
from tests.callers import commands_of
from tests.engine.commands import save, start
from tests.engine.rig import Rig, rig, virtual

ITEM = Link("monday", "item", "17", url="https://m.example/17")


def linking(*links: Link) -> Any:
    def script(call: StepCall) -> Outcome:
        return Done(b'{"output":1}', links)

    return script


def error_of(world: Rig, run: bytes, step: str) -> Any:
    entries = world.store.entries[run].values()
    [found] = [decode_data(entry.data).error for entry in entries if entry.step == step and entry.kind == "ended"]
    return found


@virtual
async def test_a_step_with_links_ends_after_they_are_durable() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.hands.scripts["a"] = linking(ITEM, Link("slack", "message", "m1"))
        run = await world.start({"a": {}, "b": {"needs": ["a"]}})
        assert await world.ended(run) == "completed"
        assert world.kinds(run) == [("ended", "a"), ("ended", "b")]
        assert [(row.id, row.step, row.run) for row in world.store.links.values()] == [
            ("17", "a", run),
            ("m1", "a", run),
        ]
        assert world.lines[engine].sent.count("link_owners") == 0, "nothing was missing, so nothing was asked"


@virtual
async def test_a_step_with_links_costs_one_flush_and_a_step_without_none() -> None:
    async with rig() as world:
        sent = world.lines[await world.engine()].sent
        await world.ended(await world.start({"a": {}}))
        assert sent.count("flush") == 2, "its start and its end"
        world.hands.scripts["a"] = linking(ITEM)
        await world.ended(await world.start({"a": {}}))
        assert sent.count("flush") == 2 + 3


@virtual
async def test_a_step_whose_resource_another_run_has_fails_and_names_that_run() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.scripts["a"] = linking(ITEM)
        first = await world.start({"a": {}})
        assert await world.ended(first) == "completed"
        second = await world.start({"a": {}, "b": {"needs": ["a"]}})
        assert await world.ended(second) == "failed"
        error = error_of(world, second, "a")
        assert error.code == "WFENG003"
        assert error.message.startswith("RESOURCE_LINK_CONFLICT_OTHER_EXECUTION")
        assert error.detail == {"system": "monday", "type": "item", "id": "17", "run_id": show(RUN, first)}
        assert world.hands.attempts("a") == [1, 1], "a conflict is not retried"
        assert world.hands.attempts("b") == []


@virtual
async def test_two_steps_of_one_run_may_link_the_same_resource() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.scripts |= {"a": linking(ITEM), "b": linking(ITEM), "c": linking(ITEM)}
        run = await world.start({"a": {}, "b": {}, "c": {"needs": ["a", "b"]}})
        assert await world.ended(run) == "completed"
        assert [row.run for row in world.store.links.values()] == [run]


@virtual
async def test_a_step_that_finishes_its_run_claims_its_links_first() -> None:
    async with rig() as world:
        await world.engine()
        world.hands.scripts["a"] = lambda call: Finish(b'{"output":1}', (ITEM,))
        run = await world.start({"a": {}, "b": {"needs": ["a"]}})
        assert await world.ended(run) == "completed"
        assert [row.run for row in world.store.links.values()] == [run]
        other = await world.start({"a": {}, "b": {"needs": ["a"]}})
        assert await world.ended(other) == "failed"


@virtual
async def test_a_node_that_dies_after_its_claim_leaves_a_step_that_succeeds_when_it_is_repeated() -> None:
    async with rig() as world:
        first = await world.engine()
        world.hands.scripts["a"] = linking(ITEM)
        world.lines[first].delay = 0.05
        run = await world.start({"a": {}})
        await world.until(lambda: bool(world.store.links))
        assert world.kinds(run) == []
        world.crash(first)
        await world.engine()
        assert await world.ended(run) == "completed"
        assert world.hands.attempts("a") == [1, 2]


@virtual
async def test_a_claim_that_a_deleted_run_was_in_the_way_of_is_made_again() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.hands.scripts["a"] = linking(ITEM)
        first = await world.start({"a": {}})
        await world.ended(first)
        line = world.lines[engine]
        line.break_next("link_owners", "busy", "error")
        second = await world.start({"a": {}})
        await world.until(lambda: line.sent.count("link_owners") == 1)
        del world.store.table[first]
        world.store.drop_links(first)
        assert await world.ended(second) == "completed"
        assert [row.run for row in world.store.links.values()] == [second]


@virtual
async def test_claims_of_many_links_count_as_rows_of_their_flush() -> None:
    async with rig() as world:
        engine = await world.engine(flush_rows=10)
        world.hands.scripts["a"] = lambda call: Done(
            b'{"output":1}', tuple(Link("monday", "item", f"{call.run_id.hex()}-{number}") for number in range(20))
        )
        runs = [await world.start({"a": {}}) for _ in range(5)]
        for run in runs:
            assert await world.ended(run) == "completed"
        assert world.lines[engine].sent.count("flush") >= 5 * 2, "the claims of two runs do not fit in one flush"


@virtual
async def test_a_run_that_is_cancelled_during_the_claim_ends_cancelled() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.hands.scripts["a"] = linking(ITEM)
        first = await world.start({"a": {}})
        await world.ended(first)
        world.lines[engine].hangs.add("link_owners")
        second = await world.start({"a": {}})
        await world.until(lambda: "link_owners" in world.lines[engine].sent)
        await world.send(second, MessageKind.CANCEL)
        assert await world.ended(second) == "cancelled"


@pytest.mark.parametrize(("policy", "status"), [(OnCrash.FAIL, "failed"), (OnCrash.ASK, "paused")])
@virtual
async def test_a_stop_during_the_claim_of_a_step_that_must_not_be_repeated_does_not_repeat_it(
    policy: OnCrash, status: str
) -> None:
    async with rig() as world:
        engine = await world.engine(drain=0.2)
        world.hands.scripts["a"] = linking(ITEM)
        first = await world.start({"a": {}})
        await world.ended(first)
        world.lines[engine].hangs.add("link_owners")
        run = await world.start(Graph((Step("a", StepKind.ACTION, on_crash=policy),)))
        await world.until(lambda: "link_owners" in world.lines[engine].sent)
        world.engines.remove(engine)
        await engine.stop()
        await world.engine()
        await world.until(lambda: world.store.table[run].status == status)
        assert world.hands.attempts("a") == [1, 1], "once in each run"


@virtual
async def test_a_flush_with_an_unknown_end_claims_each_link_once() -> None:
    async with rig() as world:
        engine = await world.engine()
        world.hands.scripts["a"] = linking(ITEM)
        gate = world.hands.hold("b")
        run = await world.start({"b": {}, "a": {"needs": ["b"]}})
        await world.until(lambda: world.hands.now == 1)
        world.lines[engine].refuses = lambda verb, arguments: False
        world.lines[engine].break_next("flush", "applied", "applied")
        gate.set()
        assert await world.ended(run) == "completed"
        assert [row.run for row in world.store.links.values()] == [run]


@virtual
async def test_a_run_that_repeats_another_takes_over_its_resources_and_a_stranger_does_not() -> None:
    async with rig() as world:
        engine = await world.engine()
        await save(world, "w", {"a": {}})
        world.hands.scripts["a"] = linking(ITEM)
        first = (await start(engine, "w")).run
        assert await world.ended(first) == "completed"
        again = (await commands_of(engine, "ann").reruns.rerun(show(RUN, first))).run
        assert await world.ended(again) == "completed"
        assert [row.run for row in world.store.links.values()] == [again]
        stranger = (await start(engine, "w")).run
        assert await world.ended(stranger) == "failed"
        assert error_of(world, stranger, "a").detail["run_id"] == show(RUN, again)
