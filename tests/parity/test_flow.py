"""Conditions, flow control from inside and outside, and heroes that are gone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from detent import sync
from detent.errors import Conflict
from tests.parity.conftest import Node
from tests.parity.flows import (
    USERS,
    Blanket,
    Cleanup,
    Deciding,
    Hooked,
    Orphan,
    Plain,
    Premium,
    Skipping,
    Sleeper,
    Steered,
    User,
    new_user,
    seen,
)
from tests.parity.watching import ended, endings, outcomes, until, until_step


def steered(hero: User, verb: str | None = None, **options: Any) -> sync.RunHandle:
    """A run whose first step says this verb."""
    return sync.start(Steered, hero=hero, input={"verb": verb, "with": options})


def standing(hero: User) -> sync.RunHandle:
    """A run that stands before its second step."""
    run = sync.start(Sleeper, hero=hero)
    until_step(run, "second", "scheduled")
    return run


def test_skip_if_with_names_callables_and_booleans(node: Node) -> None:
    active, other = new_user(), new_user()
    active.is_active = True
    skipped = endings(ended(sync.start(Skipping, hero=active)))
    assert skipped == {"by_name": "skipped", "by_callable": "skipped", "by_true": "skipped", "by_false": "success"}
    ran = endings(ended(sync.start(Skipping, hero=other)))
    assert ran == {"by_name": "success", "by_callable": "success", "by_true": "skipped", "by_false": "success"}
    assert seen(active) == ["by_false"]


def test_skip_if_evaluated_at_execution_time_not_scheduling(node: Node) -> None:
    comes, leaves = new_user(), new_user()
    leaves.is_active = True
    runs = [sync.start(Deciding, hero=one) for one in (comes, leaves)]
    for run in runs:
        until_step(run, "second", "scheduled")
    comes.is_active, leaves.is_active = True, False
    for run in runs:
        run.reattempt()
    assert [endings(ended(run))["second"] for run in runs] == ["skipped", "success"]


def test_cancel_if_for_blanket_conditions(user: User) -> None:
    run = sync.start(Blanket, hero=user)
    until_step(run, "second", "scheduled")
    user.is_gone = True
    run.reattempt()
    document = ended(run)
    assert (document.status, seen(user)) == ("cancelled", ["first"])
    assert endings(document) == {"first": "success", "second": "cancelled", "third": "cancelled"}


def test_class_inheritable_cancel_if(node: Node) -> None:
    def end_of(workflow: Any, **flags: bool) -> str:
        hero = new_user()
        for name, value in flags.items():
            setattr(hero, name, value)
        return str(ended(sync.start(workflow, hero=hero)).status)

    assert end_of(Premium) == "completed"
    assert end_of(Premium, is_gone=True) == "cancelled"  # by its parent
    assert end_of(Premium, has_expired=True) == "cancelled"  # by itself
    assert end_of(Plain, has_expired=True) == "completed"


def test_cancel_marks_the_workflow_canceled(node: Node) -> None:
    inside, outside = new_user(), new_user()
    run = steered(inside, "cancel", reason="enough")
    assert (ended(run).status, seen(inside)) == ("cancelled", ["first"])
    assert outcomes(run) == [("first", "cancelled")]
    run = standing(outside)
    run.cancel()
    assert (ended(run).status, seen(outside)) == ("cancelled", ["first"])


def test_pause_pauses_for_manual_intervention(node: Node) -> None:
    inside, outside = new_user(), new_user()
    run = steered(inside, "pause")
    document = until(run, "paused")
    assert (document.paused_by, endings(document)["first"]) == ("step 'first'", "scheduled")
    run.resume()
    ended(run)
    assert seen(inside) == ["first", "first", "second"]
    run = standing(outside)
    due = run.get().steps["second"].next_at
    assert run.pause().status == "paused"
    # It keeps the time it had.
    assert run.get().steps["second"].next_at == due
    run.resume()
    assert (run.get().status, run.get().steps["second"].next_at) == ("running", due)


def test_reattempt_retries_the_current_step_with_optional_wait(node: Node) -> None:
    at_once, later, outside = new_user(), new_user(), new_user()
    run = steered(at_once, "reattempt")
    assert ended(run).steps["first"].output == "attempt 2"
    assert outcomes(run) == [("first", "reattempted"), ("first", "success"), ("second", "success")]
    run = steered(later, "reattempt", wait=0.2)
    ended(run)
    first, second, _ = run.history()
    assert first.completed_at is not None
    assert second.started_at is not None
    assert second.started_at - first.completed_at >= timedelta(seconds=0.2)
    run = steered(outside, "pause")
    until(run, "paused")
    run.reattempt(wait=0.05)
    assert ended(run).steps["first"].output == "attempt 2"


def test_skip_skips_the_current_step_and_proceeds_to_the_next(node: Node) -> None:
    inside, outside = new_user(), new_user()
    document = ended(steered(inside, "skip"))
    assert (document.status, endings(document)) == ("completed", {"first": "skipped", "second": "success"})
    run = standing(outside)
    run.skip()
    document = ended(run)
    assert endings(document) == {"first": "success", "second": "skipped", "third": "success"}


def test_finish_marks_the_workflow_complete(node: Node) -> None:
    inside, outside = new_user(), new_user()
    document = ended(steered(inside, "finish", result="enough"))
    assert (document.status, document.output) == ("completed", "enough")
    assert endings(document) == {"first": "success", "second": "skipped"}
    run = standing(outside)
    run.finish()
    document = ended(run)
    assert (document.status, seen(outside)) == ("completed", ["first"])


def test_resume_resumes_a_paused_workflow(user: User) -> None:
    run = steered(user, "pause")
    until(run, "paused")
    assert run.resume().status != "paused"
    assert ended(run).status == "completed"
    with pytest.raises(Conflict, match="Cannot resume a finished workflow"):
        run.resume()


def test_cancel_by_default_if_hero_deleted(user: User) -> None:
    run = sync.start(Orphan, hero=user)
    until_step(run, "second", "scheduled")
    del USERS[str(user.id)]
    run.reattempt()
    assert (ended(run).status, seen(user)) == ("cancelled", ["first"])
    assert run.journal()[-1].by == "its hero is gone"


def test_may_proceed_without_hero_opt_out(user: User) -> None:
    run = sync.start(Cleanup, hero=user)
    until_step(run, "second", "scheduled")
    del USERS[str(user.id)]
    run.reattempt()
    document = ended(run)
    assert (document.status, document.output) == ("completed", [None, str(user.id)])
    assert seen(user) == ["first", "second"]


def test_before_step_starts(user: User) -> None:
    """Called after the conditions and before the body, and not for a step that is left out."""
    ended(sync.start(Hooked, hero=user))
    assert seen(user) == ["cancel_if", "skip_if", "before first", "first", "cancel_if", "skip_if"]
