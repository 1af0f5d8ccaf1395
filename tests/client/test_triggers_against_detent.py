"""Triggers, firings, schedules and events through a client of either face, before a real Detent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from detent.client import Conflict, InvalidRequest, NotFound, PreconditionFailed

pytestmark = pytest.mark.slow

GREET = """
name: greet
tasks:
  hello: {action: core.echo, with: {text: "Hello, {{trigger.body.name ?? 'you'}}"}}
"""
DAILY = {"cron_expression": "0 9 * * *", "timezone": "Europe/Berlin"}


@pytest.fixture
def client(detent_url: str, connect: Any) -> Any:
    client = connect(detent_url)
    client.workflows.create(GREET)
    return client


def test_a_trigger_is_made_found_changed_and_deleted(client: Any) -> None:
    made = client.triggers.create("greet", "cron", DAILY, name="daily")
    assert (made.workflow, made.type, made.name, made.owned_by) == ("greet", "cron", "daily", "api")
    assert made.config["timezone"] == "Europe/Berlin"
    assert made.next_at is not None
    assert [one.id for one in client.triggers.list(workflow="greet", type="cron", enabled=True, limit=1)] == [made.id]
    changed = client.triggers.update(made.id, name=None, if_updated_at=made.updated_at)
    assert (changed.name, changed.config) == (None, made.config)
    with pytest.raises(PreconditionFailed):
        client.triggers.update(made.id, name="late", if_updated_at=made.updated_at)
    assert client.triggers.delete(made.id).id == made.id
    with pytest.raises(NotFound):
        client.triggers.get(made.id)


def test_a_trigger_with_problems_tells_them(client: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        client.triggers.create("greet", "cron", {"cron_expression": "nonsense"})
    assert any("cron_expression" in problem.field for problem in caught.value.problems)


def test_a_trigger_is_paused_with_a_note_and_resumed(client: Any) -> None:
    trigger = client.triggers.create("greet", "cron", DAILY)
    paused = client.triggers.pause(trigger.id, "holidays")
    assert (paused.enabled, paused.note) == (False, "holidays")
    assert client.triggers.resume(trigger.id).enabled


def test_a_trigger_is_fired_by_hand_and_its_firing_is_replayed(client: Any) -> None:
    trigger = client.triggers.create("greet", "manual")
    fired = client.triggers.fire(trigger.id, {"name": "Ada"})
    assert fired.status == "started"
    assert client.run(fired.run_id).result(20) == {"text": "Hello, Ada"}
    whole = client.triggers.firing(trigger.id, fired.id)
    assert whole.request.body == {"name": "Ada"}
    again = client.triggers.replay(trigger.id, fired.id)
    assert (again.replay_of, again.run_id != fired.run_id) == (fired.id, True)
    assert [one.id for one in client.triggers.firings(trigger.id, limit=1)] == [again.id, fired.id]
    assert list(client.triggers.firings(trigger.id, state="errored")) == []
    assert [one.id for one in client.runs(trigger=trigger.id)] == [again.run_id, fired.run_id]


def test_the_next_slots_are_told_with_and_without_a_trigger(client: Any) -> None:
    trigger = client.triggers.create("greet", "cron", DAILY)
    coming = client.triggers.next(trigger.id, 3)
    assert coming == client.triggers.preview("0 9 * * *", timezone="Europe/Berlin", count=3)
    assert len(coming) == 3
    assert all(slot.tzinfo is not None for slot in coming)


def test_slots_of_the_past_are_told_and_then_filled(client: Any) -> None:
    trigger = client.triggers.create("greet", "cron", {"cron_expression": "0 * * * *"})
    until = datetime.now(UTC).replace(minute=30) - timedelta(hours=1)  # noqa: TID251
    told = client.triggers.backfill(trigger.id, until - timedelta(hours=2), until)
    assert (told.matched, told.dry_run, told.firings) == (2, True, [])
    filled = client.triggers.backfill(trigger.id, until - timedelta(hours=2), until, dry_run=False)
    assert [one.slot for one in filled.firings] == told.slots
    assert client.triggers.backfill(trigger.id, until - timedelta(hours=2), until).matched == 0


def test_an_event_fires_the_triggers_of_its_type_once(client: Any) -> None:
    trigger = client.triggers.create("greet", "event", {"event": "order.*"}, condition="body.amount > 10")
    sent = client.send_event("order.paid", {"amount": 42, "name": "Ada"}, id="e1")
    assert (sent.id, sent.matched, sent.firings[0].trigger_id) == ("e1", 1, trigger.id)
    assert client.run(sent.firings[0].run_id).result(20) == {"text": "Hello, Ada"}
    assert client.send_event("order.paid", {"amount": 42, "name": "Ada"}, id="e1").firings[0] == sent.firings[0]
    assert client.send_event("order.paid", {"amount": 1}).firings[0].status == "ignored"
    assert client.send_event("user.left").matched == 0


def test_a_trigger_of_a_definition_is_changed_there(client: Any) -> None:
    client.workflows.save(
        "name: nightly\ntrigger: {type: cron, cron_expression: '0 3 * * *'}\n" + GREET.partition("greet")[2]
    )
    [owned] = client.triggers.list(workflow="nightly")
    assert owned.owned_by == "definition"
    with pytest.raises(Conflict):
        client.triggers.delete(owned.id)
