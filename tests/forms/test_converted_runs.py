"""Random workflows in one form and in another, on the real engine in memory: their runs end in the same way.

What a step does is decided by its name, its attempt and the item of a map, so both runs meet the same outside world.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from detent.forms.compile import compile_document
from detent.forms.compiled import Compiled
from detent.forms.conversion.convert import write_document
from detent.forms.conversion.parts import TRIED
from detent.graph.fingerprint import fingerprint
from detent.graph.model import Graph, OnCrash, Step, StepKind
from detent.steps.errors import Permanent
from detent.testing import After, Response, Speedrun, StepRequest, speedrun
from tests.forms.test_conversion import graph_fitting_a_form, graph_fitting_rule, graph_fitting_steps
from tests.planner.worlds import RANDOMS

CHILD = {"name": "child", "tasks": {"a": {"action": "core.echo"}}}


def publishable(graph: Graph) -> Graph:
    """The graph with what a publish accepts (core.echo has no probe), and with repeats of actions that end."""
    return replace(graph, steps=tuple(map(_publishable, graph.steps)))


def _publishable(step: Step) -> Step:
    repeat = None if step.repeat is None else replace(step.repeat, give_up_after=120.0)
    if repeat is not None and step.kind is StepKind.ACTION:
        repeat = replace(repeat, until="result.output.such == 1")
    on_crash = OnCrash.RETRY if step.on_crash is OnCrash.PROBE else step.on_crash
    retry = replace(step.retry, jitter=False) if step.kind in TRIED else step.retry
    return replace(step, on_crash=on_crash, probe=None, repeat=repeat, retry=retry)


def answers_to(graph: Graph, seed: int) -> dict[str, Any]:
    """What the outside world does to each step: it answers after a while, with success or failure."""
    return {
        step.name: _callback(step, seed) if step.kind is StepKind.WAIT else _attempts(step, seed)
        for step in graph.steps
        if step.kind not in (StepKind.SLEEP, StepKind.CONDITION)
    }


def _callback(step: Step, seed: int) -> Any:
    rng = random.Random(f"{seed} {step.name}")
    if step.config["timeout"] is not None and rng.random() < 0.4:
        return TimeoutError
    return After(rng.randrange(1, 200), {"such": rng.randrange(2)})


def _attempts(step: Step, seed: int) -> Callable[[StepRequest], Any]:
    async def answer(asked: StepRequest) -> Any:
        rng = random.Random(f"{seed} {step.name} {asked.attempt} {asked.item}")
        await asyncio.sleep(rng.randrange(1, 40))
        if rng.random() < 0.25:
            raise rng.choice((RuntimeError("try again"), Permanent("it cannot be done")))
        result = {"such": rng.randrange(2), "parameters": asked.parameters}
        return Response(result, rng.choice((200, 200, 404, 503))) if step.kind is StepKind.HTTP else result

    return answer


def ending(document: dict[str, Any], answers: dict[str, Any]) -> Speedrun:
    """How a run of a document ends, without what names the workflow and the run."""
    ended = speedrun(document, {"total": 5}, answers=answers, children=[CHILD], max_wait="3d")
    return replace(ended, workflow="", run_id="", history=())


@pytest.mark.parametrize(
    ("made", "forms"),
    [
        (graph_fitting_steps, ("steps", "graph")),
        (graph_fitting_rule, ("rule", "graph")),
        (graph_fitting_a_form, ("graph", "graph")),
    ],
)
@settings(max_examples=8)
@given(RANDOMS)
def test_a_converted_workflow_has_the_same_fingerprint_and_its_runs_end_the_same(
    made: Callable[[random.Random], Graph], forms: tuple[str, ...], rng: random.Random
) -> None:
    graph = publishable(made(rng))
    answers = answers_to(graph, rng.randrange(2**32))
    compiled, document = Compiled(name="random", form="steps", graph=graph), dict[str, Any]()
    endings = []
    for form in forms:
        document = write_document(compiled, document, form)
        compiled = compile_document(document)
        assert fingerprint(compiled.graph) == fingerprint(graph)
        endings.append(ending(document, answers))
    assert endings[0] == endings[1]
