"""A plan: what saving definitions would change. Nothing is written."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.files.lock import Edit, check_lock, with_label
from detent.commands.versions import settings_of
from detent.commands.workflows import WorkflowCommands, new_version
from detent.errors import InvalidInput, ManagedByFiles, NotFound, Problem
from detent.forms.compile import FORMS, is_code, name_in
from detent.forms.compiled import Compiled
from detent.forms.definition import read_definition
from detent.forms.triggers import HIDDEN, written_secrets
from detent.graph import codec
from detent.graph.check import pinned_actions
from detent.graph.diff import ABSENT, FieldChange, diff_graphs, diff_values
from detent.graph.model import Graph
from detent.store.rows import WorkflowRow
from detent.values.folders import LABEL

#: How many definitions one plan compares.
MOST_DEFINITIONS: Final = 200
_MOST_WORDS: Final = 50
_LONGEST_VALUE: Final = 60


class PlannedKind(StrEnum):
    """What a save of a definition would do."""

    CREATE = "create"
    CHANGE = "change"
    UNCHANGED = "unchanged"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What the save of one definition would do.

    `version` is the current one, 0 if there is none. `words` say what differs. `problems` keep it from being saved.
    `is_archived`: the workflow has to be reactivated first."""

    file: str
    name: str | None
    form: str | None
    change: PlannedKind
    version: int = 0
    words: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    is_archived: bool = False


class PlanCommands(CommandPart):
    """Compares definitions with the workflows that are stored."""

    def __init__(self, context: CommandContext, caller: Caller, workflows: WorkflowCommands) -> None:
        super().__init__(context, caller)
        self._workflows = workflows

    async def plan(self, definitions: Sequence[tuple[str, str]], *, folder: str | None = None) -> list[PlannedChange]:
        """Return what the save of each definition would change. Each is (name of its file, text). `folder` is the
        folder of files that they are saved from."""
        known = await self._workflows.known_actions()
        return [await self._planned(file, text, Edit(folder), known) for file, text in definitions]

    async def _planned(self, file: str, text: str, edit: Edit, known: Collection[str] | None) -> PlannedChange:
        name: str | None = None
        form: str | None = None
        try:
            document = await asyncio.to_thread(read_definition, text, filename=file)
            if written_secrets(document):
                text = str(await self._workflows.sealed(text, is_planned=True))
                document = await asyncio.to_thread(read_definition, text, filename=file)
            name = name_in(document)
            row = await self._row(name)
            graph = await asyncio.to_thread(codec.decode, row.graph) if row is not None and row.version else Graph(())
            # A newer version of a connector is no change of the file.
            pins = pinned_actions(graph)
            compiled, blocked = await self._workflows.pin_read(lambda: document, known, pins)
            form = compiled.form
        except InvalidInput as error:
            found = error.problems or (Problem("", error.message),)
            return PlannedChange(file, name, form, PlannedKind.INVALID, problems=found)
        place = FORMS[compiled.form].place
        problems = [Problem(place(one.field, compiled), one.message) for one in blocked] + _state_problems(row, edit)
        if problems:
            return PlannedChange(file, name, form, PlannedKind.INVALID, problems=tuple(problems))
        return await self._compared(file, text, row, graph, with_label(compiled, edit))

    async def _row(self, name: str) -> WorkflowRow | None:
        try:
            return await self._workflows.get(name)
        except NotFound:
            return None

    async def _compared(
        self, file: str, text: str, row: WorkflowRow | None, graph: Graph, wanted: Compiled
    ) -> PlannedChange:
        if row is None or not row.version:
            return PlannedChange(file, wanted.name, wanted.form, PlannedKind.CREATE, warnings=wanted.warnings)
        version = await asyncio.to_thread(new_version, self._tenant, row.id, wanted, text)
        stored = await self._store.version(self._tenant, row.id, row.version)
        words: list[str] = []
        if row.status == "archived":
            words.append("is archived and would be reactivated")
        elif row.enabled != wanted.enabled:
            words.append("enabled: true" if wanted.enabled else "enabled: false")
        if stored is None or version.checksum != stored.checksum:
            changes = diff_values(settings_of(row.facts()), settings_of(version.facts()))
            words += _words(graph, wanted.graph, changes) or ["something that only people read: descriptions of steps"]
        return PlannedChange(
            file,
            wanted.name,
            wanted.form,
            PlannedKind.CHANGE if words else PlannedKind.UNCHANGED,
            version=row.version,
            words=tuple(words[:_MOST_WORDS]),
            warnings=wanted.warnings,
            is_archived=row.status == "archived",
        )


def _state_problems(row: WorkflowRow | None, edit: Edit) -> list[Problem]:
    """Return why a workflow cannot be saved from these files."""
    if row is None:
        return []
    if is_code(row.form):
        return [Problem("", f"the workflow {row.name!r} is Python code; give the workflow in the file another name")]
    try:
        check_lock(row, edit)
    except ManagedByFiles as error:
        return [Problem("", error.message)]
    return []


def _words(old: Graph, new: Graph, settings: Iterable[FieldChange]) -> list[str]:
    """Say what differs between two versions, a line each."""
    found = diff_graphs(old, new)
    return [
        *(f"+ step {step.name}" for step in found.added_steps),
        *(f"- step {step.name}" for step in found.removed_steps),
        *(f"step {name}: {_said(one)}" for name, fields in found.changed_steps for one in fields),
        *(f"+ edge {edge.source} -> {edge.target}" for edge in found.added_edges),
        *(f"- edge {edge.source} -> {edge.target}" for edge in found.removed_edges),
        *(
            f"edge {source} -> {target}: {_said(one)}"
            for source, target, fields in found.changed_edges
            for one in fields
        ),
        *(_said(one) for one in (*settings, *found.settings)),
    ]


def _said(change: FieldChange) -> str:
    if change.field == f"labels.{LABEL}":
        return "becomes managed by these files" if change.new is not ABSENT else "is no longer managed by files"
    if "secret" in change.field:
        return f"{change.field}: {HIDDEN}"
    return f"{change.field}: {_shown(change.old)} -> {_shown(change.new)}"


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "nothing"
    text = str(value) if not isinstance(value, str) else value
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
