"""The statements about entities, layouts, alerts and action templates."""

from __future__ import annotations

from typing import Final

from sqlalchemy import and_, bindparam, delete, select, text, true, update

from detent.store.rule_rows import EntityRow
from detent.store.sql.compiler import InsertIfAbsent
from detent.store.sql.rule_schema import entity
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
RAISE_REVISION: Final = (
    update(entity).where(entity.c.id == bindparam("entity")).values({entity.c.revision: entity.c.revision + text("1")})
)
CHANGE_ENTITY: Final = (
    update(entity)
    .where(entity.c.id == bindparam("entity"))
    .values(
        {
            entity.c.title: bindparam("title"),
            entity.c.fields: bindparam("fields"),
            entity.c.updated_at: bindparam("now"),
        }
    )
)
DROP_ENTITY: Final = delete(entity).where(entity.c.id == bindparam("entity"))
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
