"""One active run per hero, and results that transactions keep. Kind: pre (applied before the code that needs it).

A migration is frozen: it names its own types and never looks at the present description of the tables.

MariaDB and MySQL have no partial indexes: there the key of an open run is a column of its own.
"""

from typing import Final

from alembic import op
from sqlalchemy import Column, Computed, Integer, LargeBinary, PrimaryKeyConstraint, Text, text
from sqlalchemy.dialects.mysql import BIGINT, BINARY, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP, UUID

revision: Final = "0003"
down_revision: Final = "0002"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
KEY: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(3000), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")


def upgrade() -> None:
    op.add_column("run", Column("active_key", KEY))
    held = "active_key"
    if op.get_context().dialect.name == "mysql":
        held = "active_live"
        op.add_column("run", Column(held, KEY, Computed("if(ended_at is null, active_key, null)", persisted=True)))
    holds = text("active_key is not null and ended_at is null")
    op.create_index("run_active", "run", ["tenant", held], unique=True, postgresql_where=holds, sqlite_where=holds)
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
