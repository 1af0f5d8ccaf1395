"""Shapes: runs of one version with the same shape took the same path, whatever values they have.

A check that reads no value has the same answer for all runs of a shape, so it is made once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from detent.run.journal import Decided, Entry, decode_data, decode_opening

Shape = tuple[object, ...]


def shape_of(version: int, opening: bytes | None, entries: Iterable[Entry]) -> Shape:
    """Return what was decided in a run, without values and instants."""
    begun = decode_opening(opening)
    parts: list[object] = [version, begun.start is None, *_decided(begun)]
    for entry in entries:
        data = decode_data(entry.data)
        parts += (entry.kind, entry.step, entry.outcome, data.version)
        if data.error is not None:
            parts.append(data.error.code)
        parts += data.crashed
        parts += data.names.items()
        if data.decided is not None:
            parts += _decided(data.decided)
        if data.graph:
            parts.append(data.graph)
    return tuple(parts)


def _decided(decided: Decided) -> Iterable[object]:
    yield from decided.edges.items()
    yield from decided.answers.items()
    yield from decided.skipped
    yield None
    yield from decided.given_up
    yield None
    yield from ((name, error.code) for name, error in decided.errors.items())
    yield from decided.sleep
    yield from decided.wait
    yield decided.run
