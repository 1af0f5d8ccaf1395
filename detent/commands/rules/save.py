"""Rules: one save of everything, and every other command on rules, which goes through the same save.

A save reads the current version, resolves the names in the request, compiles the document outside any transaction, and
writes it only if nothing has changed since it was read. If something has changed, a caller that named the state it knew
(`expected`) gets StaleRule. Every other save is resolved again, with what is there now.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from detent.auth.caller import Caller
from detent.auth.scopes import Scope
from detent.commands.context import CommandContext, CommandPart
from detent.commands.drafts import DraftAnswer, DraftCommands
from detent.commands.files.lock import ELSEWHERE, check_lock
from detent.commands.rules.changes import RuleDiff, diff_rules
from detent.commands.rules.entities import EntityCommands
from detent.commands.rules.request import (
    RuleActions,
    RuleRequest,
    canonical,
    is_action_id,
    read_layout,
    resolve_rule,
    shown_layout,
    store_form,
    with_type,
)
from detent.commands.workflows import WorkflowCommands
from detent.errors import (
    Conflict,
    InvalidDefinition,
    InvalidInput,
    NotFound,
    PreconditionFailed,
    Problem,
    Unavailable,
)
from detent.forms.compiled import Compiled
from detent.forms.definition import checked_document, read_definition
from detent.instant import Instant
from detent.store.audit import note_audit
from detent.store.rows import SavedVersion, VersionRow, WorkflowRow
from detent.store.rule_rows import EntityRow

#: How often a save is tried again because the rule was changed at that moment.
ATTEMPTS: Final = 20
FORM: Final = "rule"
_NAME: Final = "rule.json"
_MOST_VERSIONS: Final = 200
#: The fields of a document in the order in which their problems are reported.
_ORDER: Final = ("name", "key", "description", "is_active", "entity", "trigger", "actions", "edges")

State = tuple[int, Instant]
#: Changes the document of a rule: a request for its next version.
Edit = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RuleView:
    """A rule as it is now, or as a version of it was. `document` names all actions by their ids."""

    row: WorkflowRow
    document: Mapping[str, Any]
    layout: Mapping[str, Any]
    entity: EntityRow | None
    warnings: tuple[str, ...] = ()
    created: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """A rule that a save would accept. Nothing was stored."""

    document: Mapping[str, Any]
    layout: Mapping[str, Any] | None
    warnings: tuple[str, ...]


class StaleRule(PreconditionFailed):
    """The rule has changed since the caller read it. `changes` is what differs from the version that it read."""

    def __init__(self, row: WorkflowRow, changes: RuleDiff | None) -> None:
        by = f" by {row.updated_by}" if row.updated_by else ""
        super().__init__(f"the rule {row.title or row.name!r} was changed{by} since it was read; read it again")
        self.row = row
        self.changes = changes


@dataclass(slots=True)
class _Current:
    """What a save has read: the row of the rule, its document, and what is known of its actions."""

    row: WorkflowRow | None = None
    document: dict[str, Any] = field(default_factory=dict)
    known: RuleActions | None = None


class RuleCommands(CommandPart):
    """The rules of a tenant: workflows of the form `rule`."""

    def __init__(
        self,
        context: CommandContext,
        caller: Caller,
        workflows: WorkflowCommands,
        drafts: DraftCommands,
        entities: EntityCommands,
    ) -> None:
        super().__init__(context, caller)
        self._workflows = workflows
        self._drafts = drafts
        self._entities = entities

    # Saving.

    async def create(self, body: Mapping[str, Any]) -> RuleView:
        """Save a new rule with its layout. Raise InvalidDefinition with every problem, or NameTaken."""
        self._caller.require(Scope.MANAGE)
        resolved, compiled = await self._check(body, _Current())
        _, text = _text(resolved, compiled)
        row, saved, compiled = await self._workflows.store(
            compiled, text, replace=False, layout=_layout_text(resolved.layout)
        )
        return await self._saved(row, saved, compiled)

    async def replace(self, key: str, body: Mapping[str, Any], *, expected: State | None = None) -> RuleView:
        """Save a rule that exists, with its layout. `expected` is the (version, updated_at) that the caller has read.

        Raise InvalidDefinition with every problem, StaleRule if the rule is not as expected any more."""
        return await self.edit(key, lambda _: dict(body), expected=expected)

    async def edit(self, key: str, edit: Edit, *, expected: State | None = None) -> RuleView:
        """Save what `edit` makes of the current document. It is called again if the rule has changed meanwhile, unless
        `expected` is given."""
        self._caller.require(Scope.MANAGE)
        for _ in range(ATTEMPTS):
            row = await self._row(key)
            if row.status == "archived":
                raise Conflict(f"the rule {row.name!r} is archived; reactivate it first")
            check_lock(row, ELSEWHERE)
            self._workflows.require_own(row)
            if expected is not None and expected != (row.version, row.updated_at):
                raise await self.stale(row, expected)
            current = await self._current(row)
            resolved, compiled = await self._check(edit(dict(current.document)), current)
            _, text = _text(resolved, compiled)
            try:
                stored, saved, compiled = await self._workflows.store(
                    compiled,
                    text,
                    replace=True,
                    expected=(row.version, row.updated_at),
                    layout=_layout_text(resolved.layout),
                )
            except PreconditionFailed:
                self._context.workflows.forget(self._tenant, row)
                continue  # the next attempt says what has changed, or resolves the names again
            return await self._saved(stored, saved, compiled)
        raise Unavailable(f"the rule {key[:200]!r} is being changed by others; try again")

    async def validate(
        self, body: Mapping[str, Any], *, key: str | None = None, expected: State | None = None
    ) -> RuleCheck:
        """Check what `create`, or with `key` what `replace` would save. Nothing is stored."""
        note_audit(dry_run=True)
        self._caller.require(Scope.MANAGE)
        current = _Current()
        if key is not None:
            row = await self._row(key)
            if expected is not None and expected != (row.version, row.updated_at):
                raise await self.stale(row, expected)
            current = await self._current(row)
        resolved, compiled = await self._check(body, current)
        if key is None and await self._store.workflow(self._tenant, compiled.name) is not None:
            raise Conflict(f"there is a workflow named {compiled.name!r} already")
        document, _ = _text(resolved, compiled)
        return RuleCheck(document, resolved.layout, compiled.warnings)

    async def save_draft(self, body: Mapping[str, Any], *, key: str | None = None) -> DraftAnswer:
        """Save a draft of a rule: anything that can be read, with its problems. No version is made."""
        self._caller.require(Scope.MANAGE)
        current = _Current() if key is None else await self._current(await self._row(key))
        resolved = await asyncio.to_thread(resolve_rule, body, current.known, self._engine.new_id)
        await self._resolve_entity(resolved, [])
        text = json.dumps(store_form(resolved.document), ensure_ascii=False)
        return await self._drafts.save(text, filename=_NAME, new=key is None)

    async def _check(self, body: Mapping[str, Any], current: _Current) -> tuple[RuleRequest, Compiled]:
        """Resolve and compile a request. Raise InvalidDefinition with all problems, in the order of the fields."""
        checked_document(body)
        self._refuse_too_many(body)
        current = await self._with_older(body, current)
        resolved = await asyncio.to_thread(resolve_rule, body, current.known, self._engine.new_id)
        problems = resolved.problems
        await self._resolve_entity(resolved, problems)
        compiled = None
        try:
            text = json.dumps(resolved.document, ensure_ascii=False)
            compiled = await self._workflows.check(text, filename=_NAME)
        except InvalidDefinition as error:
            problems = [*problems, *(error.problems or (Problem("", error.message),))]
        if problems or compiled is None:
            placed = {_spelled(one, body): None for one in problems}
            raise InvalidDefinition(problems=sorted(placed, key=_rank))
        return resolved, compiled

    def _refuse_too_many(self, body: Mapping[str, Any]) -> None:
        """Raise InvalidDefinition before anything is resolved if there are too many actions or edges."""
        limits = self._context.limits
        counts = (("actions", limits.steps), ("edges", limits.edges))
        problems = [
            Problem(name, f"has {len(items)} {name}; at most {most} are allowed")
            for name, most in counts
            if isinstance(items := body.get(name), list) and len(items) > most
        ]
        if problems:
            raise InvalidDefinition(problems=problems)

    async def _resolve_entity(self, resolved: RuleRequest, problems: list[Problem]) -> None:
        """Put the name of an entity in the place of its id, which a request may name it by. An answer that is sent
        back has both."""
        document = resolved.document
        if document.get("trigger_type_id") == document.get("trigger_type"):
            document.pop("trigger_type_id", None)
        field = "entity" if document.get("entity_id") in (None, "") else "entity_id"
        given, named = document.get(field), document.get("entity")
        if not isinstance(given, str) or not given:
            return
        try:
            name = (await self._entities.get(given)).name
        except NotFound:
            problems.append(Problem(field, await self._workflows.missing_entity(given)))
            name = given  # the compiler finds further problems
        if named is not None and named not in (name, given):
            problems.append(Problem("entity", f"is not the name of the entity {given!r}, which is {name!r}"))
        document.pop("entity_id", None)
        document["entity"] = name

    async def _current(self, row: WorkflowRow) -> _Current:
        document = await asyncio.to_thread(_document_of, row.source)
        return _Current(row, document, RuleActions.of(row.name, document))

    async def _with_older(self, body: Mapping[str, Any], current: _Current) -> _Current:
        """Add the actions of older versions if a request names one that the current version does not have."""
        actions = body.get("actions")
        if current.row is None or current.known is None or not isinstance(actions, list):
            return current
        given = {one.get("id") for one in actions if isinstance(one, dict)}
        unknown = [one for one in given if isinstance(one, str) and is_action_id(one)]
        if all(one in current.known.actions for one in unknown):
            return current
        versions = (await self._store.versions(self._tenant, current.row.id))[:_MOST_VERSIONS]
        older = await asyncio.to_thread(lambda: [_document_of(one.source) for one in versions])
        return _Current(current.row, current.document, RuleActions.of(current.row.name, current.document, older))

    async def _saved(self, row: WorkflowRow, saved: SavedVersion, compiled: Compiled) -> RuleView:
        """Return the rule that was saved. Another save may have followed already; then it is that one."""
        rule = await self.at(row)
        return RuleView(
            rule.row, rule.document, rule.layout, rule.entity, compiled.warnings, saved.created, saved.changed
        )

    async def stale(self, row: WorkflowRow, expected: State) -> StaleRule:
        """Return the error for a caller that knew another state of a rule, with what differs from it."""
        number = expected[0]
        old = await self._store.version(self._tenant, row.id, number) if number > 0 else None
        if old is None:
            return StaleRule(row, None)
        before, after = await asyncio.to_thread(lambda: (_document_of(old.source), _document_of(row.source)))
        # A rule may have been deactivated without a new version.
        return StaleRule(row, diff_rules({"is_active": True, **before}, {**after, "is_active": row.enabled}))

    # Reading.

    async def get(self, key: str) -> RuleView:
        """Return a rule by its id or its key. Raise NotFound if there is none, or if it is not a rule."""
        self._caller.require(Scope.READ)
        return await self.at(await self._row(key))

    async def get_version(self, key: str, number: int) -> tuple[RuleView, VersionRow]:
        """Return a version of a rule. Raise NotFound if there is none."""
        self._caller.require(Scope.READ)
        row = await self._row(key)
        stored = await self._store.version(self._tenant, row.id, number) if number > 0 else None
        if stored is None or stored.facts is None or stored.facts.form != FORM:
            raise NotFound(f"the rule {row.name!r} has no version {number}")
        facts = json.loads(stored.facts.trigger)
        at = row._replace(
            source=stored.source,
            version=number,
            entity=facts.get("rule", {}).get("entity"),
            **stored.facts._asdict(),
        )
        return await self.at(at), stored

    async def at(self, row: WorkflowRow) -> RuleView:
        """Return the rule of a row, with its layout and its entity."""
        document = await asyncio.to_thread(_document_of, row.source)
        stored = await self._store.layout(self._tenant, row.id)
        layout = shown_layout(None if stored is None else json.loads(stored), document)
        entity = None if row.entity is None else await self._store.entity(self._tenant, row.entity)
        return RuleView(row, document, layout, entity)

    async def find(
        self,
        *,
        limit: int,
        after: str | None = None,
        entity: str | None = None,
        is_active: bool | None = None,
        keep: Callable[[WorkflowRow], bool] | None = None,
    ) -> list[WorkflowRow]:
        """Return rules by key, those after `after` that `keep` accepts. `entity` is an id or a name."""
        self._caller.require(Scope.READ)
        name = None if entity is None else (await self._entities.get(entity)).name
        found: list[WorkflowRow] = []
        size = limit if keep is None else _MOST_VERSIONS
        while len(found) < limit:
            rows = await self._store.workflows(
                self._tenant, limit=size, after=after, enabled=is_active, form=FORM, entity=name
            )
            found += rows if keep is None else filter(keep, rows)
            if len(rows) < size:
                break
            after = rows[-1].name
        return found[:limit]

    async def versions(self, key: str) -> tuple[WorkflowRow, list[VersionRow]]:
        """Return a rule and its versions, newest first."""
        self._caller.require(Scope.READ)
        row = await self._row(key)
        return row, await self._store.versions(self._tenant, row.id)

    async def history(self, key: str, *, limit: int, before: int | None = None) -> list[tuple[VersionRow, RuleDiff]]:
        """Return the versions of a rule below `before`, newest first, each with what differs from the one before it."""
        _, rows = await self.versions(key)
        rows = [one for one in rows if before is None or one.version < before][: limit + 1]

        def compare() -> list[tuple[VersionRow, RuleDiff]]:
            documents = [_document_of(one.source) for one in rows]
            olds = [*documents[1:], {}]
            return [(row, diff_rules(old, new)) for row, old, new in zip(rows, olds, documents, strict=True)]

        return (await asyncio.to_thread(compare))[:limit]

    # The life of a rule.

    async def activate(self, key: str, *, is_active: bool) -> RuleView:
        """Let events start a rule, or let nothing start it. No version is made."""
        self._caller.require(Scope.MANAGE)
        row = await self._row(key)
        if row.status == "archived":
            raise Conflict(f"the rule {row.name!r} is archived; reactivate it first")
        return await self.at(await self._workflows.enable(row.name, enabled=is_active))

    async def restore(self, key: str, number: int, *, expected: State | None = None) -> RuleView:
        """Make an older version of a rule the current one. Its actions have the ids that they had."""
        self._caller.require(Scope.MANAGE)
        row = await self._row(key)
        if expected is not None and expected != (row.version, row.updated_at):
            raise await self.stale(row, expected)
        return await self.at(await self._workflows.activate(row.name, number))

    async def delete(self, key: str, *, expected: State | None = None) -> tuple[WorkflowRow, Instant]:
        """Delete a rule and return it with the time of its deletion. Its runs continue."""
        self._caller.require(Scope.MANAGE)
        row = await self._row(key)
        if expected is not None and expected != (row.version, row.updated_at):
            raise await self.stale(row, expected)
        return await self._workflows.delete(row.name)

    async def save_layout(self, key: str, layout: Any) -> tuple[WorkflowRow, dict[str, Any]]:
        """Change where the nodes of a rule are on a canvas. Neither its version nor its state changes."""
        self._caller.require(Scope.MANAGE)
        row = await self._row(key)
        self._workflows.require_own(row)
        document = await asyncio.to_thread(_document_of, row.source)
        names = {name: one["id"] for one in document["actions"] for name in (one["step"], one["id"])}
        names |= {f"temp:{number}": one["id"] for number, one in enumerate(document["actions"])}
        problems: list[Problem] = []
        given = read_layout(layout, names, len(document["actions"]), "canvas_layout", problems)
        if problems or given is None:
            raise InvalidInput("the layout cannot be saved", problems)
        stored = await self._store.save_layout(self._tenant, row.id, json.dumps(given))
        if stored is None:
            raise NotFound(f"there is no rule {key[:200]!r}")
        return row, shown_layout(json.loads(stored), document)

    async def _row(self, key: str) -> WorkflowRow:
        """Return the row of a rule. Raise NotFound if there is none, or if it is a workflow of another form."""
        try:
            row = await self._workflows.get(key)
        except NotFound:
            raise NotFound(f"there is no rule {key[:200]!r}") from None
        if row.form != FORM or not row.version:
            what = f"a workflow of the form {row.form!r}" if row.form != FORM else "a draft that was never saved"
            raise NotFound(f"there is no rule {row.name!r}: it is {what}; see /api/v1/workflows")
        return row


def _document_of(source: str) -> dict[str, Any]:
    return canonical(read_definition(source))


def _text(resolved: RuleRequest, compiled: Compiled) -> tuple[dict[str, Any], str]:
    """Return the document that is stored, and its text. An action whose type was inferred names it from now on."""
    document = store_form({**resolved.document, "key": compiled.name})
    document["actions"] = [with_type(one) for one in document["actions"]]
    return document, json.dumps(document, ensure_ascii=False)


def _layout_text(layout: Mapping[str, Any] | None) -> str | None:
    return None if layout is None else json.dumps(layout)


def _spelled(problem: Problem, body: Mapping[str, Any]) -> Problem:
    """Return a problem with the field as the caller spells it: `entity_id`, unless it wrote `entity`."""
    for name, other in (("entity", "entity_id"), ("trigger_type", "trigger_type_id")):
        if problem.field == name and body.get(name) is None:
            return Problem(other, problem.message)
    return problem


def _rank(problem: Problem) -> int:
    """Return where a problem is reported: problems are in the order of the fields of a rule."""
    found = (place for place, name in enumerate(_ORDER) if problem.field.startswith(name))
    return next(found, len(_ORDER))
