"""Brings the tables of a database to the shape this code was made for.

Alembic is asked for the text of the statements and nothing else, so that each dialect runs them on a connection of its
own, in one transaction with the note of the new revision. It is imported here because only `detent migrate` and the
first start of a SQLite file come here.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from detent.errors import SchemaMismatch
from detent.store.sql.schema import HEAD

_FOLDER: Final = Path(__file__).parent


def revisions() -> list[str]:
    """Every revision this code knows, oldest first."""
    script = ScriptDirectory.from_config(_config("sqlite", io.StringIO()))
    return [step.revision for step in reversed(list(script.walk_revisions()))]


def statements(dialect: str, *, current: str | None, to: str | None = None) -> str:
    """The statements that lead from a revision (null: no tables at all) to another, by default the newest.

    The text notes the new revision in `alembic_version` and neither begins nor commits. It is empty when there is
    nothing to do; SchemaMismatch when the tables are newer than that, or newer than this code."""
    wanted = to or HEAD
    if wanted not in revisions():
        raise SchemaMismatch(f"there is no migration {wanted!r}; the newest is {HEAD!r}")
    if current is not None and current > wanted:
        raise SchemaMismatch(f"the tables are at revision {current}, newer than {wanted}; there is no way back")
    if current == wanted:
        return ""
    buffer = io.StringIO()
    command.upgrade(_config(dialect, buffer), f"{current or 'base'}:{wanted}", sql=True)
    return buffer.getvalue()


def _config(dialect: str, buffer: io.StringIO) -> Config:
    config = Config(output_buffer=buffer, attributes={"dialect": dialect})
    config.set_main_option("script_location", str(_FOLDER))
    config.set_main_option("path_separator", "os")
    return config
