"""The first tables. Kind: pre (applied before the code that needs it starts).

A migration is frozen: it names its own types and never looks at the present description of the tables.

MariaDB and MySQL have no partial indexes. Null is never the same as null in a unique index, which does for most; the
name of a workflow that is not deleted is a column of its own; other indexes begin with what the condition says.
"""

from typing import Final

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Computed,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.mysql import BIGINT, BINARY, LONGBLOB, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP, UUID

revision: Final = "0001"
down_revision: Final = None

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
COUNTER: Final = BigInteger().with_variant(Integer(), "sqlite")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
HERO: Final = Text().with_variant(VARBINARY(1020), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")
DATA: Final = LargeBinary().with_variant(LONGBLOB(), "mysql")
FLAG: Final = Boolean().with_variant(Integer(), "sqlite")

UNOWNED: Final = text("owner is null and ended_at is null")
OWNED: Final = text("owner is not null")
FAILURES: Final = text("outcome in ('failed', 'timeout', 'template_error')")


def _is_mysql() -> bool:
    return op.get_context().dialect.name == "mysql"


def upgrade() -> None:
    _workflows()
    _versions()
    _runs()
    _indexes_of_runs()
    _journal()
    _messages()
    _nodes()
    op.execute("insert into tenant (id, name) values (1, 'default')")
    if op.get_context().dialect.name == "postgresql":
        # Runs whose id lies outside the weeks that have a partition of their own.
        op.execute("create table journal_default partition of journal default")


def _workflows() -> None:
    op.create_table(
        "tenant",
        Column("id", Integer, primary_key=True, autoincrement=False),
        Column("name", NAME, nullable=False),
        UniqueConstraint("name"),
        sqlite_strict=True,
    )
    op.create_table(
        "workflow",
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
        *([Column("live_name", NAME, Computed("if(deleted_at is null, name, null)", persisted=True))] * _is_mysql()),
        sqlite_strict=True,
    )
    op.create_index(
        "workflow_name",
        "workflow",
        ["tenant", "live_name" if _is_mysql() else "name"],
        unique=True,
        postgresql_where=text("deleted_at is null"),
        sqlite_where=text("deleted_at is null"),
    )
    if _is_mysql():
        op.create_index("workflow_list", "workflow", ["tenant", "name"])


def _versions() -> None:
    op.create_table(
        "workflow_version",
        Column("workflow", ID, nullable=False),
        Column("version", Integer, nullable=False, autoincrement=False),
        Column("tenant", Integer, nullable=False),
        Column("source", LONG, nullable=False),
        Column("graph", DATA, nullable=False),
        Column("checksum", WORD, nullable=False),
        Column("language", Integer, nullable=False),
        Column("created_at", MOMENT, nullable=False),
        PrimaryKeyConstraint("workflow", "version"),
        sqlite_strict=True,
    )


def _runs() -> None:
    op.create_table(
        "run",
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
        sqlite_strict=True,
    )


def _indexes_of_runs() -> None:
    op.create_index("run_list", "run", ["tenant", "workflow", "id"])
    if _is_mysql():
        op.create_index("run_due", "run", ["owner", "ended_at", "queue", "priority", "wake_at"])
    else:
        due = ["queue", "priority", "wake_at"]
        op.create_index("run_due", "run", due, postgresql_where=UNOWNED, sqlite_where=UNOWNED)
        op.create_index("run_owner", "run", ["owner"], postgresql_where=OWNED, sqlite_where=OWNED)
    op.create_index(
        "run_ended",
        "run",
        ["status", "ended_at"],
        postgresql_where=text("ended_at is not null"),
        sqlite_where=text("ended_at is not null"),
    )
    op.create_index(
        "run_request",
        "run",
        ["tenant", "request_id"],
        unique=True,
        postgresql_where=text("request_id is not null"),
        sqlite_where=text("request_id is not null"),
    )


def _journal() -> None:
    op.create_table(
        "journal",
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
        postgresql_partition_by="range (run)",
    )
    if not _is_mysql():  # there it would hold every entry
        failed = ["tenant", "run"]
        op.create_index("journal_failed", "journal", failed, postgresql_where=FAILURES, sqlite_where=FAILURES)


def _messages() -> None:
    op.create_table(
        "inbox",
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
        sqlite_autoincrement=True,  # the id of a message that was consumed never comes back
    )
    op.create_index("inbox_run", "inbox", ["run"])
    op.create_index(
        "inbox_source",
        "inbox",
        ["source", "source_seq"],
        unique=True,
        postgresql_where=text("source is not null"),
        sqlite_where=text("source is not null"),
    )
    op.create_table(
        "callback",
        Column("run", ID, nullable=False),
        Column("step", NAME, nullable=False),
        Column("tenant", Integer, nullable=False),
        Column("state", WORD, nullable=False),
        Column("early", FLAG, nullable=False),
        Column("until", MOMENT),
        Column("message_id", HERO),
        Column("answer", WORD),
        Column("created_at", MOMENT, nullable=False),
        PrimaryKeyConstraint("run", "step"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 80},  # its state changes in place
    )


def _nodes() -> None:
    op.create_table(
        "node",
        Column("id", ID, primary_key=True),
        Column("epoch", Integer, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "lease",
        Column("node", ID, primary_key=True),
        Column("until", MOMENT, nullable=False),
        sqlite_strict=True,
        postgresql_with={"fillfactor": 50},  # written with every heartbeat
    )
    op.create_table(
        "setting",
        Column("name", NAME, primary_key=True),
        Column("value", LONG, nullable=False),
        sqlite_strict=True,
    )
