"""Indexes of heroes by the bytes of their names, and of pages of maps. Kind: pre (applied before the code that needs it
starts).

PostgreSQL can look for a prefix only in an index that has the order of bytes. The index of heroes has the order of the
database's language. Both indexes are on a large table, so PostgreSQL builds them beside the flushes.
"""

from typing import Final

from alembic import op
from sqlalchemy import text

revision: Final = "0005"
down_revision: Final = "0004"
oldest_code: Final = "0001"
autocommit: Final = True


def upgrade() -> None:
    dialect = op.get_context().dialect.name
    if dialect == "postgresql":
        op.execute("drop index concurrently if exists run_hero_name")  # one that was interrupted is not valid
        op.execute(
            'create index concurrently run_hero_name on run (tenant, hero_type collate "C", hero_id collate "C", id)'
            " where hero_type is not null"
        )
        op.execute("drop index concurrently if exists run_page")
    pages = text("trigger = 'map'")
    op.create_index(
        "run_page",
        "run",
        ["tenant", "trigger", "id"] if dialect == "mysql" else ["tenant", "id"],
        postgresql_where=pages,
        postgresql_concurrently=True,
        sqlite_where=text("\"trigger\" = 'map'"),
    )


def downgrade() -> None:
    op.drop_index("run_page", "run", postgresql_concurrently=True)
    if op.get_context().dialect.name == "postgresql":
        op.execute("drop index concurrently run_hero_name")
