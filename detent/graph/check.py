"""What must hold for every graph, whichever form it was written in. All of it is iterative and linear.

A graph that passes has steps of different names, edges between steps that exist, and no cycle; so every step can be
reached from one without needs, and every run of it comes to an end.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from detent.errors import Problem
from detent.graph.model import Graph

_NAMES_SHOWN: Final = 12


def check(graph: Graph) -> list[Problem]:
    """Everything that is wrong with a graph; fields are `steps`, `steps.NAME` and `edges[N]`."""
    if not graph.steps:
        return [Problem("steps", "there are no steps")]
    looped = [Problem(f"steps.{cycle[0]}", describe_cycle(cycle)) for cycle in cycles(graph)]
    return [*_name_problems(graph), *_edge_problems(graph), *looped]


def _name_problems(graph: Graph) -> Iterator[Problem]:
    """Two names that differ only in case would be one row, file or page somewhere."""
    first: dict[str, str] = {}
    for step in graph.steps:
        folded = step.name.casefold()
        if folded in first:
            yield Problem(f"steps.{step.name}", same_name(step.name, first[folded]))
        else:
            first[folded] = step.name


def same_name(name: str, known: str) -> str:
    """Say that a step's name is taken, exactly or in another case."""
    if name == known:
        return f"there are two steps named {name!r}"
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
        key = (edge.source, edge.target, edge.on, edge.condition)
        if key in seen:
            yield Problem(f"edges[{number}]", f"a second edge from {edge.source!r} to {edge.target!r} like one before")
        seen.add(key)


def in_order(graph: Graph) -> list[str]:
    """The names of the steps, each after everything it depends on; steps in or behind a cycle are left out."""
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
    """One cycle of each knot of steps that depend on each other, in the direction of its edges, without repetition."""
    after = _successors(graph)
    position = {name: number for number, name in enumerate(after)}
    found = [_one_cycle(after, knot, position) for knot in _knots(after)]
    return sorted(found, key=lambda cycle: position[cycle[0]])


def describe_cycle(cycle: Collection[str]) -> str:
    """`cycle: a -> b -> a`; the middle of a long one is left out."""
    names = list(cycle)
    shown = [*names, names[0]]
    if len(names) > _NAMES_SHOWN:
        half = _NAMES_SHOWN // 2
        shown = [*names[:half], f"({len(names) - 2 * half} more)", *names[-half:], names[0]]
    return "cycle: " + " -> ".join(shown)


class Upstream:
    """Which steps come before which, for the steps that were asked for. Sets are bits of one number each."""

    def __init__(self, positions: Mapping[str, int], before: Mapping[str, int]) -> None:
        self._positions = positions
        self._before = before

    def __contains__(self, step: object) -> bool:
        """False for a step that was not asked for, and for one in or behind a cycle."""
        return step in self._before

    def includes(self, step: str, source: str) -> bool:
        """Whether `step` depends on `source`, directly or through others."""
        return bool(self._before[step] >> self._positions[source] & 1)

    def names(self, step: str) -> list[str]:
        """Everything `step` depends on, in written order."""
        return [name for name in self._positions if self.includes(step, name)]


def upstream(graph: Graph, of: Collection[str]) -> Upstream:
    """What each step of `of` depends on. A step's set is dropped as soon as no later step needs it."""
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
    """Tarjan's strongly connected components that hold a cycle, with a stack of our own: depth has no limit."""
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
    """Walk back from the first step of a knot, always to one it depends on inside: some step comes twice."""
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
