"""Drafts: definitions that are edited, checked, run and at last published as a version."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal

from detent.auth.caller import Caller
from detent.catalog.parameters import check_actions
from detent.commands.context import CommandContext, CommandPart
from detent.commands.files.lock import ELSEWHERE, Edit, check_lock, with_label
from detent.commands.moves import MoveCommands
from detent.commands.rehearsal import RehearsalCommands, RehearsalRequest, RehearsalResult
from detent.commands.runs import RunCommands
from detent.commands.workflows import WorkflowCommands, new_version, refuse_if_any
from detent.engine.cache import Startable, startable
from detent.errors import (
    Conflict,
    InvalidDefinition,
    NameTaken,
    NotFound,
    NotStartable,
    PreconditionFailed,
    Problem,
    RehearsalFailed,
    Unavailable,
)
from detent.forms.compile import compile_document, form_of, name_in
from detent.forms.compiled import Compiled
from detent.forms.definition import read_definition
from detent.forms.templates import constant_problems
from detent.graph.check import called_actions
from detent.planner.prepared import prepare
from detent.store.audit import note_audit
from detent.store.rows import DraftRow, NewDraft, SavedDraft, SavedVersion, StartCheck, Unsaved, WorkflowRow

#: How often a publish is tried because the draft was saved again at that moment.
ATTEMPTS: Final = 10
#: The number that callers write for the draft, where others write the number of a version.
DRAFT: Final = "draft"

VersionKey = int | Literal["draft"]


@dataclass(frozen=True, slots=True)
class DraftAnswer:
    """A draft as saved. `problems` keep it from being published."""

    workflow: WorkflowRow
    revision: int
    created: bool
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class PublishAnswer:
    """The version that a publish made or found. `changed` is false if nothing had to be done. `rehearsal` is that of
    the draft, if one was asked for."""

    workflow: WorkflowRow
    version: int
    changed: bool
    warnings: tuple[str, ...] = ()
    rehearsal: RehearsalResult | None = None


class DraftCommands(CommandPart):
    """The drafts of workflows."""

    def __init__(self, context: CommandContext, caller: Caller, workflows: WorkflowCommands) -> None:
        super().__init__(context, caller)
        self._workflows = workflows

    async def save(
        self,
        data: bytes | str,
        *,
        filename: str | None = None,
        expected: int | None = None,
        valid: bool = False,
        unpublished: bool = False,
        new: bool = False,
        edit: Edit = ELSEWHERE,
    ) -> DraftAnswer:
        """Save the draft of a workflow, which is created if the name is new. No version is made.

        The draft only has to be a document with a name; its problems are stored with it. With `valid`, raise
        InvalidDefinition if it has any. With `unpublished`, raise InvalidDefinition if the workflow is active or
        archived. With `new`, raise NameTaken if there is a workflow of that name. `expected` is the revision of the
        draft to replace, 0 if there must be none. Raise ManagedByFiles if `edit` does not come from the folder of files
        that manages the workflow."""
        known = await self._workflows.known_actions()
        draft, problems = await asyncio.to_thread(self._read, data, filename, known)
        draft = draft._replace(source=str(await self._workflows.sealed(draft.source)))
        if valid and problems:
            raise InvalidDefinition(problems=problems)
        with suppress(NotFound):
            row = await self._workflows.get(draft.name)
            check_lock(row, edit)
            self._workflows.require_own(row)
        saved = await self._store.save_draft(draft, expected=expected, unpublished=unpublished, new=new)
        match saved:
            case SavedDraft():
                row = await self._workflows.get(draft.name)
                return DraftAnswer(row, saved.revision, saved.created, problems)
            case Unsaved.PUBLISHED:
                row = await self._workflows.get(draft.name)
                message = f"the workflow {draft.name!r} is {row.status}, and its versions are immutable"
                raise InvalidDefinition(f"{message}; PUT it, or add ?draft=true, to save a draft of its next version")
            case Unsaved.TAKEN:
                raise NameTaken(f"there is a workflow named {draft.name!r} already; choose another name")
            case _:
                raise _changed(draft.name)

    def _read(
        self, data: bytes | str, filename: str | None, known: Collection[str] | None
    ) -> tuple[NewDraft, tuple[Problem, ...]]:
        document = read_definition(data, filename=filename)
        name, form = name_in(document), form_of(document).name
        compiled: Compiled | None = None
        problems: tuple[Problem, ...] = ()
        try:
            compiled = compile_document(document, limits=self._context.limits, actions=known)
            check_actions(compiled, self._context.find_action)
        except InvalidDefinition as error:
            problems = error.problems or (Problem("", error.message),)
        draft = NewDraft(
            tenant=self._tenant,
            id=self._engine.new_id(),
            name=name,
            form=form,
            title=compiled.title if compiled else None,
            description=compiled.description if compiled else None,
            source=data if isinstance(data, str) else data.decode("utf-8-sig"),
            problems=json.dumps([{"field": one.field, "message": one.message} for one in problems]),
            author=self._caller.name,
        )
        note_audit(name)
        return draft, problems

    async def get(self, row: WorkflowRow) -> DraftRow:
        """Return the draft of a workflow. Raise NotFound if it has none."""
        found = await self._store.draft(self._tenant, row.id)
        if found is None:
            raise NotFound(f"the workflow {row.name!r} has no draft")
        return found

    async def discard(self, key: str, *, expected: int | None = None) -> DraftRow:
        """Delete the draft of a workflow that has a version, and return what it was."""
        row = await self._workflows.get(key)
        self._workflows.require_own(row)
        draft = await self.get(row)
        match await self._store.drop_draft(self._tenant, row.id, expected=expected):
            case None:
                return draft
            case Unsaved.UNPUBLISHED:
                raise Conflict(f"the workflow {row.name!r} was never published and is nothing but its draft; delete it")
            case Unsaved.CHANGED:
                raise _changed(row.name)
            case _:
                raise NotFound(f"the workflow {row.name!r} has no draft")

    async def publish(
        self,
        key: str,
        *,
        activate: bool = True,
        expected: int | None = None,
        check_parameters: bool = False,
        rehearsal: RehearsalRequest | None = None,
        edit: Edit = ELSEWHERE,
    ) -> PublishAnswer:
        """Make a version of the draft of a workflow, or find the version that has its text.

        With `activate` that version is current from now on, and the workflow is active. `expected` is the revision of
        the draft: raise PreconditionFailed if it has another one. A workflow without a draft is published already.
        Raise InvalidDefinition with every problem.

        With `rehearsal` the draft is rehearsed first, before the transaction. The revision that is published is the one
        that was rehearsed: a draft that was saved meanwhile is rehearsed again. Raise RehearsalFailed if that is strict
        and a run would fail or could not be moved."""
        for _ in range(ATTEMPTS):
            row = await self._workflows.get(key)
            draft = await self._store.draft(self._tenant, row.id)
            if expected is not None and (draft is None or draft.revision != expected):
                raise _changed(row.name)
            if row.status == "archived":
                raise _archived(row)
            check_lock(row, edit)
            self._workflows.require_own(row)
            if draft is None:
                # Read the row after the draft: a publish that removed the draft meanwhile has made its version current.
                return await self._published(await self._workflows.get(key), activate=activate)
            compiled, blocked = await self._workflows.pin(draft.source)
            compiled = with_label(compiled, edit)
            await self._check(compiled, blocked, check_parameters=check_parameters)
            tried = None if rehearsal is None else await self._rehearse(row, compiled, draft, rehearsal)
            version = await self._workflows.as_version(row.id, compiled, draft.source)
            saved = await self._store.publish_draft(version, revision=draft.revision, activate=activate)
            if isinstance(saved, SavedVersion):
                self._context.workflows.forget(self._tenant, row)
                row = await self._workflows.get(key)
                return PublishAnswer(row, saved.version, saved.changed, compiled.warnings, tried)
            if saved is Unsaved.ARCHIVED:
                raise _archived(row)
            # Else the draft was saved again or published meanwhile, or its entity was deleted: look again.
        raise Unavailable(f"the draft of the workflow {key[:200]!r} is being changed; try again")

    async def _rehearse(
        self, row: WorkflowRow, compiled: Compiled, draft: DraftRow, asked: RehearsalRequest
    ) -> RehearsalResult:
        moves = MoveCommands(self._context, self._caller, RunCommands(self._context, self._caller))
        rehearsals = RehearsalCommands(self._context, self._caller, self._workflows, moves)
        found = await rehearsals.rehearse_draft(row, compiled, draft.source, asked)
        problem = found.problem() if asked.strict else None
        if problem is not None:
            message = f"the draft of {row.name!r} was not published as version {found.version}: {problem}"
            raise RehearsalFailed(message, rehearsal=found)
        return found

    async def _published(self, row: WorkflowRow, *, activate: bool) -> PublishAnswer:
        """Answer a publish that has nothing to publish. A version that waits to be activated for the first time is."""
        newest = (await self._store.versions(self._tenant, row.id))[:1]
        if row.version and (activate or not newest):
            return PublishAnswer(row, row.version, changed=False)
        if not newest:
            raise NotFound(f"the workflow {row.name!r} has no draft")
        if not activate:
            return PublishAnswer(row, newest[0].version, changed=False)
        number = newest[0].version
        return PublishAnswer(await self._workflows.activate(row.name, number), number, changed=True)

    async def _check(self, compiled: Compiled, blocked: Sequence[Problem], *, check_parameters: bool) -> None:
        """Raise InvalidDefinition if a version of this workflow could not run: an action that is disabled (`blocked`)
        or that no node has, a child that does not exist or starts this workflow, parameters that can never be
        rendered."""
        children = await self._workflows.child_problems(compiled.name, compiled.graph)
        entity = await self._workflows.entity_problems(compiled)
        problems = [*blocked, *await self._action_problems(compiled), *children, *entity]
        if check_parameters:
            problems += constant_problems(compiled.graph)
        refuse_if_any(compiled, problems)

    async def _action_problems(self, compiled: Compiled) -> list[Problem]:
        if self._engine.served.has(compiled.code):
            return []
        offered = {name for offer in await self._store.offers() for name in offer.actions}
        missing = {
            name
            for name in set(compiled.code) - offered - set(self._engine.served.all())
            if await self._store.last_served("action", name) is None
        }
        return [
            Problem(f"steps.{step}.action", f"no node has the action {action!r}")
            for step, action in called_actions(compiled.graph)
            if action in missing
        ]

    async def startable(self, key: str) -> Startable:
        """Store the draft of a workflow as a version that can be run, and return it. That version is never current."""
        if not self._context.allow_draft_execution:
            raise NotStartable("runs of drafts are not allowed here; an operator can set allow_draft_execution")
        for _ in range(ATTEMPTS):
            row = await self._workflows.get(key)
            draft = await self.get(row)
            compiled = await self._workflows.compile(draft.source)
            version = new_version(self._tenant, row.id, compiled, draft.source)
            if await self._store.store_draft(version, revision=draft.revision):
                facts = version.facts()
                at = row._replace(version=-draft.revision, **facts._asdict())
                prepared = await asyncio.to_thread(prepare, compiled.graph)
                return startable(at, prepared, StartCheck.STORED)
        raise Unavailable(f"the draft of the workflow {key[:200]!r} is being changed; try again")


def problems_of(draft: DraftRow) -> list[dict[str, Any]]:
    """Return the problems that are stored with a draft, as {field, message}."""
    found: list[dict[str, Any]] = json.loads(draft.problems)
    return found


def _changed(name: str) -> PreconditionFailed:
    return PreconditionFailed(f"the draft of the workflow {name!r} has changed since it was read; read it again")


def _archived(row: WorkflowRow) -> Conflict:
    return Conflict(f"the workflow {row.name!r} is archived; reactivate it first")
