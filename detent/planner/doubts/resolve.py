"""What a user says of an uncertain step: it happened, or it did not."""

from __future__ import annotations

import msgspec

from detent.graph.model import Ending
from detent.instant import Instant
from detent.planner.apply import Change, pause_reason, pauses_on_failure
from detent.planner.prepared import Prepared
from detent.run import events
from detent.run.journal import EntryData, Kind
from detent.run.outcomes import StepError, result_of
from detent.run.state import Phase, RunState


def resolved(event: events.Resolved, prepared: Prepared, state: RunState, now: Instant) -> Change | None:
    """Plan the end of an uncertain step."""
    index = event.step
    if state.phase[index] is not Phase.UNCERTAIN:
        return None
    step, data = prepared.steps[index], EntryData(by=event.by)
    if event.happened:
        data.result = msgspec.Raw(result_of(step.kind) if event.result is None else event.result)
        return Change(Kind.ENDED, index, state.doubts[index], Ending.SUCCESS, data)
    data.error = did_not_happen(step.name, event.by)
    if pauses_on_failure(prepared, index, Ending.FAILED):
        data.by = pause_reason(prepared, index)
        return Change(Kind.PAUSED, index, state.doubts[index], Ending.FAILED, data)
    return Change(Kind.ENDED, index, state.doubts[index], Ending.FAILED, data)


def did_not_happen(step: str, by: str) -> StepError:
    """Return the error of an attempt that died with its node and had no effect."""
    message = f"'{step}' was in flight when its node died, and {by} says that it did not happen"
    return StepError("did_not_happen", message)
