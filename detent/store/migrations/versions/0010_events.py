"""Entity events. Kind: pre (applied before the code that needs it starts).

Only a table is added, so older code works on the database as before, and leaves events to nodes that know them.
"""

from typing import Final

from alembic import op
from sqlalchemy import Column, Integer, LargeBinary, Text, text
from sqlalchemy.dialects.mysql import BIGINT, BINARY, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP, UUID

revision: Final = "0010"
down_revision: Final = "0009"
oldest_code: Final = "0001"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")
OPEN: Final = text("until is not null")
SAMPLE: Final = text("until is null")
NAMED: Final = text("dedup is not null")


def upgrade() -> None:
    op.create_table(
        "event",
        Column("id", ID, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("entity", NAME, nullable=False),
        Column("operation", WORD, nullable=False),
        Column("record", NAME),
        Column("data", LONG, nullable=False),
        Column("dedup", NAME),
        Column("at", MOMENT, nullable=False),
        Column("until", MOMENT),
        sqlite_strict=True,
    )
    op.create_index("event_due", "event", ["until", "id"], sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_index("event_sample", "event", ["tenant", "entity", "id"], sqlite_where=SAMPLE, postgresql_where=SAMPLE)
    op.create_index(
        "event_record", "event", ["tenant", "entity", "record", "id"], sqlite_where=OPEN, postgresql_where=OPEN
    )
    op.create_index(
        "event_dedup", "event", ["tenant", "dedup"], unique=True, sqlite_where=NAMED, postgresql_where=NAMED
    )


def downgrade() -> None:
    op.drop_table("event")
