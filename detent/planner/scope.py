"""The scope: what expressions can read of a run. There is one structure; each form uses its own names for it.

A step result stays encoded until an expression reads it. The status of a wait step with a callback is `received`. A
skipped step has `status: "skipped"` and null for the rest.

`Graph.scope` chooses the names. In the steps form `trigger` has `body`, `headers` and `query`, and `tasks.X` is the
view of a step. In the graph form `trigger` is the body, and `context.data['X']` is the output of X. If X has failed, it
is `{error, errorNode}`, with `output` if there is one. If X was skipped, it is null. `steps.X` is the view of a step in
both forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from detent.expressions import Deferred, Headers, Scope, Truncated
from detent.graph.model import FAILURES, GRAPH_SCOPE, Ending, StepKind
from detent.ids import RUN, show
from detent.instant import iso
from detent.planner.prepared import Prepared
from detent.run.state import Phase, RunState

_decode = msgspec.json.Decoder().decode

RESULT_KEYS = ("status", "status_code", "headers", "query", "body", "encoding", "output", "error")


class _Json(Deferred):
    """A value that is made (decoded) once, when an expression first reads it."""

    __slots__ = ("_make", "_value")

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make: Callable[[], Any] | None = make
        self._value: Any = None

    def resolve(self) -> Any:
        if self._make is not None:
            self._value, self._make = self._make(), None
        return self._value


class _Steps(Mapping[str, object]):
    """The steps by name. A step that has not ended has null values, but its name is known."""

    def __init__(self, prepared: Prepared, state: RunState) -> None:
        self._prepared, self._state = prepared, state

    def __getitem__(self, name: str) -> object:
        index = self._prepared.numbers[name]
        return _Json(lambda: step_view(self._prepared, self._state, index))

    def __iter__(self) -> Iterator[str]:
        return iter(self._prepared.numbers)

    def __len__(self) -> int:
        return len(self._prepared.numbers)


class _Data(_Steps):
    """The outputs of the steps by name, as the graph form reads them."""

    def __getitem__(self, name: str) -> object:
        index = self._prepared.numbers[name]
        return _Json(lambda: _step_data(self._prepared, self._state, index))


def _step_data(prepared: Prepared, state: RunState, index: int) -> object:
    ending = state.ending[index]
    if ending is None or ending is Ending.SKIPPED:
        return None
    view = step_view(prepared, state, index)
    if ending not in FAILURES:
        return view["output"]
    data = {"error": view["error"], "errorNode": prepared.steps[index].name}
    return data if view["output"] is None else {**data, "output": view["output"]}


class _Waits(Mapping[str, object]):
    """The callback URLs of the wait steps. They are known from the start of the run."""

    def __init__(self, prepared: Prepared, state: RunState, key: str) -> None:
        self._urls = state.facts.callback_url
        self._names = prepared.wait_steps
        self._key = key

    def __getitem__(self, name: str) -> object:
        if name not in self._names:
            raise KeyError(name)
        return {self._key: self._urls(name)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _ResumeUrls(_Waits):
    """`$execution.N.resume_url`, and `$execution.resume_url` where there is only one wait."""

    def __getitem__(self, name: str) -> object:
        if name == self._key and len(self._names) == 1:
            return self._urls(next(iter(self._names)))
        return super().__getitem__(name)


def status_word(prepared: Prepared, state: RunState, index: int) -> str | None:
    """Return the status of a step as expressions and users read it, or None while it has not ended."""
    ending = state.ending[index]
    if ending is Ending.SUCCESS and prepared.steps[index].kind is StepKind.WAIT:
        return "received"
    return None if ending is None else str(ending)


def step_view(prepared: Prepared, state: RunState, index: int) -> dict[str, object]:
    """Build what expressions read of one step."""
    view: dict[str, object] = dict.fromkeys(RESULT_KEYS)
    view["status"] = status_word(prepared, state, index)
    raw = state.results.get(index)
    if raw is not None and state.phase[index] is Phase.ENDED:
        result = _decode(raw)
        name = prepared.steps[index].name
        if result.pop("truncated", False):
            result["body"] = Truncated(name)
        if "headers" in result:
            result["headers"] = Headers(result["headers"])
        view.update(result)
        _mirror_output(view, result)
    error = state.errors.get(index)
    if error is not None:
        view["error"] = {"code": error.code, "message": error.message}
    return view


def _mirror_output(view: dict[str, object], result: dict[str, object]) -> None:
    """Let `body` and `output` have the same value: an action has only `output`, an HTTP answer only `body`."""
    if "output" not in result and "body" in result:
        view["output"] = result["body"]
    elif "body" not in result and "output" in result:
        view["body"] = result["output"]


def build_scope(prepared: Prepared, state: RunState, step: int | None = None) -> Scope:
    """Build everything that an expression of this run may read. `step`: an attempt of it is about to begin."""
    facts = state.facts

    def trigger() -> dict[str, Any]:
        given = _decode(facts.input)
        given["headers"] = Headers(given.get("headers") or {})
        given.setdefault("query", {})
        return given  # type: ignore[no-any-return]

    steps = _Steps(prepared, state)
    given = _Json(trigger)
    scope: dict[str, object] = {
        "steps": steps,
        "wait": _Waits(prepared, state, "url"),
        "run": {"id": show(RUN, facts.id)},
        "workflow": {"name": facts.workflow},
    }
    if prepared.graph.scope == GRAPH_SCOPE:
        scope["trigger"] = _Json(lambda: given.resolve().get("body"))
        scope["spec"] = _Json(lambda: given.resolve().get("spec"))
        scope["headers"] = _Json(lambda: given.resolve()["headers"])
        scope["query"] = _Json(lambda: given.resolve()["query"])
        scope["context"] = {"data": _Data(prepared, state)}
        scope["vars"] = prepared.graph.vars
        if step is not None:
            scope["attempt"] = _attempt(prepared, state, step)
        return scope
    scope["trigger"] = given
    scope["tasks"] = steps
    scope["$execution"] = _ResumeUrls(prepared, state, "resume_url")
    scope["$input"] = _Json(lambda: given.resolve().get("body"))
    return scope


def _attempt(prepared: Prepared, state: RunState, step: int) -> dict[str, object]:
    """Return what templates read of the attempt: always the first one, unless the step is rendered again."""
    if not prepared.steps[step].rerender:
        return {"number": 1, "at": iso(state.since[step])}
    return {"number": state.attempt_number(step), "at": iso(state.retried_at.get(step, state.since[step]))}
