"""Blobs. Kind: pre (applied before the code that needs it starts).

Only tables are added, so older code works on the database as before. A run that older code deletes leaves its uses
behind. They are deleted by the next sweep.
"""

from typing import Final

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, LargeBinary, PrimaryKeyConstraint, Text, UniqueConstraint
from sqlalchemy.dialects.mysql import BIGINT, BINARY, LONGBLOB, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TIMESTAMP, UUID

revision: Final = "0014"
down_revision: Final = "0013"
oldest_code: Final = "0001"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
COUNTER: Final = BigInteger().with_variant(Integer(), "sqlite")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")
DATA: Final = LargeBinary().with_variant(LONGBLOB(), "mysql")
DIGEST: Final = LargeBinary().with_variant(BINARY(32), "mysql")


def upgrade() -> None:
    op.create_table(
        "blob",
        Column("id", ID, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("sha256", DIGEST, nullable=False),
        Column("size", COUNTER, nullable=False),
        Column("type", LONG, nullable=False),
        Column("place", WORD, nullable=False),
        Column("created_at", MOMENT, nullable=False),
        Column("touched_at", MOMENT, nullable=False),
        UniqueConstraint("tenant", "sha256", name="blob_content"),
        sqlite_strict=True,
    )
    op.create_table(
        "blob_upload",
        Column("id", ID, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("place", WORD, nullable=False),
        Column("touched_at", MOMENT, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "blob_chunk",
        Column("blob", ID, nullable=False),
        Column("number", Integer, nullable=False, autoincrement=False),
        Column("tenant", Integer, nullable=False),
        Column("data", DATA, nullable=False),
        PrimaryKeyConstraint("blob", "number"),
        sqlite_strict=True,
    )
    op.create_table(
        "blob_use",
        Column("holder", ID, nullable=False),
        Column("blob", ID, nullable=False),
        Column("tenant", Integer, nullable=False),
        Column("at", MOMENT, nullable=False),
        PrimaryKeyConstraint("holder", "blob"),
        sqlite_strict=True,
    )
    op.create_index("blob_use_blob", "blob_use", ["blob"])


def downgrade() -> None:
    for table in ("blob_use", "blob_chunk", "blob_upload", "blob"):
        op.drop_table(table)
