"""Documents of journal entries: the same in streams, lists and the document of a run."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

import msgspec

from detent.documents.journal import EntryDocument, PageDocument, StepFailure
from detent.ids import NODE, show
from detent.instant import Instant, as_datetime
from detent.run.call import Op, op_of
from detent.run.journal import Decided, Entry, EntryData, Kind, decode_data
from detent.run.outcomes import StepError
from detent.views.walk import probe_document

_encoder = msgspec.json.Encoder()
_NODE_ID: Final = re.compile(r"[0-9a-f]{32}")


def when(instant: Instant | None) -> datetime | None:
    """Return an instant as a datetime."""
    return None if instant is None else as_datetime(instant)


def entry_document(entry: Entry) -> EntryDocument:
    """Build the document of a journal entry. Its result is not decoded."""
    data = decode_data(entry.data)
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
    return EntryDocument(
        seq=entry.seq,
        at=as_datetime(entry.at),
        kind=str(entry.kind),
        step=entry.step,
        attempt=entry.attempt or None,
        status=entry.outcome,
        result=data.result or None,
        error=failure_or_none(data.error),
        duration_ms=data.ms,
        retry_at=when(retry_at),
        by=_by(entry, data),
        finished=data.finished,
        carried=list(data.carried),
        skipped=list(dict.fromkeys([*decided.skipped, *decided.given_up])),
        failed={step: as_failure(error) for step, error in {**data.crashed, **decided.errors}.items()},
        answers=decided.answers,
        notes=list(decided.notes.values()),
        sleep_until={step: as_datetime(until) for step, until in sleep.items()},
        wait_until={step: when(until) for step, until in wait.items()},
        run_status=decided.run,
        version=data.version,
        was=data.was,
        child_run_id=data.child,
        item_count=None if data.map is None else data.map.count,
        pages=data.pages,
        page=None if data.page is None else PageDocument(data.page.child, data.page.succeeded, data.page.failed),
        probe=probe_document(data.probe),
        note=_note(data),
    )


def _note(data: EntryData) -> Any:
    """Return what a note of a wait is about: a decision, a reminder, or its escalation."""
    if data.note:
        return data.note
    return None if data.reminder is None else {"reminder": data.reminder, "escalated": not data.reminder}


def entry_json(entry: Entry) -> bytes:
    """Encode the document of a journal entry as JSON on one line."""
    text = _encoder.encode(entry_document(entry))
    # A JSON string contains no raw line ends, so every line end is between values and can be replaced.
    return text.replace(b"\r", b" ").replace(b"\n", b" ")


def _by(entry: Entry, data: EntryData) -> str | None:
    """Return the user or node that caused the entry. The journal has the node of an adoption as hexadecimal bytes."""
    if entry.kind != Kind.ADOPTED or data.by is None:
        return data.by
    return show(NODE, bytes.fromhex(data.by)) if _NODE_ID.fullmatch(data.by) else data.by


def failure_or_none(error: StepError | None) -> StepFailure | None:
    return None if error is None else as_failure(error)


def as_failure(error: StepError) -> StepFailure:
    return StepFailure(error.code, error.message, error.detail)
