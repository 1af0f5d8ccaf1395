"""Turns a flush into the arguments of its one statement: JSON for what is small, one blob for ids and payloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from detent.run.journal import Entry
from detent.store.rows import End, Flush, Message, NewRun

_encoder: Final = msgspec.json.Encoder()
_NOTHING: Final = "[]"

Row = tuple[Any, ...]


class Bytes:
    """Blobs side by side. A place counts from 1, as SQL does."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 1

    def place(self, data: bytes | None) -> int | None:
        """Where an id lies; null has no place, and nothing lies there."""
        if data is None:
            return None
        place = self._size
        self._parts.append(data)
        self._size += len(data)
        return place

    def span(self, data: bytes | None) -> tuple[int | None, int | None]:
        """Where a payload lies, and its length."""
        return (None, None) if data is None else (self.place(data), len(data))

    def joined(self) -> bytes:
        return b"".join(self._parts)


def flush_arguments(node: bytes, epoch: int, flush: Flush, *, again: bool, checked: bool, now: int) -> list[Any]:
    """node, epoch, again, checked, now, bytes, and the lists in the order of the view `flush`."""
    packed = Bytes()
    lists = [
        _json([_start(start, packed, checked) for start in flush.starts]),
        _json(_messages(flush, packed, again=again)),
        _json(_entries(flush.entries, packed)),
        _json([(packed.place(row.run), row.tenant, row.step, int(row.early)) for row in flush.callbacks]),
        _json([(packed.place(row.run), row.step, row.until) for row in flush.last_activations()]),
        _json([(packed.place(run), step) for run, step in flush.expiries]),
        _json([(packed.place(row.run), *row[1:]) for row in flush.parks]),
        _json([_end(end, packed) for end in flush.ends]),
        _json(flush.consumed),
    ]
    return [node, epoch, int(again), len(flush.starts) if checked else 0, now, packed.joined(), *lists]


def ids(values: Sequence[bytes]) -> tuple[str, bytes]:
    """Ids as a statement can join them: a JSON list of their places, and their bytes."""
    return _json([number * 16 + 1 for number in range(len(values))]), b"".join(values)


def _json(rows: Sequence[Any]) -> str:
    return str(_encoder.encode(rows), "utf-8") if rows else _NOTHING


def _entries(entries: Sequence[Entry], packed: Bytes) -> list[Row]:
    place = packed.place
    return [
        (place(run), place(data), len(data), seq, tenant, at, kind, step, attempt, outcome)
        for tenant, run, seq, at, kind, step, attempt, outcome, data in entries
    ]


def _start(start: NewRun, packed: Bytes, checked: bool) -> Row:
    usual = (
        packed.place(start.id), packed.place(start.workflow), packed.place(start.origin), packed.place(start.parent),
        *packed.span(start.request_hash), *packed.span(start.input), *packed.span(start.opening), int(start.owned),
        start.tenant, start.version, start.status, start.trigger, start.wake_at, start.expires_at, start.queue,
        start.priority, start.code, start.request_id, start.hero_type, start.hero_id, start.labels, start.started_at,
    )  # fmt: skip
    if not checked:
        return usual
    return (*usual, start.origin_kind, packed.place(start.fired_by), int(start.current), start.active_key)


def _end(end: End, packed: Bytes) -> Row:
    return (
        packed.place(end.run), end.generation, end.status, end.ended_at, *packed.span(end.output), end.error,
    )  # fmt: skip


def _messages(flush: Flush, packed: Bytes, *, again: bool) -> list[Row]:
    sent = {(entry.run, entry.seq) for entry in flush.entries} if again and flush.messages else set()
    return [_message(message, packed, (message.source, message.source_seq) in sent) for message in flush.messages]


def _message(message: Message, packed: Bytes, with_entry: bool) -> Row:
    return (
        packed.place(message.run), packed.place(message.source), *packed.span(message.data), message.source_seq,
        message.tenant, message.kind, message.step, int(with_entry),
    )  # fmt: skip
