"""Random workflows: chains, fans and joins with guards, conditions, sleeps, waits, retries and crash rules."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from detent.graph import codec
from detent.graph.model import (
    ON_ANY,
    ON_RAN,
    ON_SUCCESS,
    Edge,
    Ending,
    FailurePolicy,
    Graph,
    Join,
    OnCrash,
    Retry,
    Route,
    Step,
    StepKind,
)
from detent.planner.prepared import Prepared, prepare
from detent.store.rows import NewVersion

FAILED = frozenset({Ending.FAILED, Ending.TIMEOUT})
CRASH_RULES = (OnCrash.RETRY, OnCrash.RETRY, OnCrash.RETRY, OnCrash.FAIL, OnCrash.ASK)


@dataclass(frozen=True, slots=True)
class Program:
    """A workflow of the world, saved in its store."""

    id: bytes
    name: str
    graph: Graph
    raw: bytes
    prepared: Prepared
    tenant: int = 1

    def version(self, edition: int = 0) -> NewVersion:
        """As it is saved. Another edition is another version of the same graph."""
        return NewVersion(
            tenant=self.tenant,
            id=self.id,
            name=self.name,
            form="steps",
            description=None,
            enabled=True,
            trigger='{"type":"api"}',
            labels=None,
            source="",
            graph=self.raw,
            checksum=f"{codec.fingerprint(self.raw)} {edition}",
            language=self.graph.language,
        )


#: Part of every effect: it must be the same at every attempt.
SAME = "{{ now() }} {{ uuid() }}"


def make_program(rng: random.Random, id_: bytes, name: str, tenant: int = 1) -> Program:
    """A random workflow of at most eight steps."""
    graph = _make_graph(rng)
    raw = codec.encode(graph)
    return Program(id_, name, graph, raw, prepare(codec.decode(raw)), tenant)


def make_version(rng: random.Random, graph: Graph) -> Graph:
    """A version that differs in one or two places. Waits stay, because their URLs are out in the world."""
    steps, edges = list(graph.steps), list(graph.edges)
    for _ in range(rng.choice((1, 1, 2))):
        place = rng.randrange(len(steps))
        step = steps[place]
        match rng.randrange(6):
            case 0 if len(steps) > 1 and step.kind is not StepKind.WAIT:
                steps.pop(place)
                edges = [edge for edge in edges if step.name not in (edge.source, edge.target)]
            case 1 | 2 | 3:
                _add_step(rng, steps, edges)
            case 4 if step.kind is StepKind.SLEEP:
                steps[place] = replace(step, config={"seconds": rng.choice((0.5, 7.0, 40.0))})
            case 5:
                steps[place] = replace(step, guard=rng.choice((None, "1 == 1", "1 == 2")))
    return replace(graph, steps=tuple(steps), edges=tuple(edges))


def _add_step(rng: random.Random, steps: list[Step], edges: list[Edge]) -> None:
    """Add a step between two others, behind one, or alone."""
    name = f"n{max((int(step.name[1:]) for step in steps if step.name[0] == 'n'), default=0) + 1}"
    kind = rng.choice((StepKind.HTTP, StepKind.ACTION, StepKind.SLEEP, StepKind.WAIT))
    if edges and rng.random() < 0.4:
        edge = rng.choice(edges)
        edges += [Edge(edge.source, name, ON_ANY), Edge(name, edge.target, ON_ANY)]
    elif rng.random() < 0.8:
        edges.append(Edge(rng.choice(steps).name, name, ON_ANY))
    steps.append(_make_step(rng, name, kind, []))


def _make_graph(rng: random.Random) -> Graph:
    count = rng.randint(1, 8)
    kinds = rng.choices((StepKind.HTTP, StepKind.ACTION, StepKind.SLEEP, StepKind.WAIT), (4, 3, 2, 3), k=count)
    names = [f"s{number}" for number in range(count)]
    edges: list[Edge] = []
    steps = []
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        needs = sorted(rng.sample(names[:number], min(number, rng.choice((0, 1, 1, 1, 2, 3)))))
        edges.extend(_make_edge(rng, need, name) for need in needs)
        steps.append(_make_step(rng, name, kind, needs))
    return Graph(
        steps=tuple(steps),
        edges=tuple(edges),
        on_failure=rng.choice((FailurePolicy.SETTLE, FailurePolicy.SETTLE, FailurePolicy.FAIL_FAST)),
        max_duration=rng.choice((None, None, 300.0, 300.0, 12.0)),
        language=2,
        one_per_hero=True,
    )


def _make_edge(rng: random.Random, source: str, target: str) -> Edge:
    condition = rng.choice((None, None, None, f"tasks.{source}.status == 'success'", f"tasks.{source}.body.n % 2 == 0"))
    return Edge(
        source,
        target,
        on=rng.choice((ON_SUCCESS, ON_SUCCESS, ON_RAN, ON_ANY, FAILED)),
        condition=condition,
        false_on_error=rng.random() < 0.8,
    )


def _make_step(rng: random.Random, name: str, kind: StepKind, needs: list[str]) -> Step:
    guard = None
    if not needs and rng.random() < 0.1:
        guard = "trigger.body.wanted == true"
    elif needs and rng.random() < 0.2:
        guard = rng.choice((f"tasks.{needs[0]}.status != 'failed'", f"tasks.{needs[-1]}.body.n > 1"))
    is_effect = kind in (StepKind.HTTP, StepKind.ACTION)
    return Step(
        name=name,
        kind=kind,
        config=_make_config(rng, kind, needs),
        guard=guard,
        join=rng.choice((Join.ALL, Join.ALL, Join.ANY)),
        retry=Retry(rng.choice((1, 2, 4)), delay=rng.choice((0.2, 1.0, 4.0)), max_delay=8.0),
        timeout=rng.choice((None, 1.0, 5.0)) if is_effect else None,
        delay=rng.choice((None, None, None, None, 1.0, 12.0)),
        on_crash=rng.choice(CRASH_RULES) if is_effect else OnCrash.RETRY,
        route=rng.choice((Route.PARALLEL, Route.PARALLEL, Route.FIRST_MATCH)),
    )


def _make_config(rng: random.Random, kind: StepKind, needs: list[str]) -> dict[str, Any]:
    match kind:
        case StepKind.SLEEP:
            return {"seconds": rng.choice((0, 0.5, 3.0, 11.0, 25.0))}
        case StepKind.WAIT:
            return {
                "timeout": rng.choice((None, 1.0, 4.0, 15.0)),
                "early": rng.choice(("buffer", "buffer", "reject")),
            }
        case _ if needs and rng.random() < 0.4:
            return {"url": "http://sim", "body": f"{{{{ tasks.{rng.choice(needs)}.status }}}}", "same": SAME}
        case _:
            return {"url": "http://sim", "same": SAME}
