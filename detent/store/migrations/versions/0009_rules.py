"""Entities, layouts of rules, alerts and action templates. Kind: pre (applied before the code that needs it starts).

A workflow's row names the entity of its rule, and who changed it last. Older code leaves these columns empty.
"""

from typing import Final

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, Integer, LargeBinary, Text, text
from sqlalchemy.dialects.mysql import BIGINT, BINARY, LONGTEXT, VARBINARY
from sqlalchemy.dialects.postgresql import TEXT, TIMESTAMP, UUID

revision: Final = "0009"
down_revision: Final = "0008"
oldest_code: Final = "0001"

ID: Final = LargeBinary().with_variant(UUID(), "postgresql").with_variant(BINARY(16), "mysql")
MOMENT: Final = Integer().with_variant(TIMESTAMP(timezone=True), "postgresql").with_variant(BIGINT(), "mysql")
COUNTER: Final = BigInteger().with_variant(Integer(), "sqlite")
NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")
LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")
FLAG: Final = Boolean().with_variant(Integer(), "sqlite")
RULES: Final = text("entity is not null")


def upgrade() -> None:
    op.create_table(
        "entity",
        Column("id", ID, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("name", NAME, nullable=False),
        Column("title", LONG, nullable=False),
        Column("fields", LONG),
        Column("revision", COUNTER, nullable=False),
        Column("created_at", MOMENT, nullable=False),
        Column("updated_at", MOMENT, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("entity_name", "entity", ["tenant", "name"], unique=True)
    op.create_table(
        "layout",
        Column("workflow", ID, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("data", LONG, nullable=False),
        Column("updated_at", MOMENT, nullable=False),
        sqlite_strict=True,
    )
    _add_alerts()
    op.create_table(
        "action_template",
        Column("id", ID, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("name", NAME, nullable=False),
        Column("description", LONG, nullable=False),
        Column("action_type", NAME, nullable=False),
        Column("default_config", LONG, nullable=False),
        Column("is_active", FLAG, nullable=False),
        Column("author", LONG, nullable=False),
        Column("created_at", MOMENT, nullable=False),
        Column("updated_at", MOMENT, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("action_template_name", "action_template", ["tenant", "name"], unique=True)
    op.add_column("workflow", Column("entity", NAME))
    op.add_column("workflow", Column("updated_by", LONG))
    op.add_column("workflow_version", Column("author", LONG))
    op.create_index("workflow_entity", "workflow", ["tenant", "entity"], sqlite_where=RULES, postgresql_where=RULES)


def downgrade() -> None:
    op.drop_index("workflow_entity", "workflow")
    op.drop_column("workflow_version", "author")
    op.drop_column("workflow", "updated_by")
    op.drop_column("workflow", "entity")
    for table in ("action_template", "alert", "layout", "entity"):
        op.drop_table(table)


def _add_alerts() -> None:
    op.create_table(
        "alert",
        Column("id", ID, primary_key=True),
        Column("tenant", Integer, nullable=False),
        Column("workflow", ID, nullable=False),
        Column("run", ID, nullable=False),
        Column("step", NAME, nullable=False),
        Column("alert_type", NAME, nullable=False),
        Column("severity", WORD, nullable=False),
        Column("title", LONG, nullable=False),
        Column("message", LONG, nullable=False),
        Column("context", LONG),
        Column("state", WORD, nullable=False),
        Column("at", MOMENT, nullable=False),
        Column("acknowledged_at", MOMENT),
        Column("acknowledged_by", LONG),
        Column("resolved_at", MOMENT),
        Column("resolved_by", LONG),
        sqlite_strict=True,
    )
    op.create_index("alert_step", "alert", ["run", "step"], unique=True)
    op.create_index("alert_list", "alert", ["tenant", "id"])
    op.create_index("alert_state", "alert", ["tenant", "state", "id"])
    op.create_index("alert_workflow", "alert", ["tenant", "workflow", "id"])
    resolved = text("resolved_at is not null")
    op.create_index("alert_resolved", "alert", ["resolved_at"], sqlite_where=resolved, postgresql_where=resolved)
