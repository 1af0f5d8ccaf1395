"""What an operation that has ended means to the function that waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from detent.graph.model import Ending
from detent.python.function.errors import ChildFailed, StepFailed, WaitTimeout
from detent.python.function.pending import Pending
from detent.run.keys import Op
from detent.run.outcomes import StepError
from detent.run.state import Checkpoint
from detent.steps.failures import told_of

if TYPE_CHECKING:
    from detent.python.function.loop import FunctionLoop

_decode: Final = msgspec.json.Decoder().decode
_NO_REASON: Final = StepError("failed", "nobody knows why")


class RecordDoesNotFit(Exception):
    """What is on record of a step is not what its function gives by its annotation now."""


def resolve(loop: FunctionLoop, pending: Pending, record: Checkpoint) -> None:
    """End it for the function."""
    if pending.handle is not None:
        if not pending.handle.cancelled():
            loop.ring(pending.handle)
    elif record.ending is Ending.SUCCESS:
        try:
            pending.set_result(_value(pending, record))
        except BaseException as error:  # noqa: BLE001 - a class of the user's is made here, and may raise anything
            why = told_of(error)
            pending.set_exception(RecordDoesNotFit(f"the recorded result of {pending.key!r} does not fit: {why}"))
    else:
        pending.set_exception(_error(pending, record))


def _value(pending: Pending, record: Checkpoint) -> Any:
    match pending.op:
        case Op.STEP:
            assert pending.work is not None
            given = pending.work.value
            return pending.work.function.decode(record.result) if given is None else given.value
        case Op.WAIT:
            return _decode(record.result).get("body")
        case Op.ASK | Op.CHILD | Op.CONTINUE:
            return _decode(record.result).get("output") if record.result else None
        case _:
            return None


def _error(pending: Pending, record: Checkpoint) -> Exception:
    error = record.error or _NO_REASON
    match pending.op:
        case Op.WAIT | Op.ASK:
            return WaitTimeout(pending.key)
        case Op.CHILD | Op.CONTINUE:
            return ChildFailed(pending.key, error)
        case _:
            return StepFailed(pending.key, error)
