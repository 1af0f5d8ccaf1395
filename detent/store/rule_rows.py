"""The rows of rules beside their workflows: entities, layouts, alerts and action templates."""

from __future__ import annotations

from typing import NamedTuple


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
