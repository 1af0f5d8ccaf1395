"""Build the outline of a run: every step without its bodies, as the journal had it after some entry."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from detent.documents.outline import OutlineDocument, RunHead, StepOutline, TryDocument
from detent.documents.runs import ItemCounts, ReasonDocument
from detent.graph.model import Ending
from detent.instant import Instant, as_datetime
from detent.run.call import Op, op_of
from detent.run.outcomes import StepError
from detent.run.state import Phase
from detent.run.status import TERMINAL
from detent.store.rows import RunRow
from detent.views.runs import (
    item_counts,
    operation_kind,
    principal_document,
    run_summary,
    step_status,
    suspect_document,
)
from detent.views.walk import PastTry, Walk, step_reason

#: At most this many tries of one step, and of all steps together, are in an outline. Those left out are counted.
MOST_TRIES: Final = 100
MOST_TRIES_OF_RUN: Final = 5_000
#: At most this many operations of a durable function are in an outline, the newest ones.
MOST_OPERATIONS: Final = 2_000
LONGEST_ERROR: Final = 300


class _MapResult(msgspec.Struct):
    items: dict[str, int] = {}


_map_result = msgspec.json.Decoder(_MapResult).decode


def outline_document(
    row: RunRow,
    walk: Walk,
    reasons: Sequence[ReasonDocument],
    now: Instant,
    *,
    version: int,
    is_past: bool,
) -> OutlineDocument:
    """Build the outline of a run. `version` is the one that it has after the walk. `is_past`: its journal has more
    entries, so only the walk says how it was then."""
    state = walk.state
    steps = [_step(walk, index, owned=is_past or row.owner is not None) for index in range(len(walk.prepared.steps))]
    operations = [*state.history, *(key for key in state.operations if key not in state.history)]
    shown = operations[-MOST_OPERATIONS:]
    steps += [operation_outline(walk, key) for key in shown]
    most = max(1, min(MOST_TRIES, MOST_TRIES_OF_RUN // max(1, len(steps))))
    for step in steps:
        _cut_tries(step, most)
    head = run_head(row, walk, now, version=version, is_past=is_past)
    begun = None if state.opens_at is not None else walk.opened_at
    return OutlineDocument(
        run=head,
        why=reasons[0].message if reasons else f"The run is {head.status}.",
        reasons=list(reasons),
        seq=state.seq,
        begun_at=None if begun is None else as_datetime(begun),
        now=as_datetime(now),
        steps=steps,
        left_out=len(operations) - len(shown),
    )


def run_head(row: RunRow, walk: Walk, now: Instant, *, version: int, is_past: bool) -> RunHead:
    """Build a run without its steps: as its row has it, or as it was after an earlier entry."""
    state = walk.state
    deadlines = {(row.id, step.name): state.until.get(step.index) for step in walk.prepared.steps if step.asks_people}
    deadlines |= {(row.id, one.key): one.until for one in state.operations.values() if one.asks}
    summary = run_summary(row, now, deadlines)
    head = RunHead(**{name: getattr(summary, name) for name in summary.__struct_fields__})
    head.paused_by = state.paused_by
    head.paused_step = None if state.paused_step is None else walk.prepared.steps[state.paused_step].name
    head.suspect = suspect_document(walk.prepared, state)
    head.principal = None if row.principal is None else principal_document(row)
    head.via = row.via
    head.correlation_id = row.correlation
    if is_past or row.status not in TERMINAL:
        head.status = str(state.status)
    if is_past:
        head.finished_at, head.error, head.stage, head.node = None, None, None, None
        begun = None if state.opens_at is not None else walk.opened_at
        head.duration_ms = None if begun is None else max(0, now - begun) / 1000
    head.version = version
    return head


def _step(walk: Walk, index: int, *, owned: bool) -> StepOutline:
    state, step = walk.state, walk.prepared.steps[index]
    phase, tries = state.phase[index], walk.tries.get(step.name, [])
    ready, finished = walk.ready_at(index), walk.finished_at(index)
    started = tries[0].started_at if tries else None
    if started is not None and ready is not None:
        started = max(started, ready)  # the duration of an attempt and its end come from different clocks
    if started is None and phase is not Phase.PENDING and state.ending[index] is not Ending.SKIPPED:
        started = ready
    error = state.errors.get(index)
    document = StepOutline(
        name=step.name,
        kind=str(step.kind),
        title=walk.prepared.graph.steps[index].title,
        status=step_status(state, index, owned=owned),
        ready_at=None if ready is None or _ms(ready) == _ms(started) else _when(ready),
        started_at=_when(started),
        finished_at=_when(finished),
        duration_ms=_span(started, finished),
        tries=_tries(tries, finished),
        items=items_of(walk, index),
        error=_cut(error),
        guard=_guard(walk, index),
    )
    children = walk.children.get(step.name) if index in walk.prepared.child_steps else None
    if children:
        document.child_run_id = children[-1]
    if phase in (Phase.READY, Phase.RUNNING, Phase.RETRYING, Phase.CHILD):
        document.attempt = state.attempt_number(index)
    if phase is Phase.RETRYING:
        document.next_at = _when(state.until.get(index))
    else:
        document.until = _when(state.until.get(index))
    document.reason = step_reason(state, index)
    return document


def operation_outline(walk: Walk, key: str) -> StepOutline:
    """Build the outline of an operation of a durable function."""
    state, op = walk.state, op_of(key)
    ended, is_open = state.history.get(key), state.operations.get(key)
    tries, begun = walk.tries.get(key, []), walk.begun.get(key)
    started = tries[0].started_at if tries and op is Op.STEP else begun
    finished = None if ended is None else ended.at
    if started is None:
        started = finished
    error = ended.error if ended is not None else is_open.error if is_open is not None else None
    document = StepOutline(
        name=key,
        kind=operation_kind(op),
        status=str(ended.ending) if ended is not None else _open_word(op),
        started_at=_when(started),
        finished_at=_when(finished),
        duration_ms=_span(started, finished),
        tries=_tries(tries, finished),
        error=_cut(error),
    )
    children = walk.children.get(key)
    if children:
        document.child_run_id = children[-1]
    if is_open is not None and ended is None and op is Op.STEP:
        document.next_at, document.attempt = _when(is_open.until), is_open.attempt + 1
    elif is_open is not None and ended is None:
        document.until = _when(is_open.until)
    return document


def _open_word(op: Op) -> str:
    return {Op.SLEEP: "sleeping", Op.TIMER: "sleeping", Op.STEP: "scheduled"}.get(op, "waiting")


def _tries(tries: Sequence[PastTry], finished: Instant | None) -> list[TryDocument]:
    """Return the tries of a step. One attempt that ended with its step has the times of the step."""
    if len(tries) == 1 and tries[0].finished_at == finished and tries[0].retry_at is None:
        return []
    return [
        TryDocument(
            attempt=one.attempt,
            started_at=_when(one.started_at),
            finished_at=_when(one.finished_at),
            status=one.status,
            retry_at=_when(one.retry_at),
            error=_cut(one.error),
        )
        for one in tries
    ]


def _cut_tries(step: StepOutline, most: int) -> None:
    if len(step.tries) > most:
        step.more_tries = len(step.tries) - most
        step.tries = step.tries[-most:]


def items_of(walk: Walk, index: int) -> ItemCounts | None:
    """Return the counts of the items of a map, or None if the step is not a map that has begun."""
    if walk.prepared.steps[index].items is None:
        return None
    found, stored = walk.state.maps.get(index), walk.state.results.get(index)
    if found is not None:
        return item_counts(found)
    counts = _map_result(stored).items if stored else {}
    return ItemCounts(**counts, pages=0) if counts else None


def _guard(walk: Walk, index: int) -> bool | None:
    """Return whether the `if` of a step was true, or None if it has none, or was not asked or could not be answered."""
    state, step = walk.state, walk.prepared.steps[index]
    if step.guard is None:
        return None
    if step.name in walk.skipped:
        taken = state.taken[index]
        is_met = taken == step.incoming if step.needs_all else taken > 0 or not step.incoming
        return False if is_met and not state.undecided[index] and index not in state.passed else None
    was_left = state.ending[index] is not None and not walk.tries.get(step.name) and index not in state.results
    if state.phase[index] is Phase.PENDING or was_left:
        return None
    return True


def _cut(error: StepError | None) -> str | None:
    return None if error is None else error.message[:LONGEST_ERROR]


def _ms(instant: Instant | None) -> int | None:
    return None if instant is None else instant // 1000


def _span(started: Instant | None, finished: Instant | None) -> float | None:
    return None if started is None or finished is None else round(max(0, finished - started) / 1000, 2)


@lru_cache(maxsize=4096)
def _when(instant: Instant | None) -> Any:
    """Return an instant as JSON in milliseconds: microseconds would make an outline a tenth larger.

    A step ends when the next one is ready, so most instants are asked for twice."""
    if instant is None:
        return None
    return msgspec.Raw(
        b'"%b"' % as_datetime(instant).isoformat(timespec="milliseconds").replace("+00:00", "Z").encode()
    )
