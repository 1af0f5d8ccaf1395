"""Titles, drafts, and what a start of an older version needs. Kind: pre (applied before the code that needs it starts).

Everything is added, and every new column may be null, so older code works on these tables. A version that older code
saved has no `facts`: those of the current version are in the row of its workflow.
"""

from typing import Final

from alembic import op
from sqlalchemy import Column, Integer, LargeBinary, Text
from sqlalchemy.dialects.mysql import BIGINT, BINARY, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TIMESTAMP, UUID

revision: Final = "0002"
down_revision: Final = "0001"
oldest_code: Final = "0001"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")


def upgrade() -> None:
    op.add_column("workflow", Column("title", LONG))
    op.add_column("workflow", Column("revision", Integer))
    op.add_column("workflow_version", Column("facts", LONG))
    # Not unique: databases of older code have texts that were saved again as a later version.
    op.create_index("workflow_version_checksum", "workflow_version", ["workflow", "checksum"])
    op.create_table(
        "draft",
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


def downgrade() -> None:
    op.drop_table("draft")
    op.drop_index("workflow_version_checksum", "workflow_version")
    op.drop_column("workflow_version", "facts")
    op.drop_column("workflow", "revision")
    op.drop_column("workflow", "title")
