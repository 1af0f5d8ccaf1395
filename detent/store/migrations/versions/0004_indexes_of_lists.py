"""Indexes of open runs, active callbacks and firings. Kind: pre (applied before the code that needs it starts).

They are on large tables, so PostgreSQL builds them beside the flushes. MariaDB and MySQL have no partial indexes: there
the columns of the condition come first. On PostgreSQL the condition of `run_open` is one that only lists ask for
(`IsOpen`): otherwise flushes would read that index too.
"""

from typing import Final

from alembic import op
from sqlalchemy import text

revision: Final = "0004"
down_revision: Final = "0003"
oldest_code: Final = "0001"
autocommit: Final = True


def upgrade() -> None:
    open_runs = ["tenant", "ended_at", "stage", "id"]
    is_postgres = op.get_context().dialect.name == "postgresql"
    is_open = "num_nonnulls(ended_at) = 0" if is_postgres else "ended_at is null"
    _index("run_open", "run", ["tenant", "stage", "id"], is_open, mysql=open_runs)
    _index("callback_active", "callback", ["tenant", "state", "until"], "state = 'active'")
    _index("firing_tenant", "firing", ["tenant", "id"])


def downgrade() -> None:
    op.drop_index("firing_tenant", "firing", postgresql_concurrently=True)
    op.drop_index("callback_active", "callback", postgresql_concurrently=True)
    op.drop_index("run_open", "run", postgresql_concurrently=True)


def _index(
    name: str, table: str, columns: list[str], where: str | None = None, *, mysql: list[str] | None = None
) -> None:
    dialect = op.get_context().dialect.name
    if dialect == "postgresql":  # an index whose creation was interrupted exists and is not valid
        op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
    condition = None if where is None else text(where)
    op.create_index(
        name,
        table,
        mysql if mysql and dialect == "mysql" else columns,
        postgresql_where=condition,
        postgresql_concurrently=True,
        sqlite_where=condition,
    )
