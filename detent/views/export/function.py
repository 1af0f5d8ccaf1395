"""The answers and the route of a test, from a past run of a durable function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from detent.run.call import Op, name_of, op_of
from detent.views.export.errors import Code, call, failure

Document = Mapping[str, Any]

_SUCCESS, _CANCELLED = "success", "cancelled"
_ANSWERED: Final = (Op.STEP, Op.WAIT, Op.SIGNAL, Op.CHILD)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_GIVEN_UP: Final = "given_up"
NOTHING_COMES: Final = Code("TimeoutError")
_OF_A_DECISION: Final = ("approved", "comment", "answer")


@dataclass(slots=True)
class FunctionAnswers:
    """The answers by key, their times, and the route.

    `unsure` has the parts of the route that may differ in a test. These are signals that came before the function
    asked for them, because the journal does not record whether it asked. They are also operations that it gave up,
    because their end is recorded only if their start already was.
    """

    answers: dict[str, Any] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)  # when each answer came
    route: list[str] = field(default_factory=list)
    unsure: set[str] = field(default_factory=set)


def collect_from_function(events: Sequence[Document], started_at: str) -> FunctionAnswers:
    """Return the answers and the route of a journal.

    If operations ran in parallel, or the function called `run.now`, the answers also have the times at which they came.
    """
    found, begun, ended = FunctionAnswers(), {}, {}
    for event in events:
        key = event["step"]
        if event["kind"] == "began":
            begun[key] = event
        elif event["kind"] == "checkpoint":
            ended[key] = event
        elif event["kind"] in ("ended", "cancelled") and event["error"]:
            found.route.append(on_route(key, event["status"] or event["kind"]))  # the function itself
    for key, event in ended.items():
        if op_of(key) in _ANSWERED or op_of(key) is Op.ASK:
            found.route.append(on_route(_label(key), event["status"]))
            if event["error"] and event["error"]["code"] == _GIVEN_UP:
                found.unsure.add(found.route[-1])
    is_timed = _is_timed(begun, ended)
    _add_answers(found, begun, ended, at_once=is_timed)
    _add_signals(found, begun, ended)
    if is_timed:
        began = _instant(started_at)
        for key, at in found.times.items():
            if found.answers[key] is not NOTHING_COMES:
                seconds = (_instant(at) - began).total_seconds()
                found.answers[key] = call("After", round(max(0.0, seconds), 6), found.answers[key])
    return found


def _is_timed(begun: Mapping[str, Document], ended: Mapping[str, Document]) -> bool:
    """Return whether two operations overlapped, or the function called `run.now`."""
    if any(op_of(key) is Op.NOW for key in ended):
        return True
    spans = []
    for key, event in ended.items():
        end = _instant(event["at"])
        begin = _instant(begun[key]["at"]) if key in begun else end - timedelta(milliseconds=event["duration_ms"] or 0)
        spans.append((begin, end))
    spans += [(_instant(event["at"]), _LAST) for key, event in begun.items() if key not in ended]
    latest = _FIRST
    for begin, end in sorted(spans):
        if begin < latest:
            return True
        latest = max(latest, end)
    return False


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def named(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers by their plain names. If different operations share a name, use their keys."""
    ops = defaultdict(set)
    for key in answers:
        ops[_label(key).partition("#")[0]].add(op_of(key))
    return {
        (_label(key) if len(ops[_label(key).partition("#")[0]]) == 1 else key): answer
        for key, answer in answers.items()
    }


def on_route(name: str, status: str) -> str:
    return name if status == _SUCCESS else f"{name}:{status}"


def _label(key: str) -> str:
    return key.partition(":")[2] or key if key.startswith("@") else key


def _add_answers(
    found: FunctionAnswers, begun: Mapping[str, Document], ended: Mapping[str, Document], *, at_once: bool
) -> None:
    for key in (*ended, *(key for key in begun if key not in ended)):
        op = op_of(key)
        if op not in _ANSWERED or op is Op.SIGNAL:
            continue
        end = ended.get(key)
        if end is not None:
            found.times[key] = end["at"]
        if end is None or (end["status"] == _CANCELLED and op is Op.STEP):
            found.answers[key] = _unfinished(begun.get(key))
        elif op is Op.WAIT and end["status"] != _SUCCESS:
            found.answers[key] = NOTHING_COMES
        elif end["status"] == _SUCCESS:
            result = end["result"] or {}
            found.answers[key] = decision_in(result.get("output")) or result.get("output", result.get("body"))
        elif end["status"] == _CANCELLED:
            found.answers[key] = call("Output", then="cancel", reason=end["error"] and end["error"]["message"])
        else:
            found.answers[key] = failure(end["status"], end["error"], at_once=at_once)


def decision_in(output: Any) -> Any:
    """Return what a person sent, if a result is that of an approval: `NOTHING_COMES` if its time was over."""
    if not isinstance(output, Mapping) or "decisions" not in output or not isinstance(output.get("approved"), bool):
        return None
    if output.get("timed_out"):
        return NOTHING_COMES
    return {name: output[name] for name in _OF_A_DECISION if output.get(name) is not None}


def _unfinished(begun: Document | None) -> Code:
    """Return the answer of an operation that never ended: the error of a step to retry, or no answer."""
    return NOTHING_COMES if begun is None or not begun["error"] else failure("failed", begun["error"])


def _add_signals(found: FunctionAnswers, begun: Mapping[str, Document], ended: Mapping[str, Document]) -> None:
    """Add the answers for signals.

    A signal is numbered by its arrival, its answer by the call that waits for it. Calls that timed out or were given up
    got no signal. The others got the signals in order.
    """
    came = defaultdict(list)
    for key, event in ended.items():
        if op_of(key) is Op.SIGNAL:
            came[name_of(key)].append((key, event))
    asked = [key for key in (*ended, *begun) if op_of(key) is Op.ASK]
    for key in dict.fromkeys(asked):
        found.answers[_as_signal(key)] = NOTHING_COMES
    for name, signals in came.items():
        number = 1
        for key, event in signals:
            while _asking(name, number) in ended:
                number += 1
            asking = _asking(name, number)
            found.answers[_as_signal(asking)] = (event["result"] or {}).get("output")
            found.times[_as_signal(asking)] = event["at"]
            if asking not in begun:
                found.unsure.add(_label(key))
            number += 1


def _asking(name: str, number: int) -> str:
    return f"{Op.ASK}:{name}" if number == 1 else f"{Op.ASK}:{name}#{number}"


def _as_signal(key: str) -> str:
    return key.replace(Op.ASK, Op.SIGNAL, 1)
