"""The operations of a durable function as people see them: like steps, by their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from detent.instant import iso, micros
from detent.run.journal import Entry, Kind, decode_data
from detent.run.keys import Op, op_of
from detent.run.outcomes import StepError
from detent.run.state import Checkpoint, Operation, RunState

_decode = msgspec.json.Decoder().decode
_WORDS: Final = {Op.SLEEP: "sleeping", Op.TIMER: "sleeping", Op.STEP: "scheduled"}
_TYPES: Final = {Op.STEP: "step", Op.TIMER: "sleep", Op.ASK: "signal"}


def operation_documents(state: RunState, entries: Sequence[Entry]) -> dict[str, dict[str, Any]]:
    """What the run's function began and what has ended, in the order of the journal."""
    if not state.history and not state.operations:
        return {}
    attempts, begun = _attempts(entries)
    ended = {key: _ended(one, attempts.get(key, []), begun.get(key)) for key, one in state.history.items()}
    opened = {key: _open(one, attempts.get(key, []), begun.get(key)) for key, one in state.operations.items()}
    return ended | opened


def _attempts(entries: Sequence[Entry]) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Entry]]:
    """The tries of each that have ended, and when it was begun."""
    found: dict[str, list[dict[str, Any]]] = {}
    begun: dict[str, Entry] = {}
    for entry in entries:
        if entry.step is None or entry.kind not in (Kind.BEGAN, Kind.CHECKPOINT):
            continue
        if entry.kind == Kind.BEGAN:
            begun.setdefault(entry.step, entry)
            if not entry.attempt:
                continue
        data = decode_data(entry.data)
        at = entry.at - micros((data.ms or 0) / 1000)
        found.setdefault(entry.step, []).append(
            {
                "attempt": entry.attempt,
                "status": entry.outcome or "failed",
                "started_at": iso(at),
                "finished_at": iso(entry.at),
                "duration_ms": data.ms,
                "error": _error(data.error),
                "retry_at": None if entry.outcome or data.until is None else iso(data.until),
            }
        )
    return found, begun


def _ended(one: Checkpoint, attempts: list[dict[str, Any]], begun: Entry | None) -> dict[str, Any]:
    document = _common(one.key, str(one.ending), attempts, begun)
    result = _decode(one.result) if one.result else {}
    document |= {
        "finished_at": iso(one.at),
        "duration_ms": attempts[-1]["duration_ms"] if attempts else None,
        "output": result.get("body") if op_of(one.key) is Op.WAIT else result.get("output"),
        "error": _error(one.error),
    }
    return document


def _open(one: Operation, attempts: list[dict[str, Any]], begun: Entry | None) -> dict[str, Any]:
    op = op_of(one.key)
    document = _common(one.key, _WORDS.get(op, "waiting"), attempts, begun)
    document |= {"finished_at": None, "duration_ms": None, "output": None, "error": _error(one.error)}
    if one.until is not None:
        document["next_at" if op is Op.STEP else "until"] = iso(one.until)
    if op is Op.STEP:
        document["attempt"] = one.attempt + 1
    if one.child is not None:
        document["run_id"] = one.child
    return document


def _common(key: str, status: str, attempts: list[dict[str, Any]], begun: Entry | None) -> dict[str, Any]:
    op = op_of(key)
    since = attempts[0]["started_at"] if attempts and op is Op.STEP else None if begun is None else iso(begun.at)
    return {
        "status": status,
        "type": _TYPES.get(op, str(op).removeprefix("@")),
        "started_at": since,
        "attempts": attempts,
    }


def _error(error: StepError | None) -> dict[str, Any] | None:
    return None if error is None else {"code": error.code, "message": error.message, "detail": error.detail}
