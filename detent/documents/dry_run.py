"""Documents of dry runs: what a run would do, with answers in place of effects."""

from __future__ import annotations

from datetime import datetime

import msgspec

from detent.documents.answers import Json
from detent.documents.journal import StepFailure
from detent.documents.runs import ItemCounts


class DryAttemptDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One attempt. `request` has the rendered parameters: of an HTTP step `method`, `url`, `headers` and `body`.

    `answered_by` is `pinned`, `run` (a past run) or `example`; it is left out if nothing was replaced."""

    attempt: int
    at: datetime
    request: Json
    status: str
    answered_by: str | None = None
    error: StepFailure | None = None


class DryStepDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A step of a dry run, with its attempts. Fields that are null are left out.

    `child` is the child run that it would start. A map has the counts of its `items`, and the first 100 of them in
    `first_items`, each named by its index."""

    step: str
    type: str
    status: str
    answered_by: str | None = None
    attempts: list[DryAttemptDocument]
    status_code: int | None = None
    output: Json = None
    error: StepFailure | None = None
    child: DryRunDocument | None = None
    items: ItemCounts | None = None
    first_items: list[DryStepDocument] = []


class DryRunDocument(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a run would do. Nothing was executed and nothing was written.

    `route` has the steps in the order of their ends: `name`, or `name:outcome` unless it succeeded. Times are those of
    the dry run, in which sleeps and waits take no real time. `problems` has expressions without a value, and why the
    dry run stopped early if it did."""

    workflow: str
    version: int | None = None
    status: str
    started_at: datetime
    ended_at: datetime
    route: list[str]
    output: Json
    error: str | None
    problems: list[str]
    steps: list[DryStepDocument]
