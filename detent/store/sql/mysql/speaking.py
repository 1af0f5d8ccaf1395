"""The cold statements in the words of MariaDB and MySQL."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import ClauseElement, Dialect, text
from sqlalchemy.dialects import mysql

from detent.store.sql import statements
from detent.store.sql.compiling import Statement, UnlessThere, Values, compiled
from detent.store.sql.mysql.faults import Refusal
from detent.store.sql.mysql.literal import filled
from detent.store.sql.mysql.wire import Wire
from detent.store.sql.reach import Rows

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
_DOUBLED: Final = 1062


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
    unless_there = isinstance(clause, UnlessThere)
    return Spoken(Statement(bare, made.names, made.fixed), unless_there or bare != made.text, unless_there)


async def ask(wire: Wire, clause: ClauseElement, values: Values) -> Rows:
    """Run one statement and give its rows."""
    said = spoken(clause)
    try:
        [answer] = await wire.send(said.filled(values))
    except Refusal as refusal:
        if said.unless_there and refusal.code == _DOUBLED:  # only the statement is taken back, not the transaction
            return ()
        raise
    nameless: tuple[Any, ...] = ()
    return [nameless] * answer.matched if said.gives_count else answer.rows
