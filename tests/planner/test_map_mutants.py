"""Maps with one bug each: the random lives of `worlds` must find every one of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from detent.planner.settle import Settling
from detent.run.state import MapState
from tests.planner.test_properties import _check_over
from tests.planner.worlds import some_world

applying = import_module("detent.planner.apply")
planning = import_module("detent.planner.advance")
flowing = import_module("detent.planner.flow")
_delegated, _map_begins = vars(flowing)["_delegated"], vars(planning)["_map_begins"]

#: In so many worlds each bug shows.
WORLDS = 400


def _left_pages_live_on(self: Settling, child: str) -> None:
    """A page that its map does not wait for any more is not cancelled."""


def _counted_and_still_open(state: Any, found: MapState, page: Any) -> None:
    """A page that has ended counts, and is awaited further."""
    found.succeeded += page.succeeded
    found.failed += page.failed


def _begins_again(prepared: Any, state: Any, event: Any, number: int) -> Any:
    """An attempt of a map begins its pages again, although an earlier one did."""
    state.maps.pop(event.step, None)
    return _map_begins(prepared, state, event, number)


def _waits_for_pages_that_never_began(state: Any, index: int, pages: int) -> Any:
    """A map does not look again although pages began while it started others."""
    return _delegated(state, index, len(state.maps[index].pages) if index in state.maps else pages)


def _one_page_too_many(self: MapState) -> bool:
    """A page begins after the last one."""
    return len(self.pages) * self.size < self.count + self.size


MUTANTS: list[tuple[Any, str, Callable[..., Any]]] = [
    (Settling, "_cancel", _left_pages_live_on),
    (applying, "_page_ended", _counted_and_still_open),
    (planning, "_map_begins", _begins_again),
    (flowing, "_delegated", _waits_for_pages_that_never_began),
    (MapState, "has_more", _one_page_too_many),
]


def _find(worlds: int) -> bool:
    for seed in range(worlds):
        try:
            _check_over(some_world(random.Random(seed), trouble=0.1).live())
        except (AssertionError, KeyError, ValueError):
            return True
    return False


@pytest.mark.parametrize(("place", "name", "bug"), MUTANTS, ids=[bug.__name__.strip("_") for *_, bug in MUTANTS])
def test_the_random_lives_find_the_bug(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, bug: Callable[..., Any]
) -> None:
    monkeypatch.setattr(place, name, bug)
    assert _find(WORLDS)


def test_without_a_bug_they_find_nothing() -> None:
    assert not _find(WORLDS)
