"""Schedules: slots start on time, once each, and what was missed follows the policy."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.forms.schedule import next_slots
from detent.instant import SECOND, iso
from detent.triggers.worker import GRACE, take
from tests.callers import commands_of
from tests.engine.rig import NOON
from tests.triggers.world import MINUTE, World, sent, virtual, world

EVERY_MINUTE = "* * * * *"
HOUR = 3600.0


def slots(here: World) -> list[int]:
    """The slots that have started a run, in the order of their runs."""
    return [row.slot for row in here.fired() if row.state == "started" and row.slot is not None]


@virtual
async def test_a_slot_starts_within_a_fifth_of_a_second_of_its_time_and_its_run_knows_the_slot() -> None:
    async with world() as here:
        await here.node()
        await here.save(tasks={"a": {"action": "core.echo", "with": {"at": "{{trigger.scheduled_at}}"}}})
        trigger = await here.trigger("cron", cron_expression=EVERY_MINUTE)
        first = (await here.row(trigger)).next_at
        assert first is not None
        await here.until(lambda: len(slots(here)) == 3, within=200)
        assert slots(here) == [first, first + MINUTE, first + 2 * MINUTE]
        for row in here.fired():
            run = here.rig.store.table[row.run or b""].new
            assert 0 <= run.started_at - (row.slot or 0) < 0.2 * SECOND
            assert (run.trigger, run.fired_by) == ("cron", row.trigger)
            assert json.loads(run.input) == {
                "body": {}, "headers": {}, "query": {}, "scheduled_at": iso(row.slot or 0)
            }  # fmt: skip
        assert iso(first) in str(here.rig.hands.calls[0].parameters)


@virtual
async def test_a_graph_is_started_by_a_webhook_and_again_and_again_by_its_schedule() -> None:
    graph = {"id": "g", "displayName": "G", "startNode": "a", "nodes": [{"id": "a", "actionType": "core.echo"}]}
    async with world() as here:
        engine = await here.node()
        commands = commands_of(engine)
        await commands.drafts.save(json.dumps({**graph, "trigger": {"type": "cron", "cron_expression": EVERY_MINUTE}}))
        await commands.drafts.publish("g")
        hook = await here.row(await here.trigger("webhook", "g"))
        await here.commands().receiver.receive_webhook(hook, sent(b'{"n": 1}'))
        await here.until(lambda: here.states() == ["started"] * 4, within=200)
        assert [run["body"] for run in here.runs()] == [{"n": 1}, {}, {}, {}]
        statuses = {run.status for run in here.rig.store.table.values()}
        assert statuses == {"completed"}


@virtual
async def test_a_node_with_nothing_to_do_asks_about_two_questions_a_second() -> None:
    async with world() as here:
        engine = await here.node()
        await here.save()
        line = here.rig.lines[engine]
        line.sent.clear()
        await asyncio.sleep(20)
        asked = [verb for verb in line.sent if verb in ("due_triggers", "due_firings")]
        assert 38 <= len(asked) <= 44


async def _down_for_an_hour(here: World, policy: str, **more: Any) -> None:
    """A schedule whose node is away for an hour and comes back half a minute after a slot."""
    engine = await here.node()
    await here.save()
    await here.trigger("cron", cron_expression=EVERY_MINUTE, missed=policy, **more)
    await here.until(lambda: len(slots(here)) == 1, within=70)
    here.crash(engine)
    await asyncio.sleep(HOUR + 30)
    await here.node()
    await asyncio.sleep(5)


@pytest.mark.case("C8")
@virtual
async def test_after_an_hour_of_downtime_none_starts_only_what_is_on_time_and_lists_what_was_missed() -> None:
    async with world() as here:
        await _down_for_an_hour(here, "none")
        done = slots(here)
        assert done[1:] == [done[0] + 60 * MINUTE]  # half a minute late is not missed
        [missed] = [row for row in here.fired() if row.state == "missed"]
        assert "59 slots" in (missed.message or "")
        assert "no run was started for a slot that was missed (missed: none" in (missed.message or "")


@pytest.mark.case("C8")
@virtual
async def test_after_an_hour_of_downtime_last_starts_one_run_for_the_newest_slot() -> None:
    async with world() as here:
        await _down_for_an_hour(here, "last")
        done = slots(here)
        assert done[1:] == [done[0] + 60 * MINUTE]


@pytest.mark.case("C8")
@virtual
async def test_after_an_hour_of_downtime_all_starts_every_slot_in_order() -> None:
    async with world() as here:
        await _down_for_an_hour(here, "all")
        done = slots(here)
        assert done == [done[0] + number * MINUTE for number in range(61)]
        assert len(here.rig.store.table) == 61
        assert "missed" not in here.states()


@virtual
async def test_all_starts_nothing_that_is_older_than_its_window() -> None:
    async with world() as here:
        await _down_for_an_hour(here, "all", missed_window="10m")
        done = slots(here)
        assert done[1:] == [done[0] + number * MINUTE for number in range(51, 61)]
        [missed] = [row for row in here.fired() if row.state == "missed"]
        assert "50 slots" in (missed.message or "")
        assert f"; 9 slots from {iso(done[1])} on were started late (missed: all" in (missed.message or "")


@virtual
async def test_what_was_missed_names_the_slot_that_was_started_late() -> None:
    async with world() as here:
        engine = await here.node()
        await here.save()
        await here.trigger("cron", cron_expression="*/10 * * * *", missed="last")
        await here.until(lambda: len(slots(here)) == 1, within=670)
        here.crash(engine)
        await asyncio.sleep(35 * 60)
        await here.node()
        await asyncio.sleep(5)
        done = slots(here)
        assert done[1:] == [done[0] + 30 * MINUTE]
        [missed] = [row for row in here.fired() if row.state == "missed"]
        assert f"2 slots from {iso(done[0] + 10 * MINUTE)} on" in (missed.message or "")
        assert f"; the slot of {iso(done[1])} was started late (missed: last" in (missed.message or "")


@virtual
async def test_last_starts_nothing_if_even_the_newest_slot_is_older_than_its_window() -> None:
    async with world() as here:
        engine = await here.node()
        await here.save()
        await here.trigger("cron", cron_expression="0 0 * * *", missed="last", missed_window="1h")
        here.crash(engine)
        await asyncio.sleep(22 * HOUR)  # midnight was hours ago
        await here.node()
        await asyncio.sleep(3)
        assert here.states() == ["missed"]


@pytest.mark.case("C8")
@virtual
async def test_two_nodes_and_a_thousand_slots_start_a_thousand_runs() -> None:
    async with world() as here:
        for _ in range(2):
            await here.node()
        await here.save()
        for number in range(100):
            await here.trigger("cron", cron_expression="* * * * * *", name=f"every second {number}")
        await here.until(lambda: len(slots(here)) >= 1000, within=120)
        await asyncio.sleep(0.5)
        done = [(row.trigger, row.slot) for row in here.fired()]
        assert len(set(done)) == len(done) == len(here.rig.store.table)
        assert set(here.states()) == {"started"}


@virtual
async def test_slots_are_taken_though_a_node_dies_between_taking_and_starting_them() -> None:
    async with world() as here:
        engine, _ = await here.node(), await here.node(works=False)
        await here.save()
        await here.trigger("cron", cron_expression=EVERY_MINUTE)
        here.rig.lines[engine].refuses = lambda verb, _: verb == "due_firings"
        await here.until(lambda: here.states() == ["due"], within=70)
        here.crash(engine)
        await here.node()
        await here.until(lambda: here.states() == ["started"], within=5)


@virtual
async def test_jitter_delays_a_slot_by_less_than_it_says_and_the_run_still_knows_the_slot() -> None:
    async with world() as here:
        await here.node()
        await here.save()
        for _ in range(10):
            await here.trigger("cron", cron_expression="*/5 * * * *", jitter="60s")
        await here.until(lambda: here.states() == ["started"] * 10, within=400)
        delays = {row.due_at - (row.slot or 0) for row in here.fired()}
        assert len(delays) == 10
        assert all(0 <= delay < 60 * SECOND for delay in delays)
        late = [here.rig.store.table[row.run or b""].new.started_at - row.due_at for row in here.fired()]
        assert all(0 <= each < 1.2 * SECOND for each in late)
        assert {given_["scheduled_at"] for given_ in here.runs()} == {iso(here.fired()[0].slot or 0)}


@virtual
async def test_the_slots_of_a_disabled_workflow_pass_silently() -> None:
    async with world() as here:
        await here.node()
        await here.save()
        trigger = await here.trigger("cron", cron_expression=EVERY_MINUTE)
        await here.enable(enabled=False)
        await asyncio.sleep(130)
        assert here.fired() == []
        assert ((await here.row(trigger)).next_at or 0) > here.now()
        await here.enable(enabled=True)
        await here.until(lambda: here.states() == ["started"], within=70)


@virtual
async def test_a_schedule_that_cannot_be_read_is_told_and_holds_up_no_other() -> None:
    async with world() as here:
        await here.node()
        await here.save()
        broken = await here.trigger("cron", cron_expression=EVERY_MINUTE)
        await here.trigger("cron", cron_expression=EVERY_MINUTE)
        rule = here.rig.store.rules[(await here.row(broken)).id]
        rule.new = rule.new._replace(config='{"cron_expression": "no"}')
        await here.until(lambda: sorted(here.states()) == ["errored", "started"], within=70)
        await asyncio.sleep(120)
        assert here.states().count("errored") == 1
        assert here.states().count("started") == 3


@virtual
async def test_trouble_with_the_store_loses_no_slot_and_starts_none_twice() -> None:
    async with world() as here:
        engine = await here.node()
        await here.save()
        await here.trigger("cron", cron_expression="* * * * * *", missed="all")
        line = here.rig.lines[engine]
        for verb in ("due_triggers", "take_slots", "due_firings", "begin_firing", "end_firing"):
            line.break_next(verb, "busy", "applied", "error", "lost")
        await asyncio.sleep(60)
        done = sorted(row.slot or 0 for row in here.fired())
        assert done == [done[0] + number * SECOND for number in range(len(done))]
        assert len(done) >= 58
        assert len({given_["scheduled_at"] for given_ in here.runs()}) == len(here.runs())
        assert [row.state for row in here.fired()[:40]] == ["started"] * 40


CONFIGS = st.fixed_dictionaries(
    {
        "cron_expression": st.sampled_from([EVERY_MINUTE, "*/7 * * * *", "* * * * * *", "0 9 * * 1-5", "30 2 * * *"]),
        "timezone": st.sampled_from(["UTC", "Europe/Zurich", "America/New_York"]),
        "missed": st.sampled_from(["none", "last", "all"]),
        "missed_window": st.sampled_from([10, 600, 86400]),
    }
)


@settings(max_examples=200, deadline=None)
@given(config=CONFIGS, begin=st.integers(0, 400 * 86400), away=st.integers(0, 3 * 86400))
def test_what_is_taken_lies_between_and_the_next_slot_follows(config: dict[str, Any], begin: int, away: int) -> None:
    [since] = next_slots(config["cron_expression"], config["timezone"], NOON + begin * SECOND)
    now = since + away * SECOND
    taken = take(config, since, now)
    assert taken.slots == sorted(set(taken.slots))
    assert all(since <= slot <= now for slot in taken.slots)
    assert taken.next_at is not None
    assert taken.next_at > (taken.slots[-1] if taken.slots else since)
    if config["missed"] != "all":
        assert taken.next_at > now
    late = [slot for slot in taken.slots if now - slot > GRACE * SECOND]
    assert len(late) <= {"none": 0, "last": 1, "all": 500}[config["missed"]]
    assert all(now - slot <= config["missed_window"] * SECOND for slot in late)


@settings(max_examples=50, deadline=None)
@given(config=CONFIGS, away=st.integers(0, 7200))
def test_taking_in_turns_takes_every_slot_of_all_once(config: dict[str, Any], away: int) -> None:
    config = config | {"missed": "all", "missed_window": 86400}
    [since] = next_slots(config["cron_expression"], config["timezone"], NOON)
    now, found, turn = since + away * SECOND, [], since
    while turn <= now:
        taken = take(config, turn, now)
        found += taken.slots
        turn = taken.next_at or now + 1
    every = [slot for slot in next_slots(config["cron_expression"], config["timezone"], since - 1, 1000) if slot <= now]
    assert found[:1000] == every
