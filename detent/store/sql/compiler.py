"""Compile statements that are not hot: written once with SQLAlchemy Core, compiled once per dialect to plain text."""

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
    TextClause,
    bindparam,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from detent.store.rows import Flush, NewRun, StartCheck

# SQL in files beside the code that runs it.


_AGAIN: Final = re.compile(r"/\*again (.*?) \*/")
_ONCE: Final = re.compile(r"/\*once (.*?) \*/")
_CHECKED: Final = re.compile(r"/\*checked (.*?) \*/")


def read_sql(package: str, name: str) -> str:
    """Return the text of a file of that package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def once_and_again(sql: str) -> dict[bool, str]:
    """Return both variants of a statement, by `again`: the first sending and the repeated one.

    Clauses marked `once` are only in the first variant, clauses marked `again` only in the second."""
    return {False: _AGAIN.sub("", _ONCE.sub(r"\1", sql)), True: _AGAIN.sub(r"\1", _ONCE.sub("", sql))}


def checking(sql: str, *, checked: bool) -> str:
    """Return the statement with or without the clauses that are marked `checked`."""
    return _CHECKED.sub(r"\1" if checked else "", sql)


# Starts that need more than the usual insert.


def is_checked(flush: Flush) -> bool:
    """Return whether a start may be refused, or has one of the columns that few runs have, as one that is sealed."""
    return any(
        start.check is not StartCheck.NONE
        or start.request_id is not None
        or start.active_key is not None
        or start.fired_by is not None
        or start.origin_kind is not None
        or start.stage is not None
        or start.principal is not None
        or start.correlation is not None
        or start.via is not None
        for start in flush.starts
    ) or any(end.seal is not None for end in flush.ends)


def successors(starts: Sequence[NewRun]) -> list[NewRun]:
    """Return the starts that take their active key from another run."""
    return [start for start in starts if start.successor_of is not None and start.active_key is not None]


def in_order(starts: Sequence[NewRun]) -> list[NewRun]:
    """Return the starts in the order in which they are inserted.

    Every node uses the same order, so that two nodes seldom deadlock. Of several starts with one key, the successor
    that inherits it comes first."""
    return sorted(starts, key=_sort_key)


def _sort_key(start: NewRun) -> tuple[int, str, bool, str]:
    return start.tenant, start.active_key or "", start.successor_of is None, start.request_id or ""


Values = Mapping[str, Any]


@dataclass(frozen=True)
class Statement:
    """The text for one dialect, and the names of its arguments in their order."""

    text: str
    names: tuple[str, ...]
    fixed: Values

    def arguments(self, values: Values) -> list[Any]:
        return [values[name] if name in values else self.fixed[name] for name in self.names]


@lru_cache(maxsize=1024)
def compiled(clause: ClauseElement, dialect: Dialect) -> Statement:
    """Return the statement as text of that dialect. `clause` should live long, because the result is cached."""
    made = clause.compile(dialect=dialect)
    assert isinstance(made, SQLCompiler)
    return Statement(str(made), tuple(made.positiontup or ()), dict(made.params))


class InsertIfAbsent(ClauseElement):
    """An insert that does nothing and returns no row if a unique index already has the key."""

    inherit_cache = False

    def __init__(self, insert: TextClause, gives: str = "id") -> None:
        """Wrap an insert. `gives` is the column whose value is returned for an inserted row."""
        self.insert, self.gives = insert, gives


@compiles(InsertIfAbsent, "postgresql", "sqlite")
def _unless_there(element: InsertIfAbsent, compiler: SQLCompiler, **given: Any) -> str:
    return f"{compiler.process(element.insert, **given)} on conflict do nothing returning {element.gives}"


@compiles(InsertIfAbsent, "mysql")
def _unless_there_mysql(element: InsertIfAbsent, compiler: SQLCompiler, **given: Any) -> str:
    """Return the plain insert.

    The caller treats a duplicate key as no row: `insert ignore` would ignore other errors too."""
    return compiler.process(element.insert, **given)


class InList(ColumnElement[bool]):
    """Whether a column has one of the values of a list of ids or of texts.

    The list is one argument and is not empty."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: Column[Any], name: str, *, ids: bool) -> None:
        self.column, self.ids = column, ids
        self.values: BindParameter[Any] = bindparam(name)

    def self_group(self, against: Any = None) -> Any:
        """Return itself. For SQLite a boolean would be compared with 1, and then no index is used."""
        return self


@compiles(InList, "postgresql")
def _among_postgres(element: InList, compiler: SQLCompiler, **given: Any) -> str:
    kind = "uuid" if element.ids else "text"
    return f"{compiler.process(element.column, **given)} = any({compiler.process(element.values, **given)}::{kind}[])"


@compiles(InList, "sqlite")
def _among_sqlite(element: InList, compiler: SQLCompiler, **given: Any) -> str:
    """Compile the list: texts are passed as a JSON list, ids concatenated in one blob."""
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
    """Compile the list: it is written into the statement in place of its argument."""
    return f"{compiler.process(element.column, **given)} in ({compiler.process(element.values, **given)})"


class Unindexed(ColumnElement[Any]):
    """A column that SQLite must not look up by an index.

    Without statistics it prefers an index that matches the order."""

    inherit_cache = False

    def __init__(self, column: Column[Any]) -> None:
        self.column = column
        self.type = column.type


@compiles(Unindexed)
def _unindexed(element: Unindexed, compiler: SQLCompiler, **given: Any) -> str:
    return compiler.process(element.column, **given)


@compiles(Unindexed, "sqlite")
def _unindexed_sqlite(element: Unindexed, compiler: SQLCompiler, **given: Any) -> str:
    return f"+{compiler.process(element.column, **given)}"


class IsOpen(ColumnElement[bool]):
    """Whether a run has not ended, by its column `ended_at`, in statements that read the index `run_open`.

    PostgreSQL uses a partial index wherever its condition follows from that of the statement. It then chose `run_open`
    for flushes too, which ask for `ended_at is null`, and read all open runs to find a few. So there the index has a
    condition of its own, and only this element asks for it."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, ended_at: Column[Any]) -> None:
        self.ended_at = ended_at

    def self_group(self, against: Any = None) -> Any:
        """Return itself, as `InList` does."""
        return self


@compiles(IsOpen)
def _is_open(element: IsOpen, compiler: SQLCompiler, **given: Any) -> str:
    return f"{compiler.process(element.ended_at, **given)} is null"


@compiles(IsOpen, "postgresql")
def _is_open_postgres(element: IsOpen, compiler: SQLCompiler, **given: Any) -> str:
    return f"num_nonnulls({compiler.process(element.ended_at, **given)}) = 0"


class HasLabel(ColumnElement[bool]):
    """Whether the labels of a row, which are JSON text or `null`, have that key with that value.

    JSON writes a value as it is, or with a backslash. So most rows need not be parsed."""

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
    # `jsonb` cannot hold a zero character. Without this test, one such label would make the whole search fail.
    wanted = f"jsonb_build_object({key}::text, {value}::text)"
    return (
        rf"case when strpos({labels}, {value}::text) = 0 and strpos({labels}, '\') = 0 then false"
        rf" when strpos({labels}, '\u0000') = 0 then {labels}::jsonb @> {wanted} else false end"
    )


@compiles(HasLabel, "sqlite")
def _has_label_sqlite(element: HasLabel, compiler: SQLCompiler, **given: Any) -> str:
    labels, part, key, value = (  # in the order of their places, because each is an argument
        compiler.process(part, **given)
        for part in (element.labels, element.value_given, element.key_given, element.value_given)
    )
    return (
        rf"((instr({labels}, {part}) > 0 or instr({labels}, '\') > 0) and"
        f" exists (select 1 from json_each({labels}) label where label.key = {key} and label.value = {value}))"
    )


@compiles(HasLabel, "mysql")
def _has_label_mysql(element: HasLabel, compiler: SQLCompiler, **given: Any) -> str:
    labels, key, value = (
        compiler.process(part, **given) for part in (element.labels, element.key_given, element.value_given)
    )
    return f"json_contains({labels}, json_object({key}, {value}))"


class Contains(ColumnElement[bool]):
    """Whether a text column has a text in it, whatever the case of its letters (of ASCII letters on SQLite)."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: Column[Any], name: str) -> None:
        self.column = column
        self.wanted: BindParameter[Any] = bindparam(name)


@compiles(Contains, "postgresql")
def _contains_postgres(element: Contains, compiler: SQLCompiler, **given: Any) -> str:
    column, wanted = compiler.process(element.column, **given), compiler.process(element.wanted, **given)
    return f"strpos(lower({column}), lower({wanted}::text)) > 0"


@compiles(Contains, "sqlite")
def _contains_sqlite(element: Contains, compiler: SQLCompiler, **given: Any) -> str:
    column, wanted = compiler.process(element.column, **given), compiler.process(element.wanted, **given)
    return f"instr(lower({column}), lower({wanted})) > 0"


@compiles(Contains, "mysql")
def _contains_mysql(element: Contains, compiler: SQLCompiler, **given: Any) -> str:
    column, wanted = compiler.process(element.column, **given), compiler.process(element.wanted, **given)
    return f"locate(lower({wanted}), lower(convert({column} using utf8mb4))) > 0"


class HasLabelValue(ColumnElement[bool]):
    """Whether a label of a row has a value with that text in it, whatever the case of its letters."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, labels: Column[Any], name: str) -> None:
        self.labels = labels
        self.wanted: BindParameter[Any] = bindparam(name)


@compiles(HasLabelValue, "postgresql")
def _has_value_postgres(element: HasLabelValue, compiler: SQLCompiler, **given: Any) -> str:
    labels, wanted = compiler.process(element.labels, **given), compiler.process(element.wanted, **given)
    # As above: rows without the text are not parsed, and a zero character must not make the whole search fail.
    return (
        rf"case when strpos(lower({labels}), lower({wanted}::text)) = 0 and strpos({labels}, '\') = 0 then false"
        rf" when strpos({labels}, '\u0000') = 0 then exists (select 1 from jsonb_each_text({labels}::jsonb) label"
        f" where strpos(lower(label.value), lower({wanted}::text)) > 0) else false end"
    )


@compiles(HasLabelValue, "sqlite")
def _has_value_sqlite(element: HasLabelValue, compiler: SQLCompiler, **given: Any) -> str:
    labels, wanted = compiler.process(element.labels, **given), compiler.process(element.wanted, **given)
    part = compiler.process(element.wanted, **given)  # an argument of its own
    return (
        rf"((instr(lower({labels}), lower({part})) > 0 or instr({labels}, '\') > 0) and"
        f" exists (select 1 from json_each({labels}) label where instr(lower(label.value), lower({wanted})) > 0))"
    )


@compiles(HasLabelValue, "mysql")
def _has_value_mysql(element: HasLabelValue, compiler: SQLCompiler, **given: Any) -> str:
    labels, wanted = compiler.process(element.labels, **given), compiler.process(element.wanted, **given)
    # `%`, `_` and `|` of the text mean themselves.
    quoted = f"replace(replace(replace(lower({wanted}), '|', '||'), '%%', '|%%'), '_', '|_')"
    return f"json_search(lower({labels}), 'one', concat('%%', {quoted}, '%%'), '|') is not null"


class IdEnds(ColumnElement[bool]):
    """Whether an id ends with these bytes, given as lower-case hexadecimal digits, at most 12."""

    inherit_cache = False
    type = Boolean()

    def __init__(self, column: Column[Any], name: str) -> None:
        self.column = column
        self.end: BindParameter[Any] = bindparam(name)


@compiles(IdEnds, "postgresql")
def _ends_postgres(element: IdEnds, compiler: SQLCompiler, **given: Any) -> str:
    column, end = compiler.process(element.column, **given), compiler.process(element.end, **given)
    return f"right({column}::text, length({end}::text)) = {end}::text"


@compiles(IdEnds, "sqlite")
def _ends_sqlite(element: IdEnds, compiler: SQLCompiler, **given: Any) -> str:
    column = compiler.process(element.column, **given)
    size, end = compiler.process(element.end, **given), compiler.process(element.end, **given)  # two arguments
    return f"substr(lower(hex({column})), -length({size})) = {end}"


@compiles(IdEnds, "mysql")
def _ends_mysql(element: IdEnds, compiler: SQLCompiler, **given: Any) -> str:
    column = compiler.process(element.column, **given)
    size, end = compiler.process(element.end, **given), compiler.process(element.end, **given)  # two arguments
    return f"right(lower(hex({column})), length({size})) = {end}"


class NewestId(ColumnElement[bytes]):
    """The greatest id of a group."""

    inherit_cache = False

    def __init__(self, column: ColumnElement[Any]) -> None:
        self.column = column
        self.type = column.type


@compiles(NewestId)
def _newest(element: NewestId, compiler: SQLCompiler, **given: Any) -> str:
    return f"max({compiler.process(element.column, **given)})"


@compiles(NewestId, "postgresql")
def _newest_postgres(element: NewestId, compiler: SQLCompiler, **given: Any) -> str:
    """Compile it for servers that have no `max` of ids: their texts have the same order."""
    return f"max({compiler.process(element.column, **given)}::text)::uuid"


class OldestId(NewestId):
    """The least id of a group."""

    inherit_cache = False


@compiles(OldestId)
def _oldest(element: OldestId, compiler: SQLCompiler, **given: Any) -> str:
    return f"min({compiler.process(element.column, **given)})"


@compiles(OldestId, "postgresql")
def _oldest_postgres(element: OldestId, compiler: SQLCompiler, **given: Any) -> str:
    return f"min({compiler.process(element.column, **given)}::text)::uuid"


class Bytewise(ColumnElement[str]):
    """A text column that is compared by its bytes. Only PostgreSQL would compare it otherwise."""

    inherit_cache = False

    def __init__(self, column: Column[Any]) -> None:
        self.column = column
        self.type = column.type


@compiles(Bytewise)
def _bytewise(element: Bytewise, compiler: SQLCompiler, **given: Any) -> str:
    return compiler.process(element.column, **given)


@compiles(Bytewise, "postgresql")
def _bytewise_postgres(element: Bytewise, compiler: SQLCompiler, **given: Any) -> str:
    return f'{compiler.process(element.column, **given)} collate "C"'


class NameOrEmpty(ColumnElement[str]):
    """A name, or an empty text where a join has no row.

    MariaDB stores names as bytes. In a union it would return this as a blob, which the driver cannot tell from data, so
    the server has to make a text of it."""

    inherit_cache = False

    def __init__(self, column: Column[Any]) -> None:
        self.column = column
        self.type = column.type


@compiles(NameOrEmpty)
def _name_or_empty(element: NameOrEmpty, compiler: SQLCompiler, **given: Any) -> str:
    return f"coalesce({compiler.process(element.column, **given)}, '')"


@compiles(NameOrEmpty, "mysql")
def _name_or_empty_mysql(element: NameOrEmpty, compiler: SQLCompiler, **given: Any) -> str:
    return f"coalesce(convert({compiler.process(element.column, **given)} using utf8mb4), '')"
