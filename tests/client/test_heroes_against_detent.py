"""Heroes by the client, against a real Detent."""

from __future__ import annotations

import pytest

from detent import errors
from detent.client import Client
from detent.client.errors import AlreadyActive, Conflict

SIGNUP = "name: Signup\none_per_hero: true\ntasks:\n  w: {wait_for_webhook: {}}\n"
ECHO = "name: echo\ntasks:\n  a: {action: core.echo}\n"


def test_a_second_start_is_already_active_with_the_run(detent_url: str) -> None:
    with Client(detent_url) as client:
        client.workflows.save(SIGNUP)
        first = client.start("Signup", hero=("User", "7"))
        with pytest.raises(AlreadyActive) as refused:
            client.start("Signup", hero="User:7")
        error = refused.value
        assert isinstance(error, errors.AlreadyActive)
        assert isinstance(error, Conflict)
        assert (error.run_id, error.run, error.status, error.code) == (first.id, first.id, 409, "already_active")
        again = client.start("Signup", hero="User:7", allow_multiple=True)
        assert {run.id for run in client.runs(hero="User:7", status="active")} == {first.id, again.id}
        for run in (first, again):
            run.cancel()
        assert list(client.runs(hero="User:7", status="active")) == []
        with pytest.raises(Conflict) as other:
            client.workflows.create(SIGNUP)
        assert not isinstance(other.value, AlreadyActive)


def test_the_story_of_a_hero_and_of_a_run(detent_url: str) -> None:
    with Client(detent_url) as client:
        client.workflows.save(ECHO)
        runs = [client.start("echo", hero=("Story", "a:b"), wait=20) for _ in range(2)]
        told = list(client.timeline(("Story", "a:b"), limit=2))
        assert [(one.run_id, one.kind) for one in told] == [
            (run.id, kind) for run in runs for kind in ("run_started", "ended")
        ]
        assert {one.workflow for one in told} == {"echo"}
        [row] = runs[0].history()
        assert (row.step, row.attempt, row.state, row.outcome) == ("a", 1, "completed", "success")
        assert row.completed_at is not None
        assert row.failed_at is None
