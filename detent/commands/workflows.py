"""Saving, reading and putting away workflows."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from contextlib import suppress
from typing import Any

from detent.commands.context import CommandContext
from detent.errors import NameTaken, NotFound, PreconditionFailed
from detent.forms.compiled import Compiled, TriggerDefinition
from detent.forms.definition import read_definition
from detent.forms.schedule import next_slots
from detent.forms.steps.form import compile_steps
from detent.graph import codec
from detent.ids import WORKFLOW, InvalidId, parse
from detent.instant import Instant
from detent.settings import DEFAULT_TENANT
from detent.store.rows import NewVersion, SavedVersion, Unsaved, VersionRow, WorkflowRow
from detent.store.trigger_rows import NewTrigger


class WorkflowCommands(CommandContext):
    """Definitions and their versions."""

    def compile(self, data: bytes | str, *, filename: str | None = None) -> Compiled:
        """The workflow of a definition, or InvalidDefinition with everything that is wrong with it."""
        return compile_steps(read_definition(data, filename=filename), limits=self._limits, actions=self._actions)

    async def save_workflow(
        self,
        data: bytes | str,
        *,
        tenant: int = DEFAULT_TENANT,
        filename: str | None = None,
        replace: bool = False,
        expected: tuple[int, Instant] | None = None,
    ) -> tuple[WorkflowRow, SavedVersion, Compiled]:
        """Store a definition: a new workflow, or with `replace` a new version of the one of that name. `expected` is
        (version, updated_at) of the one that is to be replaced; PreconditionFailed if it is another by now."""
        compiled = await asyncio.to_thread(self.compile, data, filename=filename)
        return await self._save(compiled, data, tenant=tenant, replace=replace, expected=expected)

    async def save_python(self, compiled: Compiled, source: str, *, tenant: int = DEFAULT_TENANT) -> WorkflowRow:
        """Store a workflow whose code this process has: a new version if it differs from the one that is there, which
        stays disabled if somebody disabled it. NameTaken if the name belongs to a workflow of another form."""
        try:
            row = await self.workflow(compiled.name, tenant=tenant)
        except NotFound:
            row = None
        if row is not None and row.form != compiled.form:
            raise NameTaken(f"there is a workflow named {compiled.name!r} already, of the form {row.form!r}")
        if row is not None and row.source == source:
            return row
        wanted = compiled if row is None else dataclasses.replace(compiled, enabled=row.enabled)
        saved, _, _ = await self._save(wanted, source, tenant=tenant, replace=True)
        return saved

    async def _save(
        self,
        compiled: Compiled,
        data: bytes | str,
        *,
        tenant: int,
        replace: bool,
        expected: tuple[int, Instant] | None = None,
    ) -> tuple[WorkflowRow, SavedVersion, Compiled]:
        now = await self._store.now()
        version = new_version(tenant, self._engine.new_id(), compiled, data)
        trigger = owned_trigger(compiled.trigger, self._engine.new_id(), tenant, version.id, now)
        saved = await self._store.save_workflow(
            version._replace(owned_trigger=trigger), replace=replace, expected=expected
        )
        match saved:
            case SavedVersion():
                row = await self.workflow(compiled.name, tenant=tenant)
                self._workflows.forget(tenant, row)
                return row, saved, compiled
            case Unsaved.TAKEN:
                raise NameTaken(f"there is a workflow named {compiled.name!r} already; PUT it to give it a new version")
            case _:
                raise PreconditionFailed(f"the workflow {compiled.name!r} was changed by somebody else; read it again")

    async def workflow(self, key: str, *, tenant: int = DEFAULT_TENANT) -> WorkflowRow:
        """By id or by name."""
        return await self._workflows.row(tenant, key)

    async def workflow_id(self, key: str, *, tenant: int = DEFAULT_TENANT) -> bytes:
        """Return the id of the workflow whose runs are meant: by id or by name, also if it was deleted and the name is
        not used again. Raise NotFound if there is none."""
        with suppress(InvalidId):
            return parse(WORKFLOW, key)
        try:
            return (await self.workflow(key, tenant=tenant)).id
        except NotFound:
            deleted = await self._store.deleted_workflow(tenant, key)
            if deleted is None:
                raise
            return deleted

    async def workflows(
        self, *, limit: int, after: str | None = None, enabled: bool | None = None, tenant: int = DEFAULT_TENANT
    ) -> list[WorkflowRow]:
        """Workflows by name, those after a name."""
        return await self._store.workflows(tenant, limit=limit, after=after, enabled=enabled)

    async def versions(self, key: str, *, tenant: int = DEFAULT_TENANT) -> list[VersionRow]:
        """The versions of a workflow, newest first."""
        row = await self.workflow(key, tenant=tenant)
        return await self._store.versions(tenant, row.id)

    async def enable_workflow(self, key: str, *, enabled: bool, tenant: int = DEFAULT_TENANT) -> WorkflowRow:
        """Whether runs of it may be started."""
        row = await self.workflow(key, tenant=tenant)
        if not await self._store.enable_workflow(tenant, row.id, enabled=enabled):
            raise NotFound(f"there is no workflow {key[:200]!r}")
        self._workflows.forget(tenant, row)
        return await self.workflow(key, tenant=tenant)

    async def delete_workflow(self, key: str, *, tenant: int = DEFAULT_TENANT) -> tuple[WorkflowRow, Instant]:
        """Put a workflow away: its name is free, its triggers are gone, its runs go on. Gives when."""
        row = await self.workflow(key, tenant=tenant)
        at = await self._store.delete_workflow(tenant, row.id)
        if at is None:
            raise NotFound(f"there is no workflow {key[:200]!r}")
        self._workflows.forget(tenant, row)
        return row, at


def owned_trigger(
    trigger: TriggerDefinition, id_: bytes, tenant: int, workflow: bytes, now: Instant
) -> NewTrigger | None:
    """The row of the trigger that a definition has; null for `api`, which needs none."""
    if trigger.type == "api":
        return None
    return NewTrigger(
        id=id_,
        tenant=tenant,
        workflow=workflow,
        kind=str(trigger.type),
        name=None,
        enabled=True,
        config=json.dumps(dict(trigger.config)),
        condition=trigger.condition,
        key=trigger.config.get("event"),
        next_at=next(iter(next_slots(trigger.cron, trigger.timezone, now)), None) if trigger.cron else None,
        owned=True,
    )


def new_version(tenant: int, id_: bytes, compiled: Compiled, data: bytes | str) -> NewVersion:
    """What is stored of a compiled definition; `data` is its text."""
    graph = codec.encode(compiled.graph)
    facts = _facts(compiled)
    # All that a definition says, so that a change of its words or of what starts it is a new version too.
    meaning = [json.loads(graph), facts, compiled.description, compiled.enabled, dict(compiled.labels)]
    return NewVersion(
        tenant=tenant,
        id=id_,
        name=compiled.name,
        form=compiled.form,
        description=compiled.description,
        enabled=compiled.enabled,
        trigger=json.dumps(facts),
        labels=json.dumps(dict(compiled.labels)) if compiled.labels else None,
        source=data if isinstance(data, str) else data.decode("utf-8-sig"),
        graph=graph,
        checksum=codec.fingerprint(json.dumps(meaning).encode()),
        language=compiled.graph.language,
    )


def _facts(compiled: Compiled) -> dict[str, Any]:
    """What starting a run of this version needs to know beside its graph."""
    trigger = compiled.trigger
    facts: dict[str, Any] = {"type": str(trigger.type), "code": compiled.code}
    if trigger.config:
        facts["config"] = dict(trigger.config)
    if trigger.condition is not None:
        facts["condition"] = trigger.condition
    if compiled.trigger_schema is not None:
        facts["payload"] = compiled.trigger_schema
    if compiled.queue is not None:
        facts["queue"] = compiled.queue
    if compiled.priority is not None:
        facts["priority"] = compiled.priority
    return facts
