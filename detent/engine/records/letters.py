"""Dead letters of a node: a step that is given up as poison, and a run that is quarantined.

Each is part of the write that gives up, so it is durable together with what the journal says.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from detent.engine.owned_run import OwnedRun
from detent.ids import NewId
from detent.run.journal import Entry, decode_data
from detent.store.letters import LetterKind, NewLetter
from detent.values.text import plain_text

QUARANTINED: Final = "quarantined"
_LONGEST: Final = 4_000


def poison_letters(run: OwnedRun, entry: Entry, new_id: NewId) -> tuple[NewLetter, ...]:
    """Return a dead letter for each step that the entry of an adoption gives up."""
    facts, found = run.state.facts, []
    for step, error in decode_data(entry.data).crashed.items():
        detail: dict[str, Any] = error.detail if isinstance(error.detail, dict) else {}
        last = detail.get("last_error")
        found.append(
            NewLetter(
                id=new_id(),
                tenant=facts.tenant,
                kind=str(LetterKind.STEP),
                workflow=facts.workflow_id,
                run=run.id,
                step=step,
                source=None,
                trigger=None,
                reason=error.code,
                message=error.message,
                payload=msgspec.json.encode(detail.get("payload")),
                attempts=int(detail.get("attempts") or 0),
                last_error=None if last is None else plain_text(last, _LONGEST),
            )
        )
    return tuple(found)


def quarantine_letter(new_id: NewId, tenant: int, workflow: bytes, run: bytes, reason: str) -> NewLetter:
    """Return the dead letter of a run that cannot be read or planned."""
    return NewLetter(
        id=new_id(),
        tenant=tenant,
        kind=str(LetterKind.RUN),
        workflow=workflow,
        run=run,
        step=None,
        source=None,
        trigger=None,
        reason=QUARANTINED,
        message=plain_text(reason, _LONGEST),
        payload=None,
        attempts=1,
        last_error=plain_text(reason, _LONGEST),
    )
