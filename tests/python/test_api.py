"""Workflow classes as the HTTP API shows them."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from detent import app, process
from detent.python.classes.executor import ClassExecutor
from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.registry import PythonRegistry
from detent.values.durations import days
from tests.api.server import serving, statuses


@pytest.fixture
def served(code: PythonRegistry, monkeypatch: pytest.MonkeyPatch) -> PythonRegistry:
    """What this process serves is of this test alone."""
    monkeypatch.setattr(process, "python_registry", code)
    monkeypatch.setattr(app, "python_registry", code)
    monkeypatch.setattr(process, "ClassExecutor", functools.partial(ClassExecutor, code))
    return code


async def test_a_workflow_class_is_listed_shown_started_and_followed(served: PythonRegistry) -> None:
    class Signup(Workflow, registry=served):
        """Greets people."""

        name = "signup"

        @step
        def welcome(self) -> dict[str, Any]:
            self.state["mails"] = 1
            return {"hello": self.input["name"]}

        @step(skip_if="is_active")
        def remind(self) -> None:
            raise AssertionError

        @property
        def is_active(self) -> bool:
            return True

        step("later", lambda self: self.finish("enough"))
        step("never", lambda self: None, wait=days(7))

    async with serving("memory://") as detent:
        listed = (await detent.call("GET", "/api/v1/workflows")).json["data"]
        assert [one["name"] for one in listed] == ["signup"]
        shown = (await detent.call("GET", "/api/v1/workflows/signup")).json["data"]
        assert (shown["form"], shown["description"]) == ("python", "Greets people.")
        definition = shown["definition"]
        assert definition["class"].endswith("Signup")
        assert [one["name"] for one in definition["steps"]] == ["welcome", "remind", "later", "never"]
        assert definition["steps"][3] == {"name": "never", "calls": "<lambda>", "wait": 604800.0}
        versions = (await detent.call("GET", "/api/v1/workflows/signup/versions")).json["data"]
        assert versions[0]["definition"] == definition

        run = await detent.ended(await detent.start("signup", {"name": "Ann"}))
        assert (run["status"], run["output"]) == ("completed", "enough")
        wanted = {"welcome": "success", "remind": "skipped", "later": "success", "never": "skipped"}
        assert statuses(run) == wanted
        welcome = run["tasks"]["welcome"]
        assert (welcome["type"], welcome["output"], welcome["state"]) == ("python", {"hello": "Ann"}, {"mails": 1})


async def test_an_exception_is_shown_with_its_traceback_and_the_run_can_be_steered(served: PythonRegistry) -> None:
    class Payment(Workflow, registry=served):
        step("charge", lambda self: 1 / 0)
        step("receipt", lambda self: "sent")

    async with serving("memory://") as detent:
        started = await detent.start("Payment", {})
        run = await detent.until(started, lambda document: document["status"] == "paused")
        error = run["tasks"]["charge"]["error"]
        assert error["message"] == "ZeroDivisionError: division by zero"
        assert error["detail"]["type"] == "ZeroDivisionError"
        assert "lambda self: 1 / 0" in error["detail"]["traceback"]
        why = (await detent.call("GET", f"/api/v1/runs/{started['run_id']}/why")).json["data"]
        assert "an exception in step 'charge'" in str(why)
        answer = await detent.call("POST", f"/api/v1/runs/{started['run_id']}/cancel")
        assert answer.status == 200, answer.text
        assert (await detent.ended(started))["status"] == "cancelled"
