"""The first tables. Kind: pre (applied before the code that needs it starts).

A migration is frozen: it names its own types and never looks at the present description of the tables.

MariaDB and MySQL have no partial indexes. A unique index allows `null` several times, which is enough for most. The
name of a workflow that is not deleted and the key of an open run are columns of their own. Other indexes begin with
the columns of the condition, or have no condition.
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
oldest_code: Final = "0001"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
COUNTER: Final = BigInteger().with_variant(Integer(), "sqlite")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
HERO: Final = Text().with_variant(VARBINARY(1020), "mysql")
KEY: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(3000), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")
DATA: Final = LargeBinary().with_variant(LONGBLOB(), "mysql")
FLAG: Final = Boolean().with_variant(Integer(), "sqlite")

TABLES: Final = (
    "tenant", "workflow", "workflow_version", "run", "journal", "inbox", "callback", "kept", "node", "lease", "setting",
    "seen", "trigger", "firing",
)  # fmt: skip


def upgrade() -> None:
    _workflows()
    _runs()
    _indexes_of_runs()
    _journal()
    _messages()
    _nodes()
    _triggers()
    _firings()
    op.execute("insert into tenant (id, name) values (1, 'default')")
    if op.get_context().dialect.name == "postgresql":
        # Runs whose id is outside the weeks that have a partition of their own.
        op.execute("create table journal_default partition of journal default")


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


def _is_mysql() -> bool:
    return op.get_context().dialect.name == "mysql"


def _index(
    name: str,
    table: str,
    columns: list[str],
    where: str | None = None,
    *,
    unique: bool = False,
    mysql: list[str] | None = None,
) -> None:
    condition = None if where is None else text(where)
    if mysql and _is_mysql():
        columns = mysql
    op.create_index(name, table, columns, unique=unique, postgresql_where=condition, sqlite_where=condition)


def _live(name: str, kind: Text, condition: str) -> list[Column[str]]:
    """Return a column for a unique index without a condition: `null` where the condition does not hold."""
    return [Column(name, kind, Computed(condition, persisted=True))] if _is_mysql() else []


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
        *_live("live_name", NAME, "if(deleted_at is null, name, null)"),
        sqlite_strict=True,
    )
    live = ["tenant", "live_name"]
    _index("workflow_name", "workflow", ["tenant", "name"], "deleted_at is null", unique=True, mysql=live)
    if _is_mysql():
        _index("workflow_list", "workflow", ["tenant", "name"])
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
        Column("origin_kind", WORD),
        Column("fired_by", ID),
        Column("active_key", KEY),
        *_live("active_live", KEY, "if(ended_at is null, active_key, null)"),
        sqlite_strict=True,
    )


def _indexes_of_runs() -> None:
    _index("run_tenant", "run", ["tenant", "id"])
    _index("run_list", "run", ["tenant", "workflow", "id"])
    due = ["owner", "ended_at", "queue", "priority", "wake_at"]
    _index("run_due", "run", ["queue", "priority", "wake_at"], "owner is null and ended_at is null", mysql=due)
    if not _is_mysql():  # there `run_due` begins with the owner
        _index("run_owner", "run", ["owner"], "owner is not null")
    _index("run_ended", "run", ["status", "ended_at"], "ended_at is not null")
    _index("run_request", "run", ["tenant", "request_id"], "request_id is not null", unique=True)
    _index("run_hero", "run", ["tenant", "hero_type", "hero_id", "id"], "hero_type is not null")
    _index("run_origin", "run", ["origin"], "origin is not null")
    _index("run_parent", "run", ["parent"], "parent is not null")
    fired = ["fired_by", "ended_at", "id"]
    _index("run_fired", "run", ["fired_by", "id"], "fired_by is not null and ended_at is null", mysql=fired)
    _index("run_troubled", "run", ["tenant", "status", "id"], "status not in ('running', 'completed')")
    active, live = "active_key is not null and ended_at is null", ["tenant", "active_live"]
    _index("run_active", "run", ["tenant", "active_key"], active, unique=True, mysql=live)


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
    if not _is_mysql():  # there it would contain every entry
        _index("journal_failed", "journal", ["tenant", "run"], "outcome in ('failed', 'timeout', 'template_error')")


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
        sqlite_autoincrement=True,  # the id of a consumed message is never used again
    )
    _index("inbox_run", "inbox", ["run"])
    _index("inbox_source", "inbox", ["source", "source_seq"], "source is not null", unique=True)
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
    op.create_table(
        "kept",
        Column("run", ID, nullable=False),
        Column("step", NAME, nullable=False),
        Column("tenant", Integer, nullable=False),
        Column("result", LONG, nullable=False),
        Column("at", MOMENT, nullable=False),
        PrimaryKeyConstraint("run", "step"),
        sqlite_strict=True,
    )


def _nodes() -> None:
    op.create_table(
        "node",
        Column("id", ID, primary_key=True),
        Column("epoch", Integer, nullable=False),
        Column("offers", LONG),
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
    op.create_table(
        "seen",
        Column("kind", WORD, nullable=False),
        Column("name", NAME, nullable=False),
        Column("at", MOMENT, nullable=False),
        PrimaryKeyConstraint("kind", "name"),
        sqlite_strict=True,
    )


def _triggers() -> None:
    op.create_table(
        "trigger",
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
        Column("last_at", MOMENT),
        Column("created_at", MOMENT, nullable=False),
        Column("updated_at", MOMENT, nullable=False),
        Column("deleted_at", MOMENT),
        sqlite_strict=True,
    )
    _index("trigger_list", "trigger", ["tenant", "id"])
    _index("trigger_workflow", "trigger", ["workflow"])
    scheduled = "next_at is not null and enabled and deleted_at is null"
    _index("trigger_due", "trigger", ["next_at", "id"], scheduled, mysql=["deleted_at", "next_at", "id"])
    _index("trigger_key", "trigger", ["tenant", "key"], "key is not null and deleted_at is null")


def _firings() -> None:
    op.create_table(
        "firing",
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
    _index("firing_list", "firing", ["tenant", "trigger", "id"])
    pending = "state in ('due', 'starting', 'queued')"
    _index("firing_due", "firing", ["due_at", "id"], pending, mysql=["state", "due_at", "id"])
    _index("firing_open", "firing", ["trigger", "state", "due_at", "id"], pending)
    _index("firing_settled", "firing", ["at"], "state not in ('due', 'starting', 'queued')")
    _index("firing_slot", "firing", ["trigger", "slot"], "slot is not null", unique=True)
    _index("firing_dedup", "firing", ["trigger", "dedup"], "dedup is not null", unique=True)
