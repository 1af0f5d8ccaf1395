"""Resource links, reservations and dead letters. Kind: pre (applied before the code that needs it starts).

Only tables are added, so older code works on the database as before. A run that older code deletes leaves its links
behind. They are deleted when another run claims the same resource.
"""

from typing import Any, Final

from alembic import op
from sqlalchemy import Column, Integer, LargeBinary, PrimaryKeyConstraint, Text
from sqlalchemy.dialects.mysql import BIGINT, BINARY, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP, UUID

revision: Final = "0006"
down_revision: Final = "0005"
oldest_code: Final = "0001"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
SHORT: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(256), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")


def upgrade() -> None:
    _table_of_resources("link")
    _table_of_resources("reservation", Column("resource", NAME))
    op.create_table(
        "dead_letter",
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
    op.create_index("dead_letter_list", "dead_letter", ["tenant", "state", "id"])
    op.create_index("dead_letter_at", "dead_letter", ["at"])


def downgrade() -> None:
    for table in ("dead_letter", "reservation", "link"):
        op.drop_table(table)


def _table_of_resources(name: str, *more: Column[Any]) -> None:
    op.create_table(
        name,
        Column("tenant", Integer, nullable=False, autoincrement=False),
        Column("system", SHORT, nullable=False),
        Column("type", SHORT, nullable=False),
        Column("id", NAME, nullable=False),
        Column("run", ID, nullable=False),
        Column("step", NAME, nullable=False),
        *more,
        Column("url", LONG),
        Column("at", MOMENT, nullable=False),
        PrimaryKeyConstraint("tenant", "system", "type", "id"),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(f"{name}_run", name, ["run"])
