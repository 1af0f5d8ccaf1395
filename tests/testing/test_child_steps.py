"""Speedruns of workflows whose steps are child runs."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from detent.errors import InvalidDefinition
from detent.testing import NeverEnds, speedrun

CHILD = {
    "name": "child",
    "tasks": {"nap": {"sleep": "2d"}, "ask": {"wait_for_webhook": {}, "needs": "nap"}},
    "output": {"n": "{{ trigger.body.n }}", "said": "{{ tasks.ask.body }}"},
}
PARENT = {
    "name": "parent",
    "tasks": {"a": {"workflow": "child", "with": {"n": 1}}, "b": {"action": "core.echo", "needs": "a"}},
    "output": "{{ tasks.a.output }}",
}


def test_a_child_takes_no_time_and_gets_its_answers(tmp_path: Path) -> None:
    file = tmp_path / "child.json"
    file.write_text('{"name": "child", "tasks": {"nap": {"sleep": "3d"}}, "output": 7}')
    run = speedrun(PARENT, children=[file])
    assert (run.output, run.route) == (7, ["a", "b"])
    assert run.slept == timedelta(days=3)


def test_an_answer_for_a_child_may_take_its_time() -> None:
    async def answer() -> int:
        await asyncio.sleep(3600)
        return 7

    run = speedrun(PARENT, answers={"a": answer}, children=[CHILD])
    assert (run.output, run.route, run.slept) == (7, ["a", "b"], timedelta(hours=1))


def test_a_child_that_waits_for_ever_is_reported() -> None:
    with pytest.raises(NeverEnds, match="Step 'a' waits for its child"):
        speedrun(PARENT, children=[CHILD])


def test_a_child_that_is_not_given_fails_its_step() -> None:
    run = speedrun(PARENT)
    assert (run.status, "there is no workflow 'child'" in (run.error or "")) == ("failed", True)


def test_a_child_that_is_not_valid_is_refused() -> None:
    with pytest.raises(InvalidDefinition):
        speedrun(PARENT, children=[{"name": "child", "tasks": {}, "nonsense": 1}])
