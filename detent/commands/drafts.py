"""Drafts: definitions that are edited, checked, run and at last published as a version."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Final, Literal

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.workflows import WorkflowCommands, as_version, new_version
from detent.engine.cache import Startable, startable
from detent.errors import Conflict, InvalidDefinition, NotFound, NotStartable, PreconditionFailed, Problem, Unavailable
from detent.forms.compile import FORMS, compile_document, form_of, name_in
from detent.forms.compiled import Compiled
from detent.forms.definition import read_definition
from detent.forms.templates import constant_problems
from detent.graph import codec
from detent.graph.check import called_actions, called_workflows
from detent.graph.model import Graph
from detent.planner.prepared import prepare
from detent.store.rows import DraftRow, NewDraft, SavedDraft, SavedVersion, StartCheck, Unsaved, WorkflowRow

#: How often a publish is tried because the draft was saved again at that moment.
ATTEMPTS: Final = 10
#: How many workflows are read to find a workflow that starts itself through its children.
MOST_CHILDREN: Final = 1_000
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
    """The version that a publish made or found. `changed` is false if nothing had to be done."""

    workflow: WorkflowRow
    version: int
    changed: bool
    warnings: tuple[str, ...] = ()


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
    ) -> DraftAnswer:
        """Save the draft of a workflow, which is created if the name is new. No version is made.

        The draft only has to be a document with a name; its problems are stored with it. With `valid`, raise
        InvalidDefinition if it has any. With `unpublished`, raise InvalidDefinition if the workflow is active or
        archived. `expected` is the revision of the draft to replace, 0 if there must be none."""
        new, problems = await asyncio.to_thread(self._read, data, filename)
        if valid and problems:
            raise InvalidDefinition(problems=problems)
        saved = await self._store.save_draft(new, expected=expected, unpublished=unpublished)
        match saved:
            case SavedDraft():
                row = await self._workflows.get(new.name)
                return DraftAnswer(row, saved.revision, saved.created, problems)
            case Unsaved.PUBLISHED:
                row = await self._workflows.get(new.name)
                message = f"the workflow {new.name!r} is {row.status}, and its versions are immutable"
                raise InvalidDefinition(f"{message}; PUT it, or add ?draft=true, to save a draft of its next version")
            case _:
                raise _changed(new.name)

    def _read(self, data: bytes | str, filename: str | None) -> tuple[NewDraft, tuple[Problem, ...]]:
        document = read_definition(data, filename=filename)
        name, form = name_in(document), form_of(document).name
        compiled: Compiled | None = None
        problems: tuple[Problem, ...] = ()
        try:
            compiled = compile_document(document, limits=self._context.limits, actions=self._context.actions)
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
        self, key: str, *, activate: bool = True, expected: int | None = None, check_parameters: bool = False
    ) -> PublishAnswer:
        """Make a version of the draft of a workflow, or find the version that has its text.

        With `activate` that version is current from now on, and the workflow is active. `expected` is the revision of
        the draft: raise PreconditionFailed if it has another one. A workflow without a draft is published already.
        Raise InvalidDefinition with every problem."""
        for _ in range(ATTEMPTS):
            row = await self._workflows.get(key)
            draft = await self._store.draft(self._tenant, row.id)
            if expected is not None and (draft is None or draft.revision != expected):
                raise _changed(row.name)
            if row.status == "archived":
                raise _archived(row)
            if draft is None:
                return await self._published(row, activate=activate)
            compiled = await asyncio.to_thread(self._workflows.compile, draft.source)
            await self._check(compiled, check_parameters=check_parameters)
            now = await self._store.now()
            version = as_version(self._tenant, row.id, compiled, draft.source, self._engine.new_id(), now)
            saved = await self._store.publish_draft(version, revision=draft.revision, activate=activate)
            if isinstance(saved, SavedVersion):
                self._context.workflows.forget(self._tenant, row)
                return PublishAnswer(await self._workflows.get(key), saved.version, saved.changed, compiled.warnings)
            if saved is Unsaved.ARCHIVED:
                raise _archived(row)
            # Else the draft was saved again or published meanwhile: look again.
        raise Unavailable(f"the draft of the workflow {key[:200]!r} is being changed; try again")

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

    async def _check(self, compiled: Compiled, *, check_parameters: bool) -> None:
        """Raise InvalidDefinition if a version of this workflow could not run: an action that no node has, a child that
        does not exist or starts this workflow, parameters that can never be rendered."""
        problems = [*await self._action_problems(compiled), *await self.child_problems(compiled.name, compiled.graph)]
        if check_parameters:
            problems += constant_problems(compiled.graph)
        if problems:
            form = FORMS[compiled.form]
            raise InvalidDefinition(problems=[Problem(form.place(one.field), one.message) for one in problems])

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

    async def child_problems(self, name: str, graph: Graph) -> list[Problem]:
        """Return the children of a graph that do not exist, and those that lead back to the workflow of that name.

        Children are followed through current versions, but not through steps that allow recursion. A child that only
        a run can name is not checked."""
        problems: list[Problem] = []
        for step, child, may_recur in called_workflows(graph):
            found = await self._chain_to(name, child)
            if found is None:
                problems.append(Problem(f"steps.{step}.workflow", f"there is no workflow {child!r}"))
            elif found and not may_recur:
                chain = " -> ".join((name, *found))
                problems.append(Problem(f"steps.{step}.workflow", f"the workflow would start itself: {chain}"))
        return problems

    async def _chain_to(self, name: str, child: str) -> tuple[str, ...] | None:
        """Return the workflows from a child to the one of that name; empty if it is not reached, `None` if the child
        does not exist."""
        chains: list[tuple[str, ...]] = [(child,)]
        seen = {child}
        for chain in chains:  # grows while it is read
            if chain[-1] == name:
                return chain
            row = await self._store.workflow(self._tenant, chain[-1])
            if row is None and len(chain) == 1:
                return None
            inner = await asyncio.to_thread(codec.decode, row.graph) if row is not None and row.graph else Graph(())
            for _, called, may_recur in called_workflows(inner):
                if called not in seen and not may_recur and len(seen) < MOST_CHILDREN:
                    seen.add(called)
                    chains.append((*chain, called))
        return ()

    async def startable(self, key: str) -> Startable:
        """Store the draft of a workflow as a version that can be run, and return it. That version is never current."""
        if not self._context.allow_draft_execution:
            raise NotStartable("runs of drafts are not allowed here; an operator can set allow_draft_execution")
        for _ in range(ATTEMPTS):
            row = await self._workflows.get(key)
            draft = await self.get(row)
            compiled = await asyncio.to_thread(self._workflows.compile, draft.source)
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
