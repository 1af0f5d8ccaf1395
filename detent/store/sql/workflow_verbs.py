"""Workflows, their versions and their drafts: the verbs are the same on every SQL database.

Every verb that writes locks the workflow's row first. Under that lock the greatest version, the version of a text and
the draft's revision cannot change, so of two saves or two publishes at once the second sees the result of the first.

A verb that changes a rule then locks the row of its entity and raises its revision, before it writes anything else. So
an entity that has rules cannot be deleted meanwhile, and a reader of the revision sees the rules that belong to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from detent.store.protocol import WorkflowStore
from detent.store.rows import (
    DraftRow,
    NewDraft,
    NewVersion,
    SavedDraft,
    SavedVersion,
    Unsaved,
    VersionFacts,
    VersionRow,
    WorkflowRow,
)
from detent.store.sql import rule_statements as rules
from detent.store.sql import statements as triggers
from detent.store.sql import workflow_statements as statements
from detent.store.sql.access import Script, SqlAccess
from detent.store.sql.rule_verbs import change_layout
from detent.store.trigger_rows import NewTrigger

Expected = tuple[int, int] | None

#: The trigger of a workflow that has only a draft.
_BY_API: Final = '{"type": "api", "code": []}'


class WorkflowVerbs(WorkflowStore):
    """The verbs of workflows, their versions and their drafts."""

    def __init__(self, access: SqlAccess) -> None:
        self._access = access

    async def workflow(self, tenant: int, key: bytes | str) -> WorkflowRow | None:
        clause = statements.BY_NAME if isinstance(key, str) else statements.BY_ID
        rows = await self._access.query(clause, {"tenant": tenant, "key": key})
        return _workflow(rows[0]) if rows else None

    async def deleted_workflow(self, tenant: int, name: str) -> bytes | None:
        rows = await self._access.query(statements.DELETED_BY_NAME, {"tenant": tenant, "name": name})
        return bytes(rows[0][0]) if rows else None

    async def workflows(
        self,
        tenant: int,
        *,
        limit: int,
        after: str | None = None,
        enabled: bool | None = None,
        status: str | None = None,
        form: str | None = None,
        entity: str | None = None,
    ) -> list[WorkflowRow]:
        narrowing = {"enabled": enabled, "status": status, "form": form, "entity": entity}
        given = frozenset(name for name, value in narrowing.items() if value is not None)
        values = {**narrowing, "tenant": tenant, "after": after or "", "limit": limit}
        return [_workflow(row) for row in await self._access.query(statements.workflows(given), values)]

    async def versions(self, tenant: int, workflow: bytes, *, drafts: bool = False) -> list[VersionRow]:
        clause = statements.STORED_DRAFTS if drafts else statements.VERSIONS
        rows = await self._access.query(clause, {"tenant": tenant, "workflow": workflow})
        return [_version(row) for row in rows]

    async def version(self, tenant: int, workflow: bytes, number: int) -> VersionRow | None:
        values = {"tenant": tenant, "workflow": workflow, "version": number}
        rows = await self._access.query(statements.VERSION, values)
        return _version(rows[0]) if rows else None

    async def save_workflow(
        self, version: NewVersion, *, replace: bool, expected: Expected = None, layout: str | None = None
    ) -> SavedVersion | Unsaved:
        now = await self._access.now()

        def save() -> Script[SavedVersion | Unsaved]:
            saved = yield from _save(version, replace, expected, now)
            if layout is not None and isinstance(saved, SavedVersion):
                yield from change_layout(version.tenant, saved.id, layout, now)
            return saved

        return await self._access.run_script(save)

    async def activate_version(self, version: NewVersion, number: int) -> SavedVersion | Unsaved:
        now = await self._access.now()

        def activate() -> Script[SavedVersion | Unsaved]:
            known = yield from _locked(version.tenant, version.id)
            has_it = yield statements.HAS_VERSION, {"tenant": version.tenant, "id": version.id, "version": number}
            if known is None or not has_it:
                return Unsaved.MISSING
            if known.status == "archived":
                return Unsaved.ARCHIVED
            if not (yield from _raise_revisions(version.tenant, version.entity, known.entity)):
                return Unsaved.NO_ENTITY
            at = yield from _make_current(version._replace(enabled=known.enabled), known, number, now)
            return SavedVersion(known.id, number, False, number != known.version, at)

        return await self._access.run_script(activate)

    async def change_status(
        self,
        tenant: int,
        workflow: bytes,
        status: str,
        *,
        slots: Sequence[tuple[bytes, int, int]] = (),
        by: str | None = None,
    ) -> str | None:
        now, place = await self._access.now(), {"tenant": tenant, "known": workflow}

        def change() -> Script[str | None]:
            known = yield from _locked(tenant, workflow)
            if known is None:
                return None
            if known.status not in ("draft", status):
                yield from _raise_revisions(tenant, None, known.entity)
                values = {"status": status, "enabled": status == "active", "now": max(now, known.updated_at + 1)}
                yield statements.SET_STATUS, {**values, **place, "by": by}
                if status == "archived":
                    yield statements.CLEAR_SLOTS, place
                for trigger, seen, next_at in sorted(slots):
                    yield statements.SET_SLOT, {**place, "id": trigger, "seen": seen, "next": next_at}
            return known.status

        return await self._access.run_script(change)

    async def enable_workflow(self, tenant: int, workflow: bytes, *, enabled: bool, by: str | None = None) -> bool:
        now = await self._access.now()

        def enable() -> Script[bool]:
            known = yield from _locked(tenant, workflow)
            if known is not None:
                yield from _raise_revisions(tenant, None, known.entity)
                values = {"enabled": enabled, "now": max(now, known.updated_at + 1), "by": by}
                yield statements.ENABLE, {**values, "tenant": tenant, "known": workflow}
            return known is not None

        return await self._access.run_script(enable)

    async def delete_workflow(self, tenant: int, workflow: bytes, *, unless_active: bool = False) -> int | Unsaved:
        now, place = await self._access.now(), {"tenant": tenant, "known": workflow}

        def delete() -> Script[int | Unsaved]:
            known = yield from _locked(tenant, workflow)
            if known is None:
                return Unsaved.MISSING
            if unless_active and known.status == "active":
                return Unsaved.ACTIVE
            yield from _raise_revisions(tenant, None, known.entity)
            yield statements.DROP_DRAFT, place
            yield statements.DROP_TRIGGERS, {**place, "now": now}
            yield rules.DROP_LAYOUT, {"tenant": tenant, "workflow": workflow}
            if (yield statements.ANY_VERSION, {"tenant": tenant, "id": workflow}):
                yield statements.DELETE, {**place, "now": now}
            else:
                yield statements.REMOVE, place
            return now

        return await self._access.run_script(delete)

    async def save_draft(
        self, draft: NewDraft, *, expected: int | None = None, unpublished: bool = False, new: bool = False
    ) -> SavedDraft | Unsaved:
        now = await self._access.now()
        return await self._access.run_script(lambda: _save_draft(draft, expected, unpublished, new, now))

    async def draft(self, tenant: int, workflow: bytes) -> DraftRow | None:
        rows = await self._access.query(statements.DRAFT, {"tenant": tenant, "workflow": workflow})
        return DraftRow(*rows[0]) if rows else None

    async def drop_draft(self, tenant: int, workflow: bytes, *, expected: int | None = None) -> Unsaved | None:
        def drop() -> Script[Unsaved | None]:
            known = yield from _locked(tenant, workflow)
            revision = yield from _revision(tenant, workflow)
            if known is None or not revision:
                return Unsaved.MISSING
            if expected not in (None, revision):
                return Unsaved.CHANGED
            if not (yield statements.ANY_VERSION, {"tenant": tenant, "id": workflow}):
                return Unsaved.UNPUBLISHED
            yield statements.DROP_DRAFT, {"tenant": tenant, "known": workflow}
            return None

        return await self._access.run_script(drop)

    async def publish_draft(self, version: NewVersion, *, revision: int, activate: bool) -> SavedVersion | Unsaved:
        now = await self._access.now()

        def publish() -> Script[SavedVersion | Unsaved]:
            known = yield from _locked(version.tenant, version.id)
            found = yield from _revision(version.tenant, version.id)
            if known is None or not found:
                return Unsaved.MISSING
            if found != revision:
                return Unsaved.CHANGED
            if known.status == "archived":
                return Unsaved.ARCHIVED
            if activate and not (yield from _raise_revisions(version.tenant, version.entity, known.entity)):
                return Unsaved.NO_ENTITY
            number, added = yield from _numbered(version, known, now)
            at = max(now, known.updated_at + 1)
            place = {"tenant": version.tenant, "known": known.id}
            if activate:
                yield from _make_current(version, known, number, now)
            else:
                yield statements.TOUCH, {**place, "now": at, "by": version.author}
            yield statements.DROP_DRAFT, place
            return SavedVersion(known.id, number, False, number != known.version if activate else added, at)

        return await self._access.run_script(publish)

    async def store_draft(self, version: NewVersion, *, revision: int) -> bool:
        now = await self._access.now()

        def store() -> Script[bool]:
            yield from _locked(version.tenant, version.id)
            if (yield from _revision(version.tenant, version.id)) != revision:
                return False
            if not (yield statements.HAS_VERSION, {"tenant": version.tenant, "id": version.id, "version": -revision}):
                yield statements.NEW_VERSION, {**_values(version), "next": -revision, "now": now}
            return True

        return await self._access.run_script(store)


class _Known(NamedTuple):
    """A workflow whose row is locked."""

    id: bytes
    version: int
    updated_at: int
    status: str
    enabled: bool
    revision: int | None
    entity: str | None


def _locked(tenant: int, workflow: bytes) -> Script[_Known | None]:
    rows = yield statements.LOCK_BY_ID, {"tenant": tenant, "id": workflow}
    return _known(rows[0]) if rows else None


def _known(row: Sequence[Any]) -> _Known:
    return _Known(*row)._replace(enabled=bool(row[4]))


def _raise_revisions(tenant: int, entity: str | None, before: str | None) -> Script[bool]:
    """Raise the revision of the entity of a rule, and of the one before. Return False if the first does not exist.

    Nothing has been written if it returns False. The rows are locked in one order, so two saves cannot deadlock."""
    found = {}
    for name in sorted({one for one in (entity, before) if one is not None}):
        rows = yield rules.LOCK_ENTITY, {"tenant": tenant, "entity": name}
        if rows:
            found[name] = rows[0][0]
    if entity is not None and entity not in found:
        return False
    for id_ in found.values():
        yield rules.RAISE_REVISION, {"tenant": tenant, "entity": id_}
    return True


def _revision(tenant: int, workflow: bytes) -> Script[int]:
    """Return the revision of a workflow's draft, 0 if it has none."""
    rows = yield statements.REVISION, {"tenant": tenant, "known": workflow}
    return rows[0][0] if rows else 0


def _values(version: NewVersion) -> dict[str, Any]:
    return {**version._asdict(), "facts": version.facts().encode()}


def _save(version: NewVersion, replace: bool, expected: Expected, now: int) -> Script[SavedVersion | Unsaved]:
    name = {"tenant": version.tenant, "name": version.name}
    while True:
        rows = yield statements.LOCK_BY_NAME, name
        if rows:
            return (yield from _replace(version, _known(rows[0]), replace, expected, now))
        if expected is not None:
            return Unsaved.MISSING
        if not (yield from _raise_revisions(version.tenant, version.entity, None)):
            return Unsaved.NO_ENTITY
        values = {**_values(version), "status": "active", "next": 1, "revision": None, "now": now}
        if (yield statements.NEW, values):
            yield statements.NEW_VERSION, values
            yield from _own_trigger(version.tenant, version.id, version.owned_trigger, now)
            return SavedVersion(version.id, 1, True, True, now)
        # Else another process saved the same name in between: look again.


def _replace(
    version: NewVersion, known: _Known, replace: bool, expected: Expected, now: int
) -> Script[SavedVersion | Unsaved]:
    if not replace:
        return Unsaved.TAKEN
    if expected is not None and expected != (known.version, known.updated_at):
        return Unsaved.CHANGED
    if not (yield from _raise_revisions(version.tenant, version.entity, known.entity)):
        return Unsaved.NO_ENTITY
    number, _ = yield from _numbered(version, known, now)
    at = yield from _make_current(version, known, number, now)
    return SavedVersion(known.id, number, False, number != known.version, at)


def _numbered(version: NewVersion, known: _Known, now: int) -> Script[tuple[int, bool]]:
    """Return the number of the version that has this text, and whether it was added."""
    rows = yield statements.SAME_TEXT, {"tenant": version.tenant, "id": known.id, "checksum": version.checksum}
    same = [row[0] for row in rows]
    if same:  # of several, which older code made, the current one or the newest
        return known.version if known.version in same else same[0], False
    [[greatest]] = yield statements.GREATEST, {"tenant": version.tenant, "id": known.id}
    number = max(greatest or 0, 0) + 1
    yield statements.NEW_VERSION, {**_values(version), "id": known.id, "next": number, "now": now}
    return number, True


def _make_current(version: NewVersion, known: _Known, number: int, now: int) -> Script[int]:
    """Make a version the current one. Return the `updated_at` of its workflow."""
    status, at = "active" if known.status == "draft" else known.status, max(now, known.updated_at + 1)
    values = {**version._asdict(), "known": known.id, "next": number, "status": status}
    yield statements.CHANGE, {**values, "now": at}
    yield from _own_trigger(version.tenant, known.id, version.owned_trigger, now)
    return at


def _save_draft(
    draft: NewDraft, expected: int | None, unpublished: bool, new: bool, now: int
) -> Script[SavedDraft | Unsaved]:
    name = {"tenant": draft.tenant, "name": draft.name}
    while True:
        rows = yield statements.LOCK_BY_NAME, name
        if rows and new:
            return Unsaved.TAKEN
        if rows:
            return (yield from _replace_draft(draft, _known(rows[0]), expected, unpublished, now))
        if expected is not None:
            return Unsaved.MISSING
        facts = {"status": "draft", "enabled": True, "trigger": _BY_API, "labels": None, "revision": 1, "now": now}
        if (yield statements.NEW, {**draft._asdict(), **facts, "entity": None, "next": 0}):
            yield statements.NEW_DRAFT, {**draft._asdict(), "known": draft.id, "next": 1, "now": now}
            return SavedDraft(draft.id, 1, created=True)
        # Else another process saved the same name in between: look again.


def _replace_draft(
    draft: NewDraft, known: _Known, expected: int | None, unpublished: bool, now: int
) -> Script[SavedDraft | Unsaved]:
    if unpublished and known.status != "draft":
        return Unsaved.PUBLISHED
    if expected is not None and expected != (yield from _revision(draft.tenant, known.id)):
        return Unsaved.CHANGED
    number = (known.revision or 0) + 1
    values = {**draft._asdict(), "known": known.id, "next": number, "now": now}
    yield statements.SET_REVISION, values
    if known.status == "draft":
        yield statements.SHOW_DRAFT, {**values, "now": max(now, known.updated_at + 1)}
    yield statements.DROP_DRAFT, values
    yield statements.NEW_DRAFT, values
    return SavedDraft(known.id, number, created=False)


def _own_trigger(tenant: int, workflow: bytes, new: NewTrigger | None, now: int) -> Script[None]:
    """Replace the trigger of a definition with its new one."""
    found = yield triggers.OWNED_TRIGGER, {"tenant": tenant, "workflow": workflow}
    if found:
        id_, kind, enabled, config, next_at, note, updated_at = found[0]
        if new is not None and new.kind == kind:
            # A user may have paused the trigger: it stays paused. An unchanged schedule continues from its next slot.
            next_at = next_at if config == new.config or not enabled else new.next_at
            kept = {"id": id_, "enabled": enabled, "note": note, "next_at": next_at, "seen": updated_at}
            values = {**new._asdict(), **kept, "now": max(now, updated_at + 1)}
            yield triggers.CHANGE_TRIGGER, values
            return
        yield triggers.DROP_TRIGGER, {"id": id_, "tenant": tenant, "now": now}
    if new is not None:
        yield triggers.ADD_TRIGGER, {**new._asdict(), "workflow": workflow, "now": now}


def _workflow(row: Sequence[Any]) -> WorkflowRow:
    made = WorkflowRow(*row)
    return made._replace(enabled=bool(made.enabled), source=made.source or "", graph=made.graph or b"")


def _version(row: Sequence[Any]) -> VersionRow:
    version, checksum, created_at, source, facts, author = row
    decoded = None if facts is None else VersionFacts.decode(facts)
    return VersionRow(version, checksum, created_at, source, decoded, author)
