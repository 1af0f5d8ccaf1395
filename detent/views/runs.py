"""Build the documents of runs from their rows, their journals folded over their graphs, and their callbacks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from math import ceil
from types import MappingProxyType
from typing import Any, Final

import msgspec

from detent.documents.answers import NULL
from detent.documents.runs import (
    AttemptDocument,
    CallbackDocument,
    HeroDocument,
    ItemCounts,
    ItemDocument,
    OriginDocument,
    ParentDocument,
    PrincipalDocument,
    RunDocument,
    RunSummary,
    StageDocument,
    StepDocument,
    SuspectDocument,
)
from detent.graph.model import StepKind
from detent.ids import NODE, RUN, TRIGGER, WORKFLOW, made_at, show
from detent.instant import Instant, as_datetime, micros
from detent.planner.fold import NO_VERSIONS, fold
from detent.planner.moves.code import graph_of
from detent.planner.prepared import Prepared
from detent.planner.suspects import is_suspect, is_suspect_run, waits_as_suspect
from detent.run.call import Op, op_of
from detent.run.initiator import Initiator, read_principal
from detent.run.journal import Entry, EntryData, Kind, decode_data, family_in
from detent.run.stage import StageKind, stage_kind
from detent.run.state import Checkpoint, MapState, Operation, Phase, RunFacts, RunState
from detent.run.status import TERMINAL, Status
from detent.store.list_rows import ListedRun
from detent.store.rows import NO_ID, CallbackRow, CallbackState, RunRow, hero_of
from detent.views.entries import failure_or_none, when
from detent.views.walk import probe_document, step_reason

_decode = msgspec.json.Decoder().decode
_encoder = msgspec.json.Encoder()
_NODE_ID: Final = re.compile(r"[0-9a-f]{32}")


class StoredResult(msgspec.Struct):
    """The stored result of a step. Its output goes into the document as it is stored, without being decoded."""

    status_code: msgspec.Raw = NULL
    headers: msgspec.Raw = NULL
    body: msgspec.Raw = NULL
    query: msgspec.Raw = NULL
    output: msgspec.Raw = NULL
    state: msgspec.Raw = NULL
    truncated: bool = False
    encoding: str | None = None
    items: dict[str, int] = {}


read_result = msgspec.json.Decoder(StoredResult).decode
_NO_RESULT: Final = StoredResult()


def _stored(data: bytes | None) -> Any:
    """Return stored JSON as the value of a field, without decoding it."""
    return None if data is None else msgspec.Raw(data)


# Operations of a durable function: documents like those of steps, by their keys.


_WORDS: Final = {Op.SLEEP: "sleeping", Op.TIMER: "sleeping", Op.STEP: "scheduled"}
_TYPES: Final = {Op.STEP: "step", Op.TIMER: "sleep", Op.ASK: "signal"}


def operation_documents(state: RunState, entries: Sequence[Entry]) -> dict[str, StepDocument]:
    """Build the documents of the operations of the run's function: first those that ended, then the open ones."""
    if not state.history and not state.operations:
        return {}
    attempts, begun = _attempts(entries)
    ended = {key: _ended(one, attempts.get(key, []), begun.get(key)) for key, one in state.history.items()}
    for entry in entries:
        if entry.kind == Kind.BEGAN and entry.step in ended and op_of(entry.step) is Op.CHILD:
            ended[entry.step].child_run_id = decode_data(entry.data).child
    opened = {key: _open(one, attempts.get(key, []), begun.get(key)) for key, one in state.operations.items()}
    return ended | opened


def _attempts(entries: Sequence[Entry]) -> tuple[dict[str, list[AttemptDocument]], dict[str, Entry]]:
    """Return the attempts of each operation that have ended, and the entry that began it."""
    found: dict[str, list[AttemptDocument]] = {}
    begun: dict[str, Entry] = {}
    for entry in entries:
        if entry.step is None or entry.kind not in (Kind.BEGAN, Kind.CHECKPOINT):
            continue
        if entry.kind == Kind.BEGAN:
            begun.setdefault(entry.step, entry)
            if not entry.attempt:
                continue
        data = decode_data(entry.data)
        retry_at = None if entry.outcome else data.until
        found.setdefault(entry.step, []).append(_attempt(entry, data, entry.outcome or "failed", retry_at))
    return found, begun


def _attempt(entry: Entry, data: EntryData, status: str | None, retry_at: Instant | None) -> AttemptDocument:
    return AttemptDocument(
        attempt=entry.attempt,
        status=status,
        started_at=as_datetime(entry.at - micros((data.ms or 0) / 1000)),
        finished_at=as_datetime(entry.at),
        duration_ms=data.ms,
        error=failure_or_none(data.error),
        retry_at=when(retry_at),
        probe=probe_document(data.probe),
    )


def _ended(one: Checkpoint, attempts: list[AttemptDocument], begun: Entry | None) -> StepDocument:
    op = op_of(one.key)
    result = read_result(one.result) if one.result else _NO_RESULT
    return StepDocument(
        status=str(one.ending),
        type=operation_kind(op),
        started_at=_since(op, attempts, begun),
        finished_at=as_datetime(one.at),
        duration_ms=attempts[-1].duration_ms if attempts else None,
        attempts=attempts,
        output=result.body if op is Op.WAIT and result.output is NULL else result.output,
        error=failure_or_none(one.error),
    )


def _open(one: Operation, attempts: list[AttemptDocument], begun: Entry | None) -> StepDocument:
    op = op_of(one.key)
    document = StepDocument(
        status=_WORDS.get(op, "waiting"),
        type=operation_kind(op),
        started_at=_since(op, attempts, begun),
        finished_at=None,
        duration_ms=None,
        attempts=attempts,
        run_id=one.child,
        child_run_id=one.child,
        output=NULL,
        error=failure_or_none(one.error),
    )
    if op is Op.STEP:
        document.next_at = when(one.until)
        document.attempt = one.attempt + 1
    else:
        document.until = when(one.until)
    return document


def operation_kind(op: Op) -> str:
    """Return the word for what an operation does."""
    return _TYPES.get(op, str(op).removeprefix("@"))


def _since(op: Op, attempts: list[AttemptDocument], begun: Entry | None) -> datetime | None:
    if attempts and op is Op.STEP:
        return attempts[0].started_at
    return None if begun is None else as_datetime(begun.at)


CALLBACK_WORDS: Final = {CallbackState.RECEIVED: "consumed"}
#: The entries that end an attempt, and the status of an attempt that neither succeeded nor failed.
_ATTEMPTS: Final = {
    Kind.ENDED: None,
    Kind.RETRY: "reattempted",
    Kind.PAUSED: "paused",
    Kind.CANCELLED: "cancelled",
}
_WAITING: Final = {Phase.SLEEPING: "sleeping", Phase.WAITING: "waiting", Phase.UNCERTAIN: "waiting"}


def run_document(
    row: RunRow,
    prepared: Prepared,
    entries: Sequence[Entry],
    callbacks: Sequence[CallbackRow],
    callback_url: Callable[[str], str],
    versions: Mapping[int, Prepared] = NO_VERSIONS,
    *,
    now: Instant,
) -> RunDocument:
    """Build the document of one run, the same on every route. Its input, output and results are not decoded."""
    state = fold_row(row, prepared, entries, callback_url, versions)
    prepared = graph_of(prepared, state)
    attempts = _attempts_by_step(entries)
    status = row.status if row.status in TERMINAL else str(state.status)
    not_begun = status == Status.PENDING or _ended_before_it_began(row)
    begins = as_datetime(row.started_at)
    steps = {
        step.name: _step(prepared, state, step.index, attempts.get(step.name, []), owned=row.owner is not None)
        for step in prepared.steps
    }
    for name, child in children_by_step(prepared, entries).items():
        steps[name].child_run_id = child
    return RunDocument(
        id=show(RUN, row.id),
        workflow_id=show(WORKFLOW, row.workflow),
        workflow=row.workflow_name,
        version=row.version,
        status=status,
        trigger=row.trigger,
        input=_stored(row.input),
        started_at=None if not_begun else begins,
        start_at=begins if not_begun else None,
        finished_at=when(row.ended_at),
        expires_at=when(row.expires_at),
        output=_stored(row.output),
        principal=principal_document(row),
        via=row.via,
        correlation_id=row.correlation,
        error=row.error,
        paused_by=state.paused_by,
        paused_step=None if state.paused_step is None else prepared.steps[state.paused_step].name,
        origin=_origin(row),
        parent=_parent(row),
        request_id=row.request_id,
        trigger_id=None if row.fired_by is None else show(TRIGGER, row.fired_by),
        labels=_decode(row.labels) if row.labels else {},
        hero=_hero(row),
        stage=stage_document(row, now, {(row.id, one.step): one.until for one in callbacks})
        if status not in TERMINAL
        else None,
        duration_ms=None if not_begun else _span(row),
        node=_node(row),
        queued_ms=_queued(row, attempts),
        callbacks=[_callback(callback, callback_url) for callback in callbacks],
        steps=steps | operation_documents(state, entries),
        suspect=suspect_document(prepared, state),
    )


#: A row of a run, whole or as lists read it.
SummaryRow = RunRow | ListedRun
#: Until when a step of a run waits.
Deadlines = Mapping[tuple[bytes, str], Instant | None]
NO_DEADLINES: Final[Deadlines] = MappingProxyType({})


def stage_document(row: SummaryRow, now: Instant, deadlines: Deadlines) -> StageDocument | None:
    """Build the document of the stage of a run, by its row. Return None if the run has ended.

    `deadlines` are those of waits for people: such a run wakes earlier if it has to remind them."""
    if row.ended_at is not None or row.status in TERMINAL:
        return None
    is_current = row.stage_epoch == row.generation
    kind = stage_kind(
        status=row.status,
        owned=row.owner is not None,
        wake_at=row.wake_at,
        stage=row.stage,
        is_current=is_current,
        now=now,
    )
    has_step = is_current and kind == row.stage
    until = None if kind in (StageKind.QUEUED, StageKind.RUNNING) else row.wake_at
    if kind is StageKind.PERSON:
        until = deadlines.get((row.id, row.stage_step or ""))
    since = row.wake_at if kind is StageKind.QUEUED else None
    return StageDocument(str(kind), row.stage_step if has_step else None, when(until), when(since))


def _span(row: SummaryRow) -> float | None:
    """Return how many milliseconds an ended run took. A clock that is behind makes it 0, not negative."""
    return None if row.ended_at is None else max(0, row.ended_at - row.started_at) / 1000


def _node(row: SummaryRow) -> str | None:
    is_owned = row.owner is not None and row.owner != NO_ID and row.ended_at is None
    return show(NODE, row.owner) if is_owned and row.owner is not None else None


def _queued(row: RunRow, attempts: Mapping[str, Sequence[AttemptDocument]]) -> float | None:
    """Return the milliseconds from the acceptance of a run to its first attempt that has ended."""
    begun = [attempt.started_at for found in attempts.values() for attempt in found]
    if not begun:
        return None
    return max(0.0, (min(begun) - as_datetime(made_at(row.id))).total_seconds() * 1000)


def run_summary(row: SummaryRow, now: Instant, deadlines: Deadlines = NO_DEADLINES) -> RunSummary:
    """Build the document of a run in a list, by its row. Without `deadlines`, a wait for people has none."""
    is_pending = is_yet_to_begin(row)
    begins = as_datetime(row.started_at)
    return RunSummary(
        id=show(RUN, row.id),
        workflow_id=show(WORKFLOW, row.workflow),
        workflow=row.workflow_name,
        version=row.version,
        status=shown_status(row),
        trigger=row.trigger,
        started_at=None if is_pending else begins,
        start_at=begins if is_pending else None,
        finished_at=when(row.ended_at),
        expires_at=when(row.expires_at),
        error=row.error,
        origin=_origin(row),
        parent=_parent(row),
        request_id=row.request_id,
        trigger_id=None if row.fired_by is None else show(TRIGGER, row.fired_by),
        labels=_decode(row.labels) if row.labels else {},
        hero=_hero(row),
        stage=stage_document(row, now, deadlines),
        duration_ms=None if is_pending else _span(row),
        node=_node(row),
    )


def suspect_document(prepared: Prepared, state: RunState) -> SuspectDocument | None:
    """Build the document of a suspect run, or return None if the run is not suspect.

    It has the number of adoptions without progress, the strikes of each step, and which steps are in flight or wait.
    """
    if state.is_over or not is_suspect_run(state):
        return None
    names = [step.name for step in prepared.steps]
    waiting = [index for index in range(len(names)) if waits_as_suspect(state, index)]
    times = [until for index in waiting if (until := state.until.get(index)) is not None]
    return SuspectDocument(
        adoptions=state.stalled,
        strikes={names[index]: strikes for index, strikes in state.strikes.items()},
        in_flight=[names[index] for index in state.begun if is_suspect(state, index)],
        waiting=[names[index] for index in waiting],
        next_at=as_datetime(min(times)) if times else None,
    )


def shown_status(row: SummaryRow) -> str:
    """Return the status by the row alone. The row of a delayed run has `pending` until its node first releases it, but
    a node that owns it has begun it."""
    return str(Status.RUNNING) if row.status == Status.PENDING and row.owner is not None else row.status


def is_yet_to_begin(row: SummaryRow) -> bool:
    """Return whether a delayed run has not begun, or never will."""
    return shown_status(row) == Status.PENDING or _ended_before_it_began(row)


def _ended_before_it_began(row: SummaryRow) -> bool:
    return row.ended_at is not None and row.ended_at < row.started_at


def _origin(row: SummaryRow) -> OriginDocument | None:
    return None if row.origin is None else OriginDocument(show(RUN, row.origin), row.origin_kind or "")


def _parent(row: SummaryRow) -> ParentDocument | None:
    if row.parent is None:
        return None
    family = family_in(row.opening if isinstance(row, RunRow) else row.family)
    return ParentDocument(show(RUN, row.parent), None if family is None else family.step)


def principal_document(row: RunRow) -> PrincipalDocument:
    """Build the document of the principal of a run."""
    found = read_principal(row.principal)
    return PrincipalDocument(found.user_id, found.display_name, found.email)


def _hero(row: SummaryRow) -> HeroDocument | None:
    return None if row.hero_type is None else HeroDocument(row.hero_type, row.hero_id or "")


def fold_row(
    row: RunRow,
    prepared: Prepared,
    entries: Sequence[Entry],
    callback_url: Callable[[str], str],
    versions: Mapping[int, Prepared] = NO_VERSIONS,
) -> RunState:
    """Fold the state of a run from its row and its journal. The graphs are those that `fold` takes."""
    return fold(prepared, facts_of_row(row, callback_url), row.opening, entries, versions)


def facts_of_row(row: RunRow, callback_url: Callable[[str], str]) -> RunFacts:
    """Return what never changes in a run."""
    return RunFacts(
        id=row.id,
        tenant=row.tenant,
        workflow=row.workflow_name,
        input=row.input,
        started_at=row.started_at,
        expires_at=row.expires_at,
        callback_url=callback_url,
        hero=hero_of(row),
        parent=row.parent,
        initiator=Initiator(row.principal, row.via, row.correlation),
    )


def _callback(row: CallbackRow, callback_url: Callable[[str], str]) -> CallbackDocument:
    state = CallbackState(row.state)
    return CallbackDocument(
        step=row.step,
        url=callback_url(row.step),
        status=CALLBACK_WORDS.get(state, str(state)),
        created_at=as_datetime(row.created_at),
        expires_at=when(row.until),
    )


def _attempts_by_step(entries: Sequence[Entry]) -> dict[str, list[AttemptDocument]]:
    """Return every attempt that ended, by step, in order."""
    found: dict[str, list[AttemptDocument]] = {}
    for entry in entries:
        if entry.step is None or entry.kind not in _ATTEMPTS or not entry.attempt:
            continue
        data = decode_data(entry.data)
        status = entry.outcome or _ATTEMPTS[Kind(entry.kind)]
        found.setdefault(entry.step, []).append(_attempt(entry, data, status, data.retry_at))
    return found


def children_by_step(prepared: Prepared, entries: Sequence[Entry]) -> dict[str, str]:
    """Return the last child run of each step that has one."""
    names = {prepared.steps[index].name for index in prepared.child_steps}
    started = [entry for entry in entries if entry.kind == Kind.STARTED and entry.step in names]
    return {entry.step: child for entry in started if entry.step and (child := decode_data(entry.data).child)}


def _step(
    prepared: Prepared, state: RunState, index: int, attempts: list[AttemptDocument], *, owned: bool
) -> StepDocument:
    phase = state.phase[index]
    begun = attempts[0].started_at if attempts else None
    if begun is None and phase not in (Phase.PENDING, Phase.ENDED):
        begun = as_datetime(state.since[index])
    document = StepDocument(
        status=step_status(state, index, owned=owned),
        type=str(prepared.steps[index].kind),
        started_at=begun,
        finished_at=as_datetime(state.since[index]) if phase is Phase.ENDED else None,
        duration_ms=attempts[-1].duration_ms if attempts else None,
        attempts=attempts,
        error=failure_or_none(state.errors.get(index)),
    )
    if phase in (Phase.READY, Phase.RUNNING, Phase.RETRYING, Phase.CHILD):
        document.attempt = state.attempt_number(index)
    until = when(state.until.get(index))
    if phase is Phase.RETRYING:
        document.next_at = until
    else:
        document.until = until
    document.reason = step_reason(state, index)
    if prepared.steps[index].items is None:
        _add_result(document, prepared.steps[index].kind, state.results.get(index))
    else:
        _add_items(document, state, index)
    return document


def _add_items(document: StepDocument, state: RunState, index: int) -> None:
    """Add what a map has gathered, and the counts of its items."""
    stored, found = state.results.get(index), state.maps.get(index)
    result = _NO_RESULT if stored is None else read_result(stored)
    if found is not None:
        document.items = item_counts(found)
    elif result.items:
        document.items = ItemCounts(**result.items, pages=0)
    document.output = result.output
    document.is_truncated = result.truncated or None


def item_counts(found: MapState) -> ItemCounts:
    """Build the counts of the items of a map."""
    pages = ceil(found.count / found.size)
    return ItemCounts(count=found.count, succeeded=found.succeeded, failed=found.failed, pages=pages)


def item_document(state: RunState, index: int, first: int, run: str, child: str | None, *, owned: bool) -> ItemDocument:
    """Build the document of an item from the state of its page, whose first item has the number `first`. `child` is the
    run that it started."""
    stored = state.results.get(index)
    return ItemDocument(
        index=first + index,
        status=step_status(state, index, owned=owned),
        attempts=state.attempts[index],
        error=failure_or_none(state.errors.get(index)),
        result=_stored(stored or None),
        run_id=run,
        child_run_id=child,
    )


def step_status(state: RunState, index: int, *, owned: bool) -> str:
    """Return the word for the phase of a step."""
    phase = state.phase[index]
    if phase is Phase.ENDED:
        return str(state.ending[index])
    if phase is Phase.PENDING:
        return "pending"
    if index in state.child_of and state.paused_by is None:
        return "running"  # as its child, although no node may have the run in memory
    if waits_as_suspect(state, index):
        return "scheduled"
    if phase is Phase.READY and not owned and state.operations and state.paused_by is None:
        return "waiting"  # a durable function that was released from memory
    if index in state.maps and state.paused_by is None:
        return "running"  # its pages are runs of their own
    if phase in (Phase.READY, Phase.RUNNING) or index in state.begun:
        return "running" if owned and state.paused_by is None else "scheduled"
    return _WAITING.get(phase, "scheduled")


def _add_result(document: StepDocument, kind: StepKind, stored: bytes | None) -> None:
    result: Any = _NO_RESULT if stored is None else read_result(stored)
    if kind in (StepKind.HTTP, StepKind.WAIT):
        document.status_code = result.status_code
        document.headers = result.headers
        document.body = result.body
        document.is_truncated = result.truncated
        if kind is StepKind.WAIT:
            document.query = result.query
            document.encoding = result.encoding
            if result.output is not NULL:  # the decision of an approval
                document.output = result.output
    elif kind is not StepKind.SLEEP:
        document.output = result.output
        if result.state is not NULL:  # the state that the steps of a workflow class pass on
            document.state = result.state
