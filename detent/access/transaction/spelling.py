"""Writes statements as a driver reads them, in its paramstyle."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ClauseElement
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import Insert

from detent.store.sql.guests import DialectName

_DIALECTS: Final = {"postgresql": postgresql.dialect, "mysql": mysql.dialect, "sqlite": sqlite.dialect}


class Spelled(NamedTuple):
    """A statement as a driver reads it: the names of its values in their order (null: they are given by name)."""

    sql: str
    names: tuple[str, ...] | None
    fixed: Mapping[str, Any]


class Speller:
    """Writes statements as one driver reads them."""

    def __init__(self, dialect: DialectName, paramstyle: str, *, texts: bool = False) -> None:
        """`texts`: the driver does not know `UUID`, and gets its text."""
        # A tuple of values serves `format` and `pyformat` alike.
        style = "format" if paramstyle in ("format", "pyformat") else paramstyle
        self._dialect: Dialect = _DIALECTS[dialect](paramstyle=style)
        self._texts = texts

    def spell(self, clause: ClauseElement, values: dict[str, Any]) -> tuple[str, Any]:
        spelled = _spelled(self._dialect, clause, tuple(values) if isinstance(clause, Insert) else None)
        params = {name: self._plain(values.get(name, value)) for name, value in spelled.fixed.items()}
        if spelled.names is None:
            return spelled.sql, params
        return spelled.sql, tuple(params[name] for name in spelled.names)

    def _plain(self, value: Any) -> Any:
        return str(value) if self._texts and isinstance(value, UUID) else value


@lru_cache(maxsize=256)
def _spelled(dialect: Dialect, clause: ClauseElement, keys: tuple[str, ...] | None) -> Spelled:
    made = clause.compile(dialect=dialect, column_keys=None if keys is None else list(keys))
    assert isinstance(made, SQLCompiler)
    return Spelled(str(made), None if made.positiontup is None else tuple(made.positiontup), dict(made.params))


@lru_cache(maxsize=32)
def speller(dialect: DialectName, paramstyle: str, *, texts: bool = False) -> Speller:
    """One for all connections of a driver."""
    return Speller(dialect, paramstyle, texts=texts)
