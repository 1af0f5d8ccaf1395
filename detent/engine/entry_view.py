"""A journal entry as people see it, as one JSON document: the same in streams, lists and the document of a run."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from detent.ids import NODE, show
from detent.instant import iso
from detent.run.journal import Decided, Entry, EntryData, Kind, decode_data
from detent.run.keys import Op, op_of
from detent.run.outcomes import StepError

_decode = msgspec.json.Decoder().decode
_encoder = msgspec.json.Encoder()
_NODE_ID: Final = re.compile(r"[0-9a-f]{32}")


def entry_document(entry: Entry) -> dict[str, Any]:
    """The document of an entry."""
    data = decode_data(entry.data)
    return _document(entry, data, _decode(data.result) if data.result else None)


def entry_json(entry: Entry) -> bytes:
    """The same document as JSON on one line, without reading its result."""
    data = decode_data(entry.data)
    text = _encoder.encode(_document(entry, data, data.result or None))
    # Outside of texts, where JSON has no line ends, they mean nothing.
    return text.replace(b"\r", b" ").replace(b"\n", b" ")


def _document(entry: Entry, data: EntryData, result: Any) -> dict[str, Any]:
    decided = data.decided or Decided()
    sleep, wait = dict(decided.sleep), dict(decided.wait)
    retry_at = data.retry_at
    if entry.kind == Kind.BEGAN and entry.step is not None:
        op = op_of(entry.step)
        if op is Op.STEP:
            retry_at = data.until
        elif op in (Op.SLEEP, Op.TIMER) and data.until is not None:
            sleep[entry.step] = data.until
        else:
            wait[entry.step] = data.until
    return {
        "seq": entry.seq,
        "at": iso(entry.at),
        "kind": str(entry.kind),
        "step": entry.step,
        "attempt": entry.attempt or None,
        "status": entry.outcome,
        "result": result,
        "error": _error(data.error),
        "duration_ms": data.ms,
        "retry_at": None if retry_at is None else iso(retry_at),
        "by": _by(entry, data),
        "finished": data.finished,
        "carried": list(data.carried),
        "skipped": list(dict.fromkeys([*decided.skipped, *decided.given_up])),
        "failed": {step: _error(error) for step, error in {**data.crashed, **decided.errors}.items()},
        "sleep_until": {step: iso(until) for step, until in sleep.items()},
        "wait_until": {step: None if until is None else iso(until) for step, until in wait.items()},
        "run_status": decided.run,
    }


def _by(entry: Entry, data: EntryData) -> str | None:
    """Who or what did it. A node that took a run over stands in the journal with the bytes of its id."""
    if entry.kind != Kind.ADOPTED or data.by is None:
        return data.by
    return show(NODE, bytes.fromhex(data.by)) if _NODE_ID.fullmatch(data.by) else data.by


def _error(error: StepError | None) -> dict[str, Any] | None:
    return None if error is None else {"code": error.code, "message": error.message, "detail": error.detail}
