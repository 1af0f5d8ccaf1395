"""Statements that are not hot are written once with SQLAlchemy Core and compiled once per dialect to plain text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    Boolean,
    ClauseElement,
    Column,
    ColumnElement,
    Dialect,
    Integer,
    TextClause,
    bindparam,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from detent.store.rows import Flush, NewRun

# SQL that lives in files beside the code that runs it.


_AGAIN: Final = re.compile(r"/\*again (.*?) \*/")
_ONCE: Final = re.compile(r"/\*once (.*?) \*/")
_CHECKED: Final = re.compile(r"/\*checked (.*?) \*/")


def read_sql(package: str, name: str) -> str:
    """The text of a file of that package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def once_and_again(sql: str) -> dict[bool, str]:
    """The two readings of a statement: the clauses marked `again` are alive in the second one, those marked `once` in
    the first."""
    return {False: _AGAIN.sub("", _ONCE.sub(r"\1", sql)), True: _AGAIN.sub(r"\1", _ONCE.sub("", sql))}


def checking(sql: str, *, checked: bool) -> str:
    """The statement with or without the clauses that are marked `checked`."""
    return _CHECKED.sub(r"\1" if checked else "", sql)


# What is special about some starts.


def is_checked(flush: Flush) -> bool:
    """Whether there are starts that may be refused, or that have what few runs have."""
    return any(
        start.current
        or start.request_id is not None
        or start.active_key is not None
        or start.fired_by is not None
        or start.origin_kind is not None
        for start in flush.starts
    )


def successors(starts: Sequence[NewRun]) -> list[NewRun]:
    """The starts that take their active key from another run."""
    return [start for start in starts if start.successor_of is not None and start.active_key is not None]


Values = Mapping[str, Any]


@dataclass(frozen=True)
class Statement:
    """Text for one dialect, and the names of its arguments in their order."""

    text: str
    names: tuple[str, ...]
    fixed: Values

    def arguments(self, values: Values) -> list[Any]:
        return [values[name] if name in values else self.fixed[name] for name in self.names]


@lru_cache(maxsize=1024)
def compiled(clause: ClauseElement, dialect: Dialect) -> Statement:
    """The statement as text of that dialect. `clause` should be one that lives long."""
    made = clause.compile(dialect=dialect)
    assert isinstance(made, SQLCompiler)
    return Statement(str(made), tuple(made.positiontup or ()), dict(made.params))


class InsertIfAbsent(ClauseElement):
    """An insert that does nothing, and gives no row, where a unique index has its like already."""

    inherit_cache = False

    def __init__(self, insert: TextClause, gives: str = "id") -> None:
        """`gives`: the column whose value is given for a row that was inserted."""
        self.insert, self.gives = insert, gives


@compiles(InsertIfAbsent, "postgresql", "sqlite")
def _unless_there(element: InsertIfAbsent, compiler: SQLCompiler, **given: Any) -> str:
    return f"{compiler.process(element.insert, **given)} on conflict do nothing returning {element.gives}"


@compiles(InsertIfAbsent, "mysql")
def _unless_there_mysql(element: InsertIfAbsent, compiler: SQLCompiler, **given: Any) -> str:
    """Whoever runs it takes the error of a doubled key for no row: `insert ignore` would ignore much more than that."""
    return compiler.process(element.insert, **given)


class InList(ColumnElement[bool]):
    """Whether a column has one of the values of a list, which is one argument and not empty: of ids, or of texts."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: Column[Any], name: str, *, ids: bool) -> None:
        self.column, self.ids = column, ids
        self.values: BindParameter[Any] = bindparam(name)


@compiles(InList, "postgresql")
def _among_postgres(element: InList, compiler: SQLCompiler, **given: Any) -> str:
    kind = "uuid" if element.ids else "text"
    return f"{compiler.process(element.column, **given)} = any({compiler.process(element.values, **given)}::{kind}[])"


@compiles(InList, "sqlite")
def _among_sqlite(element: InList, compiler: SQLCompiler, **given: Any) -> str:
    """Texts come as a JSON list, ids side by side in one blob."""
    column, values = compiler.process(element.column, **given), compiler.process(element.values, **given)
    if not element.ids:
        return f"{column} in (select value from json_each({values}))"
    return (
        f"{column} in (with recursive ids (id, rest) as (select null, {values} union all"
        " select substr(rest, 1, 16), substr(rest, 17) from ids where length(rest) > 0)"
        " select id from ids where id is not null)"
    )


@compiles(InList, "mysql")
def _among_mysql(element: InList, compiler: SQLCompiler, **given: Any) -> str:
    """A list is written out where its argument stands."""
    return f"{compiler.process(element.column, **given)} in ({compiler.process(element.values, **given)})"


class Unindexed(ColumnElement[int]):
    """A column that SQLite shall not look up by an index: without statistics it prefers one that is in order."""

    inherit_cache = False
    type = Integer()

    def __init__(self, column: Column[int]) -> None:
        self.column = column


@compiles(Unindexed)
def _unindexed(element: Unindexed, compiler: SQLCompiler, **given: Any) -> str:
    return compiler.process(element.column, **given)


@compiles(Unindexed, "sqlite")
def _unindexed_sqlite(element: Unindexed, compiler: SQLCompiler, **given: Any) -> str:
    return f"+{compiler.process(element.column, **given)}"


class HasLabel(ColumnElement[bool]):
    """Whether the labels of a row, which are JSON text or null, have that key with that value."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, labels: Column[Any], key: str, value: str) -> None:
        self.labels = labels
        self.key_given: BindParameter[Any] = bindparam(key)
        self.value_given: BindParameter[Any] = bindparam(value)


@compiles(HasLabel, "postgresql")
def _has_label_postgres(element: HasLabel, compiler: SQLCompiler, **given: Any) -> str:
    labels, key, value = (
        compiler.process(part, **given) for part in (element.labels, element.key_given, element.value_given)
    )
    # A zero character, which `jsonb` cannot hold, would otherwise make an error of the whole search.
    wanted = f"jsonb_build_object({key}::text, {value}::text)"
    return rf"case when strpos({labels}, '\u0000') = 0 then {labels}::jsonb @> {wanted} else false end"


@compiles(HasLabel, "sqlite")
def _has_label_sqlite(element: HasLabel, compiler: SQLCompiler, **given: Any) -> str:
    labels, key, value = (
        compiler.process(part, **given) for part in (element.labels, element.key_given, element.value_given)
    )
    return f"exists (select 1 from json_each({labels}) label where label.key = {key} and label.value = {value})"


@compiles(HasLabel, "mysql")
def _has_label_mysql(element: HasLabel, compiler: SQLCompiler, **given: Any) -> str:
    labels, key, value = (
        compiler.process(part, **given) for part in (element.labels, element.key_given, element.value_given)
    )
    return f"json_contains({labels}, json_object({key}, {value}))"
