"""What differs between two documents of a rule: actions and edges by their ids, and everything else by its field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from detent.forms.rules.schema import SCHEMA
from detent.graph.diff import FieldChange, diff_values

#: Fields that say what a document is. They are the same in every version of a rule.
_FIXED: Final = ("form", "key", "actions", "edges")
_RULE: Final = {name: part for name, part in SCHEMA["properties"].items() if name not in _FIXED}
_ACTION: Final = SCHEMA["$defs"]["Action"]["properties"]


@dataclass(frozen=True, slots=True)
class RuleActionDiff:
    """An action that both documents have, and what differs in it."""

    id: str
    name: str
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class RuleDiff:
    """The difference of two documents. Actions and edges are as their document has them."""

    added_actions: tuple[Mapping[str, Any], ...] = ()
    removed_actions: tuple[Mapping[str, Any], ...] = ()
    changed_actions: tuple[RuleActionDiff, ...] = ()
    added_edges: tuple[Mapping[str, Any], ...] = ()
    removed_edges: tuple[Mapping[str, Any], ...] = ()
    settings: tuple[FieldChange, ...] = ()


def diff_rules(old: Mapping[str, Any], new: Mapping[str, Any]) -> RuleDiff:
    """Return what differs between two documents that name all actions by their ids. An empty one has nothing.

    Edges follow from their ends and their type, so an edge that leads elsewhere is removed and another one is added. A
    default that is written on one side only is no difference."""
    before, after = _by_id(old, "actions"), _by_id(new, "actions")
    both = [(before[id_], one) for id_, one in after.items() if id_ in before]
    changed = ((now, tuple(diff_values(_whole(then, _ACTION), _whole(now, _ACTION)))) for then, now in both)
    old_edges, new_edges = _by_id(old, "edges"), _by_id(new, "edges")
    one, other = (
        _whole({name: value for name, value in given.items() if name not in _FIXED}, _RULE) for given in (old, new)
    )
    return RuleDiff(
        added_actions=tuple(one for id_, one in after.items() if id_ not in before),
        removed_actions=tuple(one for id_, one in before.items() if id_ not in after),
        changed_actions=tuple(RuleActionDiff(now["id"], now["name"], fields) for now, fields in changed if fields),
        added_edges=tuple(one for id_, one in new_edges.items() if old_edges.get(id_) != one),
        removed_edges=tuple(one for id_, one in old_edges.items() if new_edges.get(id_) != one),
        settings=tuple(diff_values(one, other)),
    )


def _by_id(document: Mapping[str, Any], name: str) -> dict[str, Mapping[str, Any]]:
    return {one["id"]: one for one in document.get(name) or []}


def _whole(given: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the defaults of its schema in place of what is not written. A null counts as not written,
    and so does an empty mapping or list where the schema has no other meaning for it."""
    whole = {name: part["default"] for name, part in properties.items() if "default" in part}
    for name, value in given.items():
        part = properties.get(name, {})
        if "properties" not in part and value is not None and not (value in ({}, []) and "type" in part):
            whole[name] = value
    for name, part in properties.items():
        if "properties" in part:
            whole[name] = _whole(given.get(name) or {}, part["properties"])
    return whole
