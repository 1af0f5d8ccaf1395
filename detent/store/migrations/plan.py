"""The statements that lead from one revision of the tables to another, up or down.

Alembic only writes the text of the statements; each dialect runs them on its own connection. Only `detent migrate` and
the first start of a SQLite file import this module, because Alembic takes long to load.
"""

from __future__ import annotations

import getpass
import io
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

from detent.clock import SystemClock
from detent.errors import SchemaMismatch
from detent.ids import new_id
from detent.store.sql.schema import FIRST, OLDEST_CODE, StoredRevision, require_fit

_FOLDER: Final = Path(__file__).parent
#: Where the migrations are. A test adds a folder.
FOLDERS: Final = [_FOLDER / "versions"]
#: The name of the revision before the first one: no tables at all.
BASE: Final = "base"
#: The revision with which the audit began.
_AUDIT_SINCE: Final = "0011"

_DESTROYS: Final = re.compile(r"drop table|alter table .* drop column|delete from|truncate", re.IGNORECASE | re.DOTALL)
_NOTES: Final = re.compile(r"(delete from|drop table) (alembic_version|setting)\b", re.IGNORECASE)


class Migration(NamedTuple):
    """One step from a revision to its neighbour. `None` is the revision of a database without tables."""

    current: str | None
    goal: str | None
    statements: list[str]
    #: Each statement commits by itself and can be repeated, such as `create index concurrently`.
    is_autocommit: bool
    #: The oldest code that works on the tables, before and after.
    oldest_before: str
    oldest_after: str

    @property
    def is_post(self) -> bool:
        """Return whether it removes what older code needs."""
        return self.oldest_after > self.oldest_before

    @property
    def is_down(self) -> bool:
        return self.goal is None or (self.current is not None and self.goal < self.current)

    def destroys(self) -> list[str]:
        """Return its statements that delete data."""
        return [one for one in self.statements if _DESTROYS.match(one) and not _NOTES.match(one)]


def revisions() -> list[str]:
    """Return every revision this code knows, oldest first."""
    return [step.revision for step in reversed(list(_scripts(tuple(FOLDERS)).walk_revisions()))]


def plan(
    dialect: str, stored: StoredRevision, to: str | None = None, *, force: bool = False, only_up: bool = False
) -> list[Migration]:
    """Return the migrations from the stored revision to another one, by default the newest.

    The list is empty if a newer Detent made tables that this code can use. It is also empty if `only_up` is given and
    the goal is an older revision. Raise SchemaMismatch if a revision is unknown, or if a downgrade deletes data and
    `force` is not given."""
    current, known = stored.revision, [BASE, *revisions()]
    goal = to or known[-1]
    if goal not in known:
        raise SchemaMismatch(f"{goal!r} is not a revision of this Detent; it knows {', '.join(known)}")
    if current is not None and current not in known:
        if to is None or only_up:
            require_fit(stored)
            return []
        raise SchemaMismatch(
            f"the tables are at revision {current}, which this Detent does not know; run `detent migrate --to {to}` "
            "with the version of Detent that made them"
        )
    start, end = known.index(current or BASE), known.index(goal)
    if only_up and start > end:
        return []
    path = known[start : end + 1] if start <= end else known[end : start + 1][::-1]
    made = [_migration(tuple(FOLDERS), dialect, before, after) for before, after in pairwise(path)]
    lost = [text for migration in made if migration.is_down for text in migration.destroys()]
    if lost and not force:
        raise SchemaMismatch(
            f"the downgrade from revision {current} to {goal} deletes data ({'; '.join(map(_short, lost))}); "
            f"run `detent migrate --to {goal} --force` to do it"
        )
    # The tables of a new database are not worth a row.
    return made if current is None else [_audited(migration, dialect) for migration in made]


def _audited(migration: Migration, dialect: str) -> Migration:
    """Return a migration that writes its row of the audit, if the tables have one before and after it. The row is
    written once, also if the statement is repeated."""
    if migration.goal is None or migration.goal < _AUDIT_SINCE:
        return migration
    id_ = new_id()
    is_postgres = dialect == "postgresql"
    literal = f"'{UUID(bytes=id_)}'::uuid" if is_postgres else f"x'{id_.hex()}'"
    now = "now()" if is_postgres else str(SystemClock().wall())
    detail = f'{{"from":"{migration.current}","to":"{migration.goal}","user":"{_user()}"}}'
    row = f"{literal}, 1, {now}, 'detent migrate', 'local', 'migrate', 'database', '{migration.goal}'"
    source = " from dual" if dialect == "mysql" else ""
    statement = (
        "insert into audit (id, tenant, at, actor, via, action, kind, object, outcome, detail) "
        f"select {row}, 'done', '{detail}'{source} where not exists (select 1 from audit where id = {literal})"
    )
    *changes, note = migration.statements
    return migration._replace(statements=[*changes, statement, note])


def _user() -> str:
    """Return the user of the operating system who migrates, as far as a plain name is known."""
    try:
        return re.sub(r"[^A-Za-z0-9_.@-]", "_", getpass.getuser())[:100]
    except (OSError, KeyError, ImportError):  # such as in a container without a name for its user
        return str(os.getuid()) if hasattr(os, "getuid") else "unknown"


@cache
def _migration(folders: tuple[Path, ...], dialect: str, before: str, after: str) -> Migration:
    """Write the statements of one migration. A process that makes many databases writes them once."""
    scripts = _scripts(folders)
    is_down = after == BASE or (before != BASE and after < before)
    module = scripts.get_revision(before if is_down else after).module
    oldest_before, oldest_after = (
        FIRST if one == BASE else str(scripts.get_revision(one).module.oldest_code) for one in (before, after)
    )
    buffer = io.StringIO()
    migrate = command.downgrade if is_down else command.upgrade
    with _silence():
        migrate(_config(folders, dialect, buffer), f"{before}:{after}", sql=True)
    *changes, note = split(buffer.getvalue())
    if after == BASE:
        statements = [*changes, "drop table alembic_version"]  # without tables there is no revision to store
    else:
        statements = [*changes, *note_oldest_code(oldest_after), note]  # the revision last: it marks success
    return Migration(
        current=None if before == BASE else before,
        goal=None if after == BASE else after,
        statements=statements,
        is_autocommit=getattr(module, "autocommit", False),
        oldest_before=oldest_before,
        oldest_after=oldest_after,
    )


@contextmanager
def _silence() -> Iterator[None]:
    """Drop messages of Alembic that are no trouble. A program with Detent inside may print every message it gets."""
    logger = logging.getLogger("alembic.runtime.migration")
    logger.addFilter(_is_trouble)
    try:
        yield
    finally:
        logger.removeFilter(_is_trouble)


def _is_trouble(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING


def note_oldest_code(code: str) -> list[str]:
    """Return the statements that store which code may work on the tables."""
    return [
        f"delete from setting where name = '{OLDEST_CODE}'",
        f"insert into setting (name, value) values ('{OLDEST_CODE}', '{code}')",
    ]


def split(script: str) -> list[str]:
    """Return the statements of one of our scripts, without its comments."""
    lines = (line for line in script.splitlines() if not line.startswith("--"))
    return [step for part in "\n".join(lines).split(";\n") if (step := part.strip().removesuffix(";"))]


def _short(statement: str) -> str:
    return " ".join(statement.split())[:60]


@cache
def _scripts(folders: tuple[Path, ...]) -> ScriptDirectory:
    return ScriptDirectory.from_config(_config(folders, "sqlite", io.StringIO()))


def _config(folders: tuple[Path, ...], dialect: str, buffer: io.StringIO) -> Config:
    config = Config(output_buffer=buffer, attributes={"dialect": dialect})
    config.set_main_option("script_location", str(_FOLDER))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", os.pathsep.join(map(str, folders)))
    return config
