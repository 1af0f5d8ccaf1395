"""Build the document of a dry run."""

from __future__ import annotations

import msgspec

from detent.commands.dry_run.simulation import DryAttempt, DryRunResult, DryStep
from detent.documents.dry_run import DryAttemptDocument, DryRunDocument, DryStepDocument
from detent.documents.journal import StepFailure
from detent.documents.runs import ItemCounts
from detent.instant import as_datetime
from detent.run.outcomes import StepError


def dry_run_document(result: DryRunResult, version: int | None = None) -> DryRunDocument:
    """Build the document of a dry run of that version; `None` if it has no number."""
    return DryRunDocument(
        workflow=result.workflow,
        version=version,
        status=result.status,
        started_at=as_datetime(result.began),
        ended_at=as_datetime(result.ended),
        route=result.route,
        output=result.output,
        error=result.error,
        problems=result.problems,
        steps=[_step(step) for step in result.steps],
    )


def _step(step: DryStep) -> DryStepDocument:
    counts = step.counts
    return DryStepDocument(
        step=step.name,
        type=step.kind,
        status=step.status,
        answered_by=None if step.source is None else str(step.source),
        attempts=[_attempt(attempt) for attempt in step.attempts],
        status_code=step.status_code,
        output=step.output,
        error=_failure(step.error),
        child=None if step.child is None else dry_run_document(step.child),
        items=None if counts is None else msgspec.convert(counts, ItemCounts),
        first_items=[_step(item) for item in step.items],
    )


def _attempt(attempt: DryAttempt) -> DryAttemptDocument:
    return DryAttemptDocument(
        attempt=attempt.attempt,
        at=as_datetime(attempt.at),
        request=attempt.request,
        status=attempt.status,
        answered_by=None if attempt.source is None else str(attempt.source),
        error=_failure(attempt.error),
    )


def _failure(error: StepError | None) -> StepFailure | None:
    return None if error is None else StepFailure(error.code, error.message, error.detail)
