"""Runs that begin later: nothing is decided, started or evaluated before their time."""

from __future__ import annotations

from typing import Any

import pytest

from detent.errors import UnknownEntry
from detent.graph.model import Graph
from detent.instant import SECOND
from detent.planner import fold
from detent.run import events
from detent.run.journal import EntryData, Kind, decode_opening, encode_data
from detent.run.plan import NOTHING
from tests.planner.play import NOON, Play, graph_of, play, play_steps

LATER = NOON + 600 * SECOND


def _later(tasks: dict[str, Any], **document: Any) -> Play:
    return play(graph_of(tasks, **document), opens_at=LATER)


def _pair() -> Play:
    return _later({"a": {}, "b": {"needs": ["a"]}})


def _set_aside(run: Play) -> None:
    """The engine could not go on with the run, and wrote so without asking the planner."""
    raw = encode_data(EntryData(by="detent (TypeError: no)"))
    run.entries.append(run.entries[-1]._replace(seq=len(run.entries) + 1, kind=Kind.PAUSED, step=None, data=raw))
    run.reload()


def test_a_run_that_begins_later_is_pending_and_wakes_then() -> None:
    run = _pair()
    assert (run.status, run.started, run.state.ready) == ("pending", [], {})
    assert run.statuses() == {"a": "pending", "b": "pending"}
    assert run.state.next_wake() == LATER
    assert decode_opening(run.opening).start == LATER
    assert run.entries == []


def test_the_expiry_of_a_pending_run_wakes_it_if_it_is_first() -> None:
    run = _later({"a": {}}, max_duration="1m")
    assert run.state.next_wake() == NOON + 60 * SECOND
    run.expire()
    assert (run.status, run.statuses()) == ("timeout", {"a": "cancelled"})


def test_a_run_is_opened_at_its_time_and_does_what_a_usual_start_does() -> None:
    tasks = {"a": {}, "no": {"if": "1 == 2"}, "nap": {"sleep": "1h"}, "w": {"wait_for_webhook": {"timeout": "2h"}}}
    run, usual = _later(tasks), play_steps(tasks)
    plan = run.open()
    assert run.status == "running"
    assert run.statuses() == usual.statuses()
    assert run.started == usual.started == ["a"]
    assert [(entry.kind, entry.seq, entry.at) for entry in run.entries] == [("opened", 1, LATER)]
    decided, at_once = run.data().decided, decode_opening(usual.opening)
    assert decided is not None
    assert decided.skipped == at_once.skipped == ["no"]
    assert decided.sleep == {"nap": LATER + 3600 * SECOND}
    assert plan.activate == [("w", LATER + 7200 * SECOND, None)]
    assert run.state.next_wake() == LATER + 3600 * SECOND


def test_a_run_is_not_opened_before_its_time() -> None:
    run = _pair()
    assert run.tell(events.Opened()) is NOTHING
    assert run.status == "pending"


def test_a_run_is_opened_once() -> None:
    run = _pair()
    run.open()
    assert run.tell(events.Opened()) is NOTHING
    assert play_steps({"a": {}}).tell(events.Opened()) is NOTHING, "a usual start is open from the beginning"


def test_a_run_may_be_over_as_it_is_opened() -> None:
    run = _later({"a": {"if": "1 == 2"}})
    plan = run.open()
    assert plan.end is not None
    assert (run.status, run.statuses()) == ("completed", {"a": "skipped"})


def test_a_callback_that_comes_before_the_start_is_kept() -> None:
    run = _later({"w": {"wait_for_webhook": {"timeout": "1h"}}, "x": {"needs": ["w"]}})
    run.receive("w", {"paid": True})
    assert run.status == "pending"
    assert run.receive("w", {"paid": False}) is NOTHING
    run.open()
    assert run.statuses() == {"w": "received", "x": "running"}
    assert run.state.results[run.number("w")].endswith(b'"body": {"paid": true}}')


@pytest.mark.parametrize("event", [events.Paused("ann"), events.Resumed("ann"), events.Woke(0), events.WaitExpired(0)])
def test_nothing_else_happens_to_a_pending_run(event: events.Event) -> None:
    assert _pair().tell(event) is NOTHING


def test_a_pending_run_that_is_cancelled_never_opens() -> None:
    run = _pair()
    run.cancel("ann")
    assert (run.status, run.statuses()) == ("cancelled", {"a": "cancelled", "b": "cancelled"})
    assert run.tell(events.Opened()) is NOTHING


def test_nodes_that_die_while_a_run_is_pending_are_nobodys_fault() -> None:
    run = _later({"a": {}, "b": {}})
    for _ in range(3):
        run.crash()
    assert run.status == "pending"
    run.open()
    assert run.started == ["a", "b"], "both at once, not one at a time"
    assert run.state.attempt_number(0) == 1


def test_a_pending_run_that_was_set_aside_stays_so_until_it_is_resumed() -> None:
    run = _later({"a": {}}, max_duration="1d")
    run.crash()
    _set_aside(run)
    assert run.status == "paused"
    run.now = LATER
    assert run.tell(events.Opened()) is NOTHING
    assert run.state.next_wake() == run.facts.expires_at, "its start is nothing to wake for"
    run.resume()
    assert (run.status, run.state.next_wake()) == ("pending", LATER)
    run.open()
    assert run.statuses() == {"a": "running"}


def test_an_unknown_kind_stops_the_fold_of_a_pending_run() -> None:
    run = _pair()
    run.open()
    strange = run.entries[0]._replace(kind="signalled")
    with pytest.raises(UnknownEntry, match="unknown kind 'signalled'"):
        fold(run.prepared, run.facts, run.opening, [strange])


def test_a_run_without_steps_ends_when_it_is_opened_and_not_before() -> None:
    run = play(Graph(()), opens_at=LATER)
    run.crash()
    assert run.status == "pending"
    run.open()
    assert run.status == "completed"
