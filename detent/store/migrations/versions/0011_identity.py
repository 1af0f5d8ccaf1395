"""Keys, people, sessions, audit, secrets and credentials. Kind: pre (applied before the code that needs it starts).

Tables are added, and columns that older code leaves empty: a run of older code was started by no principal.
"""

from typing import Final

from alembic import op
from sqlalchemy import Column, Integer, LargeBinary, PrimaryKeyConstraint, Text, UniqueConstraint
from sqlalchemy.dialects.mysql import BIGINT, BINARY, LONGBLOB, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP, UUID

revision: Final = "0011"
down_revision: Final = "0010"
oldest_code: Final = "0001"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")
DATA: Final = LargeBinary().with_variant(LONGBLOB(), "mysql")

TABLES: Final = ("api_key", "person", "session", "handshake", "audit", "secret", "credential", "credential_waiter")


def upgrade() -> None:
    _add_identity()
    _add_audit()
    _add_vault()
    # Last: a column locks its table until the migration commits, and nodes at work use these.
    op.add_column("tenant", Column("status", WORD))
    op.add_column("tenant", Column("settings", LONG))
    op.add_column("tenant", Column("created_at", MOMENT))
    op.add_column("workflow", Column("created_by", LONG))
    op.add_column("run", Column("principal", LONG))
    op.add_column("run", Column("via", LONG))
    op.add_column("run", Column("correlation", LONG))
    op.add_column("run", Column("seal", DATA))


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
    for table, column in (
        ("run", "seal"),
        ("run", "correlation"),
        ("run", "via"),
        ("run", "principal"),
        ("workflow", "created_by"),
        ("tenant", "created_at"),
        ("tenant", "settings"),
        ("tenant", "status"),
    ):
        op.drop_column(table, column)


def _add_identity() -> None:
    op.create_table(
        "api_key",
        Column("id", WORD, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("name", NAME, nullable=False),
        Column("hash", WORD, nullable=False),
        Column("role", WORD),
        Column("scopes", LONG),
        Column("workflows", LONG),
        Column("created_at", MOMENT, nullable=False),
        Column("created_by", LONG, nullable=False),
        Column("expires_at", MOMENT),
        Column("used_at", MOMENT),
        Column("revoked_at", MOMENT),
        sqlite_strict=True,
    )
    op.create_index("api_key_list", "api_key", ["tenant", "id"])
    _add_people()


def _add_people() -> None:
    op.create_table(
        "person",
        Column("id", ID, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("name", NAME, nullable=False),
        Column("display_name", LONG, nullable=False),
        Column("email", LONG),
        Column("role", WORD, nullable=False),
        Column("password", LONG),
        Column("created_at", MOMENT, nullable=False),
        Column("created_by", LONG, nullable=False),
        Column("changed_at", MOMENT, nullable=False),
        Column("disabled_at", MOMENT),
        UniqueConstraint("name"),
        sqlite_strict=True,
    )
    op.create_index("person_list", "person", ["tenant", "id"])
    op.create_table(
        "session",
        Column("hash", WORD, primary_key=True),
        Column("id", ID, nullable=False),
        Column("tenant", Integer, nullable=False),
        Column("subject", NAME, nullable=False),
        Column("identity", LONG, nullable=False),
        Column("created_at", MOMENT, nullable=False),
        Column("seen_at", MOMENT, nullable=False),
        Column("expires_at", MOMENT, nullable=False),
        Column("address", LONG),
        Column("agent", LONG),
        UniqueConstraint("id"),
        sqlite_strict=True,
    )
    op.create_index("session_list", "session", ["tenant", "id"])
    op.create_index("session_subject", "session", ["tenant", "subject"])
    op.create_index("session_expiry", "session", ["expires_at"])
    op.create_table(
        "handshake",
        Column("id", WORD, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("kind", WORD, nullable=False),
        Column("data", LONG, nullable=False),
        Column("expires_at", MOMENT, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("handshake_expiry", "handshake", ["expires_at"])


def _add_audit() -> None:
    op.create_table(
        "audit",
        Column("id", ID, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("at", MOMENT, nullable=False),
        Column("actor", LONG, nullable=False),
        Column("via", WORD, nullable=False),
        Column("action", WORD, nullable=False),
        Column("kind", WORD, nullable=False),
        Column("object", NAME),
        Column("outcome", WORD, nullable=False),
        Column("reason", LONG),
        Column("address", LONG),
        Column("correlation", NAME),
        Column("detail", LONG),
        sqlite_strict=True,
    )
    op.create_index("audit_list", "audit", ["tenant", "id"])
    op.create_index("audit_object", "audit", ["tenant", "kind", "object", "id"])
    op.create_index("audit_at", "audit", ["at"])


def _add_vault() -> None:
    op.create_table(
        "secret",
        Column("tenant", Integer, nullable=False, autoincrement=False),
        Column("name", NAME, nullable=False),
        Column("version", Integer, nullable=False),
        Column("sealed", DATA, nullable=False),
        Column("hosts", LONG),
        Column("created_at", MOMENT, nullable=False),
        Column("updated_at", MOMENT, nullable=False),
        Column("updated_by", LONG, nullable=False),
        PrimaryKeyConstraint("tenant", "name"),
        sqlite_strict=True,
    )
    op.create_index("secret_updated", "secret", ["updated_at"])
    op.create_table(
        "credential",
        Column("tenant", Integer, nullable=False, autoincrement=False),
        Column("name", NAME, nullable=False),
        Column("kind", WORD, nullable=False),
        Column("config", LONG, nullable=False),
        Column("sealed", DATA, nullable=False),
        Column("version", Integer, nullable=False),
        Column("state", WORD, nullable=False),
        Column("reason", LONG),
        Column("expires_at", MOMENT),
        Column("refresher", ID),
        Column("refresh_until", MOMENT),
        Column("created_at", MOMENT, nullable=False),
        Column("updated_at", MOMENT, nullable=False),
        Column("updated_by", LONG, nullable=False),
        PrimaryKeyConstraint("tenant", "name"),
        sqlite_strict=True,
    )
    op.create_index("credential_expiry", "credential", ["expires_at"])
    op.create_table(
        "credential_waiter",
        Column("tenant", Integer, nullable=False, autoincrement=False),
        Column("name", NAME, nullable=False),
        Column("run", ID, nullable=False),
        Column("at", MOMENT, nullable=False),
        PrimaryKeyConstraint("tenant", "name", "run"),
        sqlite_strict=True,
    )
