"""Step logs. Kind: pre (applied before the code that needs it starts).

Only a table is added, so older code works on the database as before. It deletes a run without its log; the rows that
are left are deleted by their age.
"""

from typing import Final

from alembic import op
from sqlalchemy import Column, Integer, LargeBinary, Text
from sqlalchemy.dialects.mysql import BINARY, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TEXT, UUID

revision: Final = "0012"
down_revision: Final = "0011"
oldest_code: Final = "0001"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")


def upgrade() -> None:
    op.create_table(
        "step_log",
        Column("id", ID, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("run", ID, nullable=False),
        Column("kind", WORD, nullable=False),
        Column("step", NAME, nullable=False),
        Column("attempt", Integer, nullable=False),
        Column("first", Integer, nullable=False),
        Column("size", Integer, nullable=False),
        Column("data", LONG, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("step_log_run", "step_log", ["run", "kind", "id"])


def downgrade() -> None:
    op.drop_table("step_log")
