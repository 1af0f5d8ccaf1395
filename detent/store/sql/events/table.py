"""The table of entity events."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Index, Integer, Table, text

from detent.store.sql.schema import ID, LONG, MOMENT, NAME, WORD, metadata

#: Events that have not ended, and samples.
OPEN: Final = text("until is not null")
SAMPLE: Final = text("until is null")

event = Table(
    "event",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("entity", NAME, nullable=False),
    Column("operation", WORD, nullable=False),
    Column("record", NAME),
    Column("data", LONG, nullable=False),
    Column("dedup", NAME),  # the id that the sender gave
    Column("at", MOMENT, nullable=False),
    Column("until", MOMENT),  # when a node may take it; `null`: it is a sample
    sqlite_strict=True,
)
Index("event_due", event.c.until, event.c.id, sqlite_where=OPEN)
Index("event_sample", event.c.tenant, event.c.entity, event.c.id, sqlite_where=SAMPLE)
Index("event_record", event.c.tenant, event.c.entity, event.c.record, event.c.id, sqlite_where=OPEN)
Index("event_dedup", event.c.tenant, event.c.dedup, unique=True, sqlite_where=text("dedup is not null"))
