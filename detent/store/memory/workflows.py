"""Workflows of the memory store: their versions and their drafts."""

from __future__ import annotations

from collections.abc import Sequence

from detent.store.memory.tables import MemoryTables, StoredTrigger, StoredWorkflow
from detent.store.rows import (
    DraftRow,
    NewDraft,
    NewVersion,
    SavedDraft,
    SavedVersion,
    Unsaved,
    VersionRow,
    WorkflowRow,
)
from detent.store.rule_rows import merge_layout
from detent.store.trigger_rows import NewTrigger


class MemoryWorkflows(MemoryTables):
    """The verbs of workflows, with the same guarantees as in a database: every verb is one step."""

    async def save_workflow(
        self,
        version: NewVersion,
        *,
        replace: bool,
        expected: tuple[int, int] | None = None,
        layout: str | None = None,
    ) -> SavedVersion | Unsaved:
        saved = self._save(version, replace, expected)
        if layout is not None and isinstance(saved, SavedVersion):
            self.layouts[saved.id] = merge_layout(self.layouts.get(saved.id), layout)
        return saved

    def _save(self, version: NewVersion, replace: bool, expected: tuple[int, int] | None) -> SavedVersion | Unsaved:
        now = self.clock.wall()
        old = self._named(version.tenant, version.name)
        if old is None:
            if expected is not None:
                return Unsaved.MISSING
            if not self._raise_revisions(version.tenant, version.entity, None):
                return Unsaved.NO_ENTITY
            made = StoredWorkflow(version, 1, now, now, {1: (version, now)}, created_by=version.author)
            self.saved[version.id] = made
            self._own_trigger(version.id, version.owned_trigger, now)
            return SavedVersion(version.id, 1, True, True, now)
        if not replace:
            return Unsaved.TAKEN
        if expected is not None and expected != (old.version, old.updated_at):
            return Unsaved.CHANGED
        if not self._raise_revisions(version.tenant, version.entity, old.new.entity):
            return Unsaved.NO_ENTITY
        seen = old.version
        number, _ = self._numbered(old, version, now)
        self._make_current(old, version, number, now)
        return SavedVersion(old.new.id, number, False, number != seen, old.updated_at)

    def _numbered(self, old: StoredWorkflow, version: NewVersion, now: int) -> tuple[int, bool]:
        """Return the number of the version that has this text, and whether it was added."""
        same = [n for n, (new, _) in old.versions.items() if n > 0 and new.checksum == version.checksum]
        if same:
            return old.version if old.version in same else max(same), False
        number = max((*old.versions, 0)) + 1
        old.versions[number] = (version, now)
        return number, True

    def _make_current(self, old: StoredWorkflow, version: NewVersion, number: int, now: int) -> None:
        stored, _ = old.versions[number]
        old.new = version._replace(id=old.new.id, source=stored.source, graph=stored.graph, checksum=stored.checksum)
        old.version = number
        old.updated_at = max(now, old.updated_at + 1)
        old.status = "active" if old.status == "draft" else old.status
        self._own_trigger(old.new.id, version.owned_trigger, now)

    async def activate_version(self, version: NewVersion, number: int) -> SavedVersion | Unsaved:
        old = self._there(version.tenant, version.id)
        if old is None or number not in old.versions:
            return Unsaved.MISSING
        if old.status == "archived":
            return Unsaved.ARCHIVED
        if not self._raise_revisions(version.tenant, version.entity, old.new.entity):
            return Unsaved.NO_ENTITY
        changed = number != old.version
        self._make_current(old, version._replace(enabled=old.new.enabled), number, self.clock.wall())
        return SavedVersion(version.id, number, False, changed, old.updated_at)

    async def change_status(
        self,
        tenant: int,
        workflow: bytes,
        status: str,
        *,
        slots: Sequence[tuple[bytes, int, int]] = (),
        by: str | None = None,
    ) -> str | None:
        saved = self._there(tenant, workflow)
        if saved is None:
            return None
        before = saved.status
        if before not in ("draft", status):
            self._raise_revisions(tenant, None, saved.new.entity)
            saved.status, saved.new = status, saved.new._replace(enabled=status == "active", author=by)
            saved.updated_at = max(self.clock.wall(), saved.updated_at + 1)
            self._set_slots(workflow, None if status == "archived" else slots)
        return before

    def _set_slots(self, workflow: bytes, slots: Sequence[tuple[bytes, int, int]] | None) -> None:
        """Give schedules of a workflow their next slot; `None`: no schedule of it has one any more."""
        mine = {id_: rule for id_, rule in self.rules.items() if rule.new.workflow == workflow}
        if slots is None:
            for rule in mine.values():
                rule.new = rule.new._replace(next_at=None)
            return
        for id_, seen, next_at in slots:
            found = mine.get(id_)
            if found and found.new.enabled and found.deleted_at is None and found.updated_at == seen:
                found.new = found.new._replace(next_at=next_at)

    def _raise_revisions(self, tenant: int, entity: str | None, before: str | None) -> bool:
        """Raise the revision of the entity of a rule, and of the one before. Return False if the first does not
        exist."""
        if entity is not None and (tenant, entity) not in self.entities_by_name:
            return False
        for name in {entity, before} - {None}:
            row = self.entities_by_name.get((tenant, str(name)))
            if row is not None:
                self.entities_by_name[tenant, row.name] = row._replace(revision=row.revision + 1)
        return True

    def _own_trigger(self, workflow: bytes, new: NewTrigger | None, now: int) -> None:
        """Replace the trigger of a definition with its new one."""
        old = next(
            (t for t in self.rules.values() if t.new.workflow == workflow and t.new.owned and not t.deleted_at), None
        )
        if old is not None and new is not None and old.new.kind == new.kind:
            # A user may have paused the trigger: it stays paused. An unchanged schedule continues from its next slot.
            next_at = old.new.next_at if old.new.config == new.config or not old.new.enabled else new.next_at
            old.new = new._replace(
                id=old.new.id, workflow=workflow, enabled=old.new.enabled, note=old.new.note, next_at=next_at
            )
            old.updated_at = max(now, old.updated_at + 1)
            return
        if old is not None:
            old.deleted_at = now
        if new is not None:
            self.rules[new.id] = StoredTrigger(new._replace(workflow=workflow), now, now)

    def _named(self, tenant: int, name: str) -> StoredWorkflow | None:
        found = (w for w in self.saved.values() if (w.new.tenant, w.new.name) == (tenant, name) and not w.deleted_at)
        return next(found, None)

    def _there(self, tenant: int, workflow: bytes) -> StoredWorkflow | None:
        saved = self.saved.get(workflow)
        return saved if saved and saved.new.tenant == tenant and saved.deleted_at is None else None

    async def workflow(self, tenant: int, key: bytes | str) -> WorkflowRow | None:
        saved = self._named(tenant, key) if isinstance(key, str) else self._there(tenant, key)
        return _workflow_row(saved) if saved else None

    async def deleted_workflow(self, tenant: int, name: str) -> bytes | None:
        mine = (w for w in self.saved.values() if (w.new.tenant, w.new.name) == (tenant, name))
        deleted = [(w.deleted_at, w.new.id) for w in mine if w.deleted_at is not None]
        return max(deleted)[1] if deleted else None

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
        mine = [
            w
            for w in self.saved.values()
            if w.new.tenant == tenant
            and w.deleted_at is None
            and (after is None or w.new.name > after)
            and (enabled is None or w.new.enabled is enabled)
            and (status is None or w.status == status)
            and form in (None, w.new.form)
            and entity in (None, w.new.entity)
        ]
        return [_workflow_row(w) for w in sorted(mine, key=lambda w: w.new.name)[:limit]]

    async def versions(self, tenant: int, workflow: bytes, *, drafts: bool = False) -> list[VersionRow]:
        saved = self._there(tenant, workflow)
        made = sorted(saved.versions) if saved else []
        chosen = [n for n in made if n < 0] if drafts else [n for n in reversed(made) if n > 0]
        return [_version_row(saved, number) for number in chosen if saved]

    async def version(self, tenant: int, workflow: bytes, number: int) -> VersionRow | None:
        saved = self._there(tenant, workflow)
        return _version_row(saved, number) if saved and number in saved.versions else None

    async def archived(self, workflows: Sequence[bytes]) -> set[bytes]:
        return {one for one in workflows if one in self.saved and self.saved[one].status == "archived"}

    async def enable_workflow(self, tenant: int, workflow: bytes, *, enabled: bool, by: str | None = None) -> bool:
        saved = self._there(tenant, workflow)
        if saved is None:
            return False
        self._raise_revisions(tenant, None, saved.new.entity)
        saved.new = saved.new._replace(enabled=enabled, author=by)
        saved.updated_at = max(self.clock.wall(), saved.updated_at + 1)
        return True

    async def delete_workflow(self, tenant: int, workflow: bytes, *, unless_active: bool = False) -> int | Unsaved:
        saved = self._there(tenant, workflow)
        if saved is None:
            return Unsaved.MISSING
        if unless_active and saved.status == "active":
            return Unsaved.ACTIVE
        self._raise_revisions(tenant, None, saved.new.entity)
        now = self.clock.wall()
        saved.draft = None
        self.layouts.pop(workflow, None)
        for trigger in self.rules.values():
            if trigger.new.workflow == workflow and trigger.deleted_at is None:
                trigger.deleted_at = now
        if saved.versions:
            saved.deleted_at = now
        else:
            del self.saved[workflow]
        return now

    async def save_draft(
        self, draft: NewDraft, *, expected: int | None = None, unpublished: bool = False, new: bool = False
    ) -> SavedDraft | Unsaved:
        now, saved = self.clock.wall(), self._named(draft.tenant, draft.name)
        created = saved is None
        if new and not created:
            return Unsaved.TAKEN
        if saved is None:
            if expected is not None:
                return Unsaved.MISSING
            shown = _shown(draft, draft.id)
            saved = StoredWorkflow(shown, 0, now, now, status="draft", created_by=draft.author)
            self.saved[draft.id] = saved
        if unpublished and saved.status != "draft":
            return Unsaved.PUBLISHED
        if expected is not None and expected != _revision(saved):
            return Unsaved.CHANGED
        saved.revision += 1
        if saved.status == "draft" and not created:
            saved.new = saved.new._replace(form=draft.form, title=draft.title, description=draft.description)
            saved.updated_at = max(now, saved.updated_at + 1)
        saved.draft = DraftRow(
            saved.new.id, draft.tenant, draft.source, draft.form, saved.revision, draft.problems, draft.author, now
        )
        return SavedDraft(saved.new.id, saved.revision, created=created)

    async def draft(self, tenant: int, workflow: bytes) -> DraftRow | None:
        saved = self._there(tenant, workflow)
        return saved.draft if saved else None

    async def drop_draft(self, tenant: int, workflow: bytes, *, expected: int | None = None) -> Unsaved | None:
        saved = self._there(tenant, workflow)
        if saved is None or saved.draft is None:
            return Unsaved.MISSING
        if expected not in (None, saved.draft.revision):
            return Unsaved.CHANGED
        if not saved.versions:
            return Unsaved.UNPUBLISHED
        saved.draft = None
        return None

    async def publish_draft(self, version: NewVersion, *, revision: int, activate: bool) -> SavedVersion | Unsaved:
        now, saved = self.clock.wall(), self._there(version.tenant, version.id)
        if saved is None or saved.draft is None:
            return Unsaved.MISSING
        if saved.draft.revision != revision:
            return Unsaved.CHANGED
        if saved.status == "archived":
            return Unsaved.ARCHIVED
        if activate and not self._raise_revisions(version.tenant, version.entity, saved.new.entity):
            return Unsaved.NO_ENTITY
        seen = saved.version
        number, added = self._numbered(saved, version, now)
        if activate:
            self._make_current(saved, version, number, now)
        else:
            saved.new = saved.new._replace(author=version.author)
            saved.updated_at = max(now, saved.updated_at + 1)
        saved.draft = None
        return SavedVersion(version.id, number, False, number != seen if activate else added, saved.updated_at)

    async def store_draft(self, version: NewVersion, *, revision: int) -> bool:
        saved = self._there(version.tenant, version.id)
        if saved is None or _revision(saved) != revision:
            return False
        saved.versions.setdefault(-revision, (version, self.clock.wall()))
        return True


def _revision(saved: StoredWorkflow) -> int:
    return 0 if saved.draft is None else saved.draft.revision


def _shown(draft: NewDraft, id_: bytes) -> NewVersion:
    """Return what a workflow shows that has only a draft."""
    return NewVersion(
        tenant=draft.tenant,
        id=id_,
        name=draft.name,
        form=draft.form,
        description=draft.description,
        enabled=True,
        trigger='{"type": "api", "code": []}',
        labels=None,
        source="",
        graph=b"",
        checksum="",
        language=0,
        title=draft.title,
        author=draft.author,
    )


def _version_row(saved: StoredWorkflow, number: int) -> VersionRow:
    new, at = saved.versions[number]
    return VersionRow(number, new.checksum, at, new.source, new.facts(), new.author)


def _workflow_row(saved: StoredWorkflow) -> WorkflowRow:
    new = saved.new
    return WorkflowRow(
        id=new.id,
        tenant=new.tenant,
        name=new.name,
        form=new.form,
        description=new.description,
        status=saved.status,
        enabled=new.enabled,
        version=saved.version,
        trigger=new.trigger,
        labels=new.labels,
        created_at=saved.created_at,
        updated_at=saved.updated_at,
        source=new.source,
        graph=new.graph,
        title=new.title,
        draft=None if saved.draft is None else saved.draft.revision,
        entity=new.entity,
        updated_by=new.author,
        created_by=saved.created_by,
    )
