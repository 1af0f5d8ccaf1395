"""A run as people see it: its row, its journal folded over its graph, and its callbacks, as one JSON document."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from detent.graph.model import StepKind
from detent.ids import NODE, RUN, TRIGGER, WORKFLOW, show
from detent.instant import iso, micros
from detent.planner.fold import fold
from detent.planner.moves import graph_of
from detent.planner.prepared import Prepared
from detent.planner.suspects import is_suspect, is_suspect_run, waits_as_suspect
from detent.run.call import Op, op_of
from detent.run.journal import Decided, Entry, EntryData, Kind, decode_data
from detent.run.outcomes import StepError
from detent.run.state import Checkpoint, Operation, Phase, RunFacts, RunState
from detent.run.status import TERMINAL, Status
from detent.store.rows import CallbackRow, CallbackState, RunRow, hero_of

# A journal entry as people see it, as one JSON document: the same in streams, lists and the document of a run.


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


# The operations of a durable function as people see them: like steps, by their keys.


_WORDS: Final = {Op.SLEEP: "sleeping", Op.TIMER: "sleeping", Op.STEP: "scheduled"}
_TYPES: Final = {Op.STEP: "step", Op.TIMER: "sleep", Op.ASK: "signal"}


def operation_documents(state: RunState, entries: Sequence[Entry]) -> dict[str, dict[str, Any]]:
    """What the run's function began and what has ended, in the order of the journal."""
    if not state.history and not state.operations:
        return {}
    attempts, begun = _attempts(entries)
    ended = {key: _ended(one, attempts.get(key, []), begun.get(key)) for key, one in state.history.items()}
    opened = {key: _open(one, attempts.get(key, []), begun.get(key)) for key, one in state.operations.items()}
    return ended | opened


def _attempts(entries: Sequence[Entry]) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Entry]]:
    """The tries of each that have ended, and when it was begun."""
    found: dict[str, list[dict[str, Any]]] = {}
    begun: dict[str, Entry] = {}
    for entry in entries:
        if entry.step is None or entry.kind not in (Kind.BEGAN, Kind.CHECKPOINT):
            continue
        if entry.kind == Kind.BEGAN:
            begun.setdefault(entry.step, entry)
            if not entry.attempt:
                continue
        data = decode_data(entry.data)
        at = entry.at - micros((data.ms or 0) / 1000)
        found.setdefault(entry.step, []).append(
            {
                "attempt": entry.attempt,
                "status": entry.outcome or "failed",
                "started_at": iso(at),
                "finished_at": iso(entry.at),
                "duration_ms": data.ms,
                "error": _error(data.error),
                "retry_at": None if entry.outcome or data.until is None else iso(data.until),
            }
        )
    return found, begun


def _ended(one: Checkpoint, attempts: list[dict[str, Any]], begun: Entry | None) -> dict[str, Any]:
    document = _common(one.key, str(one.ending), attempts, begun)
    result = _decode(one.result) if one.result else {}
    document |= {
        "finished_at": iso(one.at),
        "duration_ms": attempts[-1]["duration_ms"] if attempts else None,
        "output": result.get("body") if op_of(one.key) is Op.WAIT else result.get("output"),
        "error": _error(one.error),
    }
    return document


def _open(one: Operation, attempts: list[dict[str, Any]], begun: Entry | None) -> dict[str, Any]:
    op = op_of(one.key)
    document = _common(one.key, _WORDS.get(op, "waiting"), attempts, begun)
    document |= {"finished_at": None, "duration_ms": None, "output": None, "error": _error(one.error)}
    if one.until is not None:
        document["next_at" if op is Op.STEP else "until"] = iso(one.until)
    if op is Op.STEP:
        document["attempt"] = one.attempt + 1
    if one.child is not None:
        document["run_id"] = one.child
    return document


def _common(key: str, status: str, attempts: list[dict[str, Any]], begun: Entry | None) -> dict[str, Any]:
    op = op_of(key)
    since = attempts[0]["started_at"] if attempts and op is Op.STEP else None if begun is None else iso(begun.at)
    return {
        "status": status,
        "type": _TYPES.get(op, str(op).removeprefix("@")),
        "started_at": since,
        "attempts": attempts,
    }


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
        **_suspect(prepared, state),
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


def _suspect(prepared: Prepared, state: RunState) -> dict[str, Any]:
    """Say that the run is suspect: how often it lost its node without progress, which steps were in flight then, which
    one is in flight now or what the others wait for. Nothing of a run that is not."""
    if state.is_over or not is_suspect_run(state):
        return {}
    names = [step.name for step in prepared.steps]
    waiting = [index for index in range(len(names)) if waits_as_suspect(state, index)]
    times = [until for index in waiting if (until := state.until.get(index)) is not None]
    suspect = {
        "adoptions": state.stalled,
        "strikes": {names[index]: strikes for index, strikes in state.strikes.items()},
        "in_flight": [names[index] for index in state.begun if is_suspect(state, index)],
        "waiting": [names[index] for index in waiting],
        "next_at": iso(min(times)) if times else None,
    }
    return {"suspect": suspect}


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
    elif waits_as_suspect(state, index):
        document["reason"] = "suspect"
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
    if waits_as_suspect(state, index):
        return "scheduled"
    if phase is Phase.READY and not owned and state.operations and state.paused_by is None:
        return "waiting"  # a durable function that gave up its memory
    if phase in (Phase.READY, Phase.RUNNING) or index in state.begun:
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
