"""What the steps of a definition or of a workflow class gave in a run that happened, as answers and route of a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from detent.testing.failing import Code, call, failure, failure_of_class
from detent.testing.saved_function import Told, on_route

Document = Mapping[str, Any]

_SUCCESS, _SKIPPED = "success", "skipped"
_ANSWERS: Final = ("http", "wait")
_OF_TIME: Final = "sleep"
_OK: Final = 200


def told_by_steps(
    steps: Mapping[str, Document], events: Sequence[Document], own: set[str], *, headers: bool = False
) -> Told:
    """Of a definition. The steps that are `own` do the same again by themselves; `headers` matter to some."""
    order: dict[str, None] = {}
    for event in events:
        for name in _ended_by(event):
            order.pop(name, None)
            order[name] = None
    ended = [name for name in order if name in steps and steps[name]["finished_at"] is not None]
    skipped = [name for name in steps if steps[name]["status"] == _SKIPPED and name not in order]
    found = Told(route=[on_route(name, steps[name]["status"]) for name in (*skipped, *ended)])
    for name, step in steps.items():
        is_reused = step["status"] == _SUCCESS and not step["attempts"]
        if (step["attempts"] or is_reused) and step["type"] != _OF_TIME and name not in own:
            found.answers[name] = _answer(step, headers=headers)
    return found


def _ended_by(event: Document) -> list[str]:
    own = [event["step"]] if event["kind"] == "ended" and event["step"] else []
    return [*own, *event["skipped"], *event["failed"]]


def _answer(step: Document, *, headers: bool) -> Any:
    status, kind = step["status"], step["type"]
    if kind in _ANSWERS and (step.get("status_code") or status == _SUCCESS):
        return _response(step, headers=headers)
    if status == _SUCCESS:
        return step.get("output")
    return failure(status, step["error"] or _last_error(step))


def _response(step: Document, *, headers: bool) -> Any:
    code = step["status_code"] or _OK
    more = {
        "status": None if code == _OK else code,
        "headers": (step.get("headers") or None) if headers else None,
        "query": step.get("query") or None,
    }
    return call("Response", step["body"], **more) if any(more.values()) else step["body"]


def _last_error(step: Document) -> Document | None:
    errors = [attempt["error"] for attempt in step["attempts"] if attempt["error"]]
    return errors[-1] if errors else None


# -- workflow classes


def told_by_chain(
    steps: Mapping[str, Document], events: Sequence[Document], paused_by: str | None
) -> tuple[Told, str | None]:
    """Of a class, whose steps end in their order; and the step that it came to and did not get past."""
    finished = next((event["step"] for event in events if event["kind"] == "ended" and event["finished"]), None)
    reasons = {event["step"]: event["by"] for event in events if event["kind"] == "cancelled"}
    found, stopped, is_cut = Told(), None, False
    for name, step in steps.items():
        if is_cut and not step["attempts"]:
            break  # what is behind the step that was cut short was never come to
        is_cut = step["status"] == "cancelled"
        if step["finished_at"] is not None:
            found.route.append(on_route(name, step["status"]))
        elif step["attempts"]:
            stopped = name
        if step["attempts"] or step["status"] in (_SUCCESS, _SKIPPED):
            then = "finish" if name == finished else None
            found.answers[name] = _played(step, then, reasons.get(name) or paused_by)
        if name == finished:
            break  # what is behind it was never come to
    return found, stopped


def _played(step: Document, then: str | None, reason: str | None) -> Any:
    """What the step is to do in the test."""
    status, state = step["status"], step.get("state")
    last = step["attempts"][-1] if step["attempts"] else None
    if status == _SUCCESS:
        value = step.get("output")
        return value if then is None and state is None else call("Output", value, state=state, then=then)
    if last is not None and last["error"]:
        return failure_of_class(last)
    if status == _SKIPPED:
        return call("Output", state=state, then="skip")  # by its own code, by a person, or by an edit of the class
    if last is not None and last["status"] == "reattempted":
        return Code("lambda asked: asked.parameters.reattempt(3600)")
    then = "cancel" if last is not None and last["status"] == "cancelled" else "pause"
    return call("Output", then=then, reason=reason)
