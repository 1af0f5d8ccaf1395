"""The tables of sealed values. The key that opens them is not in the database."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, Table

from detent.store.sql.schema import DATA, ID, LONG, MOMENT, NAME, WORD, metadata

secret = Table(
    "secret",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("name", NAME, nullable=False),
    Column("version", Integer, nullable=False),  # rises with every new value
    Column("sealed", DATA, nullable=False),
    Column("hosts", LONG),  # a JSON list of the hosts that it may be sent to; `null` means all
    Column("created_at", MOMENT, nullable=False),
    Column("updated_at", MOMENT, nullable=False),
    Column("updated_by", LONG, nullable=False),
    PrimaryKeyConstraint("tenant", "name"),
    sqlite_strict=True,
)

Index("secret_updated", secret.c.updated_at)

credential = Table(
    "credential",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("name", NAME, nullable=False),
    Column("kind", WORD, nullable=False),
    Column("config", LONG, nullable=False),  # what is not secret, as JSON
    Column("sealed", DATA, nullable=False),
    Column("version", Integer, nullable=False),  # rises with every new value; a refresh names the one that it read
    Column("state", WORD, nullable=False),  # `new`, `ready` or `reconnect`
    Column("reason", LONG),  # why it must be connected again
    Column("expires_at", MOMENT),  # of the access token
    Column("refresher", ID),  # the node that refreshes it
    Column("refresh_until", MOMENT),
    Column("created_at", MOMENT, nullable=False),
    Column("updated_at", MOMENT, nullable=False),
    Column("updated_by", LONG, nullable=False),
    PrimaryKeyConstraint("tenant", "name"),
    sqlite_strict=True,
)

#: Runs that are paused until a person has connected their credential.
credential_waiter = Table(
    "credential_waiter",
    metadata,
    Column("tenant", Integer, nullable=False, autoincrement=False),
    Column("name", NAME, nullable=False),  # of the credential
    Column("run", ID, nullable=False),
    Column("at", MOMENT, nullable=False),
    PrimaryKeyConstraint("tenant", "name", "run"),
    sqlite_strict=True,
)
Index("credential_expiry", credential.c.expires_at)
