"""The end of a run whose steps have all ended: its status and its output."""

from __future__ import annotations

from typing import Final

import msgspec

from detent.expressions import ExpressionError
from detent.graph.model import Ending, FailurePolicy, StepKind
from detent.instant import Instant
from detent.planner.maps import COLLECT, collected
from detent.planner.prepared import Prepared
from detent.planner.scope import OUTPUT, build_scope, in_context
from detent.run.plan import RunEnd
from detent.run.state import RunState
from detent.run.status import Status
from detent.values.limits import SIZE_LIMIT

_RAN: Final = frozenset({Ending.SUCCESS, Ending.FAILED, Ending.TIMEOUT, Ending.TEMPLATE_ERROR})


class _Outputs(msgspec.Struct):
    """The parts of a step's result that can be a run's output."""

    output: msgspec.Raw = msgspec.Raw(b"")
    body: msgspec.Raw = msgspec.Raw(b"")


_outputs = msgspec.json.Decoder(_Outputs)
_encoder = msgspec.json.Encoder()


def unhandled(prepared: Prepared, state: RunState) -> list[int]:
    """Return the failures that no step handled. A failure is handled if a taken edge leads from it to a step that ran.

    Steps between them may be skipped. An edge without `handles` does not count.
    """
    if not state.failures:
        return []
    handled = [False] * len(prepared.steps)
    for index in reversed(prepared.order):
        for edge in prepared.steps[index].outgoing:
            if not edge.handles or edge.index in state.not_taken:
                continue
            ending = state.ending[edge.target]
            was_taken = state.ending[index] in edge.on
            if (was_taken and ending in _RAN) or (ending is Ending.SKIPPED and handled[edge.target]):
                handled[index] = True
                break
    return [index for index in state.failures if not handled[index]]


def run_end(prepared: Prepared, state: RunState, now: Instant) -> RunEnd:
    """Return the end of a run whose steps have all ended. It is completed if every failure was handled."""
    if prepared.page is not None:
        return _page_end(prepared, state)
    left = [] if state.is_finished else unhandled(prepared, state)
    status = Status.FAILED if left else Status.COMPLETED
    error = f"{prepared.steps[left[0]].name}: {state.errors[left[0]].message}" if left else None
    try:
        output = _output(prepared, state, now)
    except ExpressionError as problem:
        output, error = None, error or f"output: {problem.message}"
    if output is not None and len(output) > SIZE_LIMIT:
        output, error = None, error or "output: it is larger than 256 KB and was not stored"
    return RunEnd(status, output, error)


def _page_end(prepared: Prepared, state: RunState) -> RunEnd:
    """Return the end of a page of a map. Failed items fail it only if the map stops at the first failure."""
    stops = prepared.graph.on_failure is FailurePolicy.FAIL_FAST
    left = state.failures if stops and not state.is_finished else []
    status = Status.FAILED if left else Status.COMPLETED
    first = 0 if prepared.page is None else prepared.page.first
    error = f"item {first + left[0]}: {state.errors[left[0]].message}" if left else None
    try:
        output = collected(prepared, state)
    except ExpressionError as problem:
        return RunEnd(status, None, error or f"{COLLECT}{problem.message}")
    if output is None:
        error = error or "the collected values are larger than 256 KB and were not stored; gather less with collect"
    return RunEnd(status, output, error)


def stopped_output(prepared: Prepared, state: RunState) -> bytes | None:
    """Return the output of a run that was cancelled or expired. Only a page has one: what its items gave until then."""
    if prepared.page is None:
        return None
    try:
        return collected(prepared, state)
    except ExpressionError:
        return None


def _output(prepared: Prepared, state: RunState, now: Instant) -> bytes | None:
    """Render the `output:` mapping of the workflow.

    Without one, return the output of the only leaf that ran, or a map of leaf to output if several ran.
    """
    if prepared.output is not None:
        return _encoder.encode(prepared.output.render(in_context(build_scope(prepared, state), state, now, OUTPUT)))
    if state.is_finished:
        done = (index for index in reversed(prepared.order) if state.ending[index] is Ending.SUCCESS)
        last = next(done, None) if state.finisher is None else state.finisher
        return None if last is None else _step_output(prepared, state, last)
    leaves = [step.index for step in prepared.steps if not step.outgoing and state.ending[step.index] in _RAN]
    given = {prepared.steps[index].name: _step_output(prepared, state, index) for index in leaves}
    if len(leaves) == 1:
        return next(iter(given.values()))
    return _encoder.encode({name: msgspec.Raw(raw) for name, raw in given.items()}) if given else None


def _step_output(prepared: Prepared, state: RunState, index: int) -> bytes:
    raw = state.results.get(index)
    if raw is None or prepared.steps[index].kind is StepKind.SLEEP:
        return b"null"
    parts = _outputs.decode(raw)
    return bytes(parts.output) or bytes(parts.body) or b"null"
