"""Write a past run as a test: its input, the results of its steps, and its route.

This module is pure: it takes documents of the API and returns the text of a Python file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pprint import pformat
from typing import Any, Final

from detent.errors import InvalidInput
from detent.forms.rules.action import step_names
from detent.run.status import TERMINAL, Status
from detent.steps.actions import CORE_PREFIX
from detent.views.export.errors import Code, call, failure, failure_of_class
from detent.views.export.function import FunctionAnswers, collect_from_function, decision_in, named, on_route

# The answers and the route of a test, from the steps of a past run of a definition or a workflow class.


Document = Mapping[str, Any]

_SUCCESS, _SKIPPED_STEP = "success", "skipped"
_ANSWERS: Final = ("http", "wait")
#: The kinds of steps that the planner ends in the test too.
_DECIDED: Final = ("sleep", "condition")
_OK: Final = 200


def collect_from_steps(
    steps: Mapping[str, Document],
    events: Sequence[Document],
    own: set[str],
    definition: Document,
    *,
    headers: bool = False,
) -> FunctionAnswers:
    """Return the answers and the route of a definition. Raise InvalidInput if the results of a map are not known.

    Steps in `own` run again in the test and need no answer. `headers` includes the headers of responses.
    """
    found = FunctionAnswers(route=collect_route(steps, events))
    for name, step in steps.items():
        is_reused = step["status"] == _SUCCESS and not step["attempts"]
        if step.get("items") is not None:
            outputs = item_outputs(name, step, definition)
            found.answers[name] = Code(f"lambda asked: {outputs!r}[asked.item]")
        elif (step["attempts"] or is_reused) and step["type"] not in _DECIDED and name not in own:
            found.answers[name] = _answer(step, headers=headers)
    return found


def item_outputs(name: str, step: Document, definition: Document) -> list[Any]:
    """Return what the items of a map returned. Raise InvalidInput if the run does not have it."""
    outputs = step.get("output") if step["items"]["count"] else []
    is_collected = _step_of(definition, name).get("collect") is not None
    if not isinstance(outputs, list) or step["items"]["failed"] or is_collected:
        raise InvalidInput(
            f"{name!r} runs for each item of a list, and what its items returned is not in the run; "
            "a test can be made of a map without `collect` whose items all succeeded"
        )
    return outputs


def _step_of(definition: Document, name: str) -> Document:
    """Return a step as it was written, in any form."""
    actions = definition.get("actions") or []
    steps = definition.get("tasks") or definition.get("steps") or definition.get("nodes")
    steps = steps or dict(zip(step_names(actions), actions, strict=True))
    if isinstance(steps, Mapping):
        found = steps.get(name)
    else:
        found = next((one for one in steps if name in (one.get("id"), one.get("name"))), None)
    return found if isinstance(found, Mapping) else {}


def collect_route(steps: Mapping[str, Document], events: Sequence[Document]) -> list[str]:
    """Return the steps of a definition that ended, in that order."""
    order: dict[str, None] = {}
    for event in events:
        for name in _ended_by(event):
            order.pop(name, None)
            order[name] = None
    ended = [name for name in order if name in steps and steps[name]["finished_at"] is not None]
    at_start = [name for name, step in steps.items() if _is_decided_at_start(step) and name not in order]
    return [on_route(name, steps[name]["status"]) for name in (*at_start, *ended)]


def _is_decided_at_start(step: Document) -> bool:
    """Return whether a step that no event ended was decided when the run began."""
    return step["status"] == _SKIPPED_STEP or (step["type"] == "condition" and step["finished_at"] is not None)


def _ended_by(event: Document) -> list[str]:
    own = [event["step"]] if event["kind"] == "ended" and event["step"] else []
    return [*own, *event["answers"], *event["skipped"], *event["failed"]]


def _answer(step: Document, *, headers: bool) -> Any:
    status, kind = step["status"], step["type"]
    if kind == "wait" and (decision := decision_in(step.get("output"))) is not None:
        return decision
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


def collect_from_class(
    steps: Mapping[str, Document], events: Sequence[Document], paused_by: str | None
) -> tuple[FunctionAnswers, str | None]:
    """Return the answers and the route of a class, and the step at which its run stopped or None."""
    finished = next((event["step"] for event in events if event["kind"] == "ended" and event["finished"]), None)
    reasons = {event["step"]: event["by"] for event in events if event["kind"] == "cancelled"}
    found, stopped, is_cut = FunctionAnswers(), None, False
    for name, step in steps.items():
        if is_cut and not step["attempts"]:
            break  # the run never reached the steps after the cancelled one
        is_cut = step["status"] == "cancelled"
        if step["finished_at"] is not None:
            found.route.append(on_route(name, step["status"]))
        elif step["attempts"]:
            stopped = name
        if step["attempts"] or step["status"] in (_SUCCESS, _SKIPPED_STEP):
            then = "finish" if name == finished else None
            found.answers[name] = _played(step, then, reasons.get(name) or paused_by)
        if name == finished:
            break  # the run never reached the steps after it
    return found, stopped


def _played(step: Document, then: str | None, reason: str | None) -> Any:
    """Return what the step does in the test."""
    status, state = step["status"], step.get("state")
    last = step["attempts"][-1] if step["attempts"] else None
    if status == _SUCCESS:
        value = step.get("output")
        return value if then is None and state is None else call("Output", value, state=state, then=then)
    if last is not None and last["error"]:
        return failure_of_class(last)
    if status == _SKIPPED_STEP:
        return call("Output", state=state, then="skip")  # by its own code, by a person, or by an edit of the class
    if last is not None and last["status"] == "reattempted":
        return Code("lambda asked: asked.parameters.reattempt(3600)")
    then = "cancel" if last is not None and last["status"] == "cancelled" else "pause"
    return call("Output", then=then, reason=reason)


_WIDTH: Final = 100
_SKIPPED: Final = "skipped"
_DRIFT: Final = "drift"
_CANNOT: Final = ", which a test of the workflow cannot repeat"
#: Values from times, random numbers and the run's own id: they differ in a test.
VARIES: Final = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\"]*"
    r"|run_[0-9a-z]{20,}|[0-9a-f]{32,}|0\.\d{12,}"
)


@dataclass(slots=True)
class _Saved:
    """The content of the test file."""

    workflow: str
    imports: set[str] = field(default_factory=lambda: {"from detent.testing import speedrun"})
    definition: str | None = None
    recorded: FunctionAnswers = field(default_factory=FunctionAnswers)
    in_order: bool = False  # whether its steps can end in one order only
    stopped: str | None = None  # the step at which the run stopped
    goes_on: bool = False  # whether it continued as a new run
    edited: bool = False  # whether its code changed while it ran; the journal does not have the change


def as_test(run: Document, definition: Document, entries: Iterable[Document], *, edited: bool = False) -> str:
    """Return the text of a test that repeats a run. Raise InvalidInput if the run cannot be repeated.

    `run` is its document, `definition` the document of its version, `entries` its journal. If `edited`, its workflow
    got a new version before the run ended.
    """
    events = list(entries)
    saved = _begun(definition)
    check_repeatable(run, events, definition)
    if definition.get("function"):
        saved.recorded = collect_from_function(events, run["started_at"])
        saved.goes_on = _is_continued(run)
        saved.edited = edited
    elif definition.get("class"):
        saved.recorded, saved.stopped = collect_from_class(run["tasks"], events, run["paused_by"])
        saved.in_order = True
    else:
        headers = "headers" in json.dumps(definition)
        own = own_actions(definition)
        saved.recorded = collect_from_steps(run["tasks"], events, own, definition, headers=headers)
    return _written(saved, run, definition)


def _is_continued(run: Document) -> bool:
    match run["output"]:
        case {"continued_as": str(follower), **others}:
            return not others and follower.startswith("run_")
        case _:
            return False


def check_repeatable(run: Document, events: Sequence[Document], definition: Document) -> None:
    """Raise InvalidInput if a test cannot repeat the run."""
    if run["status"] not in TERMINAL and run["status"] != Status.PAUSED:
        raise InvalidInput(f"the run is {run['status']}; a test can be made of it when it has ended")
    for event in events:
        if event["kind"] in ("cancelled", "finished") and event["step"] is None:
            raise InvalidInput(
                f"the run was {event['kind']} by {event['by']}, which a test of the workflow cannot repeat"
            )
        if event["status"] == _SKIPPED and event["by"] and not definition.get("class"):
            raise InvalidInput(
                f"'{event['step']}' was skipped by {event['by']}, which a test of the workflow cannot repeat"
            )
    if run["status"] != Status.PAUSED:
        return
    if run["paused_step"] is None:
        raise InvalidInput(f"the run was paused by {run['paused_by']}{_CANNOT}")
    last = [event["error"] for event in events if event["kind"] == "paused"][-1]
    if last is not None and last["code"] == _DRIFT:
        raise InvalidInput(f"the run is paused because its code has changed{_CANNOT}")


def _begun(definition: Document) -> _Saved:
    place = definition.get("class") or definition.get("function")
    if place is None:
        return _Saved("WORKFLOW", definition=pformat(kept_definition(definition), width=_WIDTH, sort_dicts=False))
    module, _, qualname = str(place).partition(":")
    if module == "__main__" or "<locals>" in qualname:
        raise InvalidInput(f"a test cannot import {place}: define the workflow at the top of a module")
    saved = _Saved(qualname)
    saved.imports.add(f"from {module} import {qualname.partition('.')[0]}")
    return saved


def kept_definition(definition: Document) -> dict[str, Any]:
    """Return the definition that a test has: without its trigger, whose secrets are hidden, and without its tests."""
    return {name: value for name, value in definition.items() if name not in ("trigger", "tests")}


def own_actions(definition: Document) -> set[str]:
    """Return the steps that call Detent's own actions: they run again in the test."""
    steps = definition.get("tasks")
    if not isinstance(steps, Mapping):
        return set()
    return {name for name, step in steps.items() if str(step.get("action", "")).startswith(CORE_PREFIX)}


def read_parts(definition: Document) -> list[str]:
    """Return which of headers and query of its start a definition reads."""
    text = json.dumps(definition)
    return [name for name in ("headers", "query") if f"trigger.{name}" in text]


# -- the file


def _written(saved: _Saved, run: Document, definition: Document) -> str:
    arguments = _arguments(saved, run, definition)
    checks = [*_checks(saved, run), *_output_lines(saved, run)]
    name = re.sub(r"\W+", "_", run["workflow"]).strip("_").lower() or "workflow"
    title = f"Run {run['id']} of the workflow {run['workflow']!r}, saved as a test."
    lines = [_docstring(title), "", *_imports(saved.imports), ""]
    if saved.definition is not None:
        lines += [f"WORKFLOW = {saved.definition}", ""]
    lines += ["", f"def test_{name}_takes_the_same_route_again():", "    run = speedrun("]
    lines += [f"        {_indented(part)}," for part in arguments]
    lines += ["    )", *(f"    {check}" for check in checks)]
    return "\n".join(lines) + "\n"


def _arguments(saved: _Saved, run: Document, definition: Document) -> list[str]:
    """Return the arguments of `speedrun` in the test."""
    given: dict[str, Any] = {"input": _input(run["input"], definition)}
    if run["hero"]:
        given["hero"] = (run["hero"]["type"], run["hero"]["id"])
    answers = named(saved.recorded.answers) if definition.get("function") else saved.recorded.answers
    if answers:
        given["answers"] = answers
    if run["started_at"]:
        given["at"] = Code(f"datetime.fromisoformat({run['started_at']!r})", ("from datetime import datetime",))
    if saved.goes_on:
        given["follow"] = False
    for value in (*given.values(), *answers.values()):
        if isinstance(value, Code):
            saved.imports.update(value.imports)
    return [saved.workflow, *(f"{name}={_shown(value)}" for name, value in given.items())]


def _input(given: Document, definition: Document) -> Any:
    """Return the body, with headers and query if the definition reads them."""
    more = {name: given.get(name) or None for name in read_parts(definition)}
    return call("Response", given.get("body"), **more) if any(more.values()) else given.get("body")


def _checks(saved: _Saved, run: Document) -> list[str]:
    """Return the assertions about status and route."""
    lines = [f"assert run.status == {run['status']!r}, run"]
    route, unsure = saved.recorded.route, sorted(saved.recorded.unsure)
    if saved.edited:
        lines.append("# its code was edited while it ran, so steps that were removed may be missing")
        lines.append(f"assert {{*run.route}} <= {{*{_indented(_shown(sorted(route)), 4)}}}")
    elif saved.in_order:
        lines.append(f"assert run.route == {_indented(_shown(route), 4)}")
    elif unsure:
        lines.append("# the steps excluded here depend on timing")
        lines.append(f"route = [step for step in run.route if step not in {_indented(_shown(unsure), 4)}]")
        kept = sorted(step for step in route if step not in unsure)
        lines.append(f"assert sorted(route) == {_indented(_shown(kept), 4)}")
    else:
        lines.append(f"assert sorted(run.route) == {_indented(_shown(sorted(route)), 4)}")
    if saved.stopped is not None:
        lines.append(f"assert run.steps[-1].name == {saved.stopped!r}")
    return lines


def _output_lines(saved: _Saved, run: Document) -> list[str]:
    """Return the assertion about the output, or a comment if the output has values that differ in every run."""
    output = run["output"]
    if output is None:
        return ["assert run.output is None"]
    if saved.goes_on:
        return ['assert "continued_as" in run.output']
    known = json.dumps([run["input"], saved.recorded.answers], default=repr)
    varying = [found for found in VARIES.findall(json.dumps(output)) if found not in known]
    if varying:
        return [f"# the output has {varying[0]!r} in it, which differs each time: assert only what must be equal"]
    return [f"assert run.output == {_indented(_shown(output), 4)}"]


def _docstring(text: str) -> str:
    return '"""' + text.replace("\\", "\\\\").replace('"', '\\"') + '"""'


def _imports(found: set[str]) -> list[str]:
    """Return one line per module, those of the standard library first."""
    modules: dict[str, set[str]] = {}
    for line in found:
        _, module, _, name = line.split()
        modules.setdefault(module, set()).add(name)
    rows = {module: f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(modules.items())}
    first = [rows.pop("datetime"), ""] if "datetime" in rows else []
    return [*first, *rows.values()]


def _shown(value: Any) -> str:
    return pformat(value, width=_WIDTH, sort_dicts=False)


def _indented(text: str, spaces: int = 8) -> str:
    return text.replace("\n", "\n" + " " * spaces)
