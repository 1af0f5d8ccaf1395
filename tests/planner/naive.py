"""How a run must end, written down naively: one step after the other, with nothing the planner is made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from detent.graph.model import FAILURES, Edge, Ending, Graph, Join, Route, Step, StepKind

Endings = dict[str, Ending]
#: Whether a condition holds, given what has ended so far; null if it cannot be answered.
Answer = Callable[[str, Mapping[str, Ending]], bool | None]
RAN = FAILURES | {Ending.SUCCESS}


def endings(graph: Graph, would: Mapping[str, Ending], answer: Answer) -> tuple[Endings, set[Edge]]:
    """How every step ends if `would` says how each ends that runs, and the edges that were satisfied but not taken.

    Only for graphs whose failures stop nothing."""
    found: Endings = {}
    not_taken: set[Edge] = set()
    broken: set[str] = set()
    taken: dict[str, int] = {step.name: 0 for step in graph.steps}
    steps = {step.name: step for step in graph.steps}
    left = dict(steps)
    while left:
        step = next(step for step in left.values() if _needs(graph, step.name) <= set(found))
        del left[step.name]
        found[step.name] = _ending(graph, step, taken[step.name], step.name in broken, would, answer, found)
        took_one = is_handled = False
        for edge in sorted((edge for edge in graph.edges if edge.source == step.name), key=_order):
            if found[step.name] not in edge.on:
                continue
            if (step.route is Route.FIRST_MATCH and took_one) or (edge.otherwise and is_handled):
                not_taken.add(edge)
                continue
            holds = True if edge.condition is None else answer(edge.condition, found)
            if holds is None and not edge.false_on_error:
                broken.add(edge.target)
            if holds:
                taken[edge.target] += 1
                took_one = True
                is_handled |= edge.handles
            else:
                not_taken.add(edge)
    return found, not_taken


def _order(edge: Edge) -> tuple[bool, int]:
    return edge.otherwise, edge.order


def _needs(graph: Graph, name: str) -> set[str]:
    return {edge.source for edge in graph.edges if edge.target == name}


def _ending(
    graph: Graph,
    step: Step,
    taken: int,
    broken: bool,
    would: Mapping[str, Ending],
    answer: Answer,
    found: Mapping[str, Ending],
) -> Ending:
    if broken:
        return Ending.FAILED
    incoming = sum(edge.target == step.name for edge in graph.edges)
    met = taken == incoming if step.join is Join.ALL else taken > 0 or incoming == 0
    if not met:
        return Ending.SKIPPED
    holds = True if step.guard is None else answer(step.guard, found)
    if holds is None:
        return Ending.FAILED
    if not holds:
        return Ending.SKIPPED
    if step.kind is StepKind.CONDITION:
        return Ending.FAILED if answer(step.config["expression"], found) is None else Ending.SUCCESS
    length = str(step.config.get("seconds" if step.kind is StepKind.SLEEP else "timeout"))
    return Ending.TEMPLATE_ERROR if "missing" in length or length == "soon" else would[step.name]


def completed(graph: Graph, found: Mapping[str, Ending], not_taken: Collection[Edge]) -> bool:
    """Whether every failure is handled: an edge that was taken leads from it to a step that ran, directly or through
    skipped steps."""

    def is_handled(name: str) -> bool:
        after = [edge for edge in graph.edges if edge.source == name and edge.handles and edge not in not_taken]
        return any(
            (found[edge.target] in RAN and found[name] in edge.on)
            or (found[edge.target] is Ending.SKIPPED and is_handled(edge.target))
            for edge in after
        )

    return all(is_handled(name) for name, ending in found.items() if ending in FAILURES)
