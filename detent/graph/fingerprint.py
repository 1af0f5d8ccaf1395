"""The fingerprint of a graph: graphs that mean the same have the same one, whichever form they were written in.

The checksum of a version is made of the stored bytes, and a decision of a run names an edge by its place there. Two
forms list the same edges in another order: `needs` by target, `edges` by source. So a conversion is judged by the
fingerprint of the *canonical* graph, in which everything that has no effect has one spelling.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from detent.graph import codec
from detent.graph.model import Each, Edge, Graph, Join, Repeat, Retry, Route, Step, StepKind

#: Durations are compared in whole microseconds, as instants are; a form may count them in milliseconds.
_DIGITS: Final = 6
_DIGITS_OF_SHARES: Final = 9


def fingerprint(graph: Graph) -> str:
    """Return the SHA-256 of the canonical graph in hexadecimal."""
    return codec.fingerprint(codec.encode(canonical(graph)))


def canonical(graph: Graph) -> Graph:
    """Return the graph with one spelling of everything that has no effect.

    Edges are sorted by their source. Their order is a number only where it counts: with first match, and among edges
    that are considered last. A join needs two incoming edges, and a route two outgoing ones. What a publish adds (the
    pinned version of an action, its probe) is no part of a definition and is left out."""
    incoming = Counter(edge.target for edge in graph.edges)
    outgoing = Counter(edge.source for edge in graph.edges)
    steps = tuple(_step(step, incoming[step.name], outgoing[step.name]) for step in graph.steps)
    ordered = {step.name for step in steps if step.route is Route.FIRST_MATCH}
    return replace(
        graph,
        steps=steps,
        edges=tuple(_edges(graph.edges, ordered)),
        max_duration=_rounded(graph.max_duration),
    )


def _edges(edges: Iterable[Edge], ordered: set[str]) -> Iterator[Edge]:
    numbered = sorted(enumerate(edges), key=lambda pair: (pair[1].source, pair[1].otherwise, pair[1].order, pair[0]))
    for (source, otherwise), group in groupby(numbered, lambda pair: (pair[1].source, pair[1].otherwise)):
        counts = source in ordered or otherwise
        found = [_edge(edge, number if counts else 0) for number, (_, edge) in enumerate(group)]
        yield from sorted(found, key=_place)


def _edge(edge: Edge, order: int) -> Edge:
    return replace(edge, order=order, false_on_error=edge.false_on_error and edge.condition is not None)


def _place(edge: Edge) -> tuple[Any, ...]:
    return edge.order, edge.target, sorted(edge.on), edge.condition or "", edge.false_on_error, edge.handles


def _step(step: Step, incoming: int, outgoing: int) -> Step:
    return replace(
        step,
        config=_config(step),
        join=step.join if incoming > 1 else Join.ALL,
        route=step.route if outgoing > 1 else Route.PARALLEL,
        retry=_retry(step.retry),
        timeout=_rounded(step.timeout),
        delay=_rounded(step.delay),
        each=_each(step.each),
        repeat=_repeat(step.repeat),
        title=None if step.title == step.name else step.title,
        probe=None,
    )


def _config(step: Step) -> dict[str, Any]:
    config = dict(step.config)
    if step.kind is StepKind.ACTION:
        config.pop("version", None)
    for name in ("seconds", "timeout") if step.kind in (StepKind.SLEEP, StepKind.WAIT) else ():
        if isinstance(config.get(name), int | float):
            config[name] = _rounded(config[name])
    return config


def _retry(retry: Retry) -> Retry:
    delay, longest = round(retry.delay, _DIGITS), round(retry.max_delay, _DIGITS)
    return replace(retry, delay=delay, max_delay=longest, factor=float(retry.factor))


def _each(each: Each | None) -> Each | None:
    return None if each is None else replace(each, tolerate_share=round(each.tolerate_share, _DIGITS_OF_SHARES))


def _repeat(repeat: Repeat | None) -> Repeat | None:
    if repeat is None:
        return None
    return replace(
        repeat,
        every=round(repeat.every, _DIGITS),
        factor=float(repeat.factor),
        max_wait=round(repeat.max_wait, _DIGITS),
        give_up_after=_rounded(repeat.give_up_after),
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(float(seconds), _DIGITS)
