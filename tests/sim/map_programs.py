"""Workflows with maps: steps that run once for each item of a list, in pages that are runs of their own."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any, Final

from detent.graph.model import Each, Graph, ItemFailure, Step, StepKind

#: The steps that can be maps.
MAPPED: Final = (StepKind.HTTP, StepKind.ACTION, StepKind.SUBWORKFLOW)
#: Lists that depend on the run or on the time. They are the same however often they are rendered.
LISTS: Final = ("{{ split(uuid(), 'a') }}", "{{ split(uuid(), '0') }}", "{{ split(string(now()), '0') }}")
BROKEN: Final = ("{{ trigger.body.missing.such }}", "{{ 5 }}", list(range(50)))


def with_maps(rng: random.Random, graph: Graph) -> Graph:
    """The same graph, in which some steps run for each item of a list."""
    places = [index for index, step in enumerate(graph.steps) if step.kind in MAPPED]
    steps = list(graph.steps)
    for index in rng.sample(places, min(len(places), rng.choice((1, 1, 2)))):
        step = steps[index]
        if step.config.get("detached"):
            continue
        steps[index] = _with_items(rng, step, [edge.source for edge in graph.edges if edge.target == step.name])
    return replace(graph, steps=tuple(steps))


def make_map_version(rng: random.Random, graph: Graph) -> Graph:
    """A version whose maps send something else, and in which a new step may be a map."""
    steps = list(graph.steps)
    for index, step in enumerate(steps):
        if step.each is not None and step.kind is not StepKind.SUBWORKFLOW and rng.random() < 0.5:
            steps[index] = replace(step, config={**step.config, "edition": rng.randrange(1_000)})
        elif step.each is None and step.name[0] == "n" and step.kind in MAPPED:
            steps[index] = _with_items(rng, step, [])
    return replace(graph, steps=tuple(steps))


def _with_items(rng: random.Random, step: Step, needs: list[str]) -> Step:
    config = dict(step.config)
    if step.kind is not StepKind.SUBWORKFLOW:
        config |= {"item": "{{ item }}", "index": "{{ index }}"}
    return replace(step, config=config, each=_make_each(rng, step.kind, needs))


def _make_each(rng: random.Random, kind: StepKind, needs: list[str]) -> Each:
    items: Any = [f"item {number}" for number in range(rng.choice((0, 1, 2, 3, 5, 5, 9)))]
    if rng.random() < 0.4:
        items = rng.choice(
            LISTS if not needs or rng.random() < 0.7 else (f"{{{{ split(tasks.{needs[0]}.status, 's') }}}}",)
        )
    elif rng.random() < 0.05:
        items = rng.choice(BROKEN)
    goes_on = rng.random() < 0.6
    return Each(
        items,
        parallel=rng.choice((1, 1, 2, 3, 4, 7)),
        collect=rng.choice((None, None, "{{ index }}")),
        on_failure=ItemFailure.CONTINUE if goes_on else ItemFailure.STOP,
        tolerate=rng.choice((0, 0, 1, 3)) if goes_on else 0,
        tolerate_share=rng.choice((0.0, 0.0, 0.2)) if goes_on else 0.0,
        max_items=40,
    )
