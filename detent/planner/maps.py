"""Maps: a step that runs once for each item of a list.

The list is cut into *pages*. A page is a child run of the same version: its graph has one step per item (`i0`, `i1`,
...) and no edges, so retries, time limits, crashes and views work for an item as for any step. That graph is not
stored; it follows from the version, the step and the size of the page. The parent journals two small entries per page.

A few pages are open at once. When one ends, the next begins. After the last one the step makes one more attempt, which
reads the outputs of the pages and ends the step. A failure that is not tolerated ends the step at once, and the open
pages are cancelled.

The result of an item is in the journal of its page. Memory keeps only the value that is collected of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from math import ceil, sqrt
from typing import Any, Final

import msgspec

from detent.expressions import SECRETS, SECRETS_LANGUAGE, ExpressionError, read_known
from detent.expressions.values import kind_of
from detent.graph.model import GRAPH_SCOPE, Each, Ending, FailurePolicy, Graph, ItemFailure, Join, OnCrash, StepKind
from detent.planner.judge import TEMPLATE_ERROR
from detent.planner.prepared import Prepared
from detent.planner.scope import call_scope, items_scope, step_view
from detent.run.journal import Page
from detent.run.outcomes import StepError
from detent.run.state import Gathered, MapState, RunState
from detent.values.limits import SIZE_LIMIT

MOST_PAGES_OPEN: Final = 8
LARGEST_PAGE: Final = 1_000
USUAL_PAGES: Final = 100
#: How the error of a page begins whose values could not be collected.
COLLECT: Final = "collect: "
ITEMS_FAILED: Final = "items_failed"
#: The names that belong to an item. Everything else is read when its page begins.
_OF_ITEM: Final = ("item", "index", "result", "attempt")

_encode = msgspec.json.Encoder().encode


class MapError(Exception):
    """The list of a map cannot be used. `error` says why; it fails the step for good."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.error = StepError(code, message)


def pages_open(each: Each) -> int:
    """Return how many pages are open at once."""
    return min(MOST_PAGES_OPEN, ceil(sqrt(each.parallel)))


def items_of(prepared: Prepared, state: RunState, index: int) -> list[Any]:
    """Return the list of a map, as its templates render it. Raise MapError if it is no list, or too long."""
    step, each = prepared.steps[index], prepared.graph.steps[index].each
    assert step.items is not None
    assert each is not None
    key = "forEach" if prepared.graph.scope == GRAPH_SCOPE else "for_each"
    try:
        items = step.items.render(items_scope(prepared, state, index))
    except ExpressionError as error:
        raise MapError(TEMPLATE_ERROR, f"{key}: {error.message}") from None
    if not isinstance(items, list):
        raise MapError("not_a_list", f"{key} must be a list, and it is {kind_of(items)}")
    if len(items) > each.max_items:
        raise MapError("too_many_items", f"{key} has {len(items)} items; at most {each.max_items} are allowed")
    return items


def page_size(each: Each, items: Sequence[Any]) -> int:
    """Return how many items a page has: about a hundred pages, each with work for its share of `parallel`.

    Raise MapError if a single item is too large for the input of a run.
    """
    share = ceil(each.parallel / pages_open(each))
    size = min(LARGEST_PAGE, max(1, ceil(len(items) / USUAL_PAGES), min(share, len(items))))
    lengths = [len(_encode(item)) + 1 for item in items]
    while size > 1 and any(sum(lengths[first : first + size]) > SIZE_LIMIT for first in range(0, len(items), size)):
        size //= 2
    if max(lengths) > SIZE_LIMIT:
        large = lengths.index(max(lengths))
        raise MapError("item_too_large", f"item {large} has {max(lengths)} bytes; at most {SIZE_LIMIT} are allowed")
    return size


def outer_values(prepared: Prepared, state: RunState, index: int) -> dict[str, Any]:
    """Return the values that the templates of a map's items read beside the item, at their paths.

    A page has them in its input, so it needs nothing of its parent.
    """
    step = prepared.steps[index]
    scope = items_scope(prepared, state, index)
    found: dict[str, Any] = {}
    templates = [step.config, *([step.collect] if step.collect is not None else [])]
    for reference in (reference for template in templates for reference in template.references):
        path = tuple(takewhile(lambda key: isinstance(key, str), reference.path))
        if path and path[0] not in _OF_ITEM and not (path[0] == SECRETS and step.config.language >= SECRETS_LANGUAGE):
            known, value = read_known(scope, path)
            # What is missing must be missing in the page too, so only the object that lacks it is put there.
            is_whole = len(known) == len(path) or not isinstance(value, Mapping)
            if known:
                _put(found, known, value if is_whole else {})
    return found


def _put(found: dict[str, Any], path: tuple[Any, ...], value: Any) -> None:
    """Put a value at its path, unless a shorter path has it already."""
    inner = found
    for key in path[:-1]:
        inner = inner.setdefault(key, {})
        if not isinstance(inner, dict):
            return
    if not isinstance(inner.get(path[-1]), dict) or not isinstance(value, dict):
        inner[path[-1]] = value
    else:
        inner[path[-1]] = {**inner[path[-1]], **value}


def page_of(prepared: Prepared, page: Page) -> Prepared:
    """Return the prepared graph of a page: one step per item, which share everything but their names."""
    index = prepared.numbers[page.step]
    step, written = prepared.steps[index], prepared.graph.steps[index]
    each = written.each
    assert each is not None
    stops = each.on_failure is ItemFailure.STOP
    item = replace(written, each=None, guard=None, join=Join.ANY, delay=None)
    graph = Graph(
        steps=tuple(replace(item, name=f"i{number}") for number in range(page.size)),
        on_failure=FailurePolicy.FAIL_FAST if stops else FailurePolicy.SETTLE,
        scope=prepared.graph.scope,
        language=prepared.graph.language,
        parallel=max(1, each.parallel // pages_open(each)),
        vars=prepared.graph.vars,
    )
    is_child = step.kind is StepKind.SUBWORKFLOW
    on_record = is_child or written.on_crash is not OnCrash.RETRY
    one = replace(step, guard=None, incoming=0, outgoing=(), delay=None, items=None, on_record=on_record, reads=())
    steps = tuple(replace(one, index=number, name=f"i{number}") for number in range(page.size))
    numbers = {one.name: one.index for one in steps}
    order = tuple(range(page.size))
    children = order if is_child else ()
    return Prepared(graph, steps, numbers, order, step.collect, {}, children, page)


def is_intolerable(each: Each, found: MapState) -> bool:
    """Return whether more items have failed than the map tolerates."""
    if each.on_failure is ItemFailure.STOP:
        return found.failed > 0
    allowed = max(each.tolerate, int(each.tolerate_share * found.count))
    has_limit = bool(each.tolerate or each.tolerate_share)
    return has_limit and found.failed > allowed


def intolerable(found: MapState, last: StepError | None) -> StepError:
    """Return the error of a map whose items failed. `last` is the error of the page that ended last."""
    some = "1 item" if found.failed == 1 else f"{found.failed} items"
    reason = "" if last is None else f": {last.message}"
    return StepError(ITEMS_FAILED, f"{some} of {found.count} failed{reason}", {"items": counts_of(found)})


def counts_of(found: MapState) -> dict[str, int]:
    """Return what users and expressions see of the items of a map."""
    return {"count": found.count, "succeeded": found.succeeded, "failed": found.failed}


def list_of_map(outputs: Iterable[bytes]) -> bytes:
    """Return the list of a map from the outputs of its pages, in their order."""
    return b"[%b]" % b",".join(one[1:-1] for one in outputs if one != b"[]")


def result_of_map(found: MapState, output: bytes | None) -> bytes:
    """Build the result of a map from its list, or the blob that has it. `None`: it is too large, and reads so."""
    if output is None:
        return _encode({"items": counts_of(found), "truncated": True})
    return _encode({"output": msgspec.Raw(output), "items": counts_of(found)})


def no_values(found: MapState, number: int) -> bytes:
    """Return the output of a page that has none: null for each of its items."""
    return _encode([None] * min(found.size, found.count - number * found.size))


def page_counts(state: RunState) -> tuple[int, int]:
    """Return how many items of a page have succeeded, and how many have failed."""
    succeeded = sum(ending is Ending.SUCCESS for ending in state.ending)
    failed = sum(ending not in (Ending.SUCCESS, Ending.SKIPPED, Ending.CANCELLED) for ending in state.ending)
    return succeeded, failed


def gather(prepared: Prepared, state: RunState, index: int) -> None:
    """Collect the value of an item that succeeded, and let its result go: nothing else in a page reads it.

    Values that are too large together go too, because the page will have no output. An error waits for the page's end.
    """
    found = state.gathered
    assert found is not None
    try:
        value = _value_of(prepared, state, index)
    except ExpressionError as error:
        if found.error is None or index < found.error[0]:
            found.error = index, error.message
        value = b"null"
    found.size += len(value) + 1
    if found.size > SIZE_LIMIT:
        found.is_too_large = True
        found.values.clear()
    else:
        found.values[index] = value
    if state.keeps_results:
        return
    if state.results.pop(index, None) is not None:
        state.let_go.append(index)
    if index in state.reused:
        state.reused[index] = b""


def collected(prepared: Prepared, state: RunState) -> bytes | None:
    """Return the output of a page: the collected value of each item, null for one that failed. None: it is too large.

    Raise ExpressionError if `collect` cannot be rendered.
    """
    gathered = state.gathered or Gathered()
    if gathered.error is not None:
        raise ExpressionError(gathered.error[1])
    if gathered.is_too_large:
        return None
    values = (
        gathered.values.get(index) or (_value_of(prepared, state, index) if ending is Ending.SUCCESS else b"null")
        for index, ending in enumerate(state.ending)
    )
    whole = b"[%b]" % b",".join(values)
    return whole if len(whole) <= SIZE_LIMIT else None


def _value_of(prepared: Prepared, state: RunState, index: int) -> bytes:
    """Return the collected value of an item that succeeded. Raise ExpressionError."""
    raw = state.results.get(index)
    if raw is None:
        return b"null"
    if prepared.output is None:
        return _output_of(raw)
    scope = {**call_scope(prepared, state, index), "result": step_view(prepared, state, index)}
    return _encode(prepared.output.render(scope))


class _Outputs(msgspec.Struct):
    output: msgspec.Raw = msgspec.Raw(b"")
    body: msgspec.Raw = msgspec.Raw(b"")


_outputs = msgspec.json.Decoder(_Outputs)


def _output_of(raw: bytes) -> bytes:
    parts = _outputs.decode(raw)
    return bytes(parts.output) or bytes(parts.body) or b"null"
