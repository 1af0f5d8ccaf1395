"""The rows of rules beside their workflows: entities, layouts, alerts and action templates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

#: How many positions a layout stores. Those that were not written for the longest time go first.
MOST_POSITIONS: Final = 5_000


class NewEntity(NamedTuple):
    """An entity to add: a kind of record that rules watch. `fields` is a JSON Schema, `None` if none is known."""

    tenant: int
    id: bytes
    name: str
    title: str
    fields: str | None


class EntityRow(NamedTuple):
    """An entity as it is stored. Every change of a rule of the entity raises `revision`."""

    tenant: int
    id: bytes
    name: str
    title: str
    fields: str | None
    revision: int
    created_at: int
    updated_at: int


class RuleRow(NamedTuple):
    """A rule that events of its entity can start: an active, enabled workflow. `trigger` is JSON, as in its row."""

    id: bytes
    name: str
    title: str | None
    version: int
    trigger: str


def merge_layout(stored: str | None, given: str) -> str:
    """Return a layout after a change of it. Both are JSON objects with `viewport` and `node_positions`.

    What is given replaces what is stored: the viewport, and each position by its key. A position of `null` is removed.
    Positions that are not given stay, so that an older version that is opened again finds its places."""
    layout: dict[str, Any] = json.loads(stored) if stored else {}
    change: dict[str, Any] = json.loads(given)
    positions: dict[str, Any] = layout.pop("node_positions", {})
    for key, place in (change.pop("node_positions", None) or {}).items():
        positions.pop(key, None)  # the newest are at the end
        if place is not None:
            positions[key] = place
    layout.update(change)
    newest = list(positions.items())[-MOST_POSITIONS:]
    return json.dumps({**layout, "node_positions": dict(newest)})


class AlertState(StrEnum):
    """The state of an alert. An alert can be resolved without being acknowledged first."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


class NewAlert(NamedTuple):
    """An alert to store. A step of a run has at most one. `context` is JSON."""

    id: bytes
    tenant: int
    workflow: bytes
    run: bytes
    step: str
    alert_type: str
    severity: str
    title: str
    message: str
    context: str | None


class AlertRow(NamedTuple):
    """An alert as it is stored, with the name and the title of its workflow."""

    id: bytes
    tenant: int
    workflow: bytes
    run: bytes
    step: str
    alert_type: str
    severity: str
    title: str
    message: str
    context: str | None
    state: str
    at: int
    acknowledged_at: int | None
    acknowledged_by: str | None
    resolved_at: int | None
    resolved_by: str | None
    workflow_name: str = ""
    workflow_title: str | None = None


@dataclass(frozen=True, slots=True)
class AlertCriteria:
    """A filter of alerts. A field that is not given does not narrow it. `since` and `before` bound when it was raised,
    as [since, before)."""

    states: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    alert_type: str | None = None
    workflow: bytes | None = None
    run: bytes | None = None
    since: int | None = None
    before: int | None = None

    def given(self) -> dict[str, Any]:
        """Return the given fields by name. Several values are a list."""
        found = {name: value for name in self.__slots__ if (value := getattr(self, name)) not in (None, ())}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


EVERY_ALERT: Final = AlertCriteria()


class ActionTemplateRow(NamedTuple):
    """The configuration of an action that rules can begin with. `default_config` is JSON. The store sets the times."""

    tenant: int
    id: bytes
    name: str
    description: str
    action_type: str
    default_config: str
    is_active: bool
    author: str
    created_at: int = 0
    updated_at: int = 0
