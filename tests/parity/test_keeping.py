"""Exceptions, uniqueness, scopes and the audit trail."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier
from typing import Any

import pytest

from detent import AlreadyActive, sync
from detent.errors import StoreError
from detent.ids import RUN, parse
from detent.store.rows import Flush
from tests.parity.conftest import Node
from tests.parity.flows import (
    NOBODYS,
    CancelsOnException,
    Gated,
    Letter,
    Parcel,
    PausesByDefault,
    Plain,
    Premium,
    ReattemptsOnException,
    Several,
    SkipsOnException,
    Sleeper,
    Steered,
    StepElsewhere,
    Unserved,
    User,
    gate,
    new_user,
    seen,
)
from tests.parity.watching import ended, endings, outcomes, until, until_step, wait_for
from tests.store.make import Node as Writer
from tests.store.make import entry, start


def test_perform_step_when_it_is_due_and_once(user: User) -> None:
    run = sync.start(Letter, hero=user, delay=0.2)
    assert run.status() == "pending"
    ended(run)
    attempts = list(run.history())
    assert [(one.step, one.attempt) for one in attempts] == [("write", 1), ("send", 1), ("file", 1)]
    for one in attempts:
        assert one.started_at is not None
        assert one.scheduled_for is not None
        assert one.started_at >= one.scheduled_for
    assert seen(user) == ["write", "send", "file"]


def test_step_options_for_queue_and_priority(user: User) -> None:
    run = sync.start(StepElsewhere, hero=user)
    until_step(run, "here", "success")
    wait_for(lambda: "elsewhere" in seen(user) or NOBODYS in run.why().summary)
    assert seen(user) == ["here"]


def test_class_inheritable_queue_and_priority(node: Node) -> None:
    assert (Premium.queue, Premium.priority) == ("parity-premium", 5)
    assert (Plain.queue, Plain.priority) == ("parity", 5)
    assert ended(sync.start(Premium, hero=new_user())).status == "completed"
    stranded = sync.start(Unserved, hero=new_user())
    wait_for(lambda: NOBODYS in stranded.why().summary)


def test_lock_based_idempotency_a_second_writer_is_refused(user: User, node: Node) -> None:
    """Whoever is not the node of now is stopped by the fence, and whoever is, by the key of the journal."""
    run = sync.start(Gated, hero=user)
    wait_for(lambda: seen(user) == ["in"])
    store, key = node.app.store, parse(RUN, run.id)

    async def write_beside() -> None:
        stranger = await Writer.register(store)
        assert await store.flush(stranger.id, stranger.epoch + 1, Flush(entries=[entry(key, 1)])) is None
        assert await stranger.claim(serves=["workflow:parity-gated"], horizon=10**15) == []

    node.ask(write_beside())
    gate(user).set()
    until(run, "paused")
    before = run.journal()

    async def write_again() -> None:
        twin = await Writer.register(store)
        with pytest.raises(StoreError):
            await twin.flush(entries=[entry(key, 1, step="hold")])

    node.ask(write_again())
    assert run.journal() == before
    run.resume()
    assert run.result(timeout=300) == "asked"


def test_on_exception_pause_is_the_default(user: User) -> None:
    run = sync.start(PausesByDefault, hero=user)
    document = until(run, "paused")
    assert document.paused_by == "an exception in step 'charge'"
    assert (seen(user), outcomes(run)) == (["try 1"], [("charge", "failed")])
    run.resume()
    assert ended(run).steps["charge"].output == "attempt 2"


def test_on_exception_cancel(user: User) -> None:
    run = sync.start(CancelsOnException, hero=user)
    document = ended(run)
    assert (document.status, outcomes(run)) == ("cancelled", [("charge", "cancelled")])
    assert endings(document)["after"] == "cancelled"


def test_on_exception_reattempt(user: User) -> None:
    run = sync.start(ReattemptsOnException, hero=user)
    assert ended(run).status == "completed"
    assert seen(user) == ["try 1", "try 2", "try 3", "after"]
    assert [outcome for _, outcome in outcomes(run)] == ["reattempted", "reattempted", "success", "success"]


def test_on_exception_skip(user: User) -> None:
    run = sync.start(SkipsOnException, hero=user)
    document = ended(run)
    assert (document.status, endings(document)) == ("completed", {"charge": "skipped", "after": "success"})


def test_store_error_message_and_backtrace(user: User) -> None:
    run = sync.start(PausesByDefault, hero=user)
    error = until(run, "paused").steps["charge"].error
    assert (error.code, error.message) == ("exception", "ConnectionError: the gateway is away")
    assert 'raise ConnectionError("the gateway is away")' in error.detail["traceback"]


def test_one_workflow_per_hero_by_default(user: User) -> None:
    first = sync.start(Sleeper, hero=user)
    with pytest.raises(AlreadyActive) as refused:
        sync.start(Sleeper, hero=user)
    assert refused.value.run == first.id
    # Another hero and another class are not in each other's way, and neither is a run that has ended.
    sync.start(Sleeper, hero=new_user())
    ended(sync.start(Parcel, hero=user))
    first.cancel()
    assert sync.start(Sleeper, hero=user).id != first.id


def test_allow_multiple_flag_for_concurrent_workflows(user: User) -> None:
    by_class = {sync.start(Several, hero=user).id for _ in range(3)}
    assert {run.id for run in sync.runs(Several).for_hero(user).active()} == by_class
    first = sync.start(Sleeper, hero=user)
    assert sync.start(Sleeper, hero=user, allow_multiple=True).id != first.id


def test_database_enforced_constraints(user: User, node: Node) -> None:
    together = Barrier(12)

    def begin() -> str:
        together.wait(timeout=300)
        try:
            return sync.start(Sleeper, hero=user).id
        except AlreadyActive as refused:
            return f"in the way: {refused.run}"

    with ThreadPoolExecutor(12) as threads:
        said = [one.result() for one in [threads.submit(begin) for _ in range(12)]]
    [made] = [run for run in said if run.startswith("run_")]
    assert said.count(f"in the way: {made}") == 11

    async def write_past_the_engine() -> bool:
        """The very row that the engine would have refused to write."""
        writer, store = await Writer.register(node.app.store), node.app.store
        row = start(hero_type="User", hero_id=str(user.id), active_key=f'["parity-sleeper","User","{user.id}"]')
        return row.id in await writer.refused(starts=[row]) and await store.run(1, row.id) is None

    assert node.ask(write_past_the_engine())


def test_state_scopes_ready_performing_paused_finished_canceled(user: User) -> None:
    mine = sync.runs().for_hero(user)
    ready = sync.start(Sleeper, hero=user, delay="1h")
    performing = sync.start(Gated, hero=user)
    wait_for(lambda: "in" in seen(user))
    paused = sync.start(PausesByDefault, hero=user)
    until(paused, "paused")
    finished = sync.start(Parcel, hero=user)
    ended(finished)
    canceled = sync.start(Several, hero=user)
    canceled.cancel()
    wait_for(lambda: [run.id for run in mine.performing()] == [performing.id])
    found = {
        name: [run.id for run in getattr(mine, name)()]
        for name in ("ready", "performing", "paused", "finished", "canceled")
    }
    assert found == {
        "ready": [ready.id],
        "performing": [performing.id],
        "paused": [paused.id],
        "finished": [finished.id],
        "canceled": [canceled.id],
    }
    # The story of the library: those that stand still are looked up and let go on.
    for run in sync.runs(PausesByDefault, hero=user).paused().handles():
        run.resume()
    assert ended(paused).status == "completed"


def test_for_hero_scope(user: User) -> None:
    other = new_user()
    mine, theirs = sync.start(Parcel, hero=user), sync.start(Parcel, hero=other)
    assert [run.id for run in sync.runs(Parcel).for_hero(user)] == [mine.id]
    assert [run.id for run in sync.runs().for_hero(("User", other.id))] == [theirs.id]


def test_active_scope(user: User) -> None:
    asleep, over = sync.start(Sleeper, hero=user), sync.start(Parcel, hero=user)
    ended(over)
    assert [run.id for run in sync.runs().for_hero(user).active()] == [asleep.id]
    asleep.pause()
    assert [run.id for run in sync.runs().for_hero(user).active()] == [asleep.id]
    asleep.cancel()
    assert sync.runs().for_hero(user).active().all() == []


def test_step_history_preserved(user: User) -> None:
    run = sync.start(ReattemptsOnException, hero=user)
    ended(run)
    told = [(one.step, one.attempt, one.state) for one in run.history()]
    assert told == [
        ("charge", 1, "failed"),
        ("charge", 2, "failed"),
        ("charge", 3, "completed"),
        ("after", 1, "completed"),
    ]
    assert [entry.seq for entry in run.journal()] == [1, 2, 3, 4]


def test_outcome_has_five_values(node: Node) -> None:
    found = set()
    for verb in (None, "cancel", "skip", "reattempt"):
        run = sync.start(Steered, hero=new_user(), input={"verb": verb})
        ended(run)
        found |= {outcome for _, outcome in outcomes(run)}
    failed = sync.start(PausesByDefault, hero=new_user())
    until(failed, "paused")
    found |= {outcome for _, outcome in outcomes(failed)}
    assert found == {"success", "reattempted", "skipped", "cancelled", "failed"}


def test_error_message_and_backtrace_of_every_attempt(user: User) -> None:
    run = sync.start(ReattemptsOnException, hero=user)
    ended(run)
    first, second, third, _ = run.history()
    for failed in (first, second):
        assert failed.error_message == "ConnectionError: the gateway is away"
        assert "in fail" in (failed.error_traceback or "")
    assert (third.error_message, third.error_traceback) == (None, None)


def test_individual_timestamps_on_attempts(node: Node) -> None:
    def first_of(workflow: type, verb: str | None = None) -> Any:
        run = sync.start(workflow, hero=new_user(), input={"verb": verb})
        wait_for(lambda: run.status() != "running")
        return next(run.history())

    stamped = {
        "completed": first_of(Parcel),
        "failed": first_of(PausesByDefault),
        "skipped": first_of(Steered, "skip"),
        "cancelled": first_of(Steered, "cancel"),
    }
    for state, attempt in stamped.items():
        ends = {name: getattr(attempt, f"{name}_at") for name in stamped}
        assert [name for name, at in ends.items() if at is not None] == [state]
        moments = [attempt.scheduled_for, attempt.started_at, ends[state]]
        assert all(later >= earlier for earlier, later in pairwise(moments))
