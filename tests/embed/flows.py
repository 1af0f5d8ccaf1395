"""Workflows that the tests of this folder start."""

from __future__ import annotations

from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.functions.run import Run
from detent.python.functions.workflow import workflow


class Greeting(Workflow):
    """Greets, and makes it loud."""

    name = "greeting"

    @step
    async def greet(self) -> str:
        return f"hello {self.input['who']}"

    @step
    def shout(self) -> str:
        return str(self.results["greet"]).upper()


class Patient(Workflow):
    """Does not end by itself."""

    name = "patient"

    @step
    async def begin(self) -> None:
        return None

    @step(wait=3600)
    async def end(self) -> None:
        return None


def add(left: int, right: int) -> int:
    return left + right


@workflow(allow_multiple=True)
async def summing(run: Run, left: int, right: int = 1) -> int:
    found = await run.step(add, left, right)
    assert isinstance(found, int)
    return found


class Stubborn(Workflow):
    """Pauses whenever it is tried."""

    name = "stubborn"

    @step
    async def refuse(self) -> None:
        raise ValueError("no")


class Counting(Workflow):
    """Its state goes on from step to step."""

    name = "counting"

    @step
    async def first(self) -> None:
        self.state["count"] = 1

    @step
    async def second(self) -> None:
        self.state["count"] += 1
