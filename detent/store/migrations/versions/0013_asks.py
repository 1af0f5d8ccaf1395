"""Asks of waits and the decisions of approvals. Kind: pre (applied before the code that needs it starts).

Columns are added that older code leaves empty: its waits accept any answer.
"""

from typing import Final

from alembic import op
from sqlalchemy import Column, Text
from sqlalchemy.dialects.mysql import LONGTEXT

revision: Final = "0013"
down_revision: Final = "0012"
oldest_code: Final = "0001"

LONG: Final = Text().with_variant(LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin"), "mysql")


def upgrade() -> None:
    op.add_column("callback", Column("ask", LONG))
    op.add_column("callback", Column("decisions", LONG))


def downgrade() -> None:
    op.drop_column("callback", "decisions")
    op.drop_column("callback", "ask")
