"""Versions of workflows: read them, compare them, and make an older one current."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.drafts import DRAFT, DraftCommands, VersionKey
from detent.commands.workflows import WorkflowCommands, new_version
from detent.errors import NotFound
from detent.forms.triggers import HIDDEN
from detent.graph.diff import ABSENT, FieldChange, GraphDiff, diff_graphs, diff_values
from detent.graph.model import Graph
from detent.store.rows import VersionFacts, VersionRow, WorkflowRow

#: The part of a trigger that no answer shows.
_SECRETS: Final = ".secrets"


@dataclass(frozen=True, slots=True)
class VersionDiff:
    """What differs between two versions of a workflow. A version is a number, or `draft`."""

    workflow: WorkflowRow
    old: VersionKey
    new: VersionKey
    graph: GraphDiff
    settings: tuple[FieldChange, ...]


class VersionCommands(CommandPart):
    """The versions of workflows. A version never changes."""

    def __init__(
        self, context: CommandContext, caller: Caller, workflows: WorkflowCommands, drafts: DraftCommands
    ) -> None:
        super().__init__(context, caller)
        self._workflows = workflows
        self._drafts = drafts

    async def list_all(self, row: WorkflowRow, *, drafts: bool = False) -> list[VersionRow]:
        """Return the versions of a workflow, newest first; with `drafts`, the drafts that were run instead."""
        return await self._store.versions(self._tenant, row.id, drafts=drafts)

    async def get(self, row: WorkflowRow, number: int) -> tuple[Graph, VersionRow]:
        """Return a version of a workflow and its graph, with its facts. Raise NotFound if there is none."""
        prepared, version = await self._context.workflows.version(row, number)
        return prepared.graph, version

    async def diff(self, key: str, old: VersionKey | None = None, new: VersionKey | None = None) -> VersionDiff:
        """Compare two versions. Without `old` it is the current one; without `new` it is the draft, or else the newest.

        Raise NotFound if one does not exist, and InvalidDefinition if a draft cannot be compiled."""
        row = await self._workflows.get(key)
        if old is None:
            old = row.version or DRAFT
        if new is None:
            newest = await self._store.versions(self._tenant, row.id) if row.draft is None else []
            new = newest[0].version if newest else DRAFT
        before, after = await self._meaning(row, old), await self._meaning(row, new)
        graph = await asyncio.to_thread(diff_graphs, before[0], after[0])
        settings = (*diff_values(before[1], after[1]), *graph.settings)
        return VersionDiff(row, old, new, graph, tuple(map(_without_secrets, settings)))

    async def graph(self, row: WorkflowRow, number: VersionKey) -> tuple[Graph, str]:
        """Return the graph of a version or of the draft, and its form. Raise NotFound, or InvalidDefinition if the
        draft cannot be compiled."""
        graph, settings = await self._meaning(row, number)
        return graph, str(settings["form"])

    async def _meaning(self, row: WorkflowRow, number: VersionKey) -> tuple[Graph, Mapping[str, Any]]:
        """Return the graph of a version, and everything else that its definition says."""
        if number == DRAFT:
            draft = await self._drafts.get(row)
            compiled = await self._workflows.compile(draft.source)
            version = await asyncio.to_thread(new_version, self._tenant, row.id, compiled, draft.source)
            return compiled.graph, settings_of(version.facts())
        graph, stored = await self.get(row, number)
        if stored.facts is None:
            raise NotFound(f"the workflow {row.name!r} has no version {number}")
        return graph, settings_of(stored.facts)


def settings_of(facts: VersionFacts) -> dict[str, Any]:
    """Return everything that the definition of a version says beside its graph."""
    trigger = json.loads(facts.trigger)
    others = {name: trigger[name] for name in ("queue", "priority") if name in trigger}
    if "payload" in trigger:
        others["trigger_schema"] = trigger["payload"]
    config = {name: trigger[name] for name in ("type", "config", "condition") if name in trigger}
    labels = json.loads(facts.labels) if facts.labels else {}
    shown = {"form": facts.form, "title": facts.title, "description": facts.description, "labels": labels}
    return {**shown, "trigger": config, **others}


def _without_secrets(change: FieldChange) -> FieldChange:
    if _SECRETS in f".{change.field}":
        old, new = (value if value is ABSENT else HIDDEN for value in (change.old, change.new))
        return FieldChange(change.field, old, new)
    return FieldChange(change.field, _hidden(change.old), _hidden(change.new))


def _hidden(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: HIDDEN if key == _SECRETS[1:] else _hidden(inner) for key, inner in value.items()}
    return value
