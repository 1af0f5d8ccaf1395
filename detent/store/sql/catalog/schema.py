"""The tables of the catalog: connectors and actions, each row an immutable version."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, Table

from detent.store.sql.schema import COUNTER, FLAG, LONG, MOMENT, NAME, WORD, metadata

connector = Table(
    "connector",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("id", NAME, nullable=False),
    Column("ranking", COUNTER, nullable=False, autoincrement=False),  # orders the versions
    Column("version", WORD, nullable=False),
    Column("title", LONG, nullable=False),
    Column("description", LONG, nullable=False),
    Column("icon_url", LONG),
    Column("documentation_url", LONG),
    Column("enabled", FLAG, nullable=False),  # of all versions of a connector alike
    Column("requires_auth", FLAG, nullable=False),
    Column("auth_type", WORD),
    Column("config_schema", LONG),
    Column("capabilities", LONG, nullable=False),
    Column("source", WORD, nullable=False),
    Column("manifest", LONG, nullable=False),
    Column("checksum", WORD, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("removed_at", MOMENT),  # of all versions of a connector alike
    PrimaryKeyConstraint("tenant", "id", "ranking"),
    sqlite_strict=True,
)

action = Table(
    "action",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("id", NAME, nullable=False),
    Column("ranking", COUNTER, nullable=False, autoincrement=False),
    Column("version", WORD, nullable=False),
    Column("connector", NAME, nullable=False),
    Column("title", LONG, nullable=False),
    Column("description", LONG, nullable=False),
    Column("category", WORD, nullable=False),
    Column("tags", LONG, nullable=False),
    Column("parameters", LONG, nullable=False),
    Column("output", LONG, nullable=False),
    Column("effect", LONG, nullable=False),
    Column("deprecation", LONG),
    Column("enabled", FLAG, nullable=False),  # of all versions of an action alike
    Column("source", WORD, nullable=False),
    Column("definition", LONG),  # `null` for code
    Column("checksum", WORD, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("tenant", "id", "ranking"),
    sqlite_strict=True,
)
Index("action_connector", action.c.tenant, action.c.connector, action.c.id)
