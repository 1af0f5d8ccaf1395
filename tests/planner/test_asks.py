"""Asks of waits, reminders and escalations as timers of a wait, and the first of several waits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from detent.graph.ask import Decision, WaitAsk, approval_result, is_decided, read_ask
from detent.instant import SECOND
from detent.run import events
from detent.run.journal import decode_data
from tests.planner.play import NOON, Play, play_steps

DAY = 86_400
EXPENSE: dict[str, Any] = {
    "approve": {
        "approve": {
            "title": "Expense of {{trigger.body.name}}",
            "data": {"amount": "{{trigger.body.amount}}"},
            "form": {"type": "object", "properties": {"cost_center": {"type": "string"}}},
            "assignees": ["{{trigger.body.managers}}", "role:editor"],
            "remind": {"every": "1d", "max": 2},
            "escalate": {"after": "36h", "to": ["boss@example.com"]},
            "timeout": "5d",
        }
    },
    "pay": {"needs": ["approve"], "if": "tasks.approve.output.approved"},
}
BODY = {"name": "Ada", "amount": 120, "managers": ["m1", "m2"]}


def expense(**changed: Any) -> Play:
    approve = {**EXPENSE["approve"]["approve"], **changed}
    return play_steps({**EXPENSE, "approve": {"approve": approve}}, {"body": BODY})


def notes(run: Play) -> list[int | None]:
    return [decode_data(entry.data).reminder for entry in run.entries if entry.kind == "noted"]


def test_what_an_approval_shows_is_rendered_once_when_it_opens() -> None:
    run = expense()
    ask = read_ask(run.asks["approve"])
    assert (ask.title, ask.data, ask.assignees) == ("Expense of Ada", {"amount": 120}, ("m1", "m2", "role:editor"))
    assert ask.opened_at == NOON
    assert ask.digest() == WaitAsk(title=ask.title, data=ask.data, schema=ask.schema).digest()
    assert ask.digest() != WaitAsk(title="Expense of Eve", data=ask.data, schema=ask.schema).digest()


def test_reminders_and_the_escalation_are_timers_of_a_wait_that_goes_on() -> None:
    run = expense()
    for hours, seen in ((24, [1]), (36, [1, 0]), (48, [1, 0, 2])):
        run.now = NOON + hours * 3600 * SECOND
        assert run.state.next_timer() == run.now
        run.wake(run.number("approve"))
        assert notes(run) == seen
        assert run.statuses()["approve"] == "waiting"
    assert run.state.next_timer() == NOON + 5 * DAY * SECOND == run.active["approve"]
    run.reload()
    assert run.state.next_timer() == NOON + 5 * DAY * SECOND


def test_a_node_that_comes_late_writes_each_reminder_once_and_does_not_end_the_wait() -> None:
    run = expense()
    run.now = NOON + 4 * DAY * SECOND
    for _ in range(5):
        run.wake(run.number("approve"))
    assert notes(run) == [1, 0, 2]
    assert run.statuses()["approve"] == "waiting"


def test_the_deadline_ends_a_wait_although_reminders_are_due() -> None:
    run = expense()
    run.now = NOON + 6 * DAY * SECOND
    run.wake(run.number("approve"))
    assert run.expiring == [run.number("approve")]
    run.tell(events.WaitExpired(run.number("approve")))
    assert run.statuses()["approve"] == "timeout"


@pytest.mark.parametrize(("becomes", "status"), [("approve", "running"), ("reject", "skipped")])
def test_the_end_of_the_time_becomes_the_decision_that_the_workflow_names(becomes: str, status: str) -> None:
    run = expense(on_timeout=becomes)
    run.now = NOON + 6 * DAY * SECOND
    run.tell(events.WaitExpired(run.number("approve")))
    assert run.statuses() == {"approve": "received", "pay": status}


def test_one_decision_of_several_is_journalled_and_ends_nothing() -> None:
    run = expense(quorum=2)
    note = {"decision": {"by": "m1", "approved": True}, "count": 1, "quorum": 2}
    run.tell(events.Noted(run.number("approve"), json.dumps(note).encode(), 7))
    data = decode_data(run.entries[-1].data)
    assert (run.entries[-1].kind, json.loads(bytes(data.note)), data.message) == ("noted", note, 7)
    assert run.statuses()["approve"] == "waiting"
    two = [Decision(by, approved=True, at="2026-01-01T00:00:00Z") for by in ("m1", "m2")]
    ask = read_ask(run.asks["approve"])
    assert not is_decided(ask, two[:1])
    assert is_decided(ask, two)
    run.tell(events.Received(run.number("approve"), approval_result(ask, two)))
    assert run.statuses()["pay"] == "running"
    assert run.tell(events.Noted(run.number("approve"), b"{}", 8)).entry is None


def test_an_ask_that_cannot_be_rendered_fails_its_step() -> None:
    run = play_steps({"ask": {"approve": {"title": "{{trigger.body.name}}", "assignees": ["{{trigger.body.n}}"]}}})
    assert run.statuses()["ask"] == "template_error"
    run = play_steps({"ask": {"approve": {"title": "x", "assignees": "{{trigger.body.n}}"}}}, {"body": {"n": 5}})
    assert "assignees" in run.error("ask").message
    run = play_steps({"ask": {"approve": {"title": "{{trigger.body.n}}"}}}, {"body": {"n": "x" * 300}})
    assert "at most 200" in run.error("ask").message
    run = play_steps({"ask": {"approve": {"title": "x", "data": "{{trigger.body}}"}}}, {"body": {"n": "x" * 70_000}})
    assert "at most 65536" in run.error("ask").message


# -- the first of several

RACE: dict[str, Any] = {
    "paid": {"wait_for_webhook": {"timeout": "5d"}},
    "refused": {"wait_for_webhook": {}},
    "late": {"sleep": "3d"},
    "first": {"first_of": ["paid", "refused", "late"]},
    "ship": {"needs": ["first"], "if": "tasks.first.output.first == 'paid'"},
}


def test_the_first_wait_that_is_answered_cancels_the_others() -> None:
    run = play_steps(RACE)
    assert read_ask(run.asks["paid"]).others == ("refused",)
    plan = run.receive("paid", {"ok": True})
    assert plan.closed == ["refused"]
    statuses = {"paid": "received", "refused": "cancelled", "late": "cancelled", "first": "success", "ship": "running"}
    assert run.statuses() == statuses
    run.succeed("ship")
    assert run.status == "completed"


def test_a_sleep_or_a_timeout_may_be_the_first() -> None:
    run = play_steps(RACE)
    run.sleep(3 * DAY)
    run.wake(run.number("late"))
    assert run.statuses()["first"] == "success"
    assert run.statuses()["ship"] == "skipped"
    run = play_steps({**RACE, "paid": {"wait_for_webhook": {"timeout": "1d"}}})
    run.now += DAY * SECOND
    run.tell(events.WaitExpired(run.number("paid")))
    assert run.statuses()["late"] == "cancelled"
    assert run.statuses()["first"] == "success"


def test_a_wait_that_was_closed_for_another_one_does_not_win_by_a_timeout() -> None:
    """The node closes the callbacks, and dies before the sleep that is first is journalled."""
    run = play_steps(RACE)
    for name in ("paid", "refused"):
        assert run.tell(events.WaitExpired(run.number(name))).entry is None
    assert run.state.next_timer() == NOON + 3 * DAY * SECOND
    run.sleep(3 * DAY)
    assert run.statuses()["first"] == "success"
    assert run.statuses()["paid"] == "cancelled"


def test_a_race_whose_members_are_all_skipped_is_skipped() -> None:
    run = play_steps({**RACE, "paid": {"if": "false", "wait_for_webhook": {}}})
    assert run.statuses()["paid"] == "skipped"
    assert run.statuses()["first"] == "pending"
    only = {"a": {"if": "false", "sleep": 1}, "b": {"if": "false", "sleep": 1}, "f": {"first_of": ["a", "b"]}}
    assert play_steps(only).statuses()["f"] == "skipped"


def test_a_member_that_has_not_begun_loses_too() -> None:
    steps = {"a": {}, "w": {"needs": ["a"], "wait_for_webhook": {}}, "s": {"sleep": 5}, "f": {"first_of": ["w", "s"]}}
    run = play_steps(steps)
    run.sleep(5)
    run.wake(run.number("s"))
    assert run.statuses()["w"] == "cancelled"
    run.succeed("a")
    assert run.status == "completed"
