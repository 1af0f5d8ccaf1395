"""What an open run waits for. Kind: pre (applied before the code that needs it starts).

Every new column may be null, so older code works on these tables. Older code does not change them when it parks a run.
`stage_epoch` is the generation of the run in which the stage was written: with another one the stage is out of date.
"""

from typing import Final

from alembic import op
from sqlalchemy import Column, Integer, Text
from sqlalchemy.dialects.mysql import VARBINARY
from sqlalchemy.dialects.postgresql import TEXT

revision: Final = "0003"
down_revision: Final = "0002"
oldest_code: Final = "0001"

NAME: Final = Text().with_variant(TEXT(collation="C"), "postgresql").with_variant(VARBINARY(1020), "mysql")
WORD: Final = Text().with_variant(VARBINARY(128), "mysql")


def upgrade() -> None:
    op.add_column("run", Column("stage", WORD))
    op.add_column("run", Column("stage_step", NAME))
    op.add_column("run", Column("stage_epoch", Integer))


def downgrade() -> None:
    op.drop_column("run", "stage_epoch")
    op.drop_column("run", "stage_step")
    op.drop_column("run", "stage")
