"""Write a past run of a definition as a test in text, a file `*.test.yaml`.

The test has the results of the steps as answers, so it has no effects. Values that differ in each run are not compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from detent.errors import InvalidInput
from detent.forms.rules.action import step_names
from detent.steps.stated_outcomes import COMPUTED
from detent.values.yaml import dump_yaml
from detent.views.export.function import NOTHING_COMES, decision_in
from detent.views.export.run_test import (
    VARIES,
    check_repeatable,
    collect_route,
    item_outputs,
    kept_definition,
    own_actions,
    read_parts,
)

Document = Mapping[str, Any]

_SUCCESS: Final = "success"
_TIMEOUT: Final = "timeout"
_LOOK: Final = "look"
_OK: Final = 200
_ANY: Final = "$any"
#: The kinds of steps that the planner ends in the test too.
_DECIDED: Final = ("sleep", "condition")


def as_text_test(
    run: Document, definition: Document, entries: Iterable[Document], *, workflow: str | None = None
) -> str:
    """Return the text of a test that repeats a run. Raise InvalidInput if the run cannot be repeated.

    `workflow` is the path of the definition, for a test of what that file says; without it the test has a copy."""
    if definition.get("class") or definition.get("function"):
        raise InvalidInput("the workflow is Python code; export the run as a test for pytest")
    events = list(entries)
    check_repeatable(run, events, definition)
    answers = _answers(run, definition)
    test: dict[str, Any] = {
        "name": f"run {run['id']} takes the same route again",
        "input": run["input"].get("body"),
        **{part: dict(run["input"][part]) for part in read_parts(definition) if run["input"].get(part)},
    }
    if run["hero"]:
        test["hero"] = f"{run['hero']['type']}:{run['hero']['id']}"
    if run["started_at"]:
        test["clock"] = run["started_at"]
    if answers:
        test["answers"] = answers
    test["expect"] = _expected(run, events, answers)
    document = {"workflow": workflow or kept_definition(definition), "tests": [test]}
    title = " ".join(f"Run {run['id']} of the workflow {run['workflow']}, saved as a test.".split())
    return f"# {title}\n{dump_yaml(document)}"


def _answers(run: Document, definition: Document) -> dict[str, Any]:
    computed = {name for name in own_actions(definition) if _action(definition, name) in COMPUTED}
    computed |= {
        str(node.get("id"))
        for node in definition.get("nodes") or ()
        if isinstance(node, Mapping) and node.get("actionType") in COMPUTED
    }
    actions = definition.get("actions") or []
    computed |= {
        name
        for name, one in zip(step_names(actions), actions, strict=True)
        if isinstance(one, Mapping) and one.get("action_type") in COMPUTED
    }
    found: dict[str, Any] = {}
    for name, step in run["tasks"].items():
        is_reused = step["status"] == _SUCCESS and not step["attempts"]
        was_waited_for = step["type"] == "wait" and step["status"] == _TIMEOUT
        if step["type"] in _DECIDED or name in computed:
            continue
        if step.get("items") is not None:
            outputs = item_outputs(name, step, definition)
            found[name] = {"$items": [_value(one) for one in outputs] or [None]}
        elif step["attempts"] or is_reused or was_waited_for:
            found[name] = _answer(step, run["started_at"])
    return found


def _action(definition: Document, name: str) -> str:
    return str(definition["tasks"][name].get("action"))


def _answer(step: Document, began: str | None) -> Any:
    last = _last(step, began)
    failed = [one for one in step["attempts"] if one["error"] and one["status"] != _LOOK]
    earlier = [_failure_of(one) for one in (failed if step["status"] == _SUCCESS else failed[:-1])]
    # The last answer counts for all further attempts, so equal ones are written once.
    return last if step["type"] == "wait" or all(one == last for one in earlier) else {"$attempts": [*earlier, last]}


def _last(step: Document, began: str | None) -> Any:
    status, kind = step["status"], step["type"]
    if kind == "wait":
        decision = decision_in(step.get("output"))
        if status != _SUCCESS or decision is NOTHING_COMES:
            return {"$timeout": True}
        return _callback(step, step.get("body") if decision is None else decision, began)
    if kind == "http" and (step.get("status_code") or status == _SUCCESS):
        code, body = step.get("status_code") or _OK, step.get("body")
        headers = _texts(step.get("headers"))
        if code == _OK and not headers:
            return _value(body)
        return {"$status": code, **({"$headers": headers} if headers else {}), "$body": body}
    if status == _SUCCESS:
        return _value(step.get("output"))
    errors = [one["error"] for one in step["attempts"] if one["error"]]
    return _failure(status, step["error"] or (errors[-1] if errors else None))


def _callback(step: Document, body: Any, began: str | None) -> Any:
    found: dict[str, Any] = {"$value": body}
    for part in ("headers", "query"):
        if texts := _texts(step.get(part)):
            found[f"${part}"] = texts
    if began is not None and step["finished_at"] is not None:
        seconds = (datetime.fromisoformat(step["finished_at"]) - datetime.fromisoformat(began)).total_seconds()
        if seconds >= 1:
            found["$after"] = round(seconds, 3)
    return _value(body) if list(found) == ["$value"] else found


def _texts(given: Document | None) -> dict[str, str]:
    return {name: value for name, value in (given or {}).items() if isinstance(value, str)}


def _value(value: Any) -> Any:
    """Return a plain value, wrapped if a test would read it as something else."""
    is_peculiar = isinstance(value, Mapping) and any(str(key).startswith("$") for key in value)
    return {"$value": value} if is_peculiar else value


def _failure_of(attempt: Document) -> Any:
    return _failure(attempt["status"], attempt["error"])


def _failure(status: str | None, error: Document | None) -> Any:
    if status == _TIMEOUT:
        return {"$timeout": True}
    if error is None:
        return {"$fail": "it failed"}
    return {"$fail": {"message": str(error["message"])[:4_000] or "it failed", "code": str(error["code"])[:128]}}


def _expected(run: Document, events: Sequence[Document], answers: Document) -> dict[str, Any]:
    route = collect_route(run["tasks"], events)
    known = json.dumps([run["input"], answers], default=str)
    return {"status": run["status"], "route": route, "output": _without_varying(run["output"], known)}


def _without_varying(value: Any, known: str) -> Any:
    """Return a value in which texts that differ in each run are `$any`."""
    if isinstance(value, Mapping):
        return {key: _without_varying(inner, known) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_varying(inner, known) for inner in value]
    found = VARIES.findall(json.dumps(value)) if isinstance(value, str | float) else []
    return _ANY if any(one not in known for one in found) else value
