"""The statements about workflows, their versions and their drafts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Select, bindparam, delete, func, insert, select, text, update

from detent.store.sql.compiler import InList, InsertIfAbsent, Unindexed
from detent.store.sql.schema import draft, run, trigger, workflow, workflow_version

_WORKFLOWS: Final = (
    select(
        workflow.c.id, workflow.c.tenant, workflow.c.name, workflow.c.form, workflow.c.description, workflow.c.status,
        workflow.c.enabled, workflow.c.version, workflow.c.trigger, workflow.c.labels, workflow.c.created_at,
        workflow.c.updated_at, workflow_version.c.source, workflow_version.c.graph, workflow.c.title,
        draft.c.revision, workflow.c.entity, workflow.c.updated_by, workflow.c.created_by,
    )
    .select_from(
        workflow.outerjoin(
            workflow_version,
            (workflow_version.c.workflow == workflow.c.id) & (workflow_version.c.version == workflow.c.version),
        ).outerjoin(draft, draft.c.workflow == workflow.c.id)
    )
    .where(workflow.c.tenant == bindparam("tenant"), workflow.c.deleted_at.is_(None))
)  # fmt: skip
BY_ID: Final = _WORKFLOWS.where(workflow.c.id == bindparam("key"))
BY_NAME: Final = _WORKFLOWS.where(workflow.c.name == bindparam("key"))
DELETED_BY_NAME: Final = (
    select(workflow.c.id)
    .where(
        workflow.c.tenant == bindparam("tenant"),
        workflow.c.name == bindparam("name"),
        workflow.c.deleted_at.is_not(None),
    )
    .order_by(workflow.c.deleted_at.desc())
    .limit(1)
)


@lru_cache(maxsize=16)
def workflows(given: frozenset[str]) -> Select[Any]:
    """Return the workflows of a tenant by name, narrowed by the given columns."""
    query = _WORKFLOWS.where(workflow.c.name > bindparam("after"))
    for name in sorted(given & {"enabled", "status", "form", "entity"}):
        query = query.where(workflow.c[name] == bindparam(name))
    return query.order_by(workflow.c.name).limit(bindparam("limit"))


_VERSIONS: Final = (
    select(
        workflow_version.c.version, workflow_version.c.checksum, workflow_version.c.created_at,
        workflow_version.c.source, workflow_version.c.facts, workflow_version.c.author,
    )
    .join_from(workflow_version, workflow, workflow.c.id == workflow_version.c.workflow)
    .where(
        workflow.c.id == bindparam("workflow"), workflow.c.tenant == bindparam("tenant"),
        workflow.c.deleted_at.is_(None),
    )
)  # fmt: skip
VERSIONS: Final = _VERSIONS.where(workflow_version.c.version > 0).order_by(workflow_version.c.version.desc())
STORED_DRAFTS: Final = _VERSIONS.where(workflow_version.c.version < 0).order_by(workflow_version.c.version)
VERSION: Final = _VERSIONS.where(workflow_version.c.version == bindparam("version"))
ARCHIVED: Final = select(workflow.c.id).where(
    InList(workflow.c.id, "ids", ids=True), workflow.c.status == text("'archived'")
)

#: A workflow's row is locked before its versions and its draft are read or written. So the next number is free, and of
#: two saves the second sees the first.
_LOCKED: Final = (
    select(
        workflow.c.id,
        workflow.c.version,
        workflow.c.updated_at,
        workflow.c.status,
        workflow.c.enabled,
        workflow.c.revision,
        workflow.c.entity,
    )
    .where(workflow.c.tenant == bindparam("tenant"), workflow.c.deleted_at.is_(None))
    .with_for_update()
)
LOCK_BY_NAME: Final = _LOCKED.where(workflow.c.name == bindparam("name"))
LOCK_BY_ID: Final = _LOCKED.where(workflow.c.id == bindparam("id"))
#: A shared lock: it blocks a deletion of the workflow, and no reader.
SHARE: Final = (
    select(workflow.c.id)
    .where(
        workflow.c.id == bindparam("workflow"),
        workflow.c.tenant == bindparam("tenant"),
        workflow.c.deleted_at.is_(None),
    )
    .with_for_update(read=True)
)
_VERSIONS_OF: Final = (workflow_version.c.tenant == bindparam("tenant"), workflow_version.c.workflow == bindparam("id"))
SAME_TEXT: Final = (
    select(workflow_version.c.version)
    .where(
        *_VERSIONS_OF,
        workflow_version.c.checksum == bindparam("checksum"),
        workflow_version.c.version > 0,
    )
    .order_by(workflow_version.c.version.desc())
)
GREATEST: Final = select(func.max(workflow_version.c.version)).where(*_VERSIONS_OF)
HAS_VERSION: Final = select(workflow_version.c.version).where(
    *_VERSIONS_OF, workflow_version.c.version == bindparam("version")
)
ANY_VERSION: Final = select(workflow_version.c.version).where(*_VERSIONS_OF).limit(1)
_KNOWN: Final = (workflow.c.tenant == bindparam("tenant"), workflow.c.id == bindparam("known"))
_TRIGGERS_OF: Final = (Unindexed(trigger.c.tenant) == bindparam("tenant"), trigger.c.workflow == bindparam("known"))

# If another process saves the same name at the same time, the unique index finds it, and no row is returned.
NEW: Final = InsertIfAbsent(
    text(
        """insert into workflow (id, tenant, name, form, title, description, status, enabled, version, "trigger",
                                 labels, created_at, updated_at, revision, entity, updated_by, created_by)
           values (:id, :tenant, :name, :form, :title, :description, :status, :enabled, :next, :trigger, :labels, :now,
                   :now, :revision, :entity, :author, :author)"""
    )
)
CHANGE: Final = (
    update(workflow)
    .where(*_KNOWN)
    .values(
        {
            workflow.c.version: bindparam("next"),
            workflow.c.form: bindparam("form"),
            workflow.c.title: bindparam("title"),
            workflow.c.description: bindparam("description"),
            workflow.c.status: bindparam("status"),
            workflow.c.enabled: bindparam("enabled"),
            workflow.c.trigger: bindparam("trigger"),
            workflow.c.labels: bindparam("labels"),
            workflow.c.updated_at: bindparam("now"),
            workflow.c.entity: bindparam("entity"),
            workflow.c.updated_by: bindparam("author"),
        }
    )
)
ENABLE: Final = (
    update(workflow)
    .where(*_KNOWN)
    .values(
        {
            workflow.c.enabled: bindparam("enabled"),
            workflow.c.updated_at: bindparam("now"),
            workflow.c.updated_by: bindparam("by"),
        }
    )
)
DELETE: Final = update(workflow).where(*_KNOWN).values({workflow.c.deleted_at: bindparam("now")})
TOUCH: Final = (
    update(workflow)
    .where(*_KNOWN)
    .values({workflow.c.updated_at: bindparam("now"), workflow.c.updated_by: bindparam("by")})
)
SET_STATUS: Final = (
    update(workflow)
    .where(*_KNOWN)
    .values(
        {
            workflow.c.status: bindparam("status"),
            workflow.c.enabled: bindparam("enabled"),
            workflow.c.updated_at: bindparam("now"),
            workflow.c.updated_by: bindparam("by"),
        }
    )
)
#: `updated_at` of the triggers stays: nothing that a user has set is changed.
CLEAR_SLOTS: Final = (
    update(trigger).where(*_TRIGGERS_OF, trigger.c.next_at.is_not(None)).values({trigger.c.next_at: None})
)
SET_SLOT: Final = (
    update(trigger)
    .where(
        *_TRIGGERS_OF, trigger.c.id == bindparam("id"), text("enabled"),
        trigger.c.updated_at == bindparam("seen"), trigger.c.deleted_at.is_(None),
    )
    .values({trigger.c.next_at: bindparam("next")})
)  # fmt: skip
REMOVE: Final = delete(workflow).where(*_KNOWN)
DROP_TRIGGERS: Final = (
    update(trigger)
    .where(*_TRIGGERS_OF, trigger.c.deleted_at.is_(None))
    .values({trigger.c.deleted_at: bindparam("now")})
)
NEW_VERSION: Final = insert(workflow_version).values(
    {
        workflow_version.c.workflow: bindparam("id"),
        workflow_version.c.version: bindparam("next"),
        workflow_version.c.tenant: bindparam("tenant"),
        workflow_version.c.source: bindparam("source"),
        workflow_version.c.graph: bindparam("graph"),
        workflow_version.c.checksum: bindparam("checksum"),
        workflow_version.c.language: bindparam("language"),
        workflow_version.c.created_at: bindparam("now"),
        workflow_version.c.facts: bindparam("facts"),
        workflow_version.c.author: bindparam("author"),
    }
)

# The drafts of workflows.

SET_REVISION: Final = update(workflow).where(*_KNOWN).values({workflow.c.revision: bindparam("next")})
#: What a workflow that was never activated shows is that of its draft.
SHOW_DRAFT: Final = (
    update(workflow)
    .where(*_KNOWN)
    .values(
        {
            workflow.c.form: bindparam("form"),
            workflow.c.title: bindparam("title"),
            workflow.c.description: bindparam("description"),
            workflow.c.updated_at: bindparam("now"),
        }
    )
)
DRAFT: Final = (
    select(
        draft.c.workflow, draft.c.tenant, draft.c.source, draft.c.form, draft.c.revision, draft.c.problems,
        draft.c.author, draft.c.updated_at,
    )
    .where(draft.c.workflow == bindparam("workflow"), draft.c.tenant == bindparam("tenant"))
)  # fmt: skip
_DRAFT_OF: Final = (draft.c.tenant == bindparam("tenant"), draft.c.workflow == bindparam("known"))
REVISION: Final = select(draft.c.revision).where(*_DRAFT_OF)
NEW_DRAFT: Final = insert(draft).values(
    {
        draft.c.workflow: bindparam("known"),
        draft.c.tenant: bindparam("tenant"),
        draft.c.source: bindparam("source"),
        draft.c.form: bindparam("form"),
        draft.c.revision: bindparam("next"),
        draft.c.problems: bindparam("problems"),
        draft.c.author: bindparam("author"),
        draft.c.updated_at: bindparam("now"),
    }
)
DROP_DRAFT: Final = delete(draft).where(*_DRAFT_OF)
#: Delete a stored draft that no run needs any more, unless it may be run again.
DROP_STORED_DRAFT: Final = delete(workflow_version).where(
    workflow_version.c.workflow == bindparam("workflow"),
    workflow_version.c.version == bindparam("version"),
    ~select(run.c.id)
    .where(
        run.c.tenant == workflow_version.c.tenant,
        run.c.workflow == workflow_version.c.workflow,
        run.c.version == workflow_version.c.version,
    )
    .correlate(workflow_version)
    .exists(),
    ~select(draft.c.workflow)
    .where(draft.c.workflow == workflow_version.c.workflow, draft.c.revision == bindparam("revision"))
    .correlate(workflow_version)
    .exists(),
)
