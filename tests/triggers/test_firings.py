"""What becomes of firings: overlap, conditions, replay, and a process that dies at any line."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from detent.errors import Conflict, InvalidInput, NotFound, StoreError
from detent.ids import FIRING, show
from detent.store.trigger_rows import FiringRow
from detent.triggers import record
from detent.triggers.processor import LEASE
from detent.triggers.worker import FIRINGS_KEPT, OldFirings
from tests.triggers.world import MINUTE, World, sent, virtual, world

SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


async def overlapping(here: World, overlap: str) -> str:
    """A trigger whose runs last until their gate is opened."""
    here.rig.hands.hold("a")
    await here.save()
    return await here.trigger("cron", cron_expression="0 0 1 1 *", overlap=overlap)


def open_runs(here: World) -> int:
    return sum(run.is_open() for run in here.rig.store.table.values())


@virtual
async def test_allow_starts_a_run_beside_another() -> None:
    async with world() as here:
        await here.node()
        trigger = await overlapping(here, "allow")
        for _ in range(3):
            await here.commands().firings.fire(trigger)
        assert (here.states(), open_runs(here)) == (["started"] * 3, 3)


@virtual
async def test_skip_starts_nothing_while_a_run_is_open_and_says_so() -> None:
    async with world() as here:
        await here.node()
        trigger = await overlapping(here, "skip")
        first, second = await here.commands().firings.fire(trigger), await here.commands().firings.fire(trigger)
        assert (first.state, second.state, second.message) == ("started", "skipped", "the run before has not ended")
        here.rig.hands.gates["a"].set()
        await here.until(lambda: open_runs(here) == 0)
        assert (await here.commands().firings.fire(trigger)).state == "started"


@virtual
async def test_a_firing_of_a_workflow_that_this_node_cannot_read_waits_for_a_newer_node() -> None:
    async with world() as here:
        first = await here.node(works=False)
        await here.save()
        await here.trigger("cron", cron_expression="* * * * *")
        (saved,) = here.rig.store.saved.values()
        readable = saved.new
        newer = readable._replace(graph=json.dumps({**json.loads(readable.graph), "hologram": 1}).encode())
        saved.new, saved.versions[1] = newer, (newer, 0)
        older = await here.node()
        here.crash(first)
        await here.until(lambda: len(here.fired()) == 2, 200)
        await asyncio.sleep(20)
        assert set(here.states()) <= {"due", "starting"}
        here.crash(older)
        saved.new, saved.versions[1] = readable, (readable, 0)
        await here.node()  # for it the graph is as any other
        await here.until(lambda: here.states()[:2] == ["started"] * 2)


@virtual
async def test_queue_starts_one_after_the_other_in_the_order_they_came() -> None:
    async with world() as here:
        await here.node()
        trigger = await overlapping(here, "queue")
        for number in range(5):
            await here.commands().firings.fire(trigger, {"n": number})
        assert here.states() == ["started", "queued", "queued", "queued", "queued"]
        await asyncio.sleep(10)
        assert open_runs(here) == 1
        here.rig.hands.gates["a"].set()
        await here.until(lambda: here.states() == ["started"] * 5, within=15)
        assert [given["body"]["n"] for given in here.runs()] == [0, 1, 2, 3, 4]


@virtual
async def test_the_queue_of_a_trigger_is_bounded() -> None:
    async with world() as here:
        await here.node(works=False)
        trigger = await overlapping(here, "queue")
        for _ in range(103):
            await here.commands().firings.fire(trigger)
        assert (here.states().count("queued"), here.states().count("skipped")) == (100, 2)


@virtual
async def test_cancel_previous_ends_the_run_before_and_starts_the_new_one() -> None:
    async with world() as here:
        await here.node()
        trigger = await overlapping(here, "cancel-previous")
        first, second = await here.commands().firings.fire(trigger), await here.commands().firings.fire(trigger)
        assert here.rig.store.table[first.run or b""].status == "cancelled"
        assert here.rig.store.table[second.run or b""].is_open()


@virtual
async def test_a_firing_that_is_taken_up_again_does_not_cancel_its_own_run() -> None:
    async with world() as here:
        engine = await here.node(works=False)
        trigger = await overlapping(here, "cancel_previous")
        here.rig.lines[engine].break_next("end_firing", "lost")
        await here.commands().firings.fire(trigger)
        assert (here.states(), open_runs(here)) == (["starting"], 1)
        here.work(engine)
        await here.until(lambda: here.states() == ["started"], within=LEASE + 3)
        assert open_runs(here) == 1
        assert len(here.rig.store.table) == 1


@pytest.mark.parametrize("verb", ["begin_firing", "flush", "end_firing"])
@pytest.mark.parametrize("fault", ["busy", "lost", "applied", "error"])
@virtual
async def test_trouble_at_any_line_starts_exactly_one_run(verb: str, fault: Any) -> None:
    async with world() as here:
        engine = await here.node()
        await here.save()
        trigger = await here.trigger("manual")
        here.rig.lines[engine].break_next(verb, fault)
        await here.commands().firings.fire(trigger)
        await here.until(lambda: here.states() == ["started"], within=3 * LEASE)
        assert len(here.rig.store.table) == 1


@virtual
async def test_a_firing_whose_node_is_gone_is_finished_by_another() -> None:
    async with world() as here:
        first, second = await here.node(works=False), await here.node()
        await here.save()
        trigger = await here.trigger("webhook")
        here.rig.lines[first].refuses = lambda verb, _: verb == "flush"
        row = await here.row(trigger)
        commands = here.commands(first)
        receiving = asyncio.create_task(commands.receiver.receive_webhook(row, sent(b'{"n": 1}')))
        await here.until(lambda: here.states() == ["starting"])
        here.crash(first)
        receiving.cancel()
        await here.until(lambda: here.states() == ["started"], within=LEASE + 6)
        assert [given["body"] for given in here.runs()] == [{"n": 1}]
        assert second is here.engines[0]


@pytest.mark.case("F6")
@virtual
async def test_the_same_request_fifty_times_at_once_starts_one_run_and_gets_one_answer() -> None:
    async with world() as here:
        await here.node()
        await here.node()
        await here.save()
        trigger = await here.row(await here.trigger("webhook"))
        every = [here.commands(here.engines[number % 2]) for number in range(50)]
        request = sent(b'{"n": 1}', {"Webhook-Id": "m1"})
        rows = await asyncio.gather(*(one.receiver.receive_webhook(trigger, request) for one in every))
        assert len(here.rig.store.table) == 1
        assert {(row.id, row.state, row.run) for row in rows} == {(rows[0].id, "started", rows[0].run)}


@pytest.mark.case("D7")
@pytest.mark.parametrize("fault", ["error", "lost"])
@virtual
async def test_a_request_that_could_not_be_kept_is_not_taken(fault: Any) -> None:
    async with world() as here:
        engine = await here.node()
        await here.save()
        trigger = await here.row(await here.trigger("webhook"))
        here.rig.lines[engine].break_next("add_firings", fault)
        with pytest.raises(StoreError):
            await here.commands().receiver.receive_webhook(trigger, sent())
        assert (here.fired(), here.runs()) == ([], [])


@virtual
async def test_a_condition_that_is_false_is_ignored_and_one_that_fails_is_listed_as_an_error() -> None:
    async with world() as here:
        await here.node()
        await here.save()
        trigger = await here.row(await here.trigger("webhook", condition="body.n > 1 && headers.x-kind == 'big'"))
        kind = {"X-Kind": "big"}
        for body, state in ((b'{"n": 2}', "started"), (b'{"n": 1}', "ignored"), (b"{}", "errored")):
            assert (await here.commands().receiver.receive_webhook(trigger, sent(body, kind))).state == state
        assert len(here.rig.store.table) == 1
        assert "n" in (here.fired()[-1].message or "")


@virtual
async def test_a_payload_that_does_not_fit_is_refused_and_kept_with_its_problems() -> None:
    async with world() as here:
        await here.node()
        await here.save(trigger_schema=SCHEMA)
        trigger = await here.trigger("webhook")
        row = await here.row(trigger)
        for body in (b'{"n": "x"}', b"not json", b'{"n": 1e400}', b"\xff", b"[" * 100_000):
            firing = await here.commands().receiver.receive_webhook(row, sent(body))
            assert firing.state == "refused"
            assert record.request_of(firing).raw == body
        assert len(here.rig.store.table) == 0
        await here.save()
        replayed = await here.commands().firings.replay(trigger, show(FIRING, here.fired()[0].id))
        assert (replayed.state, replayed.replay_of) == ("started", here.fired()[0].id)


@virtual
async def test_a_replay_does_again_what_was_received_then() -> None:
    async with world() as here:
        await here.node()
        await here.save()
        trigger = await here.trigger("webhook")
        headers = {"Webhook-Id": "m1", "Authorization": "Bearer x", "Cookie": "a=b", "X-Kind": "big"}
        first = await here.commands().receiver.receive_webhook(
            await here.row(trigger), sent(b'{"n": 1}', headers, q="1")
        )
        again = await here.commands().firings.replay(trigger, show(FIRING, first.id))
        assert (again.state, again.replay_of, again.run != first.run) == ("started", first.id, True)
        one, other = here.runs()
        assert one == other
        assert one["headers"]["x-kind"] == "big"
        assert not {"authorization", "cookie"} & set(one["headers"])
        assert b"Bearer" not in (here.fired()[0].request or b"")


async def _refusal(call: Any) -> str:
    with pytest.raises((Conflict, NotFound, InvalidInput)) as refused:
        await call
    return refused.value.message


@virtual
async def test_what_was_forged_missed_or_has_not_ended_cannot_be_replayed() -> None:
    async with world() as here:
        await here.node(works=False)
        trigger = await overlapping(here, "queue")
        await here.commands().firings.fire(trigger)
        queued = await here.commands().firings.fire(trigger)
        assert "has not ended" in await _refusal(here.commands().firings.replay(trigger, show(FIRING, queued.id)))
        signed = await here.trigger("webhook", signature={"preset": "github", "secrets": ["s"]})
        forged = await here.commands().receiver.receive_webhook(await here.row(signed), sent(b"{}"))
        assert "signature" in await _refusal(here.commands().firings.replay(signed, show(FIRING, forged.id)))
        assert "no firing" in await _refusal(here.commands().firings.replay(trigger, show(FIRING, forged.id)))
        assert "no firing" in await _refusal(here.commands().firings.replay(trigger, "fir_x"))


@virtual
async def test_a_paused_or_disabled_webhook_keeps_the_request_and_takes_it_when_it_comes_again() -> None:
    async with world() as here:
        await here.node()
        await here.save()
        trigger = await here.trigger("webhook")
        request = sent(b"{}", {"Webhook-Id": "m1"})

        async def receive() -> FiringRow:
            return await here.commands().receiver.receive_webhook(await here.row(trigger), request)

        await here.commands().editor.pause(trigger, {"note": "later"})
        assert (await receive()).state == "refused"
        await here.commands().editor.resume(trigger)
        await here.enable(enabled=False)
        refused = await receive()
        assert (refused.state, "Workflow is disabled: w" in (refused.message or "")) == ("refused", True)
        await here.enable(enabled=True)
        assert (await receive()).state == "started"
        assert (await receive()).run == here.fired()[-1].run
        assert len(here.rig.store.table) == 1


@virtual
async def test_resuming_a_schedule_catches_up_with_nothing() -> None:
    async with world() as here:
        await here.node()
        await here.save()
        trigger = await here.trigger("cron", cron_expression="* * * * *", missed="all")
        await here.commands().editor.pause(trigger, {})
        await asyncio.sleep(190)
        assert here.fired() == []
        row = await here.commands().editor.resume(trigger)
        assert here.now() < (row.next_at or 0) <= here.now() + 60_000_000
        await asyncio.sleep(61)
        assert here.states() == ["started"]


@virtual
async def test_a_secret_is_never_shown_and_stays_when_its_place_is_sent_back() -> None:
    async with world() as here:
        await here.node(works=False)
        await here.save()
        signature = {"preset": "hmac", "header": "X-Sig", "secrets": ["topsecret", {"env": "OTHER"}]}
        trigger = await here.trigger("webhook", config={"signature": signature})
        from_row = (await here.row(trigger)).config
        assert "topsecret" in from_row
        await here.commands().editor.update(trigger, {"name": "n"})
        shown = {"signature": signature | {"secrets": ["***", {"env": "OTHER"}]}}
        await here.commands().editor.update(trigger, {"config": shown})
        assert (await here.row(trigger)).config == from_row
        rotated = {"signature": signature | {"secrets": ["fresh", "***"]}}
        await here.commands().editor.update(trigger, {"config": rotated})
        assert '["fresh", {"env": "OTHER"}]' in (await here.row(trigger)).config


@virtual
async def test_old_firings_are_forgotten_and_young_and_open_ones_kept() -> None:
    async with world() as here:
        await here.node(works=False)
        trigger = await overlapping(here, "queue")
        await here.commands().firings.fire(trigger)
        await here.commands().firings.fire(trigger)
        later = here.now() + FIRINGS_KEPT
        await OldFirings(here.rig.store, now=lambda: later).poll()
        assert here.states() == ["started", "queued"]
        await OldFirings(here.rig.store, now=lambda: later + 1_000_000).poll()
        assert here.states() == ["queued"]


@virtual
async def test_a_backfill_in_a_queue_moves_on_when_the_run_before_has_ended() -> None:
    count = 40
    async with world() as here:
        await here.node()
        await here.save()
        trigger = await here.trigger("cron", cron_expression="* * * * *", overlap="queue")
        last = here.now() // MINUTE * MINUTE
        await here.commands().firings.backfill(trigger, last - (count - 1) * MINUTE, last, dry_run=False)
        took = await here.until(lambda: here.states().count("started") >= count, within=600)
        assert took < count * 0.2, "in virtual seconds: each of these runs takes a moment"
        assert [row.slot for row in here.fired()[:count]] == sorted(row.slot or 0 for row in here.fired()[:count])
