"""Documents of dead letters."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json


class LetterDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What Detent gave up: a step that killed its nodes, a run that it cannot read, a firing or an event that cannot
    start a run.

    `workflow_id` is null for an event that no rule could be found for. `reason` is a stable code. `result` is the run
    or the firing that a requeue made. Lists leave out the payload, which is what the step or the firing got."""

    id: str
    kind: str
    state: str
    workflow_id: str | None
    workflow: str
    run_id: str | None
    step: str | None
    firing_id: str | None
    trigger_id: str | None
    reason: str
    message: str
    attempts: int
    last_error: str | None
    written_at: datetime
    settled_at: datetime | None
    settled_by: str | None
    result: str | None
    payload: Json = msgspec.UNSET


class RefusedLetter(msgspec.Struct):
    """A dead letter that could not be requeued, and why."""

    id: str
    message: str


class BulkLettersDocument(msgspec.Struct):
    """The result of an action on many dead letters. `more`: there are further ones that match."""

    action: str
    matched: int
    dry_run: bool
    done: int
    refused: list[RefusedLetter]
    more: bool
