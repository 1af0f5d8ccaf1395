"""A plain step that takes longer than it may runs out of time, as it would in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session, sessionmaker

from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.functions.run import Run
from detent.python.functions.workflow import workflow
from detent.python.transactions import keeper, transactions
from detent.steps.actions import action
from detent.testing import speedrun

LIMIT = 0.05


@action("testing.limits.sleep")
def sleep(seconds: float) -> float:
    threading.Event().wait(seconds)
    return seconds


class Slow(Workflow):
    name = "testing-slow"

    @step(timeout=LIMIT)
    def one(self) -> float:
        return sleep(self.input)


@workflow(name="testing-slow-function")
async def slow(run: Run, seconds: float) -> float:
    return await run.step(sleep, seconds, timeout=LIMIT)


YAML = """
name: slow
tasks:
  one: {action: testing.limits.sleep, timeout: 50ms, retries: 0, with: {seconds: "{{trigger.body}}"}}
"""


@pytest.mark.parametrize("seconds", [0.0, 2 * LIMIT])
def test_a_plain_step_of_a_class_a_function_or_a_definition_has_its_time_limit(seconds: float) -> None:
    is_late = seconds > LIMIT
    chain, function, definition = speedrun(Slow, seconds), speedrun(slow, seconds), speedrun(YAML, seconds)
    assert chain.status == function.status == ("paused" if is_late else "completed")
    assert definition.status == ("failed" if is_late else "completed")
    assert function.route == ["sleep:timeout" if is_late else "sleep"]
    assert definition.route == ["one:timeout" if is_late else "one"]
    for run in (chain, function, definition) if is_late else ():
        assert "0.05 s" in str(run.steps[0].error)


def test_a_step_without_a_time_limit_takes_no_time_however_long_it_takes() -> None:
    @workflow(name="testing-slow-unlimited")
    async def unlimited(run: Run) -> float:
        return await run.step(sleep, LIMIT)

    run = speedrun(unlimited)
    assert (run.status, run.slept.total_seconds()) == ("completed", 0)


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[Any]:
    database = create_engine(f"sqlite:///{tmp_path}/rows.db")
    with database.begin() as connection:
        connection.execute(text("create table row (x int)"))
    before = vars(keeper).copy()
    transactions(sessionmaker(database))

    def count() -> int:
        with database.begin() as connection:
            found: int = connection.execute(text("select count(*) from row")).scalar_one()
            return found

    yield count
    vars(keeper).update(before)
    database.dispose()


@step(transactional=True, timeout=LIMIT)
def insert(session: Session, seconds: float) -> None:
    session.execute(text("insert into row values (1)"))
    threading.Event().wait(seconds)


@workflow(name="testing-slow-kept")
async def kept(run: Run, seconds: float) -> None:
    await run.step(insert, seconds)


class Kept(Workflow):
    name = "testing-slow-kept-class"

    @step(transactional=True, timeout=LIMIT)
    def one(self) -> None:
        insert(self.session, self.input)


@pytest.mark.parametrize("subject", [kept, Kept])
def test_a_transaction_that_is_too_late_is_rolled_back(subject: Any, rows: Any) -> None:
    assert speedrun(subject, 0.0).status == "completed"
    assert rows() == 1
    run = speedrun(subject, 2 * LIMIT)
    assert (run.status, rows()) == ("paused", 1)
    assert "did not end within 0.05 s" in str(run.steps[0].error)
