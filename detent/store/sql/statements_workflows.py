"""The statements about workflows and their versions."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, bindparam, insert, select, text, update

from detent.store.sql.compiling import UnlessThere
from detent.store.sql.schema import trigger, workflow, workflow_version

_WORKFLOWS: Final = (
    select(
        workflow.c.id, workflow.c.tenant, workflow.c.name, workflow.c.form, workflow.c.description, workflow.c.status,
        workflow.c.enabled, workflow.c.version, workflow.c.trigger, workflow.c.labels, workflow.c.created_at,
        workflow.c.updated_at, workflow_version.c.source, workflow_version.c.graph,
    )
    .join_from(
        workflow,
        workflow_version,
        (workflow_version.c.workflow == workflow.c.id) & (workflow_version.c.version == workflow.c.version),
    )
    .where(workflow.c.tenant == bindparam("tenant"), workflow.c.deleted_at.is_(None))
)  # fmt: skip
BY_ID: Final = _WORKFLOWS.where(workflow.c.id == bindparam("key"))
BY_NAME: Final = _WORKFLOWS.where(workflow.c.name == bindparam("key"))


def _page(query: Select[Any]) -> Select[Any]:
    return query.where(workflow.c.name > bindparam("after")).order_by(workflow.c.name).limit(bindparam("limit"))


PAGE: Final = _page(_WORKFLOWS)
PAGE_BY_ENABLED: Final = _page(_WORKFLOWS.where(workflow.c.enabled == bindparam("enabled")))

VERSIONS: Final = (
    select(
        workflow_version.c.version, workflow_version.c.checksum, workflow_version.c.created_at,
        workflow_version.c.source,
    )
    .join_from(workflow_version, workflow, workflow.c.id == workflow_version.c.workflow)
    .where(
        workflow.c.id == bindparam("workflow"), workflow.c.tenant == bindparam("tenant"),
        workflow.c.deleted_at.is_(None),
    )
    .order_by(workflow_version.c.version.desc())
)  # fmt: skip

_LOCKED: Final = (
    select(workflow.c.id, workflow.c.version, workflow.c.updated_at)
    .where(workflow.c.tenant == bindparam("tenant"), workflow.c.deleted_at.is_(None))
    .with_for_update()
)
LOCK_BY_NAME: Final = _LOCKED.where(workflow.c.name == bindparam("name"))
LOCK_BY_ID: Final = _LOCKED.where(workflow.c.id == bindparam("id"))
#: Holds off whoever wants to delete it, and nobody else who looks.
SHARE: Final = (
    select(workflow.c.id)
    .where(
        workflow.c.id == bindparam("workflow"),
        workflow.c.tenant == bindparam("tenant"),
        workflow.c.deleted_at.is_(None),
    )
    .with_for_update(read=True)
)
CHECKSUM: Final = select(workflow_version.c.checksum).where(
    workflow_version.c.workflow == bindparam("id"), workflow_version.c.version == bindparam("version")
)

# Whoever saves the same name at the same time is found by its unique index: then nothing is returned.
NEW: Final = UnlessThere(
    text(
        """insert into workflow (id, tenant, name, form, description, status, enabled, version, "trigger", labels,
                                 created_at, updated_at)
           values (:id, :tenant, :name, :form, :description, 'active', :enabled, 1, :trigger, :labels, :now, :now)"""
    )
)
CHANGE: Final = (
    update(workflow)
    .where(workflow.c.id == bindparam("known"))
    .values(
        {
            workflow.c.version: bindparam("next"),
            workflow.c.form: bindparam("form"),
            workflow.c.description: bindparam("description"),
            workflow.c.enabled: bindparam("enabled"),
            workflow.c.trigger: bindparam("trigger"),
            workflow.c.labels: bindparam("labels"),
            workflow.c.updated_at: bindparam("now"),
        }
    )
)
ENABLE: Final = (
    update(workflow)
    .where(workflow.c.id == bindparam("known"))
    .values({workflow.c.enabled: bindparam("enabled"), workflow.c.updated_at: bindparam("now")})
)
DELETE: Final = (
    update(workflow).where(workflow.c.id == bindparam("known")).values({workflow.c.deleted_at: bindparam("now")})
)
DROP_TRIGGERS: Final = (
    update(trigger)
    .where(trigger.c.workflow == bindparam("known"), trigger.c.deleted_at.is_(None))
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
    }
)
