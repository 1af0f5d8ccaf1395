"""Build everything about one step of a run: what it was sent beside what was written, its results and its errors."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from detent.documents.answers import NULL
from detent.documents.outline import (
    CutValue,
    ExpressionValue,
    FrameDocument,
    StepDetail,
    StepErrorDocument,
    WaitDocument,
)
from detent.documents.runs import AttemptDocument
from detent.expressions import Expression, ExpressionError, Scope, Template, masked, resolve_holes
from detent.graph.model import DECIDED_AT_ONCE, Ending, StepKind
from detent.ids import RUN, show
from detent.instant import as_datetime
from detent.planner.calls import make_call
from detent.planner.past_scope import PastStep
from detent.planner.scope import build_scope, call_scope, in_context, items_scope
from detent.run.call import Op, StepCall, op_of
from detent.run.outcomes import StepError
from detent.run.state import Phase
from detent.store.rows import CallbackRow, CallbackState
from detent.values.http_body import SECRET_HEADERS
from detent.views.entries import as_failure
from detent.views.outline import items_of, operation_outline
from detent.views.runs import CALLBACK_WORDS, operation_kind, read_result, step_status
from detent.views.walk import PastTry, Walk, probe_document

#: Larger values are cut, unless the whole step is asked for.
LARGEST_VALUE: Final = 32 * 1024
LARGEST_EXPRESSION: Final = 4 * 1024
PART: Final = 2 * 1024
MOST_EXPRESSIONS: Final = 200
MOST_ATTEMPTS: Final = 100
MOST_CHILDREN: Final = 100
MOST_FRAMES: Final = 50
MASK: Final = "***"

Mask = Callable[[bytes], bytes]
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_OPEN_CALLBACK: Final = (CallbackState.PENDING, CallbackState.ACTIVE)


class StepView:
    """Builds the document of a step. `mask` hides the tokens of callbacks in JSON. `whole`: no value is cut."""

    def __init__(self, walk: Walk, mask: Mask, *, whole: bool = False) -> None:
        self._walk, self._mask, self._whole = walk, mask, whole

    def step(
        self,
        past: PastStep,
        callbacks: Sequence[CallbackRow],
        callback_url: Callable[[str], str],
        *,
        owned: bool,
        is_past: bool,
    ) -> StepDetail:
        """Build the document of a step. `past` is that step when its expressions were evaluated."""
        walk, index = self._walk, self._walk.prepared.numbers[past.prepared.steps[past.index].name]
        state, step = walk.state, walk.prepared.steps[index]
        written = walk.prepared.graph.steps[index]
        document = StepDetail(
            run_id=show(RUN, state.facts.id),
            step=step.name,
            title=written.title,
            kind=str(step.kind),
            status=step_status(state, index, owned=owned),
            seq=state.seq,
            attempts=attempt_documents(walk.tries.get(step.name, ())),
            items=items_of(walk, index),
            children=walk.children.get(step.name, [])[-MOST_CHILDREN:],
            error=error_document(state.errors.get(index)),
        )
        document.template = self._cut(document, "template", _encode(dict(written.config)))
        self._render(document, past)
        document.expressions = [*self._expressions(past)][:MOST_EXPRESSIONS]
        if state.phase[index] is Phase.ENDED or index in state.results:
            self._add_result(document, step.kind, state.results.get(index))
        if step.kind is StepKind.WAIT:
            document.wait = self._wait(index, callbacks, callback_url, is_past=is_past)
        return document

    def operation(
        self, key: str, callbacks: Sequence[CallbackRow], callback_url: Callable[[str], str], *, is_past: bool
    ) -> StepDetail:
        """Build the document of an operation of a durable function. Its arguments are not in the journal."""
        walk, op = self._walk, op_of(key)
        outline, ended = operation_outline(walk, key), walk.state.history.get(key)
        open_one = walk.state.operations.get(key)
        error = ended.error if ended is not None else open_one.error if open_one is not None else None
        document = StepDetail(
            run_id=show(RUN, walk.state.facts.id),
            step=key,
            kind=operation_kind(op),
            status=outline.status,
            seq=walk.state.seq,
            attempts=attempt_documents(walk.tries.get(key, ())),
            children=walk.children.get(key, [])[-MOST_CHILDREN:],
            error=error_document(error),
        )
        if ended is not None:
            self._add_result(document, StepKind.WAIT if op is Op.WAIT else StepKind.ACTION, ended.result or None)
        if op is Op.WAIT:
            row = next((one for one in callbacks if one.step == key), None)
            if row is not None:
                document.wait = _wait_document(row, callback_url, asked=walk.begun.get(key), is_past=is_past)
        return document

    def _render(self, document: StepDetail, past: PastStep) -> None:
        """Add what was sent, or would be sent now."""
        step, state = past.prepared.steps[past.index], past.state
        if step.items is not None or step.kind in (StepKind.PYTHON, StepKind.FUNCTION, StepKind.CONDITION):
            return
        if state.phase[past.index] is Phase.PENDING or state.ending[past.index] is Ending.SKIPPED:
            return
        if step.kind in DECIDED_AT_ONCE:
            parameters = _rendered(step.config, call_scope(past.prepared, state, past.index))
        else:
            call = make_call(past.prepared, state, past.index)
            sent: Any = masked(call.parameters) if isinstance(call, StepCall) else None
            parameters = _masked_headers(sent) if isinstance(call, StepCall) else msgspec.UNSET
            if isinstance(call, StepCall) and step.kind is StepKind.HTTP:
                text = curl(sent, call.idempotency_key)
                document.curl = None if text is None else self._mask(text.encode()).decode()
        if parameters is not msgspec.UNSET:
            document.rendered = self._cut(document, "rendered", self._mask(_encode(parameters)))

    def _expressions(self, past: PastStep) -> Iterator[ExpressionValue]:
        """Yield the expressions of the step with their values at that moment."""
        prepared, state, index = past.prepared, past.state, past.index
        step, written = prepared.steps[index], prepared.graph.steps[index]
        scope = in_context(build_scope(prepared, state), state, past.ready_at, step.name)
        for before in prepared.steps:
            for edge in before.outgoing:
                if edge.target == index and edge.condition is not None:
                    yield self._value(f"edges.{before.name}", edge.condition, scope)
        if step.guard is not None:
            yield self._value("if", step.guard, scope)
        if step.question is not None:
            yield self._value("expression", step.question, scope)
        if step.items is not None and written.each is not None:
            yield from self._holes(step.items, items_scope(prepared, state, index), "for_each")
        elif not step.config.is_constant and step.question is None:
            yield from self._holes(step.config, call_scope(prepared, state, index), "")

    def _value(self, at: str, expression: Expression, scope: Scope) -> ExpressionValue:
        try:
            value = expression.evaluate(scope)
        except ExpressionError as error:
            return ExpressionValue(at=at, source=expression.source, error=error.message)
        return ExpressionValue(at=at, source=expression.source, value=self._small(value))

    def _holes(self, template: Template, scope: Scope, prefix: str) -> Iterator[ExpressionValue]:
        for hole in resolve_holes(template, scope):
            at = _path((prefix, *hole.at) if prefix else hole.at)
            if hole.error is not None:
                yield ExpressionValue(at=at, source=hole.source, error=hole.error.message)
            else:
                is_secret = bool(hole.at) and str(hole.at[-1]).lower() in SECRET_HEADERS
                yield ExpressionValue(at=at, source=hole.source, value=MASK if is_secret else self._small(hole.value))

    def _small(self, value: object) -> Any:
        raw = self._mask(_encode(masked(value)))
        return msgspec.Raw(raw) if len(raw) <= LARGEST_EXPRESSION else cut(raw)

    def _cut(self, document: StepDetail, name: str, raw: bytes) -> Any:
        """Return a value as it is, or cut if it is large."""
        if self._whole or len(raw) <= LARGEST_VALUE:
            return msgspec.Raw(raw)
        document.cut = [*document.cut, name]
        return cut(raw)

    def _add_result(self, document: StepDetail, kind: StepKind, stored: bytes | None) -> None:
        if stored is None:
            return
        result: Any = read_result(stored)
        is_answer = kind in (StepKind.HTTP, StepKind.WAIT)
        if is_answer:
            document.status_code, document.headers = _decode(result.status_code), result.headers
            if kind is StepKind.WAIT:
                document.query = result.query
        document.is_truncated = result.truncated
        if kind is not StepKind.SLEEP:
            # An approval is a wait whose result is a decision.
            is_body = is_answer and result.output is NULL
            document.output = self._cut(document, "output", bytes(result.body if is_body else result.output))

    def _wait(
        self, index: int, callbacks: Sequence[CallbackRow], callback_url: Callable[[str], str], *, is_past: bool
    ) -> WaitDocument:
        walk, name = self._walk, self._walk.prepared.steps[index].name
        row = next((one for one in callbacks if one.step == name), None)
        if not is_past and row is not None:
            return _wait_document(row, callback_url, asked=walk.ready_at(index), is_past=False)
        words = {Phase.PENDING: "pending", Phase.WAITING: "active"}
        ended = "consumed" if walk.state.ending[index] is Ending.SUCCESS else "expired"
        until, asked = walk.state.until.get(index), walk.ready_at(index)
        return WaitDocument(
            url=None,
            status=words.get(walk.state.phase[index], ended),
            until=None if until is None else as_datetime(until),
            asked=None if asked is None else as_datetime(asked),
        )


def _wait_document(
    row: CallbackRow, callback_url: Callable[[str], str], *, asked: int | None, is_past: bool
) -> WaitDocument:
    state = CallbackState(row.state)
    return WaitDocument(
        url=callback_url(row.step) if state in _OPEN_CALLBACK and not is_past else None,
        status=CALLBACK_WORDS.get(state, str(state)),
        until=None if row.until is None else as_datetime(row.until),
        asked=None if asked is None else as_datetime(asked),
    )


def cut(raw: bytes) -> CutValue:
    """Return what stands for a large value."""
    return CutValue(truncated=True, bytes=len(raw), part=raw[:PART].decode(errors="ignore"))


def attempt_documents(tries: Sequence[PastTry]) -> list[AttemptDocument]:
    """Build the documents of the last attempts."""
    return [
        AttemptDocument(
            attempt=one.attempt,
            status=one.status,
            started_at=as_datetime(one.started_at),
            finished_at=as_datetime(one.finished_at),
            duration_ms=one.ms,
            error=None if one.error is None else as_failure(one.error),
            retry_at=None if one.retry_at is None else as_datetime(one.retry_at),
            probe=probe_document(one.probe),
        )
        for one in tries[-MOST_ATTEMPTS:]
    ]


def _rendered(template: Template, scope: Scope) -> Any:
    try:
        return template.render(scope)
    except ExpressionError:
        return msgspec.UNSET


def _path(at: Sequence[str | int]) -> str:
    """Return a path as people write it: `body.items[0].name`."""
    text = ""
    for key in at:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def _masked_headers(parameters: Any) -> Any:
    """Return the parameters without the values of headers that have credentials."""
    headers = parameters.get("headers") if isinstance(parameters, Mapping) else None
    if not isinstance(headers, Mapping):
        return parameters
    return {**parameters, "headers": {name: _masked(name, value) for name, value in headers.items()}}


def _masked(name: str, value: Any) -> Any:
    return MASK if value is not None and name.lower() in SECRET_HEADERS else value


# A request as a command for a shell.


def curl(parameters: Any, key: str) -> str | None:
    """Return the request of an http step as a command, without credentials; None if it cannot be sent."""
    url = parameters.get("url") if isinstance(parameters, Mapping) else None
    if not isinstance(url, str) or not url.lower().startswith(("http://", "https://")):
        return None
    method, body = parameters.get("method") or "POST", parameters.get("body")
    headers = parameters.get("headers")
    given = headers if isinstance(headers, Mapping) else {}
    sent = {str(name): _masked(str(name), value) for name, value in given.items() if value is not None}
    known = {name.lower() for name in sent}
    if "idempotency-key" not in known:
        sent["Idempotency-Key"] = key
    if body is not None and "content-type" not in known:
        sent["Content-Type"] = "text/plain; charset=utf-8" if isinstance(body, str) else "application/json"
    parts = [f"curl -g -X {_quoted(str(method).upper())} {_quoted(url)}"]
    parts += [f"-H {_quoted(f'{name}: {_header(value)}')}" for name, value in sent.items()]
    if body is not None:
        parts.append(f"--data-raw {_quoted(body if isinstance(body, str) else _encode(body).decode())}")
    return " \\\n  ".join(parts)


def _header(value: Any) -> str:
    return value if isinstance(value, str) else _encode(value).decode()


def _quoted(text: str) -> str:
    return shlex.quote(text.replace("\0", "\ufffd"))


# Tracebacks as frames.

_FRAME: Final = re.compile(r'  File "(?P<file>[^"\n]{1,1000})", line (?P<line>\d{1,9})(?:, in (?P<name>.*))?')
_NOT_OF_USERS: Final = re.compile(
    r"[\\/](?:site|dist)-packages[\\/]|[\\/]lib[\\/]python3\.\d+[\\/]|^<|"
    r"[\\/]detent[\\/](?:steps|python|engine|testing|triggers|commands|embed)[\\/]"
)


def error_document(error: StepError | None) -> StepErrorDocument | None:
    """Build the document of an error, with its traceback as frames."""
    if error is None:
        return None
    frames = frames_of(error.traceback or "")
    return StepErrorDocument(code=error.code, message=error.message, detail=error.detail, frames=frames)


def frames_of(traceback: str) -> list[FrameDocument]:
    """Return the frames in the text of a traceback, the last ones if there are many."""
    frames: list[FrameDocument] = []
    for line in traceback.splitlines():
        found = _FRAME.match(line)
        if found is not None:
            is_user = _NOT_OF_USERS.search(found["file"]) is None
            frames.append(FrameDocument(found["file"], int(found["line"]), found["name"] or "", None, is_user))
        elif frames and frames[-1].source is None and line.startswith("    "):
            frames[-1].source = line.strip()
    return frames[-MOST_FRAMES:]
