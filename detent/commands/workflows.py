"""Workflows: save, read, enable and delete definitions."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple

from detent.auth.scopes import Scope
from detent.catalog.parameters import check_actions
from detent.commands.catalog.pins import MOST_NAMES, Pinned, has_credentials, has_probes, pin_actions
from detent.commands.context import CommandPart
from detent.commands.files.lock import ELSEWHERE, Edit, check_lock, folder_of, with_label
from detent.commands.vault.signatures import Signatures
from detent.errors import (
    Conflict,
    Forbidden,
    InvalidDefinition,
    NameTaken,
    NotAllowed,
    NotFound,
    PreconditionFailed,
    Problem,
)
from detent.forms.compile import FORMS, compile_document, is_live_at_save, rule_facts
from detent.forms.compiled import Compiled, RuleFacts, TriggerDefinition, TriggerType
from detent.forms.conversion.convert import Converted, convert
from detent.forms.definition import read_definition
from detent.forms.rules.entity_fields import check_fields
from detent.forms.rules.form import FORM as RULE
from detent.forms.schedule import next_slots
from detent.forms.templates import used_secrets
from detent.graph import codec
from detent.graph.check import called_workflows, pinned_actions, pinned_versions
from detent.graph.model import Graph
from detent.ids import WORKFLOW, InvalidId, parse
from detent.instant import Instant
from detent.store.audit import note_audit
from detent.store.rows import NewVersion, SavedVersion, Unsaved, WorkflowRow
from detent.store.rule_rows import NewEntity
from detent.store.trigger_rows import NewTrigger
from detent.values.fields import shown
from detent.values.folders import LABEL, folder_in
from detent.values.nearest import nearest

_PAGE: Final = 200
#: How many workflows are read to find a workflow that starts itself through its children.
MOST_CHILDREN: Final = 1_000


class _Called(NamedTuple):
    """A workflow that another one starts, and those that it starts itself without recursion."""

    name: str
    children: list[str]


class WorkflowCommands(CommandPart):
    """Definitions and their versions."""

    async def known_actions(self) -> Collection[str] | None:
        """Return the names of actions that definitions may call; `None` if that cannot be said here."""
        code = self._context.actions
        return None if code is None else (*code, *await self._store.action_names(self._tenant, limit=MOST_NAMES))

    async def compile(self, data: bytes | str, *, filename: str | None = None) -> Compiled:
        """Compile a definition, and pin the actions in it that are data. Raise InvalidDefinition with every problem of
        it."""
        return (await self.pin(data, filename=filename)).compiled

    async def pin(
        self, data: bytes | str, *, filename: str | None = None, versions: Mapping[str, str] | None = None
    ) -> Pinned:
        """Compile a definition as `compile` does, and return also what keeps it from being published. `versions` are
        the versions of actions to pin; of others it is the newest."""
        read = partial(read_definition, data, filename=filename)
        return await self.pin_read(read, await self.known_actions(), versions)

    async def pin_read(
        self,
        read: Callable[[], Mapping[str, Any]],
        known: Collection[str] | None,
        versions: Mapping[str, str] | None = None,
    ) -> Pinned:
        """Pin the document that `read` returns, as `pin` does. `known` are the actions that it may call."""
        context = self._context

        def work() -> Compiled:
            found = compile_document(read(), limits=context.limits, actions=known)
            return check_actions(found, context.find_action)

        try:
            compiled = await asyncio.to_thread(work)
        except InvalidDefinition as error:
            fields = await self._unknown_fields(read)
            if fields:
                raise InvalidDefinition(problems=[*error.problems, *fields]) from None
            raise
        if not compiled.code and not has_probes(compiled.graph) and not has_credentials(compiled.graph):
            return Pinned(compiled)
        served = self._engine.served.all()
        return await pin_actions(self._store, self._tenant, compiled, served, context.connections, versions)

    async def convert(self, source: str, form: str) -> Converted:
        """Convert a definition to a form. Raise NotConvertible with everything that the form cannot hold."""
        limits = self._context.limits
        return await asyncio.to_thread(lambda: convert(read_definition(source), form, limits=limits))

    async def save(
        self,
        data: bytes | str,
        *,
        filename: str | None = None,
        replace: bool = False,
        expected: tuple[int, Instant] | None = None,
        edit: Edit = ELSEWHERE,
    ) -> tuple[WorkflowRow, SavedVersion, Compiled]:
        """Store a definition: a new workflow, or with `replace` a new version of the workflow of that name.

        `expected` is (version, updated_at) of the workflow to replace. Raise PreconditionFailed if it has changed.
        A child that does not exist may be saved later and is a warning of what is returned. Raise InvalidDefinition if
        the workflow would start itself. Raise ManagedByFiles if `edit` does not come from the folder of the workflow.
        The entity of a rule is added, if there is none with a similar name: a file must not need a command before it.
        """
        compiled = await self.check(data, filename=filename, adds_entity=True)
        if compiled.trigger.has_plain_secrets and (sealed := await self.sealed(data)) != data:
            data = sealed
            compiled = await self.check(data, filename=filename, adds_entity=True)
        compiled = with_label(compiled, edit)
        if replace:
            with suppress(NotFound):
                row = await self.get(compiled.name)
                if row.status == "archived":
                    raise Conflict(f"the workflow {row.name!r} is archived; reactivate it first")
                check_lock(row, edit)
                self.require_own(row)
        compiled = await self._with_entity(compiled)
        return await self.store(compiled, data, replace=replace, expected=expected)

    async def check(self, data: bytes | str, *, filename: str | None = None, adds_entity: bool = False) -> Compiled:
        """Compile a definition, and check everything that a save checks. Raise InvalidDefinition with every problem.

        With `adds_entity` an entity that is not there yet is no problem."""
        compiled, problems = await self.pin(data, filename=filename)
        missing: list[Problem] = []
        children = await self.child_problems(compiled.name, compiled.graph, missing=missing)
        refuse_if_any(compiled, [*problems, *children, *await self.entity_problems(compiled, adds=adds_entity)])
        compiled = await self.with_secret_warnings(compiled)
        if missing:
            place = FORMS[compiled.form].place
            words = (f"{place(one.field, compiled)}: {one.message}; until there is, the step fails" for one in missing)
            compiled = dataclasses.replace(compiled, warnings=(*compiled.warnings, *words))
        return compiled

    async def sealed(self, data: bytes | str, *, is_planned: bool = False) -> bytes | str:
        """Return the text of a definition with stored secrets in place of the plain ones of its webhook. With
        `is_planned` they are not stored yet."""
        signatures = Signatures(self._store, self._engine.secrets, self._caller)
        return await signatures.seal_definition(data, is_planned=is_planned)

    async def with_secret_warnings(self, compiled: Compiled) -> Compiled:
        """Return a workflow with a warning for each secret that it sends and that does not exist."""
        used = used_secrets(compiled.graph)
        missing = await self._engine.secrets.missing(self._tenant, used) if used else ()
        if not missing:
            return compiled
        place = FORMS[compiled.form].place
        words = (
            f"{place(used[name], compiled)}: there is no secret {name!r}; set it with `detent secrets set {name}`, "
            "until then the step fails"
            for name in missing
        )
        return dataclasses.replace(compiled, warnings=(*compiled.warnings, *words))

    async def entity_problems(self, compiled: Compiled, *, adds: bool = False) -> list[Problem]:
        """Return what is wrong with the entity of a rule: it does not exist, or has not the fields that it reads.

        With `adds` an entity that does not exist is a problem only if another one has a similar name."""
        entity = compiled.rule.entity if compiled.rule is not None else None
        if entity is None:
            return []
        row = await self._store.entity(self._tenant, entity)
        if row is None:
            near = nearest(entity, await self._entity_names()) if adds else None
            return [Problem("entity", await self.missing_entity(entity))] if near is not None or not adds else []
        return check_fields(compiled.rule, None if row.fields is None else json.loads(row.fields))

    async def _unknown_fields(self, read: Callable[[], Mapping[str, Any]]) -> list[Problem]:
        """Return the fields that an invalid definition reads and its entity does not have, so that they are reported
        with its other problems."""

        def work() -> RuleFacts | None:
            with suppress(InvalidDefinition):
                return rule_facts(read(), limits=self._context.limits)
            return None

        rule = await asyncio.to_thread(work)
        row = None if rule is None or rule.entity is None else await self._store.entity(self._tenant, rule.entity)
        return [] if row is None or row.fields is None else check_fields(rule, json.loads(row.fields))

    async def missing_entity(self, name: str) -> str:
        """Return the message for an entity that does not exist."""
        near = nearest(name, await self._entity_names())
        if near is not None:
            return f"there is no entity {shown(name)}; did you mean {near!r}?"
        return f"there is no entity {shown(name)}; add it with POST /api/v1/entities"

    async def _entity_names(self) -> list[str]:
        return [row.name for row in await self._store.entities(self._tenant, limit=_PAGE)]

    async def _with_entity(self, compiled: Compiled) -> Compiled:
        """Add the entity of a rule if there is none, and return the rule with a warning that says so."""
        entity = compiled.rule.entity if compiled.rule is not None else None
        if entity is None:
            return compiled
        if not await self._store.add_entity(NewEntity(self._tenant, self._engine.new_id(), entity, entity, None)):
            return compiled  # it is there already
        warning = f"entity: {shown(entity)} is new and was added; give it its fields with `detent entities`"
        return dataclasses.replace(compiled, warnings=(*compiled.warnings, warning))

    async def save_python(self, compiled: Compiled, source: str) -> WorkflowRow:
        """Store a workflow whose code this process has, as a new version if it differs from the stored one.

        A disabled workflow stays disabled. Raise NameTaken if a workflow of another form has the name."""
        try:
            row = await self.get(compiled.name)
        except NotFound:
            row = None
        if row is not None and row.form != compiled.form:
            raise NameTaken(f"there is a workflow named {compiled.name!r} already, of the form {row.form!r}")
        if row is not None and row.source == source:
            return row
        wanted = compiled if row is None else dataclasses.replace(compiled, enabled=row.enabled)
        saved, _, _ = await self.store(wanted, source, replace=True)
        return saved

    async def get(self, key: str) -> WorkflowRow:
        """Return a workflow by its id or its name, or raise NotFound."""
        return await self._context.workflows.row(self._tenant, key)

    def require_own(self, row: WorkflowRow) -> None:
        """Raise Forbidden if callers may change only the rules that they created, and this is a rule of another one.

        A caller that manages keys may change all of them."""
        if row.form != RULE or not self._context.own_rules_only or self._caller.may(Scope.KEYS):
            return
        if row.created_by != self._caller.name:
            owner = row.created_by or "an older version of Detent"
            raise Forbidden(
                f"the rule {row.name!r} is of {owner}: here a caller changes only rules that it created; ask an admin"
            )

    async def id_of(self, key: str) -> bytes:
        """Return the id of a workflow by its id or its name, also if it was deleted and the name is not used again.
        Raise NotFound if there is none."""
        with suppress(InvalidId):
            return parse(WORKFLOW, key)
        try:
            return (await self.get(key)).id
        except NotFound:
            deleted = await self._store.deleted_workflow(self._tenant, key)
            if deleted is None:
                raise
            return deleted

    async def find(
        self, *, limit: int, after: str | None = None, enabled: bool | None = None, status: str | None = None
    ) -> list[WorkflowRow]:
        """Return workflows ordered by name, from the first name after `after` on."""
        return await self._store.workflows(self._tenant, limit=limit, after=after, enabled=enabled, status=status)

    async def unlock(self, key: str) -> WorkflowRow:
        """Let a workflow be edited elsewhere than in the files that manage it: make a version without their label."""
        row = await self.get(key)
        if folder_of(row) is None:
            return row
        self.require_own(row)
        pins = pinned_actions(await asyncio.to_thread(codec.decode, row.graph))
        compiled, _ = await self.pin(row.source, versions=pins)
        if folder_in(compiled.labels) is not None:
            raise Conflict(f"the text of the workflow {row.name!r} has the label {LABEL!r} itself; remove it there")
        found = dataclasses.replace(compiled, enabled=row.enabled)
        saved, _, _ = await self.store(found, row.source, replace=True, expected=(row.version, row.updated_at))
        return saved

    async def activate(self, key: str, number: int, *, edit: Edit = ELSEWHERE) -> WorkflowRow:
        """Make a version of a workflow its current one. Runs in flight stay on their version."""
        row = await self.get(key)
        check_lock(row, edit)
        self.require_own(row)
        if number <= 0:
            raise NotFound(f"the workflow {row.name!r} has no version {number}")
        prepared, stored = await self._context.workflows.version(row, number)
        assert stored.facts is not None
        facts = json.loads(stored.facts.trigger)
        trigger = TriggerDefinition(TriggerType(facts["type"]), facts.get("config", {}), facts.get("condition"))
        version = NewVersion(
            tenant=self._tenant,
            id=row.id,
            name=row.name,
            enabled=row.enabled,
            source=stored.source,
            graph=row.graph,
            checksum=stored.checksum,
            language=prepared.graph.language,
            entity=facts.get("rule", {}).get("entity"),
            author=self._caller.name,
            owned_trigger=owned_trigger(trigger, self._engine.new_id(), self._tenant, row.id, await self._store.now()),
            **stored.facts._asdict(),
        )
        match await self._store.activate_version(version, number):
            case SavedVersion():
                self._context.workflows.forget(self._tenant, row)
                return await self.get(key)
            case Unsaved.ARCHIVED:
                raise Conflict(f"the workflow {row.name!r} is archived; reactivate it first")
            case Unsaved.NO_ENTITY:
                raise Conflict(f"{await self.missing_entity(str(version.entity))}, which version {number} is about")
            case _:
                raise NotFound(f"the workflow {row.name!r} has no version {number}")

    async def archive(self, key: str, *, edit: Edit = ELSEWHERE) -> WorkflowRow:
        """Let nothing start runs of a workflow until it is reactivated. Runs in flight go on, and runs that have not
        begun are cancelled when their time comes. Its triggers stay as they are, and do not fire."""
        return await self._change_status(key, "archived", edit)

    async def reactivate(self, key: str, *, edit: Edit = ELSEWHERE) -> WorkflowRow:
        """Let runs of an archived workflow be started again. Its schedules continue with their next slot."""
        return await self._change_status(key, "active", edit)

    async def _change_status(self, key: str, status: str, edit: Edit) -> WorkflowRow:
        row = await self.get(key)
        check_lock(row, edit)
        self.require_own(row)
        slots = await self._slots(row) if status == "active" and row.status == "archived" else []
        by = self._caller.name
        before = await self._store.change_status(self._tenant, row.id, status, slots=slots, by=by)
        if before is None:
            raise NotFound(f"there is no workflow {key[:200]!r}")
        if before == "draft":
            wish = "archived; delete it" if status == "archived" else "reactivated; publish it"
            raise Conflict(f"the workflow {row.name!r} is a draft and cannot be {wish}")
        self._context.workflows.forget(self._tenant, row)
        return await self.get(key)

    async def _slots(self, row: WorkflowRow) -> list[tuple[bytes, int, int]]:
        """Return (trigger, updated_at, next_at) of each schedule of a workflow."""
        now = await self._store.now()
        found: list[tuple[bytes, int, int]] = []
        after: bytes | None = None
        while True:
            page = await self._store.triggers(
                self._tenant, limit=_PAGE, after=after, workflow=row.id, kind=str(TriggerType.CRON), enabled=True
            )
            for one in page:
                trigger = TriggerDefinition(TriggerType.CRON, json.loads(one.config))
                slots = next_slots(trigger.cron or "", trigger.timezone, now)
                found += [(one.id, one.updated_at, slot) for slot in slots[:1]]
            if len(page) < _PAGE:
                return found
            after = page[-1].id

    async def enable(self, key: str, *, enabled: bool) -> WorkflowRow:
        """Allow runs of a workflow to be started, or forbid it."""
        row = await self.get(key)
        self.require_own(row)
        if not await self._store.enable_workflow(self._tenant, row.id, enabled=enabled, by=self._caller.name):
            raise NotFound(f"there is no workflow {key[:200]!r}")
        self._context.workflows.forget(self._tenant, row)
        return await self.get(key)

    async def delete(self, key: str, *, edit: Edit = ELSEWHERE) -> tuple[WorkflowRow, Instant]:
        """Delete a workflow and return it with the time of its deletion. Its name is free, its triggers are
        deleted, and its runs continue. Raise Conflict if it has a form that is published, and is active."""
        row = await self.get(key)
        check_lock(row, edit)
        self.require_own(row)
        at = await self._store.delete_workflow(self._tenant, row.id, unless_active=not is_live_at_save(row.form))
        if at is Unsaved.ACTIVE:
            raise Conflict(f"the workflow {row.name!r} is active: archive it first")
        if isinstance(at, Unsaved):
            raise NotFound(f"there is no workflow {key[:200]!r}")
        self._context.workflows.forget(self._tenant, row)
        return row, at

    async def child_problems(self, name: str, graph: Graph, *, missing: list[Problem] | None = None) -> list[Problem]:
        """Return the children of a graph that do not exist, and those that lead back to the workflow of that name. A
        version that a step pins must exist too. With `missing`, what does not exist is added there instead.

        Children are followed through current versions, but not through steps that allow recursion. A child that only
        a run can name is not checked."""
        problems: list[Problem] = []
        chains: dict[str, tuple[str, ...] | None] = {}
        known: dict[str, _Called | None] = {}
        pins = pinned_versions(graph)
        absent = problems if missing is None else missing
        for step, child, may_recur in called_workflows(graph):
            if child not in chains:
                chains[child] = await self._chain_to(name, child, known)
            found = chains[child]
            if found is None:
                absent.append(Problem(f"steps.{step}.workflow", f"there is no workflow {child!r}"))
            elif found and not may_recur:
                chain = " -> ".join((name, *found))
                problems.append(Problem(f"steps.{step}.workflow", f"the workflow would start itself: {chain}"))
            if found is not None and step in pins and (words := await self._missing_version(child, pins[step])):
                absent.append(Problem(f"steps.{step}.version", words))
        return problems

    async def _missing_version(self, key: str, number: int) -> str | None:
        """Return what is wrong with a version of a workflow that a step pins, or `None` if it exists."""
        try:
            row = await self.get(key)
        except NotFound:  # it is the workflow itself, which is about to be saved
            return None if number == 1 else f"the workflow {key!r} has no version {number}"
        if await self._store.version(self._tenant, row.id, number) is not None:
            return None
        newest = await self._store.versions(self._tenant, row.id)
        hint = f"its newest is {newest[0].version}" if newest else "it was never published"
        return f"the workflow {row.name!r} has no version {number}; {hint}"

    async def _chain_to(self, name: str, child: str, known: dict[str, _Called | None]) -> tuple[str, ...] | None:
        """Return the workflows from a child to the one of that name; empty if it is not reached, `None` if the child
        does not exist. A child is written as the name or the id of a workflow. `known` has the workflows that were read
        before."""
        chains: list[tuple[str, ...]] = [(child,)]
        seen = {child}
        for chain in chains:  # grows while it is read
            last = chain[-1]
            if last == name:
                return chain
            if last not in known:
                known[last] = await self._called(last)
            found = known[last]
            if found is None:
                if len(chain) == 1:
                    return None
                continue
            if found.name == name:
                return (*chain[:-1], name)
            for called in found.children:
                if called not in seen and len(seen) < MOST_CHILDREN:
                    seen.add(called)
                    chains.append((*chain, called))
        return ()

    async def get_or_adopt(self, key: str) -> WorkflowRow:
        """Return a workflow as `get` does. Code of the installation that the tenant may use gets its row here first.

        Raise NotAllowed if the tenant may not use it."""
        try:
            return await self.get(key)
        except NotFound:
            await self._context.installed.adopt(self._tenant, key)
            return await self.get(key)

    async def _called(self, key: str) -> _Called | None:
        """Read a workflow that another one starts. Return `None` if it does not exist."""
        try:
            row: WorkflowRow | None = await self.get(key)
        except NotFound:
            row = None
        if row is None:
            with suppress(NotAllowed):  # then it is as if it did not exist
                row = await self._context.installed.original(self._tenant, key)
        if row is None:
            return None
        graph = await asyncio.to_thread(codec.decode, row.graph) if row.graph else Graph(())
        return _Called(row.name, [called for _, called, may_recur in called_workflows(graph) if not may_recur])

    async def store(
        self,
        compiled: Compiled,
        data: bytes | str,
        *,
        replace: bool,
        expected: tuple[int, Instant] | None = None,
        layout: str | None = None,
    ) -> tuple[WorkflowRow, SavedVersion, Compiled]:
        """Store a definition that `check` has returned, with its layout, in one transaction."""
        version = await self.as_version(self._engine.new_id(), compiled, data)
        saved = await self._store.save_workflow(version, replace=replace, expected=expected, layout=layout)
        match saved:
            case SavedVersion():
                self._context.workflows.forget(self._tenant, (row := await self.get(compiled.name)))
                return _as_saved(row, version, saved), saved, compiled
            case Unsaved.TAKEN:
                raise NameTaken(f"there is a workflow named {compiled.name!r} already; PUT it to give it a new version")
            case Unsaved.NO_ENTITY:  # it was deleted since it was checked
                raise InvalidDefinition(problems=[Problem("entity", await self.missing_entity(str(version.entity)))])
            case _:
                raise PreconditionFailed(f"the workflow {compiled.name!r} has changed since it was read; read it again")

    async def as_version(self, id_: bytes, compiled: Compiled, data: bytes | str) -> NewVersion:
        """Build the row of a version with the trigger of its definition. `id_` is that of its workflow, if it is
        new."""
        now = await self._store.now()
        owned = owned_trigger(compiled.trigger, self._engine.new_id(), self._tenant, id_, now)
        version = new_version(self._tenant, id_, compiled, data)
        note_audit(version.name)
        return version._replace(owned_trigger=owned, author=self._caller.name)


def _as_saved(row: WorkflowRow, version: NewVersion, saved: SavedVersion) -> WorkflowRow:
    """Return the row as a save left it. Another save may have followed before the row was read: with the tag of that
    one, this caller would overwrite what it has never seen."""
    if (row.version, row.updated_at) == (saved.version, saved.updated_at):
        return row
    return row._replace(
        version=saved.version,
        updated_at=saved.updated_at,
        updated_by=version.author,
        enabled=version.enabled,
        entity=version.entity,
        source=version.source,
        graph=version.graph,
        **version.facts()._asdict(),
    )


def refuse_if_any(compiled: Compiled, problems: Sequence[Problem]) -> None:
    """Raise InvalidDefinition if a definition has problems. Each is named by the field that it was written in."""
    if problems:
        form = FORMS[compiled.form]
        raise InvalidDefinition(problems=[Problem(form.place(one.field, compiled), one.message) for one in problems])


def owned_trigger(
    trigger: TriggerDefinition, id_: bytes, tenant: int, workflow: bytes, now: Instant
) -> NewTrigger | None:
    """Build the row of the trigger in a definition; `None` for `api`, which needs no row."""
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
    """Build the row of a version from a compiled definition; `data` is its text."""
    graph = codec.encode(compiled.graph)
    facts = compiled.start_facts()
    # The checksum covers everything in the definition: a new description, label or trigger is a new version too.
    meaning = [json.loads(graph), facts, compiled.description, compiled.enabled, dict(compiled.labels)]
    if compiled.title is not None:  # definitions without a title have the checksum that they had before titles existed
        meaning.append(compiled.title)
    if compiled.step_descriptions:
        meaning.append(dict(compiled.step_descriptions))
    if compiled.rule is not None:  # another action with the same name and config is another version
        meaning.append(dict(compiled.rule.ids))
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
        title=compiled.title,
        entity=None if compiled.rule is None else compiled.rule.entity,
    )
