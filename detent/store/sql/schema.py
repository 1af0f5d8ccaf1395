"""The tables, described once for every database.

Statements that are not hot are compiled from this description; the hot ones are text beside their dialect. There are no
foreign keys on run, journal, inbox and callback: a flush checks nothing but its fence.

PostgreSQL stores ids as `uuid` and instants as `timestamptz`, so that people can read them. SQLite stores 16 bytes and
integer microseconds. In both cases Python sees bytes and integers. What only PostgreSQL has is in the migrations. Its
indexes are partial like those of SQLite, its journal has partitions, and tables whose rows change often have free space
in their pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BIGINT,
    BINARY,
    TEXT,
    TIMESTAMP,
    UUID,
    VARBINARY,
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

from detent.errors import SchemaMismatch
from detent.store.rows import Finding
from detent.version import VERSION

#: The revision this code needs: the newest migration of the kind `pre`.
HEAD: Final = "0014"
#: The revision of the first release of the code.
FIRST: Final = "0001"
#: The setting that stores the oldest revision of the code that may use the tables.
OLDEST_CODE: Final = "oldest_code"
#: The revision of the tables and the oldest code they allow.
REVISION: Final = f"select version_num, (select value from setting where name = '{OLDEST_CODE}') from alembic_version"
#: MariaDB and MySQL use LONGTEXT or LONGBLOB for a column of this length.
_LONGEST: Final = 2**32 - 1

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
COUNTER: Final = BigInteger().with_variant(Integer(), "sqlite")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
HERO: Final = Text().with_variant(VARBINARY(1020), "mysql")
KEY: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(3000), "mysql")
SHORT: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(256), "mysql")
LONG: Final = Text().with_variant(TEXT(_LONGEST, collation="utf8mb4_bin"), "mysql")
DATA: Final = LargeBinary().with_variant(LargeBinary(_LONGEST), "mysql")
FLAG: Final = Boolean().with_variant(Integer(), "sqlite")

UNOWNED: Final = text("owner is null and ended_at is null")
OWNED: Final = text("owner is not null")
FAILURES: Final = text("outcome in ('failed', 'timeout', 'template_error')")
TROUBLED: Final = text("status not in ('running', 'completed')")
HOLDS: Final = text("active_key is not null and ended_at is null")
FIRED: Final = text("fired_by is not null and ended_at is null")
SCHEDULED: Final = text("next_at is not null and enabled and deleted_at is null")
LISTENING: Final = text("key is not null and deleted_at is null")
PENDING: Final = text("state in ('due', 'starting', 'queued')")
SETTLED: Final = text("state not in ('due', 'starting', 'queued')")

metadata = MetaData()

tenant = Table(
    "tenant",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", NAME, nullable=False),
    Column("status", WORD),  # `suspended`, or `null` for an active one
    Column("settings", LONG),  # what it may use, as JSON
    Column("created_at", MOMENT),
    UniqueConstraint("name"),
    sqlite_strict=True,
)

workflow = Table(
    "workflow",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("name", NAME, nullable=False),
    Column("form", WORD, nullable=False),
    Column("description", LONG),
    Column("status", WORD, nullable=False),
    Column("enabled", FLAG, nullable=False),
    Column("version", Integer, nullable=False),
    Column("trigger", LONG, nullable=False),
    Column("labels", LONG),
    Column("created_at", MOMENT, nullable=False),
    Column("updated_at", MOMENT, nullable=False),
    Column("deleted_at", MOMENT),
    Column("title", LONG),
    Column("revision", Integer),  # of its last draft; it never goes back
    Column("entity", NAME),  # of the rule that is its current version
    Column("updated_by", LONG),
    Column("created_by", LONG),
    sqlite_strict=True,
)
Index(
    "workflow_name",
    workflow.c.tenant,
    workflow.c.name,
    unique=True,
    sqlite_where=text("deleted_at is null"),
)
Index("workflow_entity", workflow.c.tenant, workflow.c.entity, sqlite_where=text("entity is not null"))

workflow_version = Table(
    "workflow_version",
    metadata,
    Column("workflow", ID, nullable=False),
    Column("version", Integer, nullable=False, autoincrement=False),
    Column("tenant", Integer, nullable=False),
    Column("source", LONG, nullable=False),
    Column("graph", DATA, nullable=False),
    Column("checksum", WORD, nullable=False),
    Column("language", Integer, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("facts", LONG),  # `null` in versions that code of revision 0001 saved
    Column("author", LONG),
    PrimaryKeyConstraint("workflow", "version"),
    sqlite_strict=True,
)
Index("workflow_version_checksum", workflow_version.c.workflow, workflow_version.c.checksum)

draft = Table(
    "draft",
    metadata,
    Column("workflow", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("source", LONG, nullable=False),
    Column("form", WORD, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("problems", LONG, nullable=False),
    Column("author", LONG, nullable=False),
    Column("updated_at", MOMENT, nullable=False),
    sqlite_strict=True,
)

run = Table(
    "run",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("workflow", ID, nullable=False),
    Column("version", Integer, nullable=False),
    Column("status", WORD, nullable=False),
    Column("trigger", WORD, nullable=False),
    Column("input", LONG, nullable=False),
    Column("opening", LONG),
    Column("owner", ID),
    Column("epoch", Integer, nullable=False),
    Column("wake_at", MOMENT),
    Column("expires_at", MOMENT),
    Column("queue", NAME, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("code", LONG),
    Column("request_id", NAME),
    Column("request_hash", DATA),
    Column("hero_type", HERO),
    Column("hero_id", HERO),
    Column("labels", LONG),
    Column("origin", ID),
    Column("parent", ID),
    Column("started_at", MOMENT, nullable=False),
    Column("ended_at", MOMENT),
    Column("output", LONG),
    Column("error", LONG),
    Column("origin_kind", WORD),
    Column("fired_by", ID),
    Column("active_key", KEY),
    Column("stage", WORD),  # what a parked run waits for, `null` if it only needs a node
    Column("stage_step", NAME),
    Column("stage_epoch", Integer),  # the epoch in which the stage was written
    Column("principal", LONG),  # on whose behalf it was started, as JSON
    Column("via", LONG),  # the caller that started it, if it is not the principal
    Column("correlation", LONG),
    Column("seal", DATA),  # the digest of its journal, written at its end
    sqlite_strict=True,
)
Index("run_tenant", run.c.tenant, run.c.id)
Index("run_list", run.c.tenant, run.c.workflow, run.c.id)
Index("run_due", run.c.queue, run.c.priority, run.c.wake_at, sqlite_where=UNOWNED)
Index("run_owner", run.c.owner, sqlite_where=OWNED)
Index(
    "run_ended",
    run.c.status,
    run.c.ended_at,
    sqlite_where=text("ended_at is not null"),
)
Index(
    "run_request",
    run.c.tenant,
    run.c.request_id,
    unique=True,
    sqlite_where=text("request_id is not null"),
)
Index(
    "run_hero",
    run.c.tenant,
    run.c.hero_type,
    run.c.hero_id,
    run.c.id,
    sqlite_where=text("hero_type is not null"),
)
Index("run_origin", run.c.origin, sqlite_where=text("origin is not null"))
Index("run_parent", run.c.parent, sqlite_where=text("parent is not null"))
Index("run_fired", run.c.fired_by, run.c.id, sqlite_where=FIRED)
Index("run_troubled", run.c.tenant, run.c.status, run.c.id, sqlite_where=TROUBLED)
Index("run_active", run.c.tenant, run.c.active_key, unique=True, sqlite_where=HOLDS)
Index("run_open", run.c.tenant, run.c.stage, run.c.id, sqlite_where=text("ended_at is null"))
Index("run_page", run.c.tenant, run.c.id, sqlite_where=text("\"trigger\" = 'map'"))

journal = Table(
    "journal",
    metadata,
    Column("run", ID, nullable=False),
    Column("seq", Integer, nullable=False, autoincrement=False),
    Column("tenant", Integer, nullable=False),
    Column("at", MOMENT, nullable=False),
    Column("kind", WORD, nullable=False),
    Column("step", NAME),
    Column("attempt", Integer, nullable=False),
    Column("outcome", WORD),
    Column("data", LONG, nullable=False),
    PrimaryKeyConstraint("run", "seq"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
Index("journal_failed", journal.c.tenant, journal.c.run, sqlite_where=FAILURES)

inbox = Table(
    "inbox",
    metadata,
    Column("id", COUNTER, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("run", ID, nullable=False),
    Column("kind", WORD, nullable=False),
    Column("step", NAME),
    Column("data", LONG, nullable=False),
    Column("source", ID),
    Column("source_seq", Integer),
    Column("at", MOMENT, nullable=False),
    sqlite_strict=True,
    sqlite_autoincrement=True,  # the id of a consumed message is never used again
)
Index("inbox_run", inbox.c.run)
Index(
    "inbox_source",
    inbox.c.source,
    inbox.c.source_seq,
    unique=True,
    sqlite_where=text("source is not null"),
)

callback = Table(
    "callback",
    metadata,
    Column("run", ID, nullable=False),
    Column("step", NAME, nullable=False),
    Column("tenant", Integer, nullable=False),
    Column("state", WORD, nullable=False),
    Column("early", FLAG, nullable=False),
    Column("until", MOMENT),
    Column("message_id", HERO),
    Column("answer", WORD),
    Column("created_at", MOMENT, nullable=False),
    Column("ask", LONG),  # what it asks, as JSON; empty before its wait is active
    Column("decisions", LONG),  # those that do not end it yet, as JSON
    PrimaryKeyConstraint("run", "step"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
Index(
    "callback_active",
    callback.c.tenant,
    callback.c.state,
    callback.c.until,
    sqlite_where=text("state = 'active'"),
)

kept = Table(
    "kept",
    metadata,
    Column("run", ID, nullable=False),
    Column("step", NAME, nullable=False),
    Column("tenant", Integer, nullable=False),
    Column("result", LONG, nullable=False),
    Column("at", MOMENT, nullable=False),
    PrimaryKeyConstraint("run", "step"),
    sqlite_strict=True,
)

node = Table(
    "node",
    metadata,
    Column("id", ID, primary_key=True),
    Column("epoch", Integer, nullable=False),
    Column("offers", LONG),
    sqlite_strict=True,
)

lease = Table(
    "lease",
    metadata,
    Column("node", ID, primary_key=True),
    Column("until", MOMENT, nullable=False),
    sqlite_strict=True,
)

setting = Table(
    "setting",
    metadata,
    Column("name", NAME, primary_key=True),
    Column("value", LONG, nullable=False),
    sqlite_strict=True,
)

seen = Table(
    "seen",
    metadata,
    Column("kind", WORD, nullable=False),
    Column("name", NAME, nullable=False),
    Column("at", MOMENT, nullable=False),
    PrimaryKeyConstraint("kind", "name"),
    sqlite_strict=True,
)

trigger = Table(
    "trigger",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("workflow", ID, nullable=False),
    Column("kind", WORD, nullable=False),
    Column("name", LONG),
    Column("enabled", FLAG, nullable=False),
    Column("config", LONG, nullable=False),
    Column("condition", LONG),
    Column("key", NAME),
    Column("next_at", MOMENT),
    Column("owned", FLAG, nullable=False),
    Column("note", LONG),
    Column("last_at", MOMENT),  # of the firings that have been deleted since
    Column("created_at", MOMENT, nullable=False),
    Column("updated_at", MOMENT, nullable=False),
    Column("deleted_at", MOMENT),
    sqlite_strict=True,
)
Index("trigger_list", trigger.c.tenant, trigger.c.id)
Index("trigger_workflow", trigger.c.workflow)
Index("trigger_due", trigger.c.next_at, trigger.c.id, sqlite_where=SCHEDULED)
Index("trigger_key", trigger.c.tenant, trigger.c.key, sqlite_where=LISTENING)

firing = Table(
    "firing",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("trigger", ID, nullable=False),
    Column("workflow", ID, nullable=False),
    Column("kind", WORD, nullable=False),
    Column("state", WORD, nullable=False),
    Column("due_at", MOMENT, nullable=False),
    Column("slot", MOMENT),
    Column("dedup", NAME),
    Column("request", LONG),
    Column("replay_of", ID),
    Column("message", LONG),
    Column("at", MOMENT, nullable=False),
    Column("until", MOMENT),
    Column("run", ID),
    sqlite_strict=True,
)
Index("firing_tenant", firing.c.tenant, firing.c.id)
Index("firing_list", firing.c.tenant, firing.c.trigger, firing.c.id)
Index("firing_due", firing.c.due_at, firing.c.id, sqlite_where=PENDING)
Index(
    "firing_open",
    firing.c.trigger,
    firing.c.state,
    firing.c.due_at,
    firing.c.id,
    sqlite_where=PENDING,
)
Index("firing_settled", firing.c.at, sqlite_where=SETTLED)
Index(
    "firing_slot",
    firing.c.trigger,
    firing.c.slot,
    unique=True,
    sqlite_where=text("slot is not null"),
)
Index(
    "firing_dedup",
    firing.c.trigger,
    firing.c.dedup,
    unique=True,
    sqlite_where=text("dedup is not null"),
)

link = Table(
    "link",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("system", SHORT, nullable=False),
    Column("type", SHORT, nullable=False),
    Column("id", NAME, nullable=False),
    Column("run", ID, nullable=False),
    Column("step", NAME, nullable=False),
    Column("url", LONG),
    Column("at", MOMENT, nullable=False),
    PrimaryKeyConstraint("tenant", "system", "type", "id"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
Index("link_run", link.c.run)

reservation = Table(
    "reservation",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("system", SHORT, nullable=False),
    Column("type", SHORT, nullable=False),
    Column("id", NAME, nullable=False),  # a key of the user's own
    Column("run", ID, nullable=False),
    Column("step", NAME, nullable=False),
    Column("resource", NAME),  # what was created for it, `null` until then
    Column("url", LONG),
    Column("at", MOMENT, nullable=False),
    PrimaryKeyConstraint("tenant", "system", "type", "id"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
Index("reservation_run", reservation.c.run)

dead_letter = Table(
    "dead_letter",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("kind", WORD, nullable=False),
    Column("workflow", ID, nullable=False),
    Column("run", ID),
    Column("step", NAME),
    Column("source", ID),
    Column("trigger", ID),
    Column("reason", NAME, nullable=False),
    Column("message", LONG, nullable=False),
    Column("payload", LONG),
    Column("attempts", Integer, nullable=False),
    Column("last_error", LONG),
    Column("at", MOMENT, nullable=False),
    Column("state", WORD, nullable=False),
    Column("settled_at", MOMENT),
    Column("settled_by", LONG),
    Column("result", LONG),
    sqlite_strict=True,
)
Index("dead_letter_list", dead_letter.c.tenant, dead_letter.c.state, dead_letter.c.id)
Index("dead_letter_at", dead_letter.c.at)

workflow_template = Table(
    "workflow_template",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("id", NAME, nullable=False),
    Column("title", LONG, nullable=False),
    Column("description", LONG, nullable=False),
    Column("category", NAME, nullable=False),
    Column("definition", LONG, nullable=False),
    Column("config_schema", LONG, nullable=False),
    Column("tags", LONG, nullable=False),
    Column("author", LONG, nullable=False),
    Column("thumbnail_url", LONG),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("tenant", "id"),
    sqlite_strict=True,
)

template_set = Table(
    "template_set",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("id", NAME, nullable=False),
    Column("title", LONG, nullable=False),
    Column("team", NAME, nullable=False),
    Column("enabled", FLAG, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("updated_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("tenant", "id"),
    sqlite_strict=True,
)

template_version = Table(
    "template_version",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("template_set", NAME, nullable=False),
    Column("id", NAME, nullable=False),
    Column("version", Integer, nullable=False, autoincrement=False),
    Column("title", LONG, nullable=False),
    Column("format", WORD, nullable=False),
    Column("fields", LONG, nullable=False),
    Column("body", LONG, nullable=False),
    Column("help", LONG),
    Column("enabled", FLAG, nullable=False),
    Column("author", LONG, nullable=False),
    Column("checksum", WORD, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("tenant", "template_set", "id", "version"),
    sqlite_strict=True,
)


# Which revisions of the tables this code can use.


class StoredRevision(NamedTuple):
    """What a database stores about its tables: their revision (`None`: no tables), and the oldest code they allow."""

    revision: str | None
    oldest_code: str = FIRST

    @classmethod
    def read(cls, row: Sequence[Any] | None) -> StoredRevision:
        """Build it from the row that `REVISION` returns. If no oldest code is stored, every code is allowed."""
        return cls(None) if row is None else cls(str(row[0]), FIRST if row[1] is None else str(row[1]))


def is_older(stored: StoredRevision) -> bool:
    """Return whether the tables lack what this code needs."""
    return stored.revision is None or stored.revision < HEAD


def require_fit(stored: StoredRevision) -> None:
    """Raise SchemaMismatch, with the command to run, unless this code can use the tables.

    Tables of a newer revision fit as long as they allow this code. So a node of the previous release can restart during
    an upgrade."""
    revision, oldest_code = stored
    if revision is None:
        raise SchemaMismatch("the database has no tables of Detent yet: run `detent migrate`")
    if revision < HEAD:
        raise SchemaMismatch(
            f"the tables are at revision {revision}, and this Detent needs {HEAD}: run `detent migrate`"
        )
    if oldest_code > HEAD:
        raise SchemaMismatch(
            f"the tables are at revision {revision} and need a newer Detent, made for revision {oldest_code} or later "
            f"(this one: {HEAD}): install it, or run `detent migrate --to {HEAD}` with the newer one"
        )


def describe(stored: StoredRevision) -> Finding:
    """Return the finding of `doctor` whether this code fits the tables."""
    try:
        require_fit(stored)
    except SchemaMismatch as error:
        return Finding("error", "schema", error.message)
    return Finding(
        "ok",
        "schema",
        f"the tables are at revision {stored.revision} and allow code from revision {stored.oldest_code} on; "
        f"this Detent was made for {HEAD}",
    )


def code_offered() -> dict[str, str]:
    """Return what a node publishes about its code, so that a migration knows which code is running."""
    return {"revision": HEAD, "version": VERSION}
