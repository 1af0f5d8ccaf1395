"""What expressions can still read of a run, and how large that may be.

The names of steps in expressions are never computed, so it is known which steps read a result. When the last of them
has ended, the result leaves memory; the journal has it. A graph may limit the bytes of the results that are still to be
read (`ContextSnapshot`). A result above the limit fails its step, or one is dropped: it reads as truncated.

Small results are not worth the work: counting begins with the first large one, unless the graph has a limit of its own.
The same code runs when this is decided and when it is folded, so nothing of it is journalled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from detent.graph.model import Ending, Overflow
from detent.planner.prepared import Prepared, PreparedStep
from detent.run.journal import Entry, Kind, decode_data
from detent.run.outcomes import StepError
from detent.run.state import RunState

TOO_LARGE: Final = "context_too_large"
#: The counting of readers begins with a result of more bytes than this.
SMALL = 4096
#: The results of condition steps. They are small, and an opening may have decided them.
_ANSWERS: Final = (b'{"output":true}', b'{"output":false}')
_WITH_RESULT: Final = (Kind.ENDED, Kind.RECEIVED, Kind.REUSED)


def overflow_of(prepared: Prepared, state: RunState, index: int, size: int) -> StepError | None:
    """Return why a step with a result of that size fails, or None if there is room for the result."""
    context, readers = prepared.context, state.readers
    if context is None or readers is None or not readers[index] or context.overflow is not Overflow.FAIL:
        return None  # without readers all results so far are small, and far below the usual limit
    total = state.readable_bytes + size
    if total <= context.max_bytes:
        return None
    words = (
        f"its result has {size} bytes, and all results that later nodes read would have {total}; "
        f"contextSnapshot.maxBytes allows {context.max_bytes}: return less, raise it, or set contextSnapshot.overflow"
    )
    return StepError(TOO_LARGE, words)


def begin_counting(prepared: Prepared, state: RunState) -> None:
    """Count who reads which result from now on, because a large one is about to be stored."""
    if prepared.readers is None:
        return
    state.readers = list(prepared.readers)
    ended = [step for step in prepared.steps if state.ending[step.index] is not None]
    for step in sorted(ended, key=lambda step: (state.since[step.index], step.index)):
        step_ended(prepared, state, step)


def step_ended(prepared: Prepared, state: RunState, step: PreparedStep) -> None:
    """Let the results go that only this step still read, and its own if no step will read it."""
    readers, index = state.readers, step.index
    assert readers is not None
    for read in step.reads:
        readers[read] -= 1
        if not readers[read]:
            _let_go(state, read)
    ranks = prepared.ranks
    if ranks is not None and state.ending[index] is Ending.SUCCESS:
        before = state.last
        if before is None:
            state.last = index
        elif ranks[index] > ranks[before]:
            state.last = index
            if not readers[before]:
                _let_go(state, before)
    if not readers[index]:
        _let_go(state, index)
    elif prepared.context is not None and index in state.results:
        _admit(prepared, state, index)


def restore(prepared: Prepared, state: RunState, entries: Iterable[Entry]) -> None:
    """Take back the results that have left memory from the journal of the run."""
    missing = set(state.let_go)
    for entry in entries:
        index = prepared.numbers.get(entry.step or "")
        if entry.kind in _WITH_RESULT and index in missing:
            state.results[index] = bytes(decode_data(entry.data).result)
            missing.discard(index)
    state.let_go = sorted(missing)


def _admit(prepared: Prepared, state: RunState, index: int) -> None:
    """Count a result that later steps read. Drop results if there are too many bytes."""
    context, size = prepared.context, len(state.results[index])
    assert context is not None
    state.readable[index] = size
    state.readable_bytes += size
    if state.readable_bytes <= context.max_bytes:
        return
    if context.overflow is not Overflow.PRUNE_OLDEST:
        _drop(state, index)
    while state.readable_bytes > context.max_bytes:
        _drop(state, next(iter(state.readable)))


def _drop(state: RunState, index: int) -> None:
    state.dropped |= {index}
    _let_go(state, index)


def _let_go(state: RunState, index: int) -> None:
    if index in state.readable:
        state.readable_bytes -= state.readable.pop(index)
    if state.keeps_results or index == state.last:
        return
    result = state.results.get(index)
    if result is not None and result not in _ANSWERS:
        del state.results[index]
        state.let_go.append(index)
