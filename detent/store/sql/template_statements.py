"""The statements about workflow templates and document templates."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Select, and_, bindparam, delete, func, insert, or_, select, text, true, update

from detent.store.sql.compiler import InsertIfAbsent
from detent.store.sql.schema import template_set, template_version, workflow_template

# Workflow templates.


_FACTS: Final = (
    workflow_template.c.tenant, workflow_template.c.id, workflow_template.c.title, workflow_template.c.description,
    workflow_template.c.category, workflow_template.c.tags, workflow_template.c.author,
    workflow_template.c.thumbnail_url, workflow_template.c.created_at,
)  # fmt: skip
_OWN: Final = workflow_template.c.tenant == bindparam("tenant")
WORKFLOW_TEMPLATE: Final = select(*_FACTS, workflow_template.c.definition, workflow_template.c.config_schema).where(
    _OWN, workflow_template.c.id == bindparam("id")
)
ADD_WORKFLOW_TEMPLATE: Final = InsertIfAbsent(
    text(
        """insert into workflow_template (tenant, id, title, description, category, definition, config_schema, tags,
                                          author, thumbnail_url, created_at)
           values (:tenant, :id, :title, :description, :category, :definition, :config_schema, :tags, :author,
                   :thumbnail_url, :created_at)"""
    )
)
HAS_WORKFLOW_TEMPLATE: Final = (
    select(workflow_template.c.id)
    .where(workflow_template.c.tenant == bindparam("tenant"), workflow_template.c.id == bindparam("id"))
    .with_for_update()
)
DROP_WORKFLOW_TEMPLATE: Final = delete(workflow_template).where(
    workflow_template.c.tenant == bindparam("tenant"), workflow_template.c.id == bindparam("id")
)


@lru_cache(maxsize=2)
def workflow_templates(given: frozenset[str]) -> Select[Any]:
    """Return the workflow templates of a tenant by id, narrowed by the given columns, without their texts."""
    query = select(*_FACTS).where(_OWN, workflow_template.c.id > bindparam("after"))
    if "category" in given:
        query = query.where(workflow_template.c.category == bindparam("category"))
    return query.order_by(workflow_template.c.id).limit(bindparam("limit"))


# Sets of document templates.


_SETS: Final = select(
    template_set.c.tenant, template_set.c.id, template_set.c.title, template_set.c.team, template_set.c.enabled,
    template_set.c.created_at, template_set.c.updated_at,
).where(template_set.c.tenant == bindparam("tenant"))  # fmt: skip
SET: Final = _SETS.where(template_set.c.id == bindparam("id"))
#: A set's row is locked before its templates are written.
LOCK_SET: Final = (
    select(template_set.c.updated_at)
    .where(template_set.c.tenant == bindparam("tenant"), template_set.c.id == bindparam("template_set"))
    .with_for_update()
)
ADD_SET: Final = InsertIfAbsent(
    text(
        """insert into template_set (tenant, id, title, team, enabled, created_at, updated_at)
           values (:tenant, :id, :title, :team, :enabled, :now, :now)"""
    )
)
CHANGE_SET: Final = (
    update(template_set)
    .where(template_set.c.tenant == bindparam("its_tenant"), template_set.c.id == bindparam("its_id"))
    .values(
        {
            template_set.c.title: bindparam("title"),
            template_set.c.team: bindparam("team"),
            template_set.c.enabled: bindparam("enabled"),
            template_set.c.updated_at: bindparam("now"),
        }
    )
)


@lru_cache(maxsize=2)
def template_sets(given: frozenset[str]) -> Select[Any]:
    """Return the sets of a tenant by id, narrowed by the given columns."""
    query = _SETS.where(template_set.c.id > bindparam("after"))
    if "team" in given:
        query = query.where(template_set.c.team == bindparam("team"))
    return query.order_by(template_set.c.id).limit(bindparam("limit"))


# Document templates.


_SHORT: Final = (
    template_version.c.tenant, template_version.c.template_set, template_version.c.id, template_version.c.version,
    template_version.c.title, template_version.c.format, template_version.c.enabled, template_version.c.author,
    template_version.c.checksum, template_version.c.created_at, template_set.c.team,
    template_set.c.enabled.label("set_enabled"),
)  # fmt: skip
_JOINED: Final = template_version.join(
    template_set,
    (template_set.c.tenant == template_version.c.tenant) & (template_set.c.id == template_version.c.template_set),
)
_ONE: Final = and_(
    template_version.c.tenant == bindparam("tenant"),
    template_version.c.template_set == bindparam("template_set"),
    template_version.c.id == bindparam("id"),
)
_WHOLE: Final = (
    select(*_SHORT, template_version.c.fields, template_version.c.body, template_version.c.help)
    .select_from(_JOINED)
    .where(_ONE)
)
DOCUMENT: Final = _WHOLE.where(template_version.c.version == bindparam("version"))
NEWEST_DOCUMENT: Final = (
    _WHOLE.where(template_version.c.enabled == true()).order_by(template_version.c.version.desc()).limit(1)
)
DOCUMENT_VERSIONS: Final = (
    select(*_SHORT)
    .select_from(_JOINED)
    .where(_ONE)
    .order_by(template_version.c.version.desc())
    .limit(bindparam("limit"))
)
SETS_WITH: Final = (
    select(template_version.c.template_set)
    .where(template_version.c.tenant == bindparam("tenant"), template_version.c.id == bindparam("id"))
    .distinct()
    .order_by(template_version.c.template_set)
    .limit(bindparam("limit"))
)
NEWEST_TEXT: Final = (
    select(template_version.c.version, template_version.c.checksum)
    .where(_ONE)
    .order_by(template_version.c.version.desc())
    .limit(1)
)
ADD_DOCUMENT: Final = insert(template_version).values(
    {
        template_version.c.tenant: bindparam("tenant"),
        template_version.c.template_set: bindparam("template_set"),
        template_version.c.id: bindparam("id"),
        template_version.c.version: bindparam("version"),
        template_version.c.title: bindparam("title"),
        template_version.c.format: bindparam("format"),
        template_version.c.fields: bindparam("fields"),
        template_version.c.body: bindparam("body"),
        template_version.c.help: bindparam("help"),
        template_version.c.enabled: bindparam("enabled"),
        template_version.c.author: bindparam("author"),
        template_version.c.checksum: bindparam("checksum"),
        template_version.c.created_at: bindparam("now"),
    }
)
_ENABLE: Final = update(template_version).values({template_version.c.enabled: bindparam("is_enabled")})
ENABLE_ALL: Final = _ENABLE.where(_ONE)
ENABLE_ONE: Final = ENABLE_ALL.where(template_version.c.version == bindparam("number"))


@lru_cache(maxsize=8)
def documents(given: frozenset[str]) -> Select[Any]:
    """Return the newest version of each document template by set and id, narrowed by the given columns."""
    newer = template_version.alias("newer")
    newest = (
        select(func.max(newer.c.version))
        .where(
            newer.c.tenant == template_version.c.tenant,
            newer.c.template_set == template_version.c.template_set,
            newer.c.id == template_version.c.id,
        )
        .correlate(template_version)
        .scalar_subquery()
    )
    query = (
        select(*_SHORT)
        .select_from(_JOINED)
        .where(template_version.c.tenant == bindparam("tenant"), template_version.c.version == newest)
    )
    if "after" in given:
        behind = (template_version.c.template_set == bindparam("after_set")) & (
            template_version.c.id > bindparam("after_id")
        )
        query = query.where(or_(template_version.c.template_set > bindparam("behind_set"), behind))
    if "template_set" in given:
        query = query.where(template_version.c.template_set == bindparam("template_set"))
    if "team" in given:
        query = query.where(template_set.c.team == bindparam("team"))
    return query.order_by(template_version.c.template_set, template_version.c.id).limit(bindparam("limit"))
