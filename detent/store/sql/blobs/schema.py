"""The tables of blobs."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BINARY, Column, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, UniqueConstraint

from detent.store.sql.schema import COUNTER, DATA, ID, LONG, MOMENT, WORD, metadata

DIGEST: Final = LargeBinary().with_variant(BINARY(32), "mysql")

blob = Table(
    "blob",
    metadata,
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

blob_upload = Table(
    "blob_upload",
    metadata,
    Column("id", ID, primary_key=True),
    Column("tenant", Integer, nullable=False),
    Column("place", WORD, nullable=False),
    Column("touched_at", MOMENT, nullable=False),
    sqlite_strict=True,
)

blob_chunk = Table(
    "blob_chunk",
    metadata,
    Column("blob", ID, nullable=False),
    Column("number", Integer, nullable=False, autoincrement=False),
    Column("tenant", Integer, nullable=False),
    Column("data", DATA, nullable=False),
    PrimaryKeyConstraint("blob", "number"),
    sqlite_strict=True,
)

blob_use = Table(
    "blob_use",
    metadata,
    Column("holder", ID, nullable=False),
    Column("blob", ID, nullable=False),
    Column("tenant", Integer, nullable=False),
    Column("at", MOMENT, nullable=False),
    PrimaryKeyConstraint("holder", "blob"),
    sqlite_strict=True,
)
Index("blob_use_blob", blob_use.c.blob)
