"""One active run per hero, and results that a step's own transaction keeps.

Kind: pre (applied before the code that needs it starts).

A migration is frozen: it names its own types and never looks at the present description of the tables.
"""

from typing import Final

from alembic import op
from sqlalchemy import Column, Integer, LargeBinary, PrimaryKeyConstraint, Text, text
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP, UUID

revision: Final = "0003"
down_revision: Final = "0002"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("run", Column("active_key", NAME))
    holds = text("active_key is not null and ended_at is null")
    op.create_index(
        "run_active", "run", ["tenant", "active_key"], unique=True, postgresql_where=holds, sqlite_where=holds
    )
    op.create_table(
        "kept",
        Column("run", ID, nullable=False),
        Column("step", NAME, nullable=False),
        Column("tenant", Integer, nullable=False),
        Column("result", Text, nullable=False),
        Column("at", MOMENT, nullable=False),
        PrimaryKeyConstraint("run", "step"),
        sqlite_strict=True,
    )
