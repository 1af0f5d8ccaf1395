"""Random workflows whose steps are child runs: of plain workflows, of such workflows, and of a durable function."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from detent.graph import codec
from detent.graph.model import FailurePolicy, OnCrash, Retry, Step, StepKind
from detent.planner.prepared import prepare
from detent.python.functions import Run, workflow
from detent.store.rows import NewVersion
from tests.sim.programs import Program, make_program

MISSING: Final = "no such workflow"


@workflow(name="relay", drift="strict", on_exception="fail", allow_multiple=True)
async def relay(run: Run, rounds: int, nap: float) -> int:
    """Sleeps, and goes on as a new run, so many times."""
    await run.sleep(nap)
    if rounds:
        run.continue_as_new(rounds - 1, nap)
    return rounds


def relay_program(id_: bytes) -> tuple[Program, NewVersion]:
    """The durable function as a program, and as it is saved."""
    raw = codec.encode(relay.compiled.graph)
    program = Program(id_, relay.name, relay.compiled.graph, raw, prepare(codec.decode(raw)))
    facts = json.dumps({"type": "api", "code": []})
    version = program.version()._replace(form="python", trigger=facts, source=relay.source, language=1)
    return program, version


def make_family(
    rng: random.Random, new_id: Callable[[], bytes], shape: Callable[[Program], Program]
) -> Iterator[Program]:
    """A plain workflow, one whose steps may be runs of it, and one whose steps may be runs of both."""
    names: list[str] = []
    for number in range(3):
        program = shape(make_program(rng, new_id(), f"workflow {number}"))
        if names:
            program = _with_children(rng, program, names)
        names.append(program.name)
        yield program


def _with_children(rng: random.Random, program: Program, names: list[str]) -> Program:
    steps = list(program.graph.steps)
    for index in rng.sample(range(len(steps)), min(len(steps), rng.choice((1, 1, 2, 3)))):
        steps[index] = _child_step(rng, steps[index], program.name, names)
    policies = (program.graph.on_failure, program.graph.on_failure, FailurePolicy.FAIL_FAST, FailurePolicy.PAUSE)
    graph = replace(program.graph, steps=tuple(steps), on_failure=rng.choice(policies))
    raw = codec.encode(graph)
    return replace(program, graph=graph, raw=raw, prepared=prepare(codec.decode(raw)))


def _child_step(rng: random.Random, step: Step, own: str, names: list[str]) -> Step:
    name = rng.choice((*names, *names, relay.name, relay.name, MISSING if rng.random() < 0.3 else names[0]))
    name = own if rng.random() < 0.05 else name
    config: dict[str, Any] = {"workflow": name, "input": {}}
    if name == relay.name:
        config["input"] = {"rounds": rng.randrange(3), "nap": rng.choice((0.1, 2.0, 8.0))}
    if rng.random() < 0.2:
        config["detached"] = True
    return replace(
        step,
        kind=StepKind.SUBWORKFLOW,
        config=config,
        retry=Retry(rng.choice((1, 2, 3)), delay=rng.choice((0.2, 2.0))),
        timeout=rng.choice((None, None, 1.0, 6.0, 20.0)),
        on_crash=OnCrash.RETRY,
    )
