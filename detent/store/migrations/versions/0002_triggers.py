"""Triggers, firings, and what runs are looked for by. Kind: pre (applied before the code that needs it starts).

A migration is frozen: it names its own types and never looks at the present description of the tables.

MariaDB and MySQL have no partial indexes: there some begin with what the condition says.
"""

from typing import Final

from alembic import op
from sqlalchemy import Boolean, Column, Integer, LargeBinary, PrimaryKeyConstraint, Text, text
from sqlalchemy.dialects.mysql import BIGINT, BINARY, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP, UUID

revision: Final = "0002"
down_revision: Final = "0001"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")
FLAG: Final = Boolean().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    _runs()
    _nodes()
    _triggers()
    _firings()


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
    if mysql and op.get_context().dialect.name == "mysql":
        columns = mysql
    op.create_index(name, table, columns, unique=unique, postgresql_where=condition, sqlite_where=condition)


def _runs() -> None:
    op.add_column("run", Column("origin_kind", WORD))
    op.add_column("run", Column("fired_by", ID))
    _index("run_hero", "run", ["tenant", "hero_type", "hero_id", "id"], "hero_type is not null")
    _index("run_origin", "run", ["origin"], "origin is not null")
    _index("run_parent", "run", ["parent"], "parent is not null")
    open_ones = ["fired_by", "ended_at", "id"]
    _index("run_fired", "run", ["fired_by", "id"], "fired_by is not null and ended_at is null", mysql=open_ones)
    _index("run_troubled", "run", ["tenant", "status", "id"], "status not in ('running', 'completed')")


def _nodes() -> None:
    op.add_column("node", Column("offers", LONG))
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
