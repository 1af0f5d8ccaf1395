"""The statements of `store/sql/statements.py` for MariaDB and MySQL."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from sqlalchemy import ClauseElement, Dialect, text
from sqlalchemy.dialects import mysql

from detent.store.sql import statements
from detent.store.sql.compiler import InsertIfAbsent, Statement, Values, compiled
from detent.store.sql.mysql.flush import filled

DIALECT: Final[Dialect] = mysql.dialect(paramstyle="format")

#: Statements that need another text on these servers.
_OURS: Final[dict[ClauseElement, ClauseElement]] = {
    statements.SAW: text(
        """insert into seen (kind, name, at) values (:kind, :name, :now)
           on duplicate key update at = values(at)"""
    ),
    # The key of an open run is a separate column; see the migration.
    statements.ACTIVE_RUN: text("select id from run where tenant = :tenant and active_live = :key"),
}
#: Neither server returns the rows that an update changed, only their number.
_RETURNING: Final = re.compile(r"\s+RETURNING \S+\s*$")


class Spoken(NamedTuple):
    """A statement without its values. `gives_count`: the number of matched rows takes the place of the rows."""

    statement: Statement
    gives_count: bool
    unless_there: bool

    def filled(self, values: Values) -> str:
        return filled(self.statement.text, self.statement.arguments(values))


@lru_cache(maxsize=1024)
def spoken(clause: ClauseElement) -> Spoken:
    made = compiled(_OURS.get(clause, clause), DIALECT)
    bare = _RETURNING.sub("", made.text)
    unless_there = isinstance(clause, InsertIfAbsent)
    return Spoken(Statement(bare, made.names, made.fixed), unless_there or bare != made.text, unless_there)
