"""A run whose class was edited between two of its steps, under each way to deal with it.

The class of the run has the steps a, b, c. The run has done a and stands still before b when its code is replaced.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.registry import PythonRegistry
from tests.python.stage import PATIENCE, QUICK, Theatre, endings, theatre

WAIT = 0.4
#: A step in flight is waited for, however slow the machine is.
PATIENT = replace(QUICK, drain=PATIENCE)


class Edited:
    """The code of one workflow before and after, and what of it ran."""

    def __init__(self, drift: str) -> None:
        self.drift = drift
        self.ran: list[str] = []
        self.begun = threading.Event()
        self.may_end = threading.Event()
        self.may_end.set()

    def code(self, steps: Sequence[str], *, version: str = "", slow: str = "b", **waits: float) -> PythonRegistry:
        """A class with these steps, in a registry of its own: another process. Before `slow` it waits a moment."""
        registry = PythonRegistry()

        def body(name: str) -> Any:
            def run(self: Any) -> list[str]:
                edited.ran.append(name + version)
                edited.begun.set()
                assert edited.may_end.wait(PATIENCE)
                self.state.setdefault("ran", []).append(name)
                return list(self.state["ran"])

            return run

        edited = self

        class Signup(Workflow, registry=registry):
            drift = edited.drift
            for each in steps:
                step(each, body(each), wait=waits.get(each, WAIT if each == slow else None))

        return registry


@asynccontextmanager
async def edited_run(url: str, edited: Edited, *after: str, **options: Any) -> AsyncIterator[tuple[Theatre, str]]:
    """A run of a, b, c whose node is replaced, between a and b, by one that has these steps."""
    async with theatre(url) as world:
        old = await world.engine(edited.code(["a", "b", "c"]), tuning=PATIENT)
        edited.may_end.clear()
        run = await world.start("Signup", hero=("User", "1"))
        assert await asyncio.to_thread(edited.begun.wait, PATIENCE)
        stopped = asyncio.create_task(world.stop(old))
        await asyncio.sleep(0)  # from here on the node lets `a` end, and begins nothing
        edited.may_end.set()
        await stopped
        await world.engine(edited.code(after, version="+", **options))
        yield world, run


@pytest.mark.case("F15")
@pytest.mark.parametrize(
    ("after", "ran", "left"),
    [
        (["a", "b", "new", "c"], ["a", "b+", "new+", "c+"], {}),  # added behind
        (["a", "new", "b", "c"], ["a", "b+", "c+"], {"new": "skipped"}),  # added before the step it stands at
        (["new", "a", "b", "c"], ["a", "b+", "c+"], {"new": "skipped"}),  # added before what has ended
        (["a", "c"], ["a", "c+"], {}),  # removed: the one it stood at
        (["a", "b"], ["a", "b+"], {}),  # removed: the last
        (["b", "c"], ["a", "b+", "c+"], {}),  # removed: one that had ended
        (["a", "bee", "c"], ["a", "bee+", "c+"], {}),  # renamed: the one it stood at
        (["ay", "b", "c"], ["a", "b+", "c+"], {"ay": "skipped"}),  # renamed: one that had ended
        (["b", "a", "c"], ["a", "b+", "c+"], {}),  # reordered: the one it stands at runs, wherever it stands
        (["a", "c", "b"], ["a", "b+"], {"c": "skipped"}),  # reordered: what is now before the one it stands at
        (["c", "b", "a"], ["a", "b+"], {"c": "skipped"}),  # reordered: what has ended is now the last
    ],
)
async def test_a_tolerant_run_goes_on_by_the_code_of_now(
    after: list[str], ran: list[str], left: dict[str, str]
) -> None:
    edited = Edited("tolerant")
    async with edited_run("memory://", edited, *after) as (world, run):
        ended = await world.ended(run)
        assert ended["status"] == "completed"
        assert edited.ran == ran
        assert list(ended["tasks"]) == after
        assert endings(ended) == {name: left.get(name, "success") for name in after}


async def test_a_tolerant_run_goes_on_by_the_code_of_now_on_every_store(store_url: str) -> None:
    edited = Edited("tolerant")
    async with edited_run(store_url, edited, "a", "b", "new", "c") as (world, run):
        ended = await world.ended(run)
        assert (ended["status"], edited.ran) == ("completed", ["a", "b+", "new+", "c+"])
        assert ended["output"] == ["a", "b", "new", "c"]
        assert ended["tasks"]["a"]["output"] == ["a"]


async def test_state_outlives_the_step_that_left_it(store_url: str) -> None:
    edited = Edited("tolerant")
    async with edited_run(store_url, edited, "b", "c") as (world, run):
        assert (await world.ended(run))["output"] == ["a", "b", "c"]


async def test_bodies_may_change_at_any_time_under_every_mode_but_pin() -> None:
    for drift in ("tolerant", "strict"):
        edited = Edited(drift)
        async with edited_run("memory://", edited, "a", "b", "c") as (world, run):
            assert (await world.ended(run))["status"] == "completed"
            assert edited.ran == ["a", "b+", "c+"]


@pytest.mark.case("F15")
@pytest.mark.parametrize(
    ("after", "waits", "line"),
    [
        (["a", "b", "new", "c"], {}, "+new"),
        (["a", "c"], {}, "-b after 0.4 s"),
        (["a", "bee", "c"], {"bee": 0.4}, "+bee after 0.4 s"),
        (["b", "a", "c"], {}, "-b after 0.4 s"),
        (["a", "b", "c"], {"b": 0.5}, "+b after 0.5 s"),
    ],
)
async def test_a_strict_run_pauses_with_the_difference(after: list[str], waits: dict[str, float], line: str) -> None:
    edited = Edited("strict")
    async with edited_run("memory://", edited, *after, **waits) as (world, run):
        paused = await world.paused(run)
        assert paused["paused_by"] == "changed code"
        error = paused["tasks"]["b"]["error"]
        assert error["code"] == "drift"
        assert line in error["detail"]["diff"].splitlines()
        assert edited.ran == ["a"]
        # With the old code back in place it goes on.
        await world.stop(world.engines[0])
        await world.engine(edited.code(["a", "b", "c"]))
        await world.commands().control.resume(run)
        assert (await world.ended(run))["status"] == "completed"


async def test_a_strict_run_pauses_with_the_difference_on_every_store(store_url: str) -> None:
    edited = Edited("strict")
    async with edited_run(store_url, edited, "a", "c") as (world, run):
        paused = await world.paused(run)
        assert "-b after 0.4 s" in paused["tasks"]["b"]["error"]["detail"]["diff"]
        _, _, reasons = await world.commands().runs.why(run)
        assert "put the old code back and resume it, or cancel it and start again" in reasons[0].message
        assert "-b after 0.4 s" in (reasons[0].details or {})["diff"]


@pytest.mark.parametrize(
    "after", [["a", "new", "b", "c"], ["a", "c"], ["a", "bee", "c"], ["b", "a", "c"], ["a", "b", "c"]]
)
async def test_a_pinned_run_waits_for_a_node_with_its_code(after: list[str]) -> None:
    edited = Edited("pin")
    async with edited_run("memory://", edited, *after) as (world, run):
        await asyncio.sleep(WAIT + 0.3)
        document = await world.run(run)
        assert (document["status"], edited.ran) == ("running", ["a"])
        _, _, reasons = await world.commands().runs.why(run)
        assert "the workflow 'Signup' with exactly the code " in reasons[0].message
        # New runs are of the new code.
        newer = await world.ended(await world.start("Signup", hero=("User", "2")))
        assert list(newer["tasks"]) == after
        await world.engine(edited.code(["a", "b", "c"]))
        ended = await world.ended(run)
        assert ended["status"] == "completed"
        assert list(ended["tasks"]) == ["a", "b", "c"]
        assert {name for name in edited.ran if not name.endswith("+")} == {"a", "b", "c"}


async def test_a_pinned_run_waits_for_a_node_with_its_code_on_every_store(store_url: str) -> None:
    edited = Edited("pin")
    async with edited_run(store_url, edited, "a", "c") as (world, run):
        await asyncio.sleep(WAIT + 0.3)
        assert edited.ran == ["a"]
        await world.engine(edited.code(["a", "b", "c"]))
        assert (await world.ended(run))["status"] == "completed"
        assert edited.ran == ["a", "b", "c"]
