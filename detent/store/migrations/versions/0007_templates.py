"""Workflow templates, and document templates in sets. Kind: pre (applied before the code that needs it starts)."""

from typing import Final

from alembic import op
from sqlalchemy import Boolean, Column, Integer, PrimaryKeyConstraint, Text
from sqlalchemy.dialects.mysql import BIGINT, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP

revision: Final = "0007"
down_revision: Final = "0006"
oldest_code: Final = "0001"

MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")
FLAG: Final = Boolean().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "workflow_template",
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
    op.create_table(
        "template_set",
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
    op.create_table(
        "template_version",
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


def downgrade() -> None:
    op.drop_table("template_version")
    op.drop_table("template_set")
    op.drop_table("workflow_template")
