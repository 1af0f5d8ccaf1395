"""What differs between two versions of a workflow: steps, edges and settings, with the values before and after.

Everything here is pure. A changed value is named by its path, such as `config.url` or `retry.attempts`. So a change of
one header is one line and not the whole step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, NamedTuple

from detent.graph.model import Edge, Graph, Retry, Route, Step

#: The fields of a graph that are compared one by one. All others are settings.
_PARTS: Final = ("steps", "edges")


class Absent(Enum):
    """The value of a field that exists on one side only."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class FieldChange(NamedTuple):
    """A value that differs. `ABSENT` means that the field exists on the other side only."""

    field: str
    old: Any
    new: Any


class StepChange(NamedTuple):
    """A step that exists on both sides and differs."""

    name: str
    fields: tuple[FieldChange, ...]


class EdgeChange(NamedTuple):
    """An edge between the same two steps that differs."""

    source: str
    target: str
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class GraphDiff:
    """The difference of two graphs. Steps and edges are in the order of the graph that has them."""

    added_steps: tuple[Step, ...] = ()
    removed_steps: tuple[Step, ...] = ()
    changed_steps: tuple[StepChange, ...] = ()
    added_edges: tuple[Edge, ...] = ()
    removed_edges: tuple[Edge, ...] = ()
    changed_edges: tuple[EdgeChange, ...] = ()
    settings: tuple[FieldChange, ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything differs."""
        return any(getattr(self, name) for name in self.__slots__)


def diff_graphs(old: Graph, new: Graph) -> GraphDiff:
    """Return what differs between two graphs. The order of steps does not count, and that of edges only where the first
    one that fits is taken."""
    before, after = ({step.name: step for step in graph.steps} for graph in (old, new))
    both = [(before[step.name], step) for step in new.steps if step.name in before]
    steps = ((one.name, tuple(diff_values(as_plain(one), as_plain(other)))) for one, other in both)
    removed, added, changed = _edges(_ranked(old), _ranked(new))
    return GraphDiff(
        added_steps=tuple(step for step in new.steps if step.name not in before),
        removed_steps=tuple(step for step in old.steps if step.name not in after),
        changed_steps=tuple(StepChange(name, fields) for name, fields in steps if fields),
        added_edges=added,
        removed_edges=removed,
        changed_edges=changed,
        settings=tuple(diff_values(_settings(old), _settings(new))),
    )


def diff_values(old: Any, new: Any, path: str = "") -> Iterator[FieldChange]:
    """Yield the values that differ. Mappings are compared key by key; every other value is compared as a whole."""
    pending: list[tuple[str, Any, Any]] = [(path, old, new)]
    while pending:
        place, one, other = pending.pop()
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            keys = list(dict.fromkeys((*one, *other)))
            inner = [(f"{place}.{key}" if place else str(key), key) for key in keys]
            pending.extend((at, one.get(key, ABSENT), other.get(key, ABSENT)) for at, key in reversed(inner))
        elif not _is_same(one, other):
            yield FieldChange(place, one, other)


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two values are equal as JSON: `true` is not 1."""
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    return bool(one == other)


def as_plain(part: Step | Edge | Retry) -> dict[str, Any]:
    """Return a step or an edge as plain JSON values."""
    return {name: _plain(getattr(part, name)) for name in part.__slots__}


def _plain(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case frozenset():
            return sorted(map(str, value))
        case Retry():
            return as_plain(value)
        case _:
            return value


def _settings(graph: Graph) -> dict[str, Any]:
    return {name: _plain(getattr(graph, name)) for name in graph.__slots__ if name not in _PARTS}


def _ranked(graph: Graph) -> tuple[Edge, ...]:
    """Return the edges, without their order where it means nothing: only a step that takes the first one reads it."""
    first = {step.name for step in graph.steps if step.route is Route.FIRST_MATCH}
    return tuple(edge if edge.source in first or not edge.order else replace(edge, order=0) for edge in graph.edges)


def _edges(
    old: tuple[Edge, ...], new: tuple[Edge, ...]
) -> tuple[tuple[Edge, ...], tuple[Edge, ...], tuple[EdgeChange, ...]]:
    """Pair the edges of both sides: equal ones first, then those between the same steps, in their order."""
    left, right = set(old), set(new)
    waiting: dict[tuple[str, str], list[Edge]] = {}
    for edge in old:
        if edge not in right:
            waiting.setdefault((edge.source, edge.target), []).append(edge)
    added: list[Edge] = []
    changed: list[EdgeChange] = []
    for edge in new:
        if edge in left:
            continue
        same_ends = waiting.get((edge.source, edge.target))
        if same_ends:
            fields = tuple(diff_values(as_plain(same_ends.pop(0)), as_plain(edge)))
            changed.append(EdgeChange(edge.source, edge.target, fields))
        else:
            added.append(edge)
    removed = [edge for edge in old if edge in waiting.get((edge.source, edge.target), ())]
    return tuple(removed), tuple(added), tuple(changed)
