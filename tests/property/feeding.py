"""Puts values that mean something where they belong in a request, so that it gets beyond the first check."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st
from schemathesis import Case

from detent.errors import InvalidInput
from detent.values.durations import parse_duration
from tests.property.pools import FED, FED_PATH, Pools

#: A route that may wait is not asked to wait for longer, or there would be little time for others.
_LONGEST_WAIT: Final = 1.0
_OWNERS: Final = {"run": "workflow", "firing": "trigger"}


class Feeder:
    """Changes one request. What it `spares` is the rest: a filter that means nothing is left out more often than not,
    for one that is refused hides all others."""

    def __init__(self, draw: st.DrawFn, pools: Pools, *, spares: bool) -> None:
        self._draw, self._pools, self._spares = draw, pools, spares

    def feed(self, case: Case[Any]) -> None:
        place, query = case.path_parameters or {}, dict(case.query or {})
        for name in place:
            self._feed(place, name, FED_PATH.get(name) or FED.get(name), always=self._spares)
        for thing, owner in _OWNERS.items():
            found = self._pools.owner(place.get(thing))
            if found is not None and owner in place and (self._spares or self._mostly()):
                place[owner] = found
        for parameter in case.operation.query:
            if parameter.name in query or not self._mostly():
                self._feed(query, parameter.name, FED.get(parameter.name), optional=not parameter.is_required)
        if "wait" in query:
            query["wait"] = _bounded(query["wait"])
        case.query = query
        for parameter in case.operation.headers:
            if parameter.name in case.headers:
                self._feed(case.headers, parameter.name, FED.get(parameter.name))
        if isinstance(case.body, dict):
            self._feed_body(case.body)

    def _feed_body(self, body: dict[str, Any]) -> None:
        for name, value in list(body.items()):
            if isinstance(value, dict):
                for inner in list(value):
                    self._feed(value, inner, FED.get(inner), optional=True)
            elif isinstance(value, int | str):
                self._feed(body, name, FED.get(name), as_number=isinstance(value, int))

    def _feed(
        self,
        values: Any,
        name: str,
        pool: str | None,
        *,
        always: bool = False,
        optional: bool = False,
        as_number: bool = False,
    ) -> None:
        if pool is None:
            return
        found = self._pools.pick(pool, self._draw(st.integers(0, 10_000))) if always or self._mostly() else None
        if found is not None:
            values[name] = int(found) if as_number and found.isdigit() else found
        if optional and self._spares and (found is None or not self._draw(st.booleans())):
            values.pop(name, None)

    def _mostly(self) -> bool:
        return self._draw(st.integers(0, 3)) > 0


def _bounded(wait: Any) -> Any:
    try:
        return wait if parse_duration(wait) <= _LONGEST_WAIT else f"{_LONGEST_WAIT:g}s"
    except InvalidInput:
        return wait
