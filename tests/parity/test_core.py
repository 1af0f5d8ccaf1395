"""Core features and the definition of steps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import pytest

from detent import Client, Workflow, sync
from detent.errors import Conflict
from tests.parity.conftest import Node
from tests.parity.flows import (
    ORDERS,
    SHELVES,
    Describing,
    Gated,
    Letter,
    Mixed,
    Order,
    Ordered,
    Parcel,
    Plain,
    Premium,
    Shelf,
    Sleeper,
    User,
    gate,
    new_user,
    seen,
)
from tests.parity.watching import ended, endings, outcomes, until, until_step, wait_for


def test_database_backed_workflows_of_several_classes(user: User) -> None:
    letter, parcel = sync.start(Letter, hero=user), sync.start(Parcel, hero=user)
    ended(letter)
    ended(parcel)
    assert [run.id for run in sync.runs(Letter).for_hero(user)] == [letter.id]
    assert [run.id for run in sync.runs(Parcel).for_hero(user)] == [parcel.id]
    both = {run.id: run.workflow for run in sync.runs().for_hero(user)}
    assert both == {letter.id: "parity-letter", parcel.id: "parity-parcel"}


def test_polymorphic_hero_association(user: User) -> None:
    order, shelf = Order(UUID(int=user.id)), Shelf("A 1/b")
    ORDERS[str(order.id)], SHELVES[shelf.id] = order, shelf
    said = {type(hero).__name__: sync.start(Describing, hero=hero).result(timeout=300) for hero in (user, order, shelf)}
    assert said == {
        "User": ["User", "User", str(user.id), str(user.id)],
        "Order": ["Order", "Order", str(order.id), str(order.id)],
        "Shelf": ["Shelf", "Shelf", "A 1/b", "A 1/b"],
    }
    assert sync.start(Describing, hero=("Unknown", user.id)).result(timeout=300)[:2] == ["HeroRef", "Unknown"]


def test_step_dsl_named_and_anonymous(user: User) -> None:
    document = ended(sync.start(Mixed, hero=user))
    assert document.status == "completed"
    assert set(endings(document).values()) == {"success"}
    assert {"defined", "step_1"} <= set(document.steps)


def test_wait_times_between_steps(user: User) -> None:
    run = sync.start(Letter, hero=user)
    assert ended(run).status == "completed"
    write, send, file = run.history()
    assert [one.step for one in (write, send, file)] == seen(user) == ["write", "send", "file"]
    for before, after in ((write, send), (send, file)):
        assert before.completed_at is not None
        assert after.started_at is not None
        assert after.completed_at is not None
        due = before.completed_at + timedelta(seconds=0.15)
        # The node corrects its estimate of the database's time, so an end may be dated a little before it was due.
        assert after.scheduled_for == min(due, after.completed_at)
        assert after.started_at >= after.scheduled_for


def test_state_machine_ready_performing_finished_canceled_paused(user: User) -> None:
    mine = sync.runs(Gated).for_hero(user)
    waiting = sync.start(Gated, hero=user, delay="1h")
    assert [run.id for run in mine.ready()] == [waiting.id]
    waiting.cancel()
    ended(waiting)
    assert [run.id for run in mine.canceled()] == [waiting.id]
    run = sync.start(Gated, hero=user)
    wait_for(lambda: seen(user) == ["in"])
    assert [one.id for one in mine.performing()] == [run.id]
    gate(user).set()
    until(run, "paused")
    assert [one.id for one in mine.paused()] == [run.id]
    run.resume()
    assert run.result(timeout=300) == "asked"
    assert [one.id for one in mine.finished()] == [run.id]
    for verb in (run.resume, run.pause, run.cancel):
        with pytest.raises(Conflict, match="finished workflow"):
            verb()


def test_lock_guarded_execution(node: Node) -> None:
    """Ends from inside and outside race: each run has one of them, and nothing runs behind it."""
    users = [new_user() for _ in range(12)]
    runs = [sync.start(Letter, hero=user) for user in users]

    def cancel(run: sync.RunHandle, step: str) -> None:
        until_step(run, step, "running", "success", "cancelled")
        with suppress(Conflict):  # it has ended
            run.cancel()

    with ThreadPoolExecutor(12) as threads:
        steps = ("write", "send", "file") * 4
        for one in [threads.submit(cancel, *pair) for pair in zip(runs, steps, strict=True)]:
            one.result()
    ends = [ended(run) for run in runs]
    assert {end.status for end in ends} <= {"completed", "cancelled"}
    for user, run, end in zip(users, runs, ends, strict=True):
        history = run.journal()
        assert [entry.run_status for entry in history] == [None] * (len(history) - 1) + [end.status]
        achieved = [name for name, ending in endings(end).items() if ending == "success"]
        assert seen(user)[: len(achieved)] == achieved
        assert len(seen(user)) <= len(achieved) + 1  # the one that was in flight when it was cancelled


def test_single_execution_guarantee_per_workflow(user: User) -> None:
    run = sync.start(Gated, hero=user)
    wait_for(lambda: seen(user) == ["in"])
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(verb) for verb in (run.pause, run.resume) * 4]
        run.get()
        assert seen(user) == ["in"]
        gate(user).set()
        for one in asked:
            one.exception(timeout=300)
    with suppress(Conflict):  # the last that was asked may have been a resume, and the run may have ended
        run.resume()
    until_step(run, "hold", "success")
    assert seen(user) == ["in", "out"]
    assert outcomes(run)[0] == ("hold", "success")


def test_class_inheritable_dsl_steps_cancel_if_and_options(node: Node) -> None:
    plain, premium = new_user(), new_user()
    assert list(ended(sync.start(Plain, hero=plain)).steps) == ["greet"]
    assert list(ended(sync.start(Premium, hero=premium)).steps) == ["greet", "gift"]
    expired = [new_user(), new_user()]
    for user in expired:
        user.has_expired = True
    # What the child adds does not change its parent, nor its siblings.
    assert ended(sync.start(Plain, hero=expired[0])).status == "completed"
    assert ended(sync.start(Premium, hero=expired[1])).status == "cancelled"
    with Client(node.app.local_url) as client:
        said = {name: client.workflows.get(name).definition for name in ("parity-plain", "parity-premium")}
    assert [(one["queue"], one["priority"]) for one in said.values() if one] == [("parity", 5), ("parity-premium", 5)]


def test_named_steps_with_blocks(user: User) -> None:
    document = ended(sync.start(Mixed, hero=user))
    assert (document.steps["block"].status, document.steps["block"].output) == ("success", f"block of {user.id}")


def test_anonymous_steps_with_auto_naming(user: User) -> None:
    ended(sync.start(Mixed, hero=user))
    # A name that was given stays free of those that were not.
    assert [name for name in seen(user) if name.startswith("step_")] == ["step_1", "step_2", "step_3", "step_4"]


def test_instance_method_steps(user: User) -> None:
    document = ended(sync.start(Mixed, hero=user))
    assert [document.steps[name].output for name in ("method", "calling")] == ["method", "calling"]


def test_inline_method_definition(user: User) -> None:
    document = ended(sync.start(Mixed, hero=user))
    assert document.steps["defined"].output == "defined"
    assert issubclass(Mixed, Workflow)
    assert Mixed.defined.__name__ == "defined"


def test_step_ordering_before_step_and_after_step(user: User) -> None:
    document = ended(sync.start(Ordered, hero=user))
    assert list(document.steps) == seen(user) == ["first", "second", "between", "third", "last"]


def test_forward_scheduler(user: User) -> None:
    """A run that waits has its next step scheduled, and none behind it."""
    run = sync.start(Sleeper, hero=user)
    document = until_step(run, "second", "scheduled")
    assert endings(document) == {"first": "success", "second": "scheduled", "third": "pending"}
    due, done = document.steps["second"].next_at, document.steps["first"].finished_at
    assert due == done + timedelta(hours=1)
    assert document.steps["third"].next_at is None


def test_scheduling_is_atomic(user: User) -> None:
    """What ended and what is scheduled because of it is one entry of the journal: there is no moment between them."""
    run = sync.start(Sleeper, hero=user)
    document = until_step(run, "second", "scheduled")
    [entry] = run.journal()
    assert (entry.step, entry.status) == ("first", "success")
    assert entry.sleep_until == {"second": document.steps["second"].next_at}
