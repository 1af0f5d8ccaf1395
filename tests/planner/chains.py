"""Chains of Python steps, as the planner sees them, and an error of one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from detent.graph.model import Edge, Ending, FailurePolicy, Graph, Step, StepKind
from detent.run.outcomes import StepError

CHAINED = frozenset({Ending.SUCCESS, Ending.SKIPPED})
BROKEN = StepError("exception", "ValueError: no")


def chain(*names: str, **given: Any) -> Graph:
    """One step after the other, each with these options."""
    steps = tuple(Step(name, StepKind.PYTHON, **given) for name in names)
    edges = tuple(Edge(one, other, CHAINED) for one, other in pairwise(names))
    return Graph(steps, edges, on_failure=FailurePolicy.PAUSE)
