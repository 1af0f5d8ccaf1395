"""Filters and pages of lists. A list of runs and a bulk request have the same filter.

All problems of a filter are reported at once. An unknown name is a problem too, so that a typo never selects every run.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from detent.api.request import (
    CursorScope,
    QueryValues,
    aliases,
    flag_of,
    instant_of,
    normalize_names,
    number_of,
    pair_of,
    word_of,
)
from detent.commands import Commands
from detent.commands.lists import VIEWS
from detent.errors import NotFound
from detent.forms.compiled import TriggerType
from detent.ids import RUN, TRIGGER, InvalidId, end_digits, first_id, parse
from detent.instant import SECOND, Instant
from detent.run.journal import MAP
from detent.run.stage import StageKind
from detent.run.status import OPEN, Status
from detent.store.list_rows import TimelineCursor
from detent.store.rows import RunCriteria, WorkflowRow
from detent.values.fields import Problems, shown
from detent.values.limits import ID_LIMIT, LARGEST_VERSION
from detent.values.nearest import nearest

ID_BYTES: Final = 16
LIST_MESSAGE: Final = "the list cannot be read"
_FILTER: Final = aliases(
    *("status", "workflow", "trigger", "hero", "label", "request_id", "origin", "parent"),
    *("started_after", "started_before", "stage", "version", "ids", "text", "error", "view"),
    workflow_id="workflow",
    trigger_type="trigger",
    trigger_id="trigger",
    labels="label",
)
_PAGE: Final = aliases("limit", "cursor", "sort", "include")
_WINDOW: Final = aliases("from", "to", "buckets")
#: A list can be asked for at most so many runs by id.
MOST_IDS: Final = 200
_LONGEST_TEXT: Final = 200
MOST_BUCKETS: Final = 200
_USUAL_BUCKETS: Final = 96
_DAY: Final = 86_400 * SECOND
_WORKFLOWS: Final = aliases(
    *("limit", "cursor", "label", "enabled", "status", "search", "tenant_id"), is_enabled="enabled", labels="label"
)
_LIFE: Final = ("draft", "active", "archived")
_TENANT: Final = "default"
ITEM_STATUSES: Final = (
    *("pending", "scheduled", "running", "waiting"),
    *("success", "failed", "timeout", "template_error", "skipped", "cancelled"),
)
_ORDERS: Final = {"-started_at": False, "started_at": True, "-startedAt": False, "startedAt": True}
_PLACE: Final = struct.Struct(">q16si")  # instant, id of the run, seq of the entry


class StatusFilter(NamedTuple):
    """What a status word of a filter selects: statuses, and whether a node owns the run."""

    statuses: frozenset[Status]
    owned: bool | None = None


#: Status words beside the statuses: no node owns a `ready` run, a node owns a `performing` one.
SCOPES: Final[Mapping[str, StatusFilter]] = {
    "active": StatusFilter(OPEN),
    "ready": StatusFilter(OPEN - {Status.PAUSED}, owned=False),
    "performing": StatusFilter(OPEN, owned=True),
}
_STATUSES: Final[Mapping[str, StatusFilter]] = {
    **{str(status): StatusFilter(frozenset({status})) for status in Status},
    **SCOPES,
    "finished": StatusFilter(frozenset({Status.COMPLETED})),
    "succeeded": StatusFilter(frozenset({Status.COMPLETED})),
    "success": StatusFilter(frozenset({Status.COMPLETED})),
    "canceled": StatusFilter(frozenset({Status.CANCELLED})),
    "timedout": StatusFilter(frozenset({Status.TIMEOUT})),
    "timed_out": StatusFilter(frozenset({Status.TIMEOUT})),
}
_TRIGGERS: Final = {**{str(kind): str(kind) for kind in TriggerType}, "schedule": str(TriggerType.CRON), MAP: MAP}


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of a list of runs."""

    where: RunCriteria
    oldest_first: bool
    limit: int
    cursor: bytes | None
    scope: CursorScope
    progress: bool = False


@dataclass(frozen=True, slots=True)
class RunWindow:
    """A filter of runs that were accepted in a range of time, in parts of it."""

    where: RunCriteria
    begin: Instant
    end: Instant
    buckets: int

    def narrowed(self) -> RunCriteria:
        """Return the filter with the range of time."""
        first, last = first_id(self.begin), first_id(self.end)
        return replace(
            self.where,
            first=first if self.where.first is None else max(first, self.where.first),
            last=last if self.where.last is None else min(last, self.where.last),
        )


@dataclass(frozen=True, slots=True)
class WorkflowPage:
    """A page of the list of workflows: those after a name."""

    enabled: bool | None
    status: str | None
    search: str | None
    labels: tuple[tuple[str, str], ...]
    limit: int
    after: str | None
    scope: CursorScope

    def is_narrow(self) -> bool:
        """Return whether `means` may leave out workflows."""
        return bool(self.labels) or self.search is not None

    def means(self, row: WorkflowRow) -> bool:
        """Return whether a workflow is in the list: it has the labels, and the text is in its name or title."""
        labels = json.loads(row.labels) if row.labels else {}
        if any(labels.get(key) != value for key, value in self.labels):
            return False
        return self.search is None or any(self.search in text.casefold() for text in (row.name, row.title or ""))


@dataclass(frozen=True, slots=True)
class VersionPage:
    """A page of the versions of a workflow: those after a version of the list. `drafts`: drafts that were run."""

    drafts: bool
    limit: int
    before: int | None
    scope: CursorScope

    def holds(self, version: int) -> bool:
        return self.before is None or abs(version) < abs(self.before)


@dataclass(frozen=True, slots=True)
class PlacesPage:
    """A page of a list that is built whole each time: its part from an index on."""

    limit: int
    begin: int


@dataclass(frozen=True, slots=True)
class ItemPage:
    """A page of the items of a map: those with a status, from an index on."""

    status: str | None
    limit: int
    begin: int


@dataclass(frozen=True, slots=True)
class HeroPage:
    """A page of a hero's timeline: the entries after a cursor."""

    hero: tuple[str, str]
    limit: int
    after: TimelineCursor | None
    scope: CursorScope

    def cursor(self, place: TimelineCursor) -> str:
        return self.scope.cursor(_PLACE.pack(*place))


async def read_run_page(commands: Commands, query: bytes, *, below: bytes | None = None) -> RunPage:
    """Read the query of a list of runs; `below` is the workflow whose list it is."""
    known = {**_FILTER, **_PAGE}
    if below is not None:
        known = {spelling: name for spelling, name in known.items() if name != "workflow"}
    values = QueryValues.of_query(query, known)
    where = await _filter(commands, values, below)
    oldest_first = values.one("sort", _order) or False
    progress = values.one("include", _include) or False
    scope = CursorScope("runs", commands.caller.tenant, *_facts(where, values), oldest_first)
    limit = values.limit()
    cursor = values.cursor(lambda text: scope.place(text, ID_BYTES))
    values.refuse(LIST_MESSAGE)
    return RunPage(where, oldest_first, limit, cursor, scope, progress)


def _facts(where: RunCriteria, values: QueryValues) -> tuple[object, ...]:
    """Return what identifies a filter. What a view means changes with time, so its name counts."""
    if values.problems.found:
        return ()  # the page is refused
    view, facts = values.one("view", _view), where.given()
    facts.pop("now", None)
    if view is not None:
        for name in ("ids", "ended_after"):
            facts.pop(name, None)
    return sorted(facts.items(), key=lambda fact: fact[0]), view


def _include(text: str) -> bool:
    if text != "progress":
        raise ValueError(f"must be progress, not {shown(text)}")
    return True


async def read_run_window(commands: Commands, query: bytes, *, most_buckets: int | None = None) -> RunWindow:
    """Read the query of a histogram or of facets. The default is the last 24 hours."""
    known = {**_FILTER, **_WINDOW}
    if most_buckets is None:
        del known["buckets"]
    values = QueryValues.of_query(query, known)
    where = await _filter(commands, values, None)
    begin, end = values.one("from", instant_of), values.one("to", instant_of)
    buckets = values.one("buckets", lambda text: number_of(text, 1, most_buckets or 1))
    end = commands.now() if end is None else end
    begin = end - _DAY if begin is None else begin
    if begin >= end and not values.problems.found:
        values.add_problem("from", "must be before `to`")
    values.refuse(LIST_MESSAGE)
    return RunWindow(where, begin, end, buckets or _USUAL_BUCKETS)


async def read_filter(
    commands: Commands, document: Mapping[str, Any], problems: Problems, path: str = "filter"
) -> RunCriteria:
    """Read the filter in a JSON object. A field is one value or a list; labels and a hero may be objects."""
    found = normalize_names(document, _FILTER, problems, path)
    written = {name: _written(name, value) for name, value in found.items() if value is not None}
    return await _filter(commands, QueryValues(written, problems, f"{path}."), None)


def read_workflow_page(query: bytes, tenant: int) -> WorkflowPage:
    """Read the query of a list of workflows."""
    values = QueryValues.of_query(query, _WORKFLOWS)
    enabled, labels = values.one("enabled", flag_of), values.many("label", pair_of)
    status, search = values.one("status", _life), values.one("search", lambda text: word_of(text).casefold())
    values.one("tenant_id", _tenant)
    scope = CursorScope("workflows", tenant, enabled, sorted(labels), status, search)
    limit = values.limit()
    after = values.cursor(lambda text: word_of(scope.place(text).decode()))
    values.refuse(LIST_MESSAGE)
    return WorkflowPage(enabled, status, search, labels, limit, after, scope)


def _life(text: str) -> str:
    if text.lower() not in _LIFE:
        raise ValueError(f"must be {', '.join(_LIFE[:-1])} or {_LIFE[-1]}, not {shown(text)}")
    return text.lower()


def _tenant(text: str) -> str:
    if text != _TENANT:
        raise ValueError(f"there is no tenant but {_TENANT!r}")
    return text


def read_version_page(query: bytes, tenant: int, workflow: bytes) -> VersionPage:
    """Read the query of a list of versions."""
    values = QueryValues.of_query(query, aliases("limit", "cursor", "drafts"))
    drafts = values.one("drafts", flag_of) or False
    scope = CursorScope("versions", tenant, workflow, drafts)
    limit = values.limit()
    before = values.cursor(lambda text: int(scope.place(text).decode()))
    values.refuse(LIST_MESSAGE)
    return VersionPage(drafts, limit, before, scope)


def read_places_page(query: bytes, scope: CursorScope) -> PlacesPage:
    """Read the query of a list that is built whole each time."""
    values = QueryValues.of_query(query, aliases("limit", "cursor"))
    limit = values.limit()
    begin = values.cursor(lambda text: int(scope.place(text).decode())) or 0
    values.refuse(LIST_MESSAGE)
    return PlacesPage(limit, begin)


def read_item_page(query: bytes, scope: CursorScope) -> ItemPage:
    """Read the query of a list of the items of a map."""
    values = QueryValues.of_query(query, aliases("limit", "cursor", "status"))
    status, limit = values.one("status", _item_status), values.limit()
    begin = values.cursor(lambda text: int(scope.place(text).decode())) or 0
    values.refuse(LIST_MESSAGE)
    return ItemPage(status, limit, begin)


def _item_status(text: str) -> str:
    if text.lower() not in ITEM_STATUSES:
        raise ValueError(f"must be one of {', '.join(ITEM_STATUSES)}, not {shown(text)}")
    return text.lower()


def read_hero_page(query: bytes, tenant: int, hero: tuple[str, str] | None) -> HeroPage:
    """Read the query of a timeline. If `hero` is `None`, the query must name the hero."""
    known = aliases("limit", "cursor") if hero else aliases("limit", "cursor", "hero")
    values = QueryValues.of_query(query, known)
    about = hero or values.one("hero", pair_of)
    if about is None and not values.problems.found:
        values.add_problem("hero", "is missing; write for example User:42")
    scope = CursorScope("timeline", tenant, about)
    limit = values.limit()
    after = values.cursor(lambda text: _place(scope.place(text, _PLACE.size)))
    values.refuse(LIST_MESSAGE)
    return HeroPage(about or ("", ""), limit, after, scope)


def _place(packed: bytes) -> TimelineCursor:
    at, run, seq = _PLACE.unpack(packed)
    return at, run, seq


def _written(name: str, value: Any) -> Sequence[Any]:
    if name == "version" and type(value) is int:
        return [str(value)]
    if name == "ids" and isinstance(value, list) and all(isinstance(id_, str) for id_ in value):
        return [",".join(value)]
    if name == "label" and isinstance(value, dict):
        return [f"{key}:{text}" if isinstance(text, str) else text for key, text in value.items()]
    if name == "hero" and isinstance(value, dict) and set(value) == {"type", "id"}:
        return [f"{value['type']}:{value['id']}"]
    return value if isinstance(value, list) else [value]


async def _filter(commands: Commands, values: QueryValues, below: bytes | None) -> RunCriteria:
    key = values.one("workflow", word_of)
    workflow = below if key is None else await _workflow(commands, key, values)
    trigger, parent = values.one("trigger", _trigger), values.one("parent", lambda text: parse(RUN, text))
    hero = values.one("hero", pair_of)
    statuses, owned = _scope(values)
    stages = tuple(sorted(set(values.many("stage", _stage))))
    text, ids = values.one("text", lambda text: word_of(text, _LONGEST_TEXT)), values.one("ids", _ids) or ()
    if text is not None and text.startswith(f"{RUN}_"):
        ids, text = (*ids, *_whole_id(text)), None if _whole_id(text) else text
    view = values.one("view", _view)
    found = RunCriteria() if view is None or values.problems.found else await commands.lists.view(view)
    if view is not None and (statuses or stages or ids):
        values.add_problem("view", "cannot be combined with status, stage or ids")
    after, before = values.one("started_after", instant_of), values.one("started_before", instant_of)
    return RunCriteria(
        workflow=workflow,
        statuses=found.statuses or tuple(sorted(map(str, statuses))),
        owned=owned,
        trigger=trigger if isinstance(trigger, str) else None,
        fired_by=trigger if isinstance(trigger, bytes) else None,
        hero_type=hero[0] if hero else None,
        hero_id=hero[1] if hero else None,
        labels=tuple(sorted(set(values.many("label", pair_of)))),
        request_id=values.one("request_id", lambda text: word_of(text, ID_LIMIT)),
        origin=values.one("origin", lambda text: parse(RUN, text)),
        parent=parent,
        without=MAP if trigger is None and parent is None else None,
        version=values.one("version", lambda text: number_of(text, -LARGEST_VERSION, LARGEST_VERSION)),
        stages=found.stages or stages,
        now=commands.now() if found.stages or stages else None,
        ids=found.ids or ids,
        first=None if after is None else first_id(after),
        last=None if before is None else first_id(before),
        ended_after=found.ended_after,
        error=values.one("error", lambda text: word_of(text, _LONGEST_TEXT)),
        text=text,
        id_end=None if text is None else end_digits(text.removeprefix(f"{RUN}_").lower()),
    )


def _stage(text: str) -> str:
    if text.lower() not in tuple(StageKind):
        raise _unknown(text, ", ".join(StageKind), StageKind)
    return text.lower()


def _view(text: str) -> str:
    if text.lower() not in VIEWS:
        raise _unknown(text, ", ".join(VIEWS), VIEWS)
    return text.lower()


def _unknown(text: str, choices: str, known: Iterable[str]) -> ValueError:
    """Build the error of a word that is not one of the known ones, with the one that was likely meant."""
    near = nearest(text, map(str, known))
    hint = "" if near is None else f"; did you mean {near!r}?"
    return ValueError(f"must be one of {choices}, not {shown(text)}{hint}")


def _ids(text: str) -> tuple[bytes, ...]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not 0 < len(words) <= MOST_IDS:
        raise ValueError(f"must have 1 to {MOST_IDS} ids of runs, with commas between them")
    return tuple(sorted({parse(RUN, word) for word in words}))


def _whole_id(text: str) -> tuple[bytes, ...]:
    try:
        return (parse(RUN, text),)
    except InvalidId:
        return ()


async def _workflow(commands: Commands, key: str, values: QueryValues) -> bytes | None:
    """Return the id of a workflow, by id or by name. A deleted workflow is found too."""
    try:
        return await commands.workflows.id_of(key)
    except NotFound as error:
        values.add_problem("workflow", error.message)
        return None


def _scope(values: QueryValues) -> StatusFilter:
    """Combine the status words. A word about the owner must be alone: the other words do not filter by owner."""
    found = values.many("status", _status)
    if len(set(found)) > 1 and any(one.owned is not None for one in found):
        values.add_problem("status", "'ready' and 'performing' cannot be combined with another status")
    return StatusFilter(frozenset().union(*(one.statuses for one in found)), found[0].owned if found else None)


def _status(text: str) -> StatusFilter:
    try:
        return _STATUSES[text.lower()]
    except KeyError:
        raise _unknown(text, ", ".join((*Status, *SCOPES)), _STATUSES) from None


def _trigger(text: str) -> str | bytes:
    if text.startswith(f"{TRIGGER}_"):
        return parse(TRIGGER, text)
    try:
        return _TRIGGERS[text.lower()]
    except KeyError:
        raise _unknown(text, f"{', '.join(TriggerType)}, {MAP}, or the id of a trigger", _TRIGGERS) from None


def _order(text: str) -> bool:
    try:
        return _ORDERS[text]
    except KeyError:
        raise ValueError("must be -started_at (newest first) or started_at") from None
