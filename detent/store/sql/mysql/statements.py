"""The statements of `store/sql/statements.py` in the words of MariaDB and MySQL."""

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

#: What cannot be said in words that every database knows.
_OURS: Final[dict[ClauseElement, ClauseElement]] = {
    statements.SAW: text(
        """insert into seen (kind, name, at) values (:kind, :name, :now)
           on duplicate key update at = values(at)"""
    ),
    # The key of an open run is a column of its own, see the migration.
    statements.ACTIVE_RUN: text("select id from run where tenant = :tenant and active_live = :key"),
}
#: Neither server gives the rows that an update changed; how many there were has to do.
_RETURNING: Final = re.compile(r"\s+RETURNING \S+\s*$")


class Spoken(NamedTuple):
    """A statement with its values still missing. `gives_count`: in place of rows, there are as many as it matched."""

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
