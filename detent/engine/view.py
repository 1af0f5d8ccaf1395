"""A run as people see it: its row, its journal folded over its graph, and its callbacks, as one JSON document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from detent.engine.operation_view import operation_documents
from detent.graph.model import StepKind
from detent.ids import RUN, TRIGGER, WORKFLOW, show
from detent.instant import iso, micros
from detent.planner.fold import fold
from detent.planner.moves import graph_of
from detent.planner.prepared import Prepared
from detent.run.journal import Entry, Kind, decode_data
from detent.run.outcomes import StepError
from detent.run.state import Phase, RunFacts, RunState
from detent.run.status import TERMINAL, Status
from detent.store.rows import CallbackRow, CallbackState, RunRow, hero_of

_decode = msgspec.json.Decoder().decode

_CALLBACK_WORDS: Final = {CallbackState.RECEIVED: "consumed"}
#: The entries that end an attempt; the word for one that neither succeeded nor failed.
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
) -> dict[str, Any]:
    """The document of one run, the same on every route."""
    state = fold_row(row, prepared, entries, callback_url)
    prepared = graph_of(prepared, state)
    facts = _attempt_facts(entries)
    status = row.status if row.status in TERMINAL else str(state.status)
    not_begun = status == Status.PENDING or _ended_before_it_began(row)
    return {
        "id": show(RUN, row.id),
        "workflow_id": show(WORKFLOW, row.workflow),
        "workflow": row.workflow_name,
        "version": row.version,
        "status": status,
        "trigger": row.trigger,
        "input": _decode(row.input),
        "started_at": None if not_begun else iso(row.started_at),
        "start_at": iso(row.started_at) if not_begun else None,
        "finished_at": None if row.ended_at is None else iso(row.ended_at),
        "expires_at": None if row.expires_at is None else iso(row.expires_at),
        "output": None if row.output is None else _decode(row.output),
        "error": row.error,
        **_pause(prepared, state),
        "origin": origin_of(row),
        "request_id": row.request_id,
        "trigger_id": None if row.fired_by is None else show(TRIGGER, row.fired_by),
        "labels": _decode(row.labels) if row.labels else {},
        "hero": None if row.hero_type is None else {"type": row.hero_type, "id": row.hero_id},
        "callbacks": [_callback(callback, callback_url) for callback in callbacks],
        "tasks": {
            step.name: _step(prepared, state, step.index, facts.get(step.name, []), owned=row.owner is not None)
            for step in prepared.steps
        }
        | operation_documents(state, entries),
    }


def _pause(prepared: Prepared, state: RunState) -> dict[str, Any]:
    step = None if state.paused_step is None else prepared.steps[state.paused_step].name
    return {"paused_by": state.paused_by, "paused_step": step}


def shown_status(row: RunRow) -> str:
    """The status by the row alone. The row of a delayed run says `pending` until it is first let go of; but whoever
    owns it has begun it."""
    return str(Status.RUNNING) if row.status == Status.PENDING and row.owner is not None else row.status


def is_yet_to_begin(row: RunRow) -> bool:
    """Whether a delayed run has not begun, or never will."""
    return shown_status(row) == Status.PENDING or _ended_before_it_began(row)


def _ended_before_it_began(row: RunRow) -> bool:
    return row.ended_at is not None and row.ended_at < row.started_at


def origin_of(row: RunRow) -> dict[str, Any] | None:
    """Where a run comes from, if it is another one done again."""
    return None if row.origin is None else {"run_id": show(RUN, row.origin), "kind": row.origin_kind}


def fold_row(row: RunRow, prepared: Prepared, entries: Sequence[Entry], callback_url: Callable[[str], str]) -> RunState:
    """The state of a run from what the store keeps of it."""
    return fold(prepared, facts_of_row(row, callback_url), row.opening, entries)


def facts_of_row(row: RunRow, callback_url: Callable[[str], str]) -> RunFacts:
    """What never changes in a run."""
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
    )


def _callback(row: CallbackRow, callback_url: Callable[[str], str]) -> dict[str, Any]:
    state = CallbackState(row.state)
    return {
        "step": row.step,
        "url": callback_url(row.step),
        "status": _CALLBACK_WORDS.get(state, str(state)),
        "created_at": iso(row.created_at),
        "expires_at": None if row.until is None else iso(row.until),
    }


def _attempt_facts(entries: Sequence[Entry]) -> dict[str, list[dict[str, Any]]]:
    """Every attempt that ended, by step, in order."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        if entry.step is None or entry.kind not in _ATTEMPTS or not entry.attempt:
            continue
        data = decode_data(entry.data)
        begun = entry.at - micros((data.ms or 0) / 1000)
        found.setdefault(entry.step, []).append(
            {
                "attempt": entry.attempt,
                "status": entry.outcome or _ATTEMPTS[Kind(entry.kind)],
                "started_at": iso(begun),
                "finished_at": iso(entry.at),
                "duration_ms": data.ms,
                "error": _error(data.error),
                "retry_at": None if data.retry_at is None else iso(data.retry_at),
            }
        )
    return found


def _step(
    prepared: Prepared, state: RunState, index: int, attempts: list[dict[str, Any]], *, owned: bool
) -> dict[str, Any]:
    phase = state.phase[index]
    document: dict[str, Any] = {"status": step_status(state, index, owned=owned)}
    document["type"] = str(prepared.steps[index].kind)
    document |= _times(state, index, attempts)
    document["attempts"] = attempts
    if phase in (Phase.READY, Phase.RUNNING, Phase.RETRYING):
        document["attempt"] = state.attempt_number(index)
    until = state.until.get(index)
    if until is not None:
        document["next_at" if phase is Phase.RETRYING else "until"] = iso(until)
    if phase is Phase.UNCERTAIN:
        document["reason"] = "uncertain"
    document |= _result(prepared, state, index)
    document["error"] = _error(state.errors.get(index))
    return document


def step_status(state: RunState, index: int, *, owned: bool) -> str:
    """The word for where a step stands."""
    phase = state.phase[index]
    if phase is Phase.ENDED:
        return str(state.ending[index])
    if phase is Phase.PENDING:
        return "pending"
    if phase is Phase.READY and not owned and state.operations and state.paused_by is None:
        return "waiting"  # a durable function that gave up its memory
    if phase in (Phase.READY, Phase.RUNNING):
        return "running" if owned and state.paused_by is None else "scheduled"
    return _WAITING.get(phase, "scheduled")


def _times(state: RunState, index: int, attempts: list[dict[str, Any]]) -> dict[str, Any]:
    ended = state.phase[index] is Phase.ENDED
    begun = attempts[0]["started_at"] if attempts else None
    if begun is None and state.phase[index] not in (Phase.PENDING, Phase.ENDED):
        begun = iso(state.since[index])
    return {
        "started_at": begun,
        "finished_at": iso(state.since[index]) if ended else None,
        "duration_ms": attempts[-1]["duration_ms"] if attempts else None,
    }


def _result(prepared: Prepared, state: RunState, index: int) -> dict[str, Any]:
    raw = state.results.get(index)
    result = {} if raw is None else _decode(raw)
    kind = prepared.steps[index].kind
    document: dict[str, Any] = {}
    if kind in (StepKind.HTTP, StepKind.WAIT):
        document = {key: result.get(key) for key in ("status_code", "headers", "body")}
        document["is_truncated"] = bool(result.get("truncated"))
        if kind is StepKind.WAIT:
            document["query"] = result.get("query")
            document |= {"encoding": result["encoding"]} if "encoding" in result else {}
    elif kind is not StepKind.SLEEP:
        document["output"] = result.get("output")
        if "state" in result:  # what the steps of a workflow class hand on
            document["state"] = result["state"]
    return document


def _error(error: StepError | None) -> dict[str, Any] | None:
    return None if error is None else {"code": error.code, "message": error.message, "detail": error.detail}
