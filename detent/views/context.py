"""Build the context of a run: what its steps can read of the results before them."""

from __future__ import annotations

from typing import Final

import msgspec

from detent.documents.answers import NULL
from detent.documents.runs import ContextDocument, ContextOutput
from detent.graph.model import ContextSnapshot, SnapshotMode
from detent.planner.prepared import Prepared
from detent.run.state import Phase, RunState
from detent.views.runs import read_result

_decode = msgspec.json.Decoder().decode
_JSON_TYPES: Final[dict[type, str]] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
}
_NO_LIMIT: Final = ContextSnapshot()


def context_document(prepared: Prepared, state: RunState) -> ContextDocument:
    """Build what users see of the outputs of a run: all values, those of some steps, or sizes and types."""
    chosen, is_counted = prepared.context or _NO_LIMIT, prepared.context is not None
    outputs = {}
    for step in prepared.steps:
        stored = state.results.get(step.index)
        is_shown = chosen.mode is not SnapshotMode.KEYS or step.name in chosen.keys
        if stored is None or not is_shown or state.phase[step.index] is not Phase.ENDED:
            continue
        result = read_result(stored)
        raw = bytes(result.output if result.output != NULL else result.body)
        value = _decode(raw)
        one = ContextOutput(
            bytes=len(raw), type=_JSON_TYPES.get(type(value), "null"), dropped=step.index in state.dropped
        )
        if chosen.mode is not SnapshotMode.SUMMARY:
            one.value = value
        outputs[step.name] = one
    return ContextDocument(
        mode=str(chosen.mode),
        bytes=state.readable_bytes if is_counted else sum(map(len, state.results.values())),
        max_bytes=chosen.max_bytes if is_counted else None,
        outputs=outputs,
    )
