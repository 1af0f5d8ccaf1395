"""The queries of the lists of triggers and firings, and of schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from litestar.openapi.spec import Schema
from litestar.openapi.spec.enums import OpenAPIType

from detent.api.cursors import CursorScope
from detent.api.filters import LIST_MESSAGE, MOST_ROWS, ROWS
from detent.api.operations import BOOLEAN, TEXT, query
from detent.api.paging import PAGE_PARAMETERS
from detent.api.queries import flag_of, grouped, number_of, word_of
from detent.api.spelling import Spellings, refuse_if_any, spellings
from detent.authoring.compiled import TriggerType
from detent.authoring.fields import Problems, shown
from detent.engine.commands import DEFAULT_TENANT
from detent.store.trigger_rows import FiringState
from detent.triggers.commands import MOST_PREVIEWED

T = TypeVar("T")

_ID_BYTES: Final = 16
_COUNT: Final = 10
_PAGE: Final = spellings("limit", "cursor")
_TRIGGERS: Final = {
    **_PAGE,
    **spellings("workflow", "type", "enabled", workflow_id="workflow", trigger_type="type", is_enabled="enabled"),
}
_FIRINGS: Final = {**_PAGE, **spellings("state", status="state")}
_PREVIEW: Final = spellings("cron_expression", "timezone", "count")
_KINDS: Final = [kind.value for kind in TriggerType if kind is not TriggerType.API]
_COUNTED: Final = Schema(type=OpenAPIType.INTEGER, minimum=1, maximum=MOST_PREVIEWED, default=_COUNT)

COUNT: Final = query("count", _COUNTED, f"How many at most, 1 to {MOST_PREVIEWED}.", _COUNT)
TRIGGER_PARAMETERS: Final = (
    query("workflow", TEXT, "Only those of this workflow, by id or name.", "order-processing"),
    query("type", Schema(type=OpenAPIType.STRING, enum=_KINDS), "Only those of this type.", "cron"),
    query("enabled", BOOLEAN, "Only those that fire, or only those that are paused.", True),
    *PAGE_PARAMETERS,
)
FIRING_PARAMETERS: Final = (
    query("state", Schema(type=OpenAPIType.STRING, enum=list(map(str, FiringState))), "Only those.", "refused"),
    *PAGE_PARAMETERS,
)
PREVIEW_PARAMETERS: Final = (
    query("cron_expression", TEXT, "Minute, hour, day, month, weekday.", "0 9 * * 1-5"),
    query("timezone", TEXT, "An IANA time zone; UTC if nothing is said.", "Europe/Zurich"),
    COUNT,
)


@dataclass(frozen=True, slots=True)
class TriggerPage:
    """A page of triggers: those after one."""

    workflow: str | None
    kind: str | None
    enabled: bool | None
    limit: int
    after: bytes | None
    scope: CursorScope


@dataclass(frozen=True, slots=True)
class FiringPage:
    """A page of firings: those before one."""

    state: str | None
    limit: int
    before: bytes | None
    scope: CursorScope


class _Query:
    """A query string whose names are known, read one by one."""

    def __init__(self, text: bytes, known: Spellings) -> None:
        self.problems = Problems()
        self._values: dict[str, list[str]] = {}
        for name, values in grouped(text).items():
            ours = known.get(name)
            if ours is None:
                hint = (
                    self.problems.did_you_mean(name, known) or f"; known are {', '.join(sorted(set(known.values())))}"
                )
                self.problems.add(shown(name)[1:-1], f"unknown parameter{hint}")
            else:
                self._values.setdefault(ours, []).extend(values)

    def one(self, name: str, read: Callable[[str], T]) -> T | None:
        values = self._values.get(name)
        if not values:
            return None
        if len(values) > 1:
            self.problems.add(name, "is there twice")
            return None
        try:
            return read(values[0])
        except ValueError as error:
            self.problems.add(name, str(error))
            return None

    def page(self, scope: CursorScope) -> tuple[int, bytes | None]:
        limit = self.one("limit", lambda text: number_of(text, 1, MOST_ROWS)) or ROWS
        place = self.one("cursor", lambda text: scope.place(text, _ID_BYTES)) if not self.problems.found else None
        return limit, place

    def refuse(self, message: str) -> None:
        refuse_if_any(self.problems, message)


def read_trigger_page(text: bytes) -> TriggerPage:
    """The page of triggers that a query asks for."""
    read = _Query(text, _TRIGGERS)
    workflow, kind, enabled = read.one("workflow", word_of), read.one("type", _kind), read.one("enabled", flag_of)
    scope = CursorScope("triggers", DEFAULT_TENANT, workflow, kind, enabled)
    limit, after = read.page(scope)
    read.refuse(LIST_MESSAGE)
    return TriggerPage(workflow, kind, enabled, limit, after, scope)


def read_firing_page(text: bytes, trigger: str) -> FiringPage:
    """The page of a trigger's firings that a query asks for."""
    read = _Query(text, _FIRINGS)
    state = read.one("state", _state)
    scope = CursorScope("firings", DEFAULT_TENANT, trigger, state)
    limit, before = read.page(scope)
    read.refuse(LIST_MESSAGE)
    return FiringPage(state, limit, before, scope)


def read_count(text: bytes) -> int:
    """How many slots a query asks for."""
    read = _Query(text, spellings("count"))
    count = read.one("count", _count) or _COUNT
    read.refuse("the slots cannot be told")
    return count


def read_preview(text: bytes) -> tuple[str | None, str | None, int]:
    """Cron expression, time zone and count of a query."""
    read = _Query(text, _PREVIEW)
    found: tuple[Any, Any] = read.one("cron_expression", str), read.one("timezone", str)
    count = read.one("count", _count) or _COUNT
    read.refuse("the slots cannot be told")
    return *found, count


def _count(text: str) -> int:
    return number_of(text, 1, MOST_PREVIEWED)


def _kind(text: str) -> str:
    word = {"schedule": "cron"}.get(text.lower(), text.lower())
    if word not in _KINDS:
        raise ValueError(f"must be one of {', '.join(_KINDS)}")
    return word


def _state(text: str) -> str:
    if text not in list(FiringState):
        raise ValueError(f"must be one of {', '.join(FiringState)}")
    return text
