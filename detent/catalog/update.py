"""The difference between two versions of a connector, and the steps that it breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from detent.catalog.connector import ActionSpec, Connector

_UNVERSIONED = "0.0.0"


@dataclass(frozen=True, slots=True)
class ActionChange:
    """An action that is another one now. `breaks` says, by parameter, what steps may have to change; the key `None`
    concerns every step."""

    action: str
    breaks: tuple[tuple[str | None, str], ...] = ()


@dataclass(slots=True)
class ConnectorUpdate:
    """What a new version of a connector adds, changes and removes, by ids of actions."""

    added: list[str] = field(default_factory=list)
    changed: list[ActionChange] = field(default_factory=list)
    removed: list[ActionChange] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed)

    @property
    def is_breaking(self) -> bool:
        return any(one.breaks for one in (*self.changed, *self.removed))

    def next_version(self, version: str) -> str:
        """Return the version after this one: a breaking update raises its first number, another one its second."""
        major, minor, _ = map(int, version.split("."))
        return f"{major + 1}.0.0" if self.is_breaking else f"{major}.{minor + 1}.0"

    def problems_of(self, action: str, given: Mapping[str, Any]) -> list[str]:
        """Return what a step that calls an action with these parameters has to change."""
        found = [one for one in (*self.changed, *self.removed) if one.action == action]
        return [words for one in found for name, words in one.breaks if _concerns(name, words, given)]


def _concerns(name: str | None, words: str, given: Mapping[str, Any]) -> bool:
    if name is None:
        return True
    return name not in given if words.endswith("is required now") else name in given


def compare(before: Iterable[ActionSpec], after: Connector) -> ConnectorUpdate:
    """Return how a connector differs from its stored actions. Versions do not count."""
    known = {one.id: one for one in before}
    update = ConnectorUpdate()
    for action in after.actions:
        old = known.pop(action.id, None)
        name = f"{after.id}.{action.id}"
        if old is None:
            update.added.append(name)
        elif replace(old, version=_UNVERSIONED) != replace(action, version=_UNVERSIONED):
            update.changed.append(ActionChange(name, tuple(_breaks(old, action))))
    update.removed += [
        ActionChange(f"{after.id}.{one}", ((None, "the action does not exist any more"),)) for one in known
    ]
    return update


def _breaks(before: ActionSpec, after: ActionSpec) -> Iterator[tuple[str, str]]:
    """Yield each parameter that a step may have to change, and why."""
    old, new = before.parameters, after.parameters
    old_names, new_names = old.get("properties", {}), new.get("properties", {})
    for name in old_names:
        if name not in new_names:
            yield name, f"the parameter {name!r} does not exist any more"
    for name in new.get("required", ()):
        if name not in old.get("required", ()):
            yield name, f"the parameter {name!r} is required now"
    for name, schema in new_names.items():
        types = [one.get("type") for one in (old_names.get(name), schema) if isinstance(one, dict)]
        if len(types) == 2 and None not in types and types[0] != types[1]:
            yield name, f"the parameter {name!r} must be {_word(types[1])} now, not {_word(types[0])}"


def _word(type_: Any) -> str:
    return type_ if isinstance(type_, str) else " or ".join(map(str, type_))
