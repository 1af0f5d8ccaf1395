"""Which runs are meant: the same filter in the query of a list and in the body of a bulk request.

Everything that is wrong with a filter is told at once; a name that no filter has is a problem too, so that a word with
a slip in it never means every run.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from detent.api.request import (
    CursorScope,
    Spellings,
    aliases,
    flag_of,
    grouped,
    instant_of,
    normalize_names,
    number_of,
    pair_of,
    refuse_if_any,
    word_of,
)
from detent.commands import Commands
from detent.errors import NotFound
from detent.forms.compiled import TriggerType
from detent.ids import RUN, TRIGGER, InvalidId, parse
from detent.run.status import OPEN, Status
from detent.settings import DEFAULT_TENANT
from detent.store.rows import RunCriteria, TimelineCursor
from detent.values.fields import Problems, described, shown

T = TypeVar("T")
Values = Mapping[str, Sequence[Any]]

MOST_ROWS: Final = 200
ROWS: Final = 50
ID_BYTES: Final = 16
LIST_MESSAGE: Final = "the list cannot be read"
_MOST_VALUES: Final = 64
_LONGEST_REQUEST_ID: Final = 255
_FILTER: Final = aliases(
    *("status", "workflow", "trigger", "hero", "label", "request_id", "origin", "started_after", "started_before"),
    workflow_id="workflow",
    trigger_type="trigger",
    trigger_id="trigger",
    labels="label",
)
_PAGE: Final = aliases("limit", "cursor", "sort")
_WORKFLOWS: Final = aliases("limit", "cursor", "label", "enabled", is_enabled="enabled", labels="label")
_ORDERS: Final = {"-started_at": False, "started_at": True, "-startedAt": False, "startedAt": True}
_PLACE: Final = struct.Struct(">q16si")  # when, the run, its entry


class StatusFilter(NamedTuple):
    """What a word for a state of runs means: their statuses, and whether a node has them in its hands."""

    statuses: frozenset[Status]
    owned: bool | None = None


#: What people ask for and no status says: `ready` runs could go on and nobody is at them, somebody is at `performing`
#: ones.
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
_TRIGGERS: Final = {**{str(kind): str(kind) for kind in TriggerType}, "schedule": str(TriggerType.CRON)}


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of a list of runs."""

    where: RunCriteria
    oldest_first: bool
    limit: int
    cursor: bytes | None
    scope: CursorScope


@dataclass(frozen=True, slots=True)
class WorkflowPage:
    """A page of the list of workflows: those after a name."""

    enabled: bool | None
    labels: tuple[tuple[str, str], ...]
    limit: int
    after: str | None
    scope: CursorScope

    def means(self, labels: Mapping[str, str]) -> bool:
        """Whether a workflow with those labels is in the list."""
        return all(labels.get(key) == value for key, value in self.labels)


@dataclass(frozen=True, slots=True)
class VersionPage:
    """A page of the versions of a workflow: those before a version."""

    limit: int
    before: int | None
    scope: CursorScope

    def holds(self, version: int) -> bool:
        return self.before is None or version < self.before


@dataclass(frozen=True, slots=True)
class PlacesPage:
    """A page of a list that is made whole each time: those from a place on."""

    limit: int
    begin: int


@dataclass(frozen=True, slots=True)
class HeroPage:
    """A page of what happened to a hero: what comes behind a place."""

    hero: tuple[str, str]
    limit: int
    after: TimelineCursor | None
    scope: CursorScope

    def cursor(self, place: TimelineCursor) -> str:
        return self.scope.cursor(_PLACE.pack(*place))


async def read_run_page(commands: Commands, query: bytes, *, below: bytes | None = None) -> RunPage:
    """The page of runs that a query asks for; `below` is the workflow in whose list it stands."""
    problems = Problems()
    known = {**_FILTER, **_PAGE}
    if below is not None:
        known = {spelling: name for spelling, name in known.items() if name != "workflow"}
    values = _Values(_query(query, known, problems), "", problems)
    where = await _filter(commands, values, below)
    oldest_first = values.one("sort", _order) or False
    scope = CursorScope("runs", DEFAULT_TENANT, sorted(where.given().items()), oldest_first)
    limit = values.one("limit", lambda text: number_of(text, 1, MOST_ROWS)) or ROWS
    cursor = values.one("cursor", lambda text: scope.place(text, ID_BYTES)) if not problems.found else None
    refuse_if_any(problems, LIST_MESSAGE)
    return RunPage(where, oldest_first, limit, cursor, scope)


async def read_filter(
    commands: Commands, document: Mapping[str, Any], problems: Problems, path: str = "filter"
) -> RunCriteria:
    """The filter in a JSON object. A field is one value or a list; labels may be an object, and so may a hero."""
    found = normalize_names(document, _FILTER, problems, path)
    written = {name: _written(name, value) for name, value in found.items() if value is not None}
    return await _filter(commands, _Values(written, f"{path}.", problems), None)


def read_workflow_page(query: bytes) -> WorkflowPage:
    """The page of workflows that a query asks for."""
    problems = Problems()
    values = _Values(_query(query, _WORKFLOWS, problems), "", problems)
    enabled, labels = values.one("enabled", flag_of), values.many("label", pair_of)
    scope = CursorScope("workflows", DEFAULT_TENANT, enabled, sorted(labels))
    limit = values.one("limit", lambda text: number_of(text, 1, MOST_ROWS)) or ROWS
    after = values.one("cursor", lambda text: word_of(scope.place(text).decode())) if not problems.found else None
    refuse_if_any(problems, LIST_MESSAGE)
    return WorkflowPage(enabled, labels, limit, after, scope)


def read_version_page(query: bytes, workflow: bytes) -> VersionPage:
    """The page of a workflow's versions that a query asks for."""
    problems = Problems()
    values = _Values(_query(query, aliases("limit", "cursor"), problems), "", problems)
    scope = CursorScope("versions", DEFAULT_TENANT, workflow)
    limit = values.one("limit", lambda text: number_of(text, 1, MOST_ROWS)) or ROWS
    before = values.one("cursor", lambda text: int(scope.place(text).decode()))
    refuse_if_any(problems, LIST_MESSAGE)
    return VersionPage(limit, before, scope)


def read_places_page(query: bytes, scope: CursorScope) -> PlacesPage:
    """The page of a list that is made whole each time."""
    problems = Problems()
    values = _Values(_query(query, aliases("limit", "cursor"), problems), "", problems)
    limit = values.one("limit", lambda text: number_of(text, 1, MOST_ROWS)) or ROWS
    begin = values.one("cursor", lambda text: int(scope.place(text).decode())) or 0
    refuse_if_any(problems, LIST_MESSAGE)
    return PlacesPage(limit, begin)


def read_hero_page(query: bytes, hero: tuple[str, str] | None) -> HeroPage:
    """The page of a timeline; without a hero, of the one that the query names."""
    problems = Problems()
    known = aliases("limit", "cursor") if hero else aliases("limit", "cursor", "hero")
    values = _Values(_query(query, known, problems), "", problems)
    about = hero or values.one("hero", pair_of)
    if about is None and not problems.found:
        problems.add("hero", "is missing; write for example User:42")
    scope = CursorScope("timeline", DEFAULT_TENANT, about)
    limit = values.one("limit", lambda text: number_of(text, 1, MOST_ROWS)) or ROWS
    after = values.one("cursor", lambda text: _place(scope.place(text, _PLACE.size))) if not problems.found else None
    refuse_if_any(problems, LIST_MESSAGE)
    return HeroPage(about or ("", ""), limit, after, scope)


def _place(packed: bytes) -> TimelineCursor:
    at, run, seq = _PLACE.unpack(packed)
    return at, run, seq


@dataclass(slots=True)
class _Values:
    """Values by name, read one by one; `prefix` stands before the names in problems."""

    values: Values
    prefix: str
    problems: Problems

    def one(self, name: str, read: Callable[[str], T]) -> T | None:
        found = self.many(name, read)
        if len(self.values.get(name, ())) > 1:
            self.problems.add(self.prefix + name, "is there more than once")
        return found[0] if found else None

    def many(self, name: str, read: Callable[[str], T]) -> tuple[T, ...]:
        given = self.values.get(name, ())
        if len(given) > _MOST_VALUES:
            self.problems.add(self.prefix + name, f"is there {len(given)} times; at most {_MOST_VALUES} are taken")
            return ()
        return tuple(found for value in given if (found := self._read(name, value, read)) is not None)

    def _read(self, name: str, value: Any, read: Callable[[str], T]) -> T | None:
        if not isinstance(value, str):
            self.problems.add(self.prefix + name, f"must be text, not {described(value)}")
            return None
        try:
            return read(value)
        except InvalidId:
            self.problems.add(self.prefix + name, f"{shown(value)} is not an id")
        except ValueError as error:
            self.problems.add(self.prefix + name, str(error))
        return None


def _query(query: bytes, known: Spellings, problems: Problems) -> Values:
    return normalize_names(grouped(query), known, problems)


def _written(name: str, value: Any) -> Sequence[Any]:
    if name == "label" and isinstance(value, dict):
        return [f"{key}:{text}" if isinstance(text, str) else text for key, text in value.items()]
    if name == "hero" and isinstance(value, dict) and set(value) == {"type", "id"}:
        return [f"{value['type']}:{value['id']}"]
    return value if isinstance(value, list) else [value]


async def _filter(commands: Commands, values: _Values, below: bytes | None) -> RunCriteria:
    key = values.one("workflow", word_of)
    workflow = below if key is None else await _workflow(commands, key, values)
    trigger = values.one("trigger", _trigger)
    hero = values.one("hero", pair_of)
    statuses, owned = _scope(values)
    return RunCriteria(
        workflow=workflow,
        statuses=tuple(sorted(map(str, statuses))),
        owned=owned,
        trigger=trigger if isinstance(trigger, str) else None,
        fired_by=trigger if isinstance(trigger, bytes) else None,
        hero_type=hero[0] if hero else None,
        hero_id=hero[1] if hero else None,
        labels=tuple(sorted(set(values.many("label", pair_of)))),
        request_id=values.one("request_id", lambda text: word_of(text, _LONGEST_REQUEST_ID)),
        origin=values.one("origin", lambda text: parse(RUN, text)),
        started_after=values.one("started_after", instant_of),
        started_before=values.one("started_before", instant_of),
    )


async def _workflow(commands: Commands, key: str, values: _Values) -> bytes | None:
    """By id or by name, whether it is there or was deleted."""
    try:
        return await commands.workflow_id(key)
    except NotFound as error:
        values.problems.add(values.prefix + "workflow", error.message)
        return None


def _scope(values: _Values) -> StatusFilter:
    """Any of the words. One that asks whose hands a run is in stands alone, since the others do not ask that."""
    found = values.many("status", _status)
    if len(set(found)) > 1 and any(one.owned is not None for one in found):
        values.problems.add(values.prefix + "status", "'ready' and 'performing' each stand alone")
    return StatusFilter(frozenset().union(*(one.statuses for one in found)), found[0].owned if found else None)


def _status(text: str) -> StatusFilter:
    try:
        return _STATUSES[text.lower()]
    except KeyError:
        raise ValueError(f"must be one of {', '.join((*Status, *SCOPES))}") from None


def _trigger(text: str) -> str | bytes:
    if text.startswith(f"{TRIGGER}_"):
        return parse(TRIGGER, text)
    try:
        return _TRIGGERS[text.lower()]
    except KeyError:
        raise ValueError(f"must be one of {', '.join(TriggerType)}, or the id of a trigger") from None


def _order(text: str) -> bool:
    try:
        return _ORDERS[text]
    except KeyError:
        raise ValueError("must be -started_at (newest first) or started_at") from None
