"""A run that happened, written down as a test: what it began with, what its steps gave, and the way it took.

Pure: documents of the API go in, the text of a Python file comes out.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pprint import pformat
from typing import Any, Final

from detent.errors import InvalidInput
from detent.run.status import TERMINAL, Status
from detent.steps.actions import CORE_PREFIX

Document = Mapping[str, Any]

_WIDTH: Final = 100
_SUCCESS, _SKIPPED, _TIMEOUT = "success", "skipped", "timeout"
_ANSWERS: Final = ("http", "wait")
_OF_TIME: Final = "sleep"
#: Operations of durable functions that answer for themselves, and steps no test can do for them.
_OWN: Final = re.compile(r"@(sleep|timer|now|random|uuid|child|continue)")
_CHILD: Final = "@child:"
#: What a run makes of its time, its chance and its own id: in a test it is another.
_VARIES: Final = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\"]*"
    r"|run_[0-9a-z]{20,}|[0-9a-f]{32,}|0\.\d{12,}"
)


@dataclass(frozen=True, slots=True)
class _Code:
    """A piece of Python, shown as it is."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(slots=True)
class _Saved:
    """What the file will say."""

    workflow: str
    imports: set[str] = field(default_factory=lambda: {"from detent.testing import speedrun"})
    definition: str | None = None
    answers: dict[str, Any] = field(default_factory=dict)
    route: list[str] = field(default_factory=list)
    in_order: bool = False  # whether its steps can end in one order only


def as_test(run: Document, definition: Document, entries: Iterable[Document]) -> str:
    """The text of a test that repeats a run: `run` is its document, `definition` that of its version, `entries` its
    journal. InvalidInput if it cannot be repeated."""
    events = list(entries)
    saved = _begun(definition)
    _check(run, events, is_code=saved.definition is None)
    if definition.get("function"):
        _add_operations(saved, events)
    else:
        _add_steps(saved, run["tasks"], events, _own_actions(definition))
    return _written(saved, run)


def _check(run: Document, events: list[Document], *, is_code: bool) -> None:
    if run["status"] not in TERMINAL and run["status"] != Status.PAUSED:
        raise InvalidInput(f"the run is {run['status']}; a test can be made of it when it has ended")
    people = ("cancelled", "paused", "finished")
    by = next((event for event in events if event["kind"] in people and event["step"] is None), None)
    if not is_code:
        by = by or next((event for event in events if event["status"] == _SKIPPED and event["by"]), None)
    if by is not None and by["step"] is not None:
        raise InvalidInput(f"'{by['step']}' was skipped by {by['by']}, which a test of the workflow cannot repeat")
    if by is not None:
        raise InvalidInput(f"the run was {by['kind']} by {by['by']}, which a test of the workflow cannot repeat")


def _begun(definition: Document) -> _Saved:
    place = definition.get("class") or definition.get("function")
    if place is None:
        # What starts it is no part of a test, and its secrets are hidden.
        kept = {name: value for name, value in definition.items() if name != "trigger"}
        return _Saved("WORKFLOW", definition=pformat(kept, width=_WIDTH, sort_dicts=False))
    module, _, qualname = str(place).partition(":")
    saved = _Saved(qualname, in_order="class" in definition)
    saved.imports.add(f"from {module} import {qualname.partition('.')[0]}")
    return saved


# -- steps of a graph or a chain


def _own_actions(definition: Document) -> set[str]:
    """The steps that call Detent's own actions: they do the same again by themselves."""
    steps = definition.get("tasks")
    if not isinstance(steps, Mapping):
        return set()
    return {name for name, step in steps.items() if str(step.get("action", "")).startswith(CORE_PREFIX)}


def _add_steps(saved: _Saved, steps: Document, events: list[Document], own: set[str]) -> None:
    """Answers for what was tried, and the route in the order of the journal."""
    order: dict[str, None] = {}
    for event in events:
        for name in _ended_by(event):
            order.pop(name, None)
            order[name] = None
    ended = [name for name in order if name in steps and steps[name]["finished_at"] is not None]
    skipped = [name for name in steps if steps[name]["status"] == _SKIPPED and name not in order]
    for name in (*skipped, *ended):
        step = steps[name]
        saved.route.append(_on_route(name, step["status"]))
    for name, step in steps.items():
        if step["attempts"] and step["type"] != _OF_TIME and name not in own:
            saved.answers[name] = _answer(saved, step)


def _ended_by(event: Document) -> list[str]:
    own = [event["step"]] if event["kind"] == "ended" and event["step"] else []
    return [*own, *event["skipped"], *event["failed"]]


def _answer(saved: _Saved, step: Document) -> Any:
    status, kind = step["status"], step["type"]
    if kind in _ANSWERS and step.get("status_code") and not 200 <= step["status_code"] < 300:
        saved.imports.add("from detent.testing import Response")
        return _Code(f"Response({step['body']!r}, status={step['status_code']})")
    if status == _SUCCESS:
        return step["body"] if kind in _ANSWERS else step.get("output")
    if status == _SKIPPED and not any(attempt["error"] for attempt in step["attempts"]):
        return _Code("lambda asked: asked.parameters.skip()")  # by its own code, or by a person
    return _failure(saved, status, step["error"] or _last_error(step))


def _last_error(step: Document) -> Document:
    errors = [attempt["error"] for attempt in step["attempts"] if attempt["error"]]
    return errors[-1] if errors else {"code": "exception", "message": "it failed", "detail": None}


def _failure(saved: _Saved, status: str, error: Document) -> _Code:
    """An exception that lets the step end as it did."""
    if status == _TIMEOUT or error["code"] == _TIMEOUT:
        return _Code("TimeoutError")
    name, _, message = str(error["message"]).partition(": ")
    if error["code"] == "exception" and isinstance(getattr(builtins, name, None), type):
        return _Code(f"{name}({message!r})")
    saved.imports.add("from detent import Permanent")
    return _Code(f"Permanent({error['message']!r}, code={error['code']!r})")


# -- operations of a durable function


def _add_operations(saved: _Saved, events: list[Document]) -> None:
    for event in events:
        key = event["step"]
        if event["kind"] != "checkpoint":
            continue
        name = key.partition(":")[2] or key
        if key.startswith(_CHILD):  # it runs in the test too
            saved.route.append(_on_route(name, event["status"]))
        if _OWN.match(key):
            continue
        result = event["result"] or {}
        value = result.get("output", result.get("body"))
        is_good = event["status"] == _SUCCESS
        saved.answers[name] = value if is_good else _failure(saved, event["status"], event["error"])
        saved.route.append(_on_route(name, event["status"]))


def _on_route(name: str, status: str) -> str:
    return name if status == _SUCCESS else f"{name}:{status}"


# -- the file


def _written(saved: _Saved, run: Document) -> str:
    given = [saved.workflow, f"input={_shown(run['input'].get('body'))}"]
    if run["hero"]:
        hero = run["hero"]
        given.append(f"hero=({hero['type']!r}, {hero['id']!r})")
    if saved.answers:
        given.append(f"answers={_shown(saved.answers)}")
    if run["started_at"]:
        saved.imports.add("from datetime import datetime")
        given.append(f"at=datetime.fromisoformat({run['started_at']!r})")
    name = re.sub(r"\W+", "_", run["workflow"]).strip("_").lower() or "workflow"
    lines = [f'"""Run {run["id"]} of the workflow {run["workflow"]!r}, kept as a test."""', ""]
    lines += [*_imports(saved.imports), ""]
    if saved.definition is not None:
        lines += [f"WORKFLOW = {saved.definition}", ""]
    lines += ["", f"def test_{name}_takes_the_same_way_again():", "    run = speedrun("]
    lines += [f"        {_indented(part)}," for part in given]
    lines += ["    )", f"    assert run.status == {run['status']!r}, run"]
    if saved.in_order:
        lines.append(f"    assert run.route == {_indented(_shown(saved.route), 4)}")
    else:
        lines.append(f"    assert sorted(run.route) == {_indented(_shown(sorted(saved.route)), 4)}")
    if run["output"] is not None:
        lines.append(_output_line(saved, run))
    return "\n".join(lines) + "\n"


def _output_line(saved: _Saved, run: Document) -> str:
    """The assertion of the output; a remark where it holds what is another in every run."""
    known = json.dumps([run["input"], saved.answers], default=repr)
    varying = [found for found in _VARIES.findall(json.dumps(run["output"])) if found not in known]
    if varying:
        return f"    # the output has {varying[0]!r} in it, which is another each time: say what of it must be the same"
    return f"    assert run.output == {_indented(_shown(run['output']), 4)}"


def _imports(found: set[str]) -> list[str]:
    """One line per module: the standard library's first, then the rest."""
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
