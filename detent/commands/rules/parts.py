"""The actions and edges of a rule, one at a time. Each change is a save of the whole rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.rules.request import edge_id
from detent.commands.rules.save import RuleCommands, RuleView, State
from detent.errors import InvalidDefinition, NotFound, Problem

#: What the edges of a new action call it, if it has no key of its own.
NEW: Final = "new"
_ENDS: Final = ("source_action_id", "target_action_id")


class RulePartCommands(CommandPart):
    """The actions and edges of rules."""

    def __init__(self, context: CommandContext, caller: Caller, rules: RuleCommands) -> None:
        super().__init__(context, caller)
        self._rules = rules

    async def action(self, key: str, id_: str) -> tuple[RuleView, Mapping[str, Any]]:
        """Return an action of a rule by its id or its step. Raise NotFound if there is none."""
        rule = await self._rules.get(key)
        return rule, _find(rule.document["actions"], id_, "action")

    async def edge(self, key: str, id_: str) -> tuple[RuleView, Mapping[str, Any]]:
        """Return an edge of a rule. Raise NotFound if there is none."""
        rule = await self._rules.get(key)
        return rule, _find(rule.document.get("edges") or [], id_, "edge")

    async def add_action(
        self, key: str, body: Mapping[str, Any], *, expected: State | None = None
    ) -> tuple[RuleView, Mapping[str, Any]]:
        """Add an action with its edges, which are in `edges` of the body and call it `new`, or by its own key.

        An edge without `target_action_id` leads to the new action. Raise InvalidDefinition with every problem."""
        action = {name: value for name, value in body.items() if name != "edges"}
        edges = body.get("edges")
        if edges is not None and not isinstance(edges, list):
            raise InvalidDefinition(problems=[Problem("edges", "must be a list of edges")])

        def edit(document: dict[str, Any]) -> dict[str, Any]:
            place = f"temp:{len(document['actions'])}"
            added = [_renamed(one, place) for one in edges or []]
            return {
                **document,
                "actions": [*document["actions"], action],
                "edges": [*(document.get("edges") or []), *added],
            }

        rule = await self._rules.edit(key, edit, expected=expected)
        return rule, rule.document["actions"][-1]

    async def change_action(
        self, key: str, id_: str, body: Mapping[str, Any], *, whole: bool, expected: State | None = None
    ) -> tuple[RuleView, Mapping[str, Any]]:
        """Change an action: all of it with `whole`, else the given fields, and `null` removes one. Its id and its step
        stay. Raise NotFound, or InvalidDefinition with every problem."""

        def edit(document: dict[str, Any]) -> dict[str, Any]:
            old = _find(document["actions"], id_, "action")
            made = {**({} if whole else old), **body, "id": old["id"]}
            actions = [made if one is old else one for one in document["actions"]]
            return {**document, "actions": actions}

        rule = await self._rules.edit(key, edit, expected=expected)
        return rule, _find(rule.document["actions"], id_, "action")

    async def remove_action(
        self, key: str, id_: str, *, reconnect: bool, expected: State | None = None
    ) -> tuple[RuleView, Mapping[str, Any]]:
        """Remove an action and its edges. With `reconnect`, each edge that led to it leads to what followed it.

        Raise NotFound, or InvalidDefinition if another action cannot be reached any more."""
        removed: list[Mapping[str, Any]] = []

        def edit(document: dict[str, Any]) -> dict[str, Any]:
            old = _find(document["actions"], id_, "action")
            removed[:] = [old]
            edges = document.get("edges") or []
            kept = [one for one in edges if old["id"] not in (one["source_action_id"], one["target_action_id"])]
            if reconnect:
                kept += _bridges(edges, old["id"], {one["id"] for one in kept})
            actions = [one for one in document["actions"] if one is not old]
            return {**document, "actions": actions, "edges": kept}

        rule = await self._rules.edit(key, edit, expected=expected)
        return rule, removed[0]

    async def add_edge(
        self, key: str, body: Mapping[str, Any], *, expected: State | None = None
    ) -> tuple[RuleView, Mapping[str, Any]]:
        """Add an edge. Raise InvalidDefinition with every problem."""

        def edit(document: dict[str, Any]) -> dict[str, Any]:
            return {**document, "edges": [*(document.get("edges") or []), dict(body)]}

        rule = await self._rules.edit(key, edit, expected=expected)
        return rule, rule.document["edges"][-1]

    async def change_edge(
        self, key: str, id_: str, body: Mapping[str, Any], *, whole: bool, expected: State | None = None
    ) -> tuple[RuleView, Mapping[str, Any]]:
        """Change an edge. An edge with other ends or another type has another id."""
        place = 0

        def edit(document: dict[str, Any]) -> dict[str, Any]:
            nonlocal place
            edges = document.get("edges") or []
            old = _find(edges, id_, "edge")
            place = edges.index(old)
            made = dict(body) if whole else {**old, **body}
            return {**document, "edges": [made if one is old else one for one in edges]}

        rule = await self._rules.edit(key, edit, expected=expected)
        return rule, rule.document["edges"][place]

    async def remove_edge(
        self, key: str, id_: str, *, expected: State | None = None
    ) -> tuple[RuleView, Mapping[str, Any]]:
        """Remove an edge. Raise NotFound, or InvalidDefinition if an action cannot be reached any more."""
        removed: list[Mapping[str, Any]] = []

        def edit(document: dict[str, Any]) -> dict[str, Any]:
            edges = document.get("edges") or []
            removed[:] = [_find(edges, id_, "edge")]
            return {**document, "edges": [one for one in edges if one is not removed[0]]}

        rule = await self._rules.edit(key, edit, expected=expected)
        return rule, removed[0]


def _find(parts: list[Mapping[str, Any]], id_: str, noun: str) -> Mapping[str, Any]:
    found = next((one for one in parts if id_ in (one["id"], one.get("step"))), None)
    if found is None:
        raise NotFound(f"this rule has no {noun} {id_[:200]!r}")
    return found


def _renamed(edge: Any, place: str) -> Any:
    """Return an edge of a new action with the place of that action for `new`."""
    if not isinstance(edge, dict):
        return edge
    made = {"target_action_id": NEW, **edge}
    return {**made, **{end: place for end in _ENDS if made.get(end) == NEW}}


def _bridges(edges: list[Mapping[str, Any]], id_: str, taken: set[str]) -> list[dict[str, Any]]:
    """Return the edges that lead past an action: from everything before it to everything behind it."""
    made = []
    for before in (one for one in edges if one["target_action_id"] == id_):
        for behind in (one for one in edges if one["source_action_id"] == id_):
            target = behind["target_action_id"]
            bridge = edge_id(before["source_action_id"], target, before["edge_type"])
            if bridge not in taken and before["source_action_id"] != target:
                taken.add(bridge)
                made.append({**before, "target_action_id": target})
    return made
