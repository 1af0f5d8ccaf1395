"""The rules for every graph, whichever form it was written in. All checks are iterative and linear.

A graph that passes has steps with different names, edges between steps that exist, and no cycle. So every step can be
reached from a step without needs, and every run of the graph ends.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from detent.errors import Problem
from detent.graph.model import Graph, StepKind

_NAMES_SHOWN: Final = 12


def check(graph: Graph) -> list[Problem]:
    """Return all problems of a graph. Their fields are `steps`, `steps.NAME` and `edges[N]`."""
    if not graph.steps:
        return [Problem("steps", "there are no steps")]
    looped = [Problem(f"steps.{cycle[0]}", describe_cycle(cycle)) for cycle in cycles(graph)]
    return [*_name_problems(graph), *_edge_problems(graph), *looped]


def called_workflows(graph: Graph) -> list[tuple[str, str, bool]]:
    """Return each step that starts a workflow whose name is written in the definition.

    Each is (step, workflow, whether that may be a workflow that is among its parents)."""
    recurring = {step.name for step in graph.steps if step.config.get("recursion")}
    return [(step, name, step in recurring) for step, name in _called(graph, StepKind.SUBWORKFLOW, "workflow")]


def pinned_versions(graph: Graph) -> dict[str, int]:
    """Return the version that each step pins of the workflow that it starts."""
    pins = {step.name: step.config.get("version") for step in graph.steps if step.kind is StepKind.SUBWORKFLOW}
    return {step: version for step, version in pins.items() if isinstance(version, int)}


def pinned_actions(graph: Graph) -> dict[str, str]:
    """Return the version that a graph pins of each action that is data, and of each probe."""
    configs = (step.config for step in graph.steps if step.kind is StepKind.ACTION and "version" in step.config)
    probes = (step.probe for step in graph.steps if step.probe is not None)
    found = {str(config["action"]): str(config["version"]) for config in configs}
    return found | {probe.action: probe.version for probe in probes if probe.version is not None}


def called_actions(graph: Graph) -> list[tuple[str, str]]:
    """Return (step, action) of each step that calls an action."""
    return _called(graph, StepKind.ACTION, "action")


def _called(graph: Graph, kind: StepKind, key: str) -> list[tuple[str, str]]:
    named = ((step.name, step.config.get(key)) for step in graph.steps if step.kind is kind)
    return [(step, name) for step, name in named if isinstance(name, str) and "{{" not in name]


def _name_problems(graph: Graph) -> Iterator[Problem]:
    """Yield names that are given twice. Names that differ only in case could be one row, file or page somewhere."""
    first: dict[str, str] = {}
    for step in graph.steps:
        folded = step.name.casefold()
        if folded in first:
            yield Problem(f"steps.{step.name}", same_name(step.name, first[folded]))
        else:
            first[folded] = step.name


def same_name(name: str, known: str, two: str | None = None) -> str:
    """Return the message that a step's name is taken, exactly or in another case. `two` names both as the form does."""
    if name == known:
        return f"there are two {two or f'steps named {name!r}'}"
    return f"{name!r} and {known!r} differ only in case; give one of them another name"


def _edge_problems(graph: Graph) -> Iterator[Problem]:
    names = {step.name for step in graph.steps}
    seen = set()
    for number, edge in enumerate(graph.edges):
        for end, name in (("source", edge.source), ("target", edge.target)):
            if name not in names:
                yield Problem(f"edges[{number}].{end}", f"no step {name!r}")
        if not edge.on:
            yield Problem(f"edges[{number}].on", f"never taken: no ending of {edge.source!r} satisfies it")
        key = (edge.source, edge.target, edge.on, edge.condition, edge.otherwise)
        if key in seen:
            yield Problem(f"edges[{number}]", f"a second edge from {edge.source!r} to {edge.target!r} like one before")
        seen.add(key)


def in_order(graph: Graph) -> list[str]:
    """Return the names of the steps, each after everything it depends on. Steps in or behind a cycle are left out."""
    after = _successors(graph)
    undecided = Counter(target for targets in after.values() for target in targets)
    ready = deque(name for name in after if not undecided[name])
    order = []
    while ready:
        name = ready.popleft()
        order.append(name)
        for target in after[name]:
            undecided[target] -= 1
            if not undecided[target]:
                ready.append(target)
    return order


def cycles(graph: Graph) -> list[tuple[str, ...]]:
    """Return one cycle of each group of steps that depend on each other, in the direction of its edges."""
    after = _successors(graph)
    position = {name: number for number, name in enumerate(after)}
    found = [_one_cycle(after, knot, position) for knot in _knots(after)]
    return sorted(found, key=lambda cycle: position[cycle[0]])


def describe_cycle(cycle: Collection[str]) -> str:
    """Describe a cycle as `cycle: a -> b -> a`. The middle of a long cycle is left out."""
    names = list(cycle)
    shown = [*names, names[0]]
    if len(names) > _NAMES_SHOWN:
        half = _NAMES_SHOWN // 2
        shown = [*names[:half], f"({len(names) - 2 * half} more)", *names[-half:], names[0]]
    return "cycle: " + " -> ".join(shown)


class Upstream:
    """The steps that each requested step depends on. Each set is stored as the bits of one integer."""

    def __init__(self, positions: Mapping[str, int], before: Mapping[str, int]) -> None:
        self._positions = positions
        self._before = before

    def __contains__(self, step: object) -> bool:
        """Return false for a step that was not requested, and for one in or behind a cycle."""
        return step in self._before

    def includes(self, step: str, source: str) -> bool:
        """Return whether `step` depends on `source`, directly or through others."""
        return bool(self._before[step] >> self._positions[source] & 1)

    def names(self, step: str) -> list[str]:
        """Return everything that `step` depends on, in the order of the definition."""
        return [name for name in self._positions if self.includes(step, name)]


def upstream(graph: Graph, of: Collection[str]) -> Upstream:
    """Find what each step of `of` depends on. A step's set is dropped as soon as no later step needs it."""
    after = _successors(graph)
    positions = {name: number for number, name in enumerate(after)}
    wanted = frozenset(of)
    before = dict.fromkeys(after, 0)
    kept = {}
    for name in in_order(graph):
        bits = before.pop(name)
        if name in wanted:
            kept[name] = bits
        bits |= 1 << positions[name]
        for target in after[name]:
            before[target] |= bits
    return Upstream(positions, kept)


def _successors(graph: Graph) -> dict[str, list[str]]:
    after: dict[str, list[str]] = {step.name: [] for step in graph.steps}
    for edge in graph.edges:
        if edge.source in after and edge.target in after:
            after[edge.source].append(edge.target)
    return after


def _knots(after: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Yield Tarjan's strongly connected components that have a cycle.

    It uses a stack of its own instead of recursion, so the depth of a graph has no limit.
    """
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    for root in after:
        pending = [] if root in number else [(root, iter(after[root]))]
        while pending:
            name, rest = pending[-1]
            if name not in number:
                number[name] = lowest[name] = len(number)
                path.append(name)
                on_path.add(name)
            for target in rest:
                if target not in number:
                    pending.append((target, iter(after[target])))
                    break
                if target in on_path:
                    lowest[name] = min(lowest[name], number[target])
            else:
                pending.pop()
                if lowest[name] == number[name]:
                    knot = _pop_until(path, name)
                    on_path.difference_update(knot)
                    if len(knot) > 1 or name in after[name]:
                        yield knot
                else:
                    caller = pending[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[name])


def _pop_until(path: list[str], name: str) -> list[str]:
    popped = [path.pop()]
    while popped[-1] != name:
        popped.append(path.pop())
    return popped


def _one_cycle(after: Mapping[str, list[str]], knot: list[str], position: Mapping[str, int]) -> tuple[str, ...]:
    """Find a cycle in a component: walk back from its first step along dependencies inside, until a step repeats."""
    members = frozenset(knot)
    dependency = {target: name for name in knot for target in after[name] if target in members}
    seen: dict[str, int] = {}
    name = min(knot, key=position.__getitem__)
    while name not in seen:
        seen[name] = len(seen)
        name = dependency[name]
    cycle = list(seen)[seen[name] :][::-1]
    first = cycle.index(min(cycle, key=position.__getitem__))
    return tuple(cycle[first:] + cycle[:first])


def reachable(graph: Graph, starts: Iterable[str]) -> set[str]:
    """Return the steps that a path of edges leads to from these steps, and the steps themselves."""
    after: dict[str, list[str]] = {}
    for edge in graph.edges:
        after.setdefault(edge.source, []).append(edge.target)
    found = set(starts)
    pending = deque(found)
    while pending:
        for target in after.get(pending.popleft(), ()):
            if target not in found:
                found.add(target)
                pending.append(target)
    return found
