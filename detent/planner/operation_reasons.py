"""Why a durable function does not go on: what it has begun and waits for."""

from __future__ import annotations

from detent.planner.reasons import Reason, ReasonKind, Seen, by_whom, sentence, when
from detent.run.keys import Op, op_of
from detent.run.state import Operation


def operation_reasons(seen: Seen) -> list[Reason]:
    """One reason for each operation that is open."""
    return [_reason(seen, operation) for operation in seen.state.operations.values()]


def _reason(seen: Seen, one: Operation) -> Reason:
    op, name = op_of(one.key), one.key.partition(":")[2].partition("#")[0]
    match op:
        case Op.SLEEP | Op.TIMER:
            return _about(seen, one, ReasonKind.SLEEP, "The function sleeps", "has slept")
        case Op.WAIT:
            url = seen.state.facts.callback_url(one.key)
            message = f"The function waits for the callback '{name}'"
            return _about(seen, one, ReasonKind.CALLBACK, message, "has waited", url=url)
        case Op.ASK:
            return _about(seen, one, ReasonKind.SIGNAL, f"The function waits for the signal '{name}'", "has waited")
        case Op.CHILD | Op.CONTINUE:
            message = f"The function waits for its child {one.child} ({name}) to end."
            return Reason(ReasonKind.CHILD, message, one.key, one.at, details={"run_id": one.child})
        case _:
            return _retry(seen, one)


def _about(seen: Seen, one: Operation, kind: ReasonKind, message: str, was: str, *, url: str | None = None) -> Reason:
    details = {} if url is None else {"url": url}
    if one.until is None:
        return Reason(kind, f"{message}.", one.key, one.at, details=details)
    if one.until <= seen.now:
        said = f"The function {was} until {when(one.until, seen.now)}, and {by_whom(owned=seen.owned)}."
        return Reason(kind, said, one.key, one.at, one.until, details)
    return Reason(kind, f"{message}, until {when(one.until, seen.now)}.", one.key, one.at, one.until, details)


def _retry(seen: Seen, one: Operation) -> Reason:
    at = f" at {when(one.until, seen.now)}" if one.until is not None else ""
    message = f"Step '{one.key}' of the function failed and is tried again{at}."
    if one.error is not None:
        message += f" Last error: {sentence(one.error.message)}"
    last = one.error and {"code": one.error.code, "message": one.error.message}
    details = {"attempt": one.attempt + 1, "last_error": last}
    return Reason(ReasonKind.RETRY, message, one.key, one.at, one.until, details)
