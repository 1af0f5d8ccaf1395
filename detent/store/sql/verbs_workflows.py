"""Workflows and their versions, the same on every SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from detent.store.rows import NewVersion, SavedVersion, Unsaved, VersionRow, WorkflowRow
from detent.store.sql import statements_triggers, statements_workflows
from detent.store.sql.reach import Reach, Talk
from detent.store.trigger_rows import NewTrigger

Expected = tuple[int, int] | None


class WorkflowVerbs(Reach):
    """Reading and saving workflows."""

    async def workflow(self, tenant: int, key: bytes | str) -> WorkflowRow | None:
        clause = statements_workflows.BY_NAME if isinstance(key, str) else statements_workflows.BY_ID
        rows = await self._read(clause, {"tenant": tenant, "key": key})
        return _workflow(rows[0]) if rows else None

    async def workflows(
        self, tenant: int, *, limit: int, after: str | None = None, enabled: bool | None = None
    ) -> list[WorkflowRow]:
        clause = statements_workflows.PAGE if enabled is None else statements_workflows.PAGE_BY_ENABLED
        values = {"tenant": tenant, "after": after or "", "limit": limit, "enabled": enabled}
        return [_workflow(row) for row in await self._read(clause, values)]

    async def versions(self, tenant: int, workflow: bytes) -> list[VersionRow]:
        rows = await self._read(statements_workflows.VERSIONS, {"tenant": tenant, "workflow": workflow})
        return [VersionRow(*row) for row in rows]

    async def save_workflow(
        self, version: NewVersion, *, replace: bool, expected: Expected = None
    ) -> SavedVersion | Unsaved:
        now = await self.now()
        return await self._talk(lambda: _save(version, replace, expected, now))

    async def enable_workflow(self, tenant: int, workflow: bytes, *, enabled: bool) -> bool:
        now = await self.now()

        def enable() -> Talk[bool]:
            known = yield statements_workflows.LOCK_BY_ID, {"tenant": tenant, "id": workflow}
            if known:
                values = {"known": workflow, "enabled": enabled, "now": max(now, known[0][2] + 1)}
                yield statements_workflows.ENABLE, values
            return bool(known)

        return await self._talk(enable)

    async def delete_workflow(self, tenant: int, workflow: bytes) -> int | None:
        now = await self.now()

        def delete() -> Talk[int | None]:
            if not (yield statements_workflows.LOCK_BY_ID, {"tenant": tenant, "id": workflow}):
                return None
            yield statements_workflows.DELETE, {"known": workflow, "now": now}
            yield statements_workflows.DROP_TRIGGERS, {"known": workflow, "now": now}
            return now

        return await self._talk(delete)


def _save(version: NewVersion, replace: bool, expected: Expected, now: int) -> Talk[SavedVersion | Unsaved]:
    name = {"tenant": version.tenant, "name": version.name}
    while True:
        known = yield statements_workflows.LOCK_BY_NAME, name
        if known:
            return (yield from _change(version, known[0], replace, expected, now))
        if expected is not None:
            return Unsaved.MISSING
        values = {**version._asdict(), "next": 1, "now": now}
        if (yield statements_workflows.NEW, values):
            yield statements_workflows.NEW_VERSION, values
            yield from _own_trigger(version.id, version.owned_trigger, now)
            return SavedVersion(version.id, 1, created=True, changed=True)
        # Else somebody saved the same name in between: look again.


def _change(
    version: NewVersion, known: Sequence[Any], replace: bool, expected: Expected, now: int
) -> Talk[SavedVersion | Unsaved]:
    id_, seen, updated_at = known
    if not replace:
        return Unsaved.TAKEN
    if expected is not None and expected != (seen, updated_at):
        return Unsaved.CHANGED
    [[checksum]] = yield statements_workflows.CHECKSUM, {"id": id_, "version": seen}
    changed = checksum != version.checksum
    number = seen + 1 if changed else seen
    values = {**version._asdict(), "id": id_, "known": id_, "next": number, "now": max(now, updated_at + 1)}
    yield statements_workflows.CHANGE, values
    if changed:
        yield statements_workflows.NEW_VERSION, {**values, "now": now}
    yield from _own_trigger(id_, version.owned_trigger, now)
    return SavedVersion(id_, number, created=False, changed=changed)


def _own_trigger(workflow: bytes, new: NewTrigger | None, now: int) -> Talk[None]:
    """Put the trigger of a definition in the place of the one before."""
    found = yield statements_triggers.OWNED_TRIGGER, {"workflow": workflow}
    if found:
        id_, kind, enabled, config, next_at, note, updated_at, tenant = found[0]
        if new is not None and new.kind == kind:
            # It was perhaps paused by a person; and an unchanged schedule goes on where it was.
            next_at = next_at if config == new.config or not enabled else new.next_at
            kept = {"id": id_, "enabled": enabled, "note": note, "next_at": next_at, "seen": updated_at}
            values = {**new._asdict(), **kept, "now": max(now, updated_at + 1)}
            yield statements_triggers.CHANGE_TRIGGER, values
            return
        yield statements_triggers.DROP_TRIGGER, {"id": id_, "tenant": tenant, "now": now}
    if new is not None:
        yield statements_triggers.ADD_TRIGGER, {**new._asdict(), "workflow": workflow, "now": now}


def _workflow(row: Sequence[Any]) -> WorkflowRow:
    return WorkflowRow(*row)._replace(enabled=bool(row[6]))
