"""The statements about entities, layouts, alerts and action templates."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Select, and_, bindparam, delete, func, select, text, true, update

from detent.store.rule_rows import ActionTemplateRow, AlertRow, EntityRow
from detent.store.sql.compiler import InList, InsertIfAbsent, NameOrEmpty
from detent.store.sql.rule_schema import action_template, alert, entity, layout
from detent.store.sql.schema import workflow

# Entities.


_ENTITIES: Final = select(*(entity.c[name] for name in EntityRow._fields)).where(entity.c.tenant == bindparam("tenant"))
ENTITY_BY_ID: Final = _ENTITIES.where(entity.c.id == bindparam("key"))
ENTITY_BY_NAME: Final = _ENTITIES.where(entity.c.name == bindparam("key"))
ENTITIES: Final = _ENTITIES.where(entity.c.name > bindparam("after")).order_by(entity.c.name).limit(bindparam("limit"))
ADD_ENTITY: Final = InsertIfAbsent(
    text(
        """insert into entity (id, tenant, name, title, fields, revision, created_at, updated_at)
           values (:id, :tenant, :name, :title, :fields, 1, :now, :now)"""
    )
)
#: An entity's row is locked before a rule of it changes, and before it is deleted.
LOCK_ENTITY: Final = (
    select(entity.c.id, entity.c.updated_at)
    .where(entity.c.tenant == bindparam("tenant"), entity.c.name == bindparam("entity"))
    .with_for_update()
)
LOCK_ENTITY_BY_ID: Final = (
    select(entity.c.name, entity.c.updated_at)
    .where(entity.c.tenant == bindparam("tenant"), entity.c.id == bindparam("entity"))
    .with_for_update()
)
_THIS_ENTITY: Final = (entity.c.tenant == bindparam("tenant"), entity.c.id == bindparam("entity"))
RAISE_REVISION: Final = update(entity).where(*_THIS_ENTITY).values({entity.c.revision: entity.c.revision + text("1")})
CHANGE_ENTITY: Final = (
    update(entity)
    .where(*_THIS_ENTITY)
    .values(
        {
            entity.c.title: bindparam("title"),
            entity.c.fields: bindparam("fields"),
            entity.c.updated_at: bindparam("now"),
        }
    )
)
DROP_ENTITY: Final = delete(entity).where(*_THIS_ENTITY)
USER_OF_ENTITY: Final = (
    select(workflow.c.id)
    .where(
        workflow.c.tenant == bindparam("tenant"),
        workflow.c.entity == bindparam("entity"),
        workflow.c.deleted_at.is_(None),
    )
    .limit(1)
)
#: One statement, so that the rules are those of the revision. An entity without rules is one row.
ENTITY_RULES: Final = (
    select(
        entity.c.revision,
        workflow.c.id,
        workflow.c.name,
        workflow.c.title,
        workflow.c.version,
        workflow.c.trigger,
    )
    .select_from(
        entity.outerjoin(
            workflow,
            and_(
                workflow.c.tenant == entity.c.tenant,
                workflow.c.entity == entity.c.name,
                workflow.c.deleted_at.is_(None),
                workflow.c.status == text("'active'"),
                workflow.c.enabled == true(),
            ),
        )
    )
    .where(entity.c.tenant == bindparam("tenant"), entity.c.name == bindparam("entity"))
    .order_by(workflow.c.id)
)


# Layouts.


LAYOUT: Final = (
    select(layout.c.data)
    .join_from(layout, workflow, workflow.c.id == layout.c.workflow)
    .where(
        layout.c.workflow == bindparam("workflow"), layout.c.tenant == bindparam("tenant"),
        workflow.c.deleted_at.is_(None),
    )
)  # fmt: skip
HAS_WORKFLOW: Final = select(workflow.c.id).where(
    workflow.c.id == bindparam("workflow"), workflow.c.tenant == bindparam("tenant"), workflow.c.deleted_at.is_(None)
)
_LAYOUT_OF: Final = (layout.c.tenant == bindparam("tenant"), layout.c.workflow == bindparam("workflow"))
LOCK_LAYOUT: Final = select(layout.c.data).where(*_LAYOUT_OF).with_for_update()
ADD_LAYOUT: Final = InsertIfAbsent(
    text("insert into layout (workflow, tenant, data, updated_at) values (:workflow, :tenant, :data, :now)"),
    gives="workflow",
)
CHANGE_LAYOUT: Final = (
    update(layout)
    .where(layout.c.tenant == bindparam("tenant"), layout.c.workflow == bindparam("known"))
    .values({layout.c.data: bindparam("data"), layout.c.updated_at: bindparam("now")})
)
DROP_LAYOUT: Final = delete(layout).where(*_LAYOUT_OF)

# Alerts.


_ALERTS: Final = select(
    *(alert.c[name] for name in AlertRow._fields[:-2]),
    NameOrEmpty(workflow.c.name),
    workflow.c.title,
).select_from(alert.outerjoin(workflow, workflow.c.id == alert.c.workflow))
_OF_TENANT: Final = alert.c.tenant == bindparam("tenant")
ALERT: Final = _ALERTS.where(_OF_TENANT, alert.c.id == bindparam("alert"))
ALERT_OF_STEP: Final = _ALERTS.where(_OF_TENANT, alert.c.run == bindparam("run"), alert.c.step == bindparam("step"))
LOCK_ALERT: Final = select(alert.c.state).where(_OF_TENANT, alert.c.id == bindparam("alert")).with_for_update()
ADD_ALERT: Final = InsertIfAbsent(
    text(
        """insert into alert (id, tenant, workflow, run, step, alert_type, severity, title, message, context, state, at)
           values (:id, :tenant, :workflow, :run, :step, :alert_type, :severity, :title, :message, :context, 'open',
                   :now)"""
    )
)
ACKNOWLEDGE: Final = (
    update(alert)
    .where(_OF_TENANT, alert.c.id == bindparam("alert"))
    .values(
        {
            alert.c.state: text("'acknowledged'"),
            alert.c.acknowledged_at: bindparam("now"),
            alert.c.acknowledged_by: bindparam("by"),
        }
    )
)
RESOLVE: Final = (
    update(alert)
    .where(_OF_TENANT, alert.c.id == bindparam("alert"))
    .values(
        {
            alert.c.state: text("'resolved'"),
            alert.c.resolved_at: bindparam("now"),
            alert.c.resolved_by: bindparam("by"),
        }
    )
)
OLD_ALERTS: Final = (
    select(alert.c.id).where(alert.c.resolved_at < bindparam("before")).order_by(alert.c.id).limit(bindparam("limit"))
)
DROP_ALERTS: Final = delete(alert).where(InList(alert.c.id, "ids", ids=True)).returning(alert.c.id)


@lru_cache(maxsize=256)
def alerts(given: frozenset[str], *, cursor: bool) -> Select[Any]:
    """Return alerts, newest first, narrowed by the given criteria."""
    query = _narrowed(_ALERTS, given)
    if cursor:
        query = query.where(alert.c.id < bindparam("cursor"))
    return query.order_by(alert.c.id.desc()).limit(bindparam("limit"))


@lru_cache(maxsize=128)
def count_alerts(given: frozenset[str]) -> Select[Any]:
    """Count alerts, narrowed by the given criteria."""
    inner = _narrowed(select(alert.c.id), given).limit(bindparam("limit")).subquery("found")
    return select(func.count()).select_from(inner)


def _narrowed(query: Select[Any], given: frozenset[str]) -> Select[Any]:
    query = query.where(_OF_TENANT)
    for name in sorted(given & {"alert_type", "workflow", "run"}):
        query = query.where(alert.c[name] == bindparam(name))
    if "states" in given:
        query = query.where(InList(alert.c.state, "states", ids=False))
    if "severities" in given:
        query = query.where(InList(alert.c.severity, "severities", ids=False))
    if "since" in given:
        query = query.where(alert.c.at >= bindparam("since"))
    return query.where(alert.c.at < bindparam("before")) if "before" in given else query


# Action templates.


_ACTION_TEMPLATES: Final = select(*(action_template.c[name] for name in ActionTemplateRow._fields)).where(
    action_template.c.tenant == bindparam("tenant")
)
ACTION_TEMPLATE: Final = _ACTION_TEMPLATES.where(action_template.c.id == bindparam("template"))
ACTION_TEMPLATE_BY_NAME: Final = _ACTION_TEMPLATES.where(action_template.c.name == bindparam("name"))
LOCK_ACTION_TEMPLATE: Final = ACTION_TEMPLATE.with_for_update()
ADD_ACTION_TEMPLATE: Final = InsertIfAbsent(
    text(
        """insert into action_template (id, tenant, name, description, action_type, default_config, is_active, author,
                                        created_at, updated_at)
           values (:id, :tenant, :name, :description, :action_type, :default_config, :is_active, :author, :created_at,
                   :updated_at)"""
    )
)
DROP_ACTION_TEMPLATE: Final = delete(action_template).where(
    action_template.c.tenant == bindparam("tenant"), action_template.c.id == bindparam("template")
)


@lru_cache(maxsize=4)
def action_templates(given: frozenset[str]) -> Select[Any]:
    """Return the action templates of a tenant by name, narrowed by the given columns."""
    query = _ACTION_TEMPLATES.where(action_template.c.name > bindparam("after"))
    for name in sorted(given):
        query = query.where(action_template.c[name] == bindparam(name))
    return query.order_by(action_template.c.name).limit(bindparam("limit"))
