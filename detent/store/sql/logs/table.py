"""The table of step logs."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, Table

from detent.store.sql.schema import ID, LONG, NAME, WORD, metadata

step_log = Table(
    "step_log",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("run", ID, nullable=False),
    Column("kind", WORD, nullable=False),  # `lines` or `progress`
    Column("step", NAME, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("first", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("data", LONG, nullable=False),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
Index("step_log_run", step_log.c.run, step_log.c.kind, step_log.c.id)
