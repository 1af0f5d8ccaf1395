"""The scope: what expressions can read of a run. There is one structure; each form uses its own names for it.

A step result stays encoded until an expression reads it. The status of a wait step with a callback is `received`. A
skipped step has `status: "skipped"` and null for the rest.

`Graph.scope` chooses the names. In the steps form `trigger` has `body`, `headers` and `query`, and `tasks.X` is the
view of a step. In the graph form `trigger` is the body, and `context.data['X']` is the output of X. If X has failed, it
is `{error, errorNode}`, with `output` if there is one. If X was skipped, it is null. For a child run it is
`{outputs, run_id}`. In a rule `before` and `after` are the record that a run began with, and its fields are names of
their own. `steps.X` is the view of a step in every form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from detent.expressions import NOW, SEED, Deferred, EvaluationError, Headers, Scope, Truncated, iso_text
from detent.expressions.errors import Budget
from detent.expressions.values import equal, resolve
from detent.graph.model import FAILURES, GRAPH_SCOPE, RULE_SCOPE, Ending, StepKind
from detent.ids import RUN, show
from detent.instant import Instant, as_datetime
from detent.planner.prepared import Prepared
from detent.run.journal import Page
from detent.run.state import Phase, RunState
from detent.values.blob import KEY as BLOB_KEY
from detent.values.blob import MARK, read_blob, unreadable
from detent.values.json import decode_json
from detent.values.limits import READABLE_BLOB

_decode = msgspec.json.Decoder().decode
_TOO_MUCH: Final = (
    "the outputs of the items of '{0}' exceed the 256KB limit together and were not gathered; "
    "gather less with 'collect', or read them with GET /runs/RUN/steps/{0}/items"
)

#: The scopes whose templates can read the attempt.
_WITH_ATTEMPT: Final = (GRAPH_SCOPE, RULE_SCOPE)
#: The place of the workflow's output. No step has this name.
OUTPUT = "output:"
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


class StoredJson(Deferred):
    """A blob. A path that ends here has the blob; a longer one reads the JSON inside, if that is in memory."""

    __slots__ = ("_contents", "_document", "_value")

    def __init__(self, document: dict[str, Any], contents: Mapping[bytes, bytes] | None) -> None:
        self._document, self._contents = document, contents
        self._value: Any = None

    def resolve(self) -> object:
        return self._document

    def inside(self) -> object:
        if self._value is None:
            blob = read_blob(self._document)
            assert blob is not None
            raw = None if self._contents is None else self._contents.get(blob.id)
            if raw is None:
                raise EvaluationError(unreadable(blob) or "it is a blob whose content is not read here")
            self._value = decode_json(raw, READABLE_BLOB)
        return self._value


def _stored(value: object, state: RunState) -> object:
    """Return a value of the journal as expressions read it: a blob can be read inside."""
    is_blob = type(value) is dict and BLOB_KEY in value and read_blob(value) is not None
    return StoredJson(value, state.blobs) if is_blob else value  # type: ignore[arg-type]


class _Steps(Mapping[str, object]):
    """The steps by name. A step that has not ended has null values, but its name is known. `view` builds what an
    expression reads of one step."""

    def __init__(self, prepared: Prepared, state: RunState, view: Callable[[Prepared, RunState, int], object]) -> None:
        self._prepared, self._state, self._view = prepared, state, view
        self._ended: dict[str, _Json] = {}  # an arrow may read the same result for every element: decode it once

    def __getitem__(self, name: str) -> object:
        known = self._ended.get(name)
        if known is not None:
            return known
        index = self._prepared.numbers[name]
        view = _Json(lambda: self._view(self._prepared, self._state, index))
        if self._state.phase[index] is Phase.ENDED:
            self._ended[name] = view
        return view

    def __iter__(self) -> Iterator[str]:
        return iter(self._prepared.numbers)

    def __len__(self) -> int:
        return len(self._prepared.numbers)


def _step_data(prepared: Prepared, state: RunState, index: int) -> object:
    """Return the output of a step, as the graph form reads it."""
    ending = state.ending[index]
    if ending is None or ending is Ending.SKIPPED:
        return None
    view = step_view(prepared, state, index)
    if index in state.dropped and ending not in FAILURES:
        return view["output"]
    if ending not in FAILURES:
        is_child = prepared.steps[index].kind is StepKind.SUBWORKFLOW and prepared.steps[index].items is None
        return {"outputs": view["output"], "run_id": view["run_id"]} if is_child else view["output"]
    data = {"error": view["error"], "errorNode": prepared.steps[index].name}
    return data if view["output"] is None or index in state.dropped else {**data, "output": view["output"]}


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


class EntityEvent(NamedTuple):
    """What the run of a rule began with: a record before and after its change, and the rest of the event.

    A record that was created has no `before`, one that was deleted no `after`."""

    before: dict[str, Any] | None
    after: dict[str, Any] | None
    rest: dict[str, Any]

    @property
    def record(self) -> dict[str, Any]:
        """Return the record whose fields are names: `after`, or `before` if there is none."""
        return (self.before or {}) if self.after is None else self.after

    def changed(self) -> list[str]:
        """Return the names of the fields that differ. A field that is missing is null."""
        before, after = self.before or {}, self.after or {}
        budget = Budget()
        return [name for name in {**after, **before} if not equal(before.get(name), after.get(name), budget)]


def read_event(body: object) -> EntityEvent:
    """Return the event in the body of a start: an event, `{before, after}`, or the record itself.

    A body is a record if it has neither `after` nor an operation, or an `after` that cannot be a record."""
    if not isinstance(body, dict):
        return EntityEvent(None, None, {})
    before, after = body.get("before"), body.get("after")
    has_records = isinstance(before, dict | None) and isinstance(after, dict | None)
    if not has_records or not ("after" in body or "operation" in body):
        return EntityEvent(None, body, {})
    return EntityEvent(before, after, body)


class _RuleScope(Mapping[str, object]):
    """The names of a rule: its roots, then the fields of the record. A field that a root hides is `after.NAME`.

    The input is decoded when a name is read that is not a root."""

    def __init__(self, roots: dict[str, object], event: Callable[[], EntityEvent]) -> None:
        self._roots, self._event = roots, event

    def __getitem__(self, name: str) -> object:
        return self._roots[name] if name in self._roots else self._event().record[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._roots, **self._event().record})

    def __len__(self) -> int:
        return len({**self._roots, **self._event().record})


def status_word(prepared: Prepared, state: RunState, index: int) -> str | None:
    """Return the status of a step as expressions and users read it, or None while it has not ended."""
    ending = state.ending[index]
    if ending is Ending.SUCCESS and prepared.steps[index].kind is StepKind.WAIT:
        return "received"
    return None if ending is None else str(ending)


def step_view(prepared: Prepared, state: RunState, index: int) -> dict[str, object]:
    """Build what expressions read of one step."""
    view: dict[str, object] = dict.fromkeys(RESULT_KEYS)
    if prepared.steps[index].kind is StepKind.SUBWORKFLOW:
        view["run_id"] = None
    if prepared.steps[index].items is not None:
        view["items"] = None
    view["status"] = status_word(prepared, state, index)
    raw = state.results.get(index)
    if index in state.dropped:
        view["body"] = view["output"] = _dropped(prepared, index)
    elif raw is not None and state.phase[index] is Phase.ENDED:
        step = prepared.steps[index]
        raw = _opened(state, raw) if step.sensitive else raw
        _add_result(view, raw, step.name, state, is_map=step.items is not None)
    error = state.errors.get(index)
    if error is not None:
        view["error"] = {"code": error.code, "message": error.message}
    return view


def _opened(state: RunState, raw: bytes) -> bytes:
    """Return the result of a sensitive step, as far as this process may read it."""
    return raw if state.facts.unseal is None else state.facts.unseal(raw)


def _dropped(prepared: Prepared, index: int) -> Truncated:
    name, context = prepared.steps[index].name, prepared.context
    most = 0 if context is None else context.max_bytes
    words = f"the results of this run have more than {most} bytes (contextSnapshot.maxBytes)"
    return Truncated(name, "output", f"{words} and that of '{name}' was dropped")


def _add_result(view: dict[str, object], raw: bytes, name: str, state: RunState, *, is_map: bool = False) -> None:
    result = _decode(raw)
    if raw.find(MARK) >= 0:
        result.update({key: _stored(result[key], state) for key in ("body", "output") if key in result})
    if result.pop("truncated", False):
        result["body"] = Truncated(name, "output", _TOO_MUCH.format(name)) if is_map else Truncated(name)
    if "headers" in result:
        result["headers"] = Headers(result["headers"])
    view.update(result)
    _mirror_output(view, result)


def _mirror_output(view: dict[str, object], result: dict[str, object]) -> None:
    """Let `body` and `output` have the same value: an action has only `output`, an HTTP answer only `body`."""
    if "output" not in result and "body" in result:
        view["output"] = result["body"]
    elif "body" not in result and "output" in result:
        view["body"] = result["output"]


def call_scope(prepared: Prepared, state: RunState, index: int) -> Scope:
    """Build what the templates of a step read.

    The number and time of the attempt, now() and uuid() are those of the first one, so every attempt sends the same.
    With `rerender`, they are those of the attempt at hand. An attempt that died with its node and is made again still
    counts as the same one, except for its number.
    """
    step = prepared.steps[index]
    return _attempt_scope(prepared, state, index, step.config.language)


def items_scope(prepared: Prepared, state: RunState, index: int) -> Scope:
    """Build what the list of a map reads."""
    items = prepared.steps[index].items
    return _attempt_scope(prepared, state, index, 1 if items is None else items.language)


def _attempt_scope(prepared: Prepared, state: RunState, index: int, language: int) -> Scope:
    step = prepared.steps[index]
    ready, number, place = state.since[index], 1, step.name
    if step.rerender:
        ready, number = state.retried_at.get(index, ready), state.attempt_number(index)
        place = f"{step.name}/{state.attempts[index]}"
    attempt = _Json(lambda: {"number": number, "at": iso_text(as_datetime(ready))})
    scope: Scope
    if prepared.page is None:
        scope = build_scope(prepared, state, attempt)
    else:
        scope = _item_scope(prepared.page, state, index)
        if prepared.graph.scope in _WITH_ATTEMPT:
            scope["attempt"] = attempt
    return in_context(scope, state, ready, place) if language > 1 else scope


def is_as_wanted(prepared: Prepared, state: RunState, index: int, result: bytes) -> bool:
    """Return whether the result of a repeated step is what it repeats for. Raise ExpressionError."""
    until = prepared.steps[index].until
    assert until is not None
    view: dict[str, object] = dict.fromkeys(RESULT_KEYS)
    step = prepared.steps[index]
    _add_result(view, _opened(state, result) if step.sensitive else result, step.name, state)
    return until.test({**_attempt_scope(prepared, state, index, until.language), "result": view})


def _item_scope(page: Page, state: RunState, index: int) -> dict[str, object]:
    """Build what the templates of an item read: the item, its number, and the values that the page was started with."""
    given = _page_input(state.facts.input)
    return {**given["outer"], "item": given["body"]["items"][index], "index": page.first + index}


@lru_cache(maxsize=32)
def _page_input(raw: bytes) -> dict[str, Any]:
    """Decode the input of a page. Its items are rendered one after the other, and each would decode all of it."""
    return _decode(raw)  # type: ignore[no-any-return]


def build_scope(prepared: Prepared, state: RunState, attempt: Deferred | None = None) -> Scope:
    """Build everything that an expression of this run may read by name, with the names of its form.

    `attempt` is there for expressions of an attempt. The steps form has no name for it."""
    facts = state.facts

    def trigger() -> dict[str, Any]:
        given = _decode(facts.input)
        given["headers"] = Headers(given.get("headers") or {})
        given.setdefault("query", {})
        if facts.input.find(MARK) >= 0:
            given["body"] = _stored(given.get("body"), state)
        return given  # type: ignore[no-any-return]

    steps = _Steps(prepared, state, step_view)
    given = _Json(trigger)
    scope: dict[str, object] = {
        "steps": steps,
        "wait": _Waits(prepared, state, "url"),
        "run": _Json(lambda: {"id": show(RUN, facts.id)}),
        "workflow": {"name": facts.workflow},
    }
    if attempt is not None and prepared.graph.scope in _WITH_ATTEMPT:
        scope["attempt"] = attempt
    if prepared.graph.scope == RULE_SCOPE:
        return _rule_scope(prepared, scope, given)
    if prepared.graph.scope == GRAPH_SCOPE:
        scope["trigger"] = _Json(lambda: given.resolve().get("body"))
        scope["spec"] = _Json(lambda: given.resolve().get("spec"))
        scope["headers"] = _Json(lambda: given.resolve()["headers"])
        scope["query"] = _Json(lambda: given.resolve()["query"])
        scope["context"] = {"data": _Steps(prepared, state, _step_data)}
        scope["vars"] = prepared.graph.vars
        return scope
    scope["trigger"] = given
    scope["tasks"] = steps
    scope["$execution"] = _ResumeUrls(prepared, state, "resume_url")
    scope["$input"] = _Json(lambda: given.resolve().get("body"))
    return scope


def _rule_scope(prepared: Prepared, scope: dict[str, object], given: _Json) -> _RuleScope:
    event = _Json(lambda: read_event(given.resolve().get("body")))

    def read() -> EntityEvent:
        return resolve(event)  # type: ignore[return-value]

    def described() -> dict[str, Any]:
        rest = read().rest
        at = rest.get("at", given.resolve().get("scheduled_at"))
        return {**{name: rest.get(name) for name in ("id", "operation", "record_id")}, "at": at}

    scope["before"] = _Json(lambda: read().before)
    scope["after"] = _Json(lambda: read().after)
    scope["changed"] = _Json(lambda: read().changed())
    scope["actor"] = _Json(lambda: read().rest.get("actor"))
    scope["entity"] = _Json(lambda: read().rest.get("entity"))
    scope["event"] = _Json(described)
    scope["vars"] = prepared.graph.vars
    return _RuleScope(scope, read)


def in_context(scope: Scope, state: RunState, now: Instant, place: str) -> Scope:
    """Add what now() and uuid() read: the instant, and the run with the place (a step, or `OUTPUT`).

    The attempt is not part of it, because a repeated effect must send the same body. Revision 1 of the language has
    neither function, so its expressions are evaluated without this.
    """
    return {**scope, NOW: now, SEED: b"%b/%b" % (state.facts.id, place.encode())}
