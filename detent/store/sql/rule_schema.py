"""The tables of rules: entities, layouts, alerts and action templates. The rules themselves are workflows."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, Table, text

from detent.store.sql.schema import COUNTER, FLAG, ID, LONG, MOMENT, NAME, WORD, metadata

entity = Table(
    "entity",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("name", NAME, nullable=False),
    Column("title", LONG, nullable=False),
    Column("fields", LONG),  # a JSON Schema
    Column("revision", COUNTER, nullable=False),  # raised by every change of a rule of the entity
    Column("created_at", MOMENT, nullable=False),
    Column("updated_at", MOMENT, nullable=False),
    sqlite_strict=True,
)
Index("entity_name", entity.c.tenant, entity.c.name, unique=True)

layout = Table(
    "layout",
    metadata,
    Column("workflow", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("data", LONG, nullable=False),
    Column("updated_at", MOMENT, nullable=False),
    sqlite_strict=True,
)

alert = Table(
    "alert",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("workflow", ID, nullable=False),
    Column("run", ID, nullable=False),
    Column("step", NAME, nullable=False),
    Column("alert_type", NAME, nullable=False),
    Column("severity", WORD, nullable=False),
    Column("title", LONG, nullable=False),
    Column("message", LONG, nullable=False),
    Column("context", LONG),
    Column("state", WORD, nullable=False),
    Column("at", MOMENT, nullable=False),
    Column("acknowledged_at", MOMENT),
    Column("acknowledged_by", LONG),
    Column("resolved_at", MOMENT),
    Column("resolved_by", LONG),
    sqlite_strict=True,
)
Index("alert_step", alert.c.run, alert.c.step, unique=True)
Index("alert_list", alert.c.tenant, alert.c.id)
Index("alert_state", alert.c.tenant, alert.c.state, alert.c.id)
Index("alert_workflow", alert.c.tenant, alert.c.workflow, alert.c.id)
Index("alert_resolved", alert.c.resolved_at, sqlite_where=text("resolved_at is not null"))

action_template = Table(
    "action_template",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("name", NAME, nullable=False),
    Column("description", LONG, nullable=False),
    Column("action_type", NAME, nullable=False),
    Column("default_config", LONG, nullable=False),
    Column("is_active", FLAG, nullable=False),
    Column("author", LONG, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("updated_at", MOMENT, nullable=False),
    sqlite_strict=True,
)
Index("action_template_name", action_template.c.tenant, action_template.c.name, unique=True)
