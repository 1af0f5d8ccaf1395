"""The first tables. Kind: pre (applied before the code that needs it starts).

A migration is frozen: it names its own types and never looks at the present description of the tables.
"""

from typing import Final

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP, UUID

revision: Final = "0001"
down_revision: Final = None

ID: Final = LargeBinary().with_variant(UUID(), "postgresql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql")
COUNTER: Final = BigInteger().with_variant(Integer(), "sqlite")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql")
FLAG: Final = Boolean().with_variant(Integer(), "sqlite")

UNOWNED: Final = text("owner is null and ended_at is null")
OWNED: Final = text("owner is not null")
FAILURES: Final = text("outcome in ('failed', 'timeout', 'template_error')")


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
    op.create_index(
        "workflow_name",
        "workflow",
        ["tenant", "name"],
        unique=True,
        postgresql_where=text("deleted_at is null"),
        sqlite_where=text("deleted_at is null"),
    )


def _versions() -> None:
    op.create_table(
        "workflow_version",
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


def _runs() -> None:
    op.create_table(
        "run",
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


def _indexes_of_runs() -> None:
    op.create_index("run_list", "run", ["tenant", "workflow", "id"])
    op.create_index("run_due", "run", ["queue", "priority", "wake_at"], postgresql_where=UNOWNED, sqlite_where=UNOWNED)
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
    op.create_index("journal_failed", "journal", ["tenant", "run"], postgresql_where=FAILURES, sqlite_where=FAILURES)


def _messages() -> None:
    op.create_table(
        "inbox",
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
        Column("value", Text, nullable=False),
        sqlite_strict=True,
    )
