"""Workflows in Python that a schedule in their code starts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from detent import Workflow, cron, minutes, step, workflow
from detent.auth.caller import local_caller
from detent.errors import InvalidDefinition
from detent.ids import TRIGGER, show
from detent.process import App, run_app
from detent.python.functions import Run
from detent.python.registry import registry
from detent.settings import Settings
from detent.store.rows import RunCriteria, RunRow
from detent.store.trigger_rows import TriggerRow
from tests.callers import commands_of

NAME = "scheduled_report"


@pytest.fixture(autouse=True)
def own_registry() -> Iterator[None]:
    """Only the workflows of this module are known here, and only here."""
    with registry.scoped(lambda one: one.place.startswith(__name__)):
        yield


async def triggers(app: App) -> list[TriggerRow]:
    found = await app.store.triggers(1, limit=100)
    return [row for row in found if row.workflow_name == NAME]


def define(**options: Any) -> Any:
    @workflow(name=NAME, **options)
    async def report(run: Run, title: str = "daily") -> Any:
        return {"title": title, "slot": str(run.scheduled_at)}

    return report


async def test_the_schedule_of_a_function_is_one_trigger_that_follows_the_code(tmp_path: Path) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path}/detent.db")
    before = define(schedule=cron("0 9 * * *", "Europe/Zurich", overlap="skip", jitter=minutes(5)))
    async with run_app(settings, migrate=True) as app:
        [first] = await triggers(app)
        assert (first.kind, first.owned) == ("cron", True)
        assert all(text in first.config for text in ('"0 9 * * *"', '"Europe/Zurich"', '"skip"', "300"))
    async with run_app(settings) as app:  # the same code is deployed again
        assert await triggers(app) == [first]
        assert (await commands_of(app).workflows.get(NAME)).version == 1
    changed = define(every="90m")
    assert changed.fingerprint == before.fingerprint, "a run does not change because its workflow starts at other times"
    async with run_app(settings) as app:
        [second] = await triggers(app)
        assert '"@every 1h30m"' in second.config
        assert second.id == first.id
    define()
    async with run_app(settings) as app:
        assert await triggers(app) == []


async def test_a_slot_starts_the_function_with_its_defaults_and_the_slot() -> None:
    define(every=timedelta(seconds=1))
    async with run_app(Settings(database_url="memory:"), migrate=True) as app:
        done = await completed(app)
        assert (done.trigger, done.workflow_name) == ("cron", NAME)
        assert b'"title":"daily"' in (done.output or b"")
        assert b'"slot":"20' in (done.output or b"")


async def test_a_class_has_its_own_schedule_and_a_subclass_has_none(tmp_path: Path) -> None:
    class Report(Workflow):
        name = NAME
        schedule = cron("@daily")

        @step
        def write(self) -> Any:
            return str(self.scheduled_at)

    class Longer(Report):
        name = "longer_report"

    assert {one.target for one in registry.all()} == {Report, Longer}
    async with run_app(Settings(database_url=f"sqlite:///{tmp_path}/detent.db"), migrate=True) as app:
        found = {row.workflow_name: row for row in await app.store.triggers(1, limit=100)}
        assert found.keys() == {NAME}
        await app.triggers.for_caller(local_caller("test")).firings.fire(show(TRIGGER, found[NAME].id))
        assert b"20" in ((await completed(app)).output or b"")


async def completed(app: App) -> RunRow:
    """The first run that has completed."""
    async with asyncio.timeout(60):
        while True:
            if done := await app.store.runs(1, limit=1, where=RunCriteria(statuses=("completed",))):
                return done[0]
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": "soon"}, "every: 'soon' is not a duration"),
        ({"every": 0}, "every: must be more than zero"),
        ({"every": "1.5s"}, "is not a number of whole seconds"),
        ({"schedule": "0 9 * * *"}, "schedule: '0 9 * * *' is not a schedule; write `cron("),
        ({"schedule": cron("61 9 * * *")}, "schedule: cron_expression: '61 9 * * *' is not a cron expression"),
        ({"schedule": cron("0 9 * * *", "Europe/Zurch")}, "did you mean 'Europe/Zurich'?"),
        ({"schedule": cron("@dayly")}, "did you mean '@daily'?"),
        ({"schedule": cron("@daily", overlap="never")}, "overlap"),
        ({"schedule": cron("@daily"), "every": "1h"}, "every: there is a `schedule` too"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused_with_its_reason(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidDefinition) as refused:
        define(**options)
    assert message in str(refused.value)


def test_a_scheduled_function_needs_no_arguments() -> None:
    with pytest.raises(InvalidDefinition, match="a scheduled run has no arguments; give 'title' a default"):

        @workflow(name=NAME, every="1h")
        async def report(run: Run, title: str) -> None: ...
