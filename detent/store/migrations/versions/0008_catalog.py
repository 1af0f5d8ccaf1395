"""Connectors and actions: what steps can call. Kind: pre (applied before the code that needs it starts)."""

from typing import Final

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Integer, PrimaryKeyConstraint, Text
from sqlalchemy.dialects.mysql import BIGINT, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP

revision: Final = "0008"
down_revision: Final = "0007"
oldest_code: Final = "0001"

MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
COUNTER: Final = BigInteger().with_variant(Integer(), "sqlite")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")
FLAG: Final = Boolean().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "connector",
        Column("tenant", Integer, nullable=False, autoincrement=False),
        Column("id", NAME, nullable=False),
        Column("ranking", COUNTER, nullable=False, autoincrement=False),
        Column("version", WORD, nullable=False),
        Column("title", LONG, nullable=False),
        Column("description", LONG, nullable=False),
        Column("icon_url", LONG),
        Column("documentation_url", LONG),
        Column("enabled", FLAG, nullable=False),
        Column("requires_auth", FLAG, nullable=False),
        Column("auth_type", WORD),
        Column("config_schema", LONG),
        Column("capabilities", LONG, nullable=False),
        Column("source", WORD, nullable=False),
        Column("manifest", LONG, nullable=False),
        Column("checksum", WORD, nullable=False),
        Column("created_at", MOMENT, nullable=False),
        Column("removed_at", MOMENT),
        PrimaryKeyConstraint("tenant", "id", "ranking"),
        sqlite_strict=True,
    )
    op.create_table(
        "action",
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
        Column("enabled", FLAG, nullable=False),
        Column("source", WORD, nullable=False),
        Column("definition", LONG),
        Column("checksum", WORD, nullable=False),
        Column("created_at", MOMENT, nullable=False),
        PrimaryKeyConstraint("tenant", "id", "ranking"),
        sqlite_strict=True,
    )
    op.create_index("action_connector", "action", ["tenant", "connector", "id"])


def downgrade() -> None:
    op.drop_table("action")
    op.drop_table("connector")
