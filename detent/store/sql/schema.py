"""The tables, described once for every database.

Statements that are not hot are compiled from this description; the hot ones are text beside their dialect. There are no
foreign keys on run, journal, inbox and callback: a flush checks nothing but its fence.

PostgreSQL keeps ids as `uuid` and instants as `timestamptz`, for people who look; SQLite keeps 16 bytes and integer
microseconds. Either way Python sees bytes and integers.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP, UUID

#: The newest migration this code was made for.
HEAD: Final = "0001"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql")
COUNTER: Final = BigInteger().with_variant(Integer(), "sqlite")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql")
FLAG: Final = Boolean().with_variant(Integer(), "sqlite")

UNOWNED: Final = text("owner is null and ended_at is null")
OWNED: Final = text("owner is not null")
FAILURES: Final = text("outcome in ('failed', 'timeout', 'template_error')")

metadata = MetaData()

tenant = Table(
    "tenant",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", NAME, nullable=False),
    UniqueConstraint("name"),
    sqlite_strict=True,
)

workflow = Table(
    "workflow",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("name", NAME, nullable=False),
    Column("form", Text, nullable=False),
    Column("description", Text),
    Column("status", Text, nullable=False),
    Column("enabled", FLAG, nullable=False),
    Column("version", Integer, nullable=False),
    Column("trigger", Text, nullable=False),
    Column("labels", Text),
    Column("created_at", MOMENT, nullable=False),
    Column("updated_at", MOMENT, nullable=False),
    Column("deleted_at", MOMENT),
    sqlite_strict=True,
)
Index(
    "workflow_name",
    workflow.c.tenant,
    workflow.c.name,
    unique=True,
    postgresql_where=text("deleted_at is null"),
    sqlite_where=text("deleted_at is null"),
)

workflow_version = Table(
    "workflow_version",
    metadata,
    Column("workflow", ID, nullable=False),
    Column("version", Integer, nullable=False, autoincrement=False),
    Column("tenant", Integer, nullable=False),
    Column("source", Text, nullable=False),
    Column("graph", LargeBinary, nullable=False),
    Column("checksum", Text, nullable=False),
    Column("language", Integer, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("workflow", "version"),
    sqlite_strict=True,
)

run = Table(
    "run",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("workflow", ID, nullable=False),
    Column("version", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("trigger", Text, nullable=False),
    Column("input", Text, nullable=False),
    Column("opening", Text),
    Column("owner", ID),
    Column("epoch", Integer, nullable=False),
    Column("wake_at", MOMENT),
    Column("expires_at", MOMENT),
    Column("queue", NAME, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("code", Text),
    Column("request_id", NAME),
    Column("request_hash", LargeBinary),
    Column("hero_type", Text),
    Column("hero_id", Text),
    Column("labels", Text),
    Column("origin", ID),
    Column("parent", ID),
    Column("started_at", MOMENT, nullable=False),
    Column("ended_at", MOMENT),
    Column("output", Text),
    Column("error", Text),
    sqlite_strict=True,
)
Index("run_list", run.c.tenant, run.c.workflow, run.c.id)
Index("run_due", run.c.queue, run.c.priority, run.c.wake_at, postgresql_where=UNOWNED, sqlite_where=UNOWNED)
Index("run_owner", run.c.owner, postgresql_where=OWNED, sqlite_where=OWNED)
Index(
    "run_ended",
    run.c.status,
    run.c.ended_at,
    postgresql_where=text("ended_at is not null"),
    sqlite_where=text("ended_at is not null"),
)
Index(
    "run_request",
    run.c.tenant,
    run.c.request_id,
    unique=True,
    postgresql_where=text("request_id is not null"),
    sqlite_where=text("request_id is not null"),
)

journal = Table(
    "journal",
    metadata,
    Column("run", ID, nullable=False),
    Column("seq", Integer, nullable=False, autoincrement=False),
    Column("tenant", Integer, nullable=False),
    Column("at", MOMENT, nullable=False),
    Column("kind", Text, nullable=False),
    Column("step", NAME),
    Column("attempt", Integer, nullable=False),
    Column("outcome", Text),
    Column("data", Text, nullable=False),
    PrimaryKeyConstraint("run", "seq"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
    postgresql_partition_by="range (run)",
)
Index("journal_failed", journal.c.tenant, journal.c.run, postgresql_where=FAILURES, sqlite_where=FAILURES)

inbox = Table(
    "inbox",
    metadata,
    Column("id", COUNTER, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("run", ID, nullable=False),
    Column("kind", Text, nullable=False),
    Column("step", NAME),
    Column("data", Text, nullable=False),
    Column("source", ID),
    Column("source_seq", Integer),
    Column("at", MOMENT, nullable=False),
    sqlite_strict=True,
    sqlite_autoincrement=True,  # the id of a message that was consumed never comes back
)
Index("inbox_run", inbox.c.run)
Index(
    "inbox_source",
    inbox.c.source,
    inbox.c.source_seq,
    unique=True,
    postgresql_where=text("source is not null"),
    sqlite_where=text("source is not null"),
)

callback = Table(
    "callback",
    metadata,
    Column("run", ID, nullable=False),
    Column("step", NAME, nullable=False),
    Column("tenant", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("early", FLAG, nullable=False),
    Column("until", MOMENT),
    Column("message_id", Text),
    Column("answer", Text),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("run", "step"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
    postgresql_with={"fillfactor": 80},  # its state changes in place
)

node = Table(
    "node",
    metadata,
    Column("id", ID, primary_key=True),
    Column("epoch", Integer, nullable=False),
    sqlite_strict=True,
)

lease = Table(
    "lease",
    metadata,
    Column("node", ID, primary_key=True),
    Column("until", MOMENT, nullable=False),
    sqlite_strict=True,
    postgresql_with={"fillfactor": 50},  # written with every heartbeat
)

setting = Table(
    "setting",
    metadata,
    Column("name", NAME, primary_key=True),
    Column("value", Text, nullable=False),
    sqlite_strict=True,
)
