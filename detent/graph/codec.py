"""Encode a graph as bytes, and decode it.

Defaults are left out, so a default must never change under the same `v`. The fingerprint of the bytes is the version's
checksum. It does not depend on the order of the keys of a mapping.

A graph that uses something which the first release did not have needs a *feature*. Its runs name the feature as code
that they require, so that only nodes which know it claim them. Such a graph has format 2, so that an API of the first
release cannot decode it: it would start a run, and decide its first steps by rules of its own. For the same reason the
graph of a rule has format 3: its expressions use names that older releases do not know. A graph with secrets has format
4: an older release would not know their names, and would store what is to be sealed. A graph whose waits ask people has
format 5: an older release would not check their answers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from functools import lru_cache
from typing import Any, Final

from detent.errors import UnknownGraph
from detent.graph.model import (
    DECIDED_AT_ONCE,
    GRAPH_SCOPE,
    RULE_SCOPE,
    ContextSnapshot,
    Each,
    Edge,
    Ending,
    FailurePolicy,
    Graph,
    ItemFailure,
    Join,
    OnCrash,
    Overflow,
    Probe,
    Repeat,
    Retry,
    Route,
    SnapshotMode,
    Step,
    StepKind,
)

#: The format of graphs that the first release can run, that of newer ones, of rules, of graphs with secrets, and of
#: graphs whose waits ask people.
FIRST_FORMAT: Final = 1
_SECOND_FORMAT: Final = 2
_RULE_FORMAT: Final = 3
_SECRETS_FORMAT: Final = 4
FORMAT: Final = 5
_SECOND: Final = "detent/2"
_THIRD: Final = "detent/3"
_FOURTH: Final = "detent/4"
_FIFTH: Final = "detent/5"
_SIXTH: Final = "detent/6"
_ALERT: Final = "core.alert"
_RESPOND: Final = "core.respond"
#: The features that this code can run.
FEATURES: Final = (_SECOND, _THIRD, _FOURTH, _FIFTH, _SIXTH)
#: The revision of the language that brought secrets.
_SECRETS_LANGUAGE: Final = 4
_Part = Graph | Step | Edge | Retry | Each | Repeat | Probe | ContextSnapshot
_NEWER_KINDS: Final = (StepKind.CONDITION, StepKind.SUBWORKFLOW)

# Keys stay in their order, because the body of a request is sent in that order. Only the fingerprint ignores it.
_write = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_write_sorted = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True).encode


def encode(graph: Graph) -> bytes:
    """Encode a graph. Raise ValueError or TypeError for a value that JSON does not have (NaN, a date, ...)."""
    document = _changed(graph, _WRITE_GRAPH) | {"v": _format(graph)}
    return _write(document).encode()


def _format(graph: Graph) -> int:
    needed = features(graph)
    if _SIXTH in needed:
        return FORMAT
    if _FIFTH in needed:
        return _SECRETS_FORMAT
    newer = _RULE_FORMAT if graph.scope == RULE_SCOPE else _SECOND_FORMAT
    return newer if needed else FIRST_FORMAT


def decode(data: bytes) -> Graph:
    """Decode a graph. Raise UnknownGraph for another format, or for a field or word of a newer Detent."""
    document = json.loads(data)
    version = document.pop("v", None) if isinstance(document, dict) else None
    if version not in (FIRST_FORMAT, _SECOND_FORMAT, _RULE_FORMAT, _SECRETS_FORMAT, FORMAT):
        raise UnknownGraph(f"this Detent reads graphs up to format {FORMAT}, and this one has format {version!r}")
    try:
        return Graph(**_read(document, _READ_GRAPH))
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise UnknownGraph(f"this Detent cannot read a part of the graph: {error}; a newer one wrote it") from None


def count_steps(data: bytes) -> int:
    """Return how many steps an encoded graph has, also if a newer Detent wrote it and this one cannot decode it."""
    document = json.loads(data)
    steps = document.get("steps") if isinstance(document, dict) else None
    return len(steps) if isinstance(steps, list) else 0


_FIFTH_KEYS: Final = frozenset({"credential", "large", "parts"})


def features(graph: Graph) -> tuple[str, ...]:
    """Return the features that a node must know to run this graph."""
    if _needs_sixth(graph.steps):
        return FEATURES
    if _needs_fifth(graph, graph.steps):
        return FEATURES[:-1]
    if graph.scope == RULE_SCOPE or _needs_fourth(graph.steps):
        return (_SECOND, _THIRD, _FOURTH)
    if graph.language > 2 or _needs_third(graph.steps):
        return (_SECOND, _THIRD)
    is_newer = (
        graph.scope == GRAPH_SCOPE
        or graph.language > 1
        or graph.parallel is not None
        or graph.vars
        or graph.context
        or any(edge.otherwise or not edge.handles for edge in graph.edges)
        or any(
            step.rerender or step.each or step.repeat or step.title or step.kind in _NEWER_KINDS for step in graph.steps
        )
    )
    return (_SECOND,) if is_newer else ()


def features_of_page(graph: Graph, step: Step) -> tuple[str, ...]:
    """Return the features that a node must know to run a page of a map, which is a step of this graph."""
    if _needs_fifth(graph, (step,)):
        return FEATURES[:-1]
    if graph.scope == RULE_SCOPE or _needs_fourth((step,)):
        return (_SECOND, _THIRD, _FOURTH)
    return (_SECOND, _THIRD) if graph.language > 2 or _needs_third((step,)) else (_SECOND,)


def _needs_third(steps: Iterable[Step]) -> bool:
    """Return whether a step calls an action that is data, sends the headers of the user it acts for, or has a probe."""
    return any(
        "acting_user_headers" in step.config
        or (step.kind is StepKind.ACTION and "version" in step.config)
        or step.on_crash is OnCrash.PROBE
        for step in steps
    )


def _needs_fourth(steps: Iterable[Step]) -> bool:
    """Return whether a step raises an alert. The actions of Detent itself are not among the code that a node offers, so
    an older node would fail the step."""
    return any(step.kind is StepKind.ACTION and step.config.get("action") == _ALERT for step in steps)


def _needs_fifth(graph: Graph, steps: Iterable[Step]) -> bool:
    """Return whether an expression may read a secret, or a step seals its result, uses a stored credential, sends or
    saves a blob, or answers the caller. An older node does not know the action that answers."""
    is_newer = any(
        step.sensitive or not _FIFTH_KEYS.isdisjoint(step.config) or step.config.get("action") == _RESPOND
        for step in steps
    )
    return is_newer or graph.language >= _SECRETS_LANGUAGE


def _needs_sixth(steps: Iterable[Step]) -> bool:
    """Return whether a wait asks people, or a step ends the waits that are not the first. An older release would accept
    any answer, from everyone."""
    return any("ask" in step.config or "first_of" in step.config for step in steps if step.kind in DECIDED_AT_ONCE)


def fingerprint(data: bytes) -> str:
    """Return the SHA-256 of an encoded graph in hexadecimal. The order of keys does not change it."""
    return hashlib.sha256(_write_sorted(json.loads(data)).encode()).hexdigest()


def _changed(value: _Part, writers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """Return the fields of a value that differ from their defaults."""
    found = {}
    for name, default in _DEFAULTS[type(value)].items():
        current = getattr(value, name)
        if current != default or type(current) is not type(default):
            found[name] = writers[name](current) if name in writers else current
    return found


def _read(row: dict[str, Any], readers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    for name, value in row.items():
        if name in readers:
            row[name] = readers[name](value)
    return row


# Most steps have the same retry policy and most edges one of few sets. Each is built once and shared.
@lru_cache(maxsize=256)
def _endings(names: tuple[str, ...]) -> frozenset[Ending]:
    return frozenset(map(Ending, names))


@lru_cache(maxsize=256)
def _retry(items: tuple[tuple[str, Any], ...]) -> Retry:
    return Retry(**dict(items))


def _defaults(kind: type[_Part]) -> dict[str, Any]:
    """Return each field with its default. A missing default is a value equal to nothing, so the field is always
    written."""
    return {one.name: {} if one.name in ("config", "vars") else one.default for one in fields(kind)}


def _value(member: Enum) -> Any:
    return member.value


_DEFAULTS: Final = {kind: _defaults(kind) for kind in (Graph, Step, Edge, Retry, Each, Repeat, Probe, ContextSnapshot)}

_WRITE_STEP: Final[dict[str, Callable[[Any], Any]]] = {
    "kind": _value,
    "join": _value,
    "on_crash": _value,
    "route": _value,
    "retry": lambda retry: _changed(retry, {}),
    "each": lambda each: _changed(each, {"on_failure": _value}),
    "repeat": lambda repeat: _changed(repeat, {}),
    "probe": lambda probe: _changed(probe, {}),
}
_WRITE_EDGE: Final[dict[str, Callable[[Any], Any]]] = {"on": sorted}
_WRITE_GRAPH: Final[dict[str, Callable[[Any], Any]]] = {
    "on_failure": _value,
    "steps": lambda steps: [_changed(step, _WRITE_STEP) for step in steps],
    "edges": lambda edges: [_changed(edge, _WRITE_EDGE) for edge in edges],
    "context": lambda context: _changed(context, {"mode": _value, "overflow": _value, "keys": list}),
}
_READ_STEP: Final[dict[str, Callable[[Any], Any]]] = {
    "kind": {kind.value: kind for kind in StepKind}.__getitem__,
    "join": Join,
    "on_crash": OnCrash,
    "route": Route,
    "retry": lambda row: _retry(tuple(row.items())),
    "each": lambda row: Each(**_read(row, {"on_failure": ItemFailure})),
    "repeat": lambda row: Repeat(**row),
    "probe": lambda row: Probe(**row),
}
_READ_EDGE: Final[dict[str, Callable[[Any], Any]]] = {"on": lambda names: _endings(tuple(names))}
_READ_GRAPH: Final[dict[str, Callable[[Any], Any]]] = {
    "on_failure": FailurePolicy,
    "steps": lambda rows: tuple(Step(**_read(row, _READ_STEP)) for row in rows),
    "edges": lambda rows: tuple(Edge(**_read(row, _READ_EDGE)) for row in rows),
    "context": lambda row: ContextSnapshot(**_read(row, {"mode": SnapshotMode, "overflow": Overflow, "keys": tuple})),
}
