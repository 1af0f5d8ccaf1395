"""Whether a statement has the tenant in its conditions: the wall between tenants that every database has."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final

from sqlalchemy import BinaryExpression, BindParameter, Column, CompoundSelect, Delete, Insert, Select, Table, Update
from sqlalchemy.sql import operators
from sqlalchemy.sql.elements import BooleanClauseList, ClauseElement, Grouping, TextClause
from sqlalchemy.sql.selectable import FromClause, Join, Subquery

import detent.store.sql
from detent.store.catalog_rows import EVERY_TENANT
from detent.store.sql.compiler import InsertIfAbsent, Unindexed
from detent.store.sql.run_statements import CountInRanges
from detent.store.sql.schema import metadata

ROOT: Final = detent.store.sql.__name__ + "."
_MODULES: Final = [
    importlib.import_module(found.name) for found in pkgutil.walk_packages(detent.store.sql.__path__, ROOT)
]
#: The tables that have rows of tenants. The table of tenants itself has one row of each.
OWNED: Final = frozenset(name for name, table in metadata.tables.items() if "tenant" in table.c)
_SQL: Final = re.compile(r"\s*(select|insert|update|delete|with)\s", re.IGNORECASE)
_WHERE: Final = re.compile(r"\btenant = (\$|:|\{|\?|%)")
_INTO: Final = re.compile(r"\s*insert into \"?\w+\"? \([^)]*\btenant\b", re.IGNORECASE)


def is_walled(clause: ClauseElement | str) -> bool:
    """Return whether a statement reads and changes rows of one tenant only, or of tables without tenants."""
    match clause:
        case str():
            if not _names(clause, "from|join|into|update") or _WHERE.search(clause):
                return True
            return bool(_INTO.match(clause)) and not _names(clause, "from|join")
        case InsertIfAbsent():
            return is_walled(clause.insert)
        case TextClause():
            return is_walled(clause.text)
        case CountInRanges():
            return _has_tenant(clause.conditions)
        case CompoundSelect():
            return all(is_walled(part) for part in clause.selects)
        case Select():
            return _is_select_walled(clause)
        case Insert():
            return "tenant" not in clause.table.c or any(column.name == "tenant" for column in _inserted(clause))
        case Update() | Delete():
            return "tenant" not in clause.table.c or _has_tenant(clause.whereclause)
        case _:
            return True  # it names no table


def _names(text: str, words: str) -> bool:
    """Return whether one of these words comes before the name of a table that has rows of tenants."""
    return any(re.search(rf'\b({words})\s+"?{name}\b', text, re.IGNORECASE) for name in OWNED)


def _inserted(clause: Insert) -> list[Column[Any]]:
    values: Any = clause._values or {}  # noqa: SLF001 - SQLAlchemy has no public name for it
    return [column for column in values if isinstance(column, Column)]


def _is_select_walled(clause: Select[Any]) -> bool:
    sources = [part for source in _sources(clause) for part in _parts(source)]
    tables = [one for one in sources if isinstance(one, Table) and one.name in OWNED]
    inner = [one.element for one in sources if isinstance(one, Subquery)]
    if inner:
        return all(is_walled(one) for one in inner)
    scalars = [one for one in clause.selected_columns if not sources and isinstance(one, ClauseElement)]
    return (not tables and not scalars) or _has_tenant(clause.whereclause)


def _sources(clause: Select[Any]) -> Iterator[Any]:
    """Yield what a select reads. `get_final_froms` would compile it, for no dialect."""
    yield from clause.columns_clause_froms
    yield from clause._from_obj  # noqa: SLF001 - SQLAlchemy has no public name for it
    for right, _, left, _ in clause._setup_joins:  # noqa: SLF001 - nor for this
        yield right
        if left is not None:
            yield left


def _parts(source: FromClause) -> Iterator[FromClause]:
    if isinstance(source, Join):
        yield from _parts(source.left)
        yield from _parts(source.right)
    else:
        yield source if not hasattr(source, "element") or isinstance(source, Subquery) else source.element


def _has_tenant(condition: Any) -> bool:
    """Return whether one of the conditions that must all hold is that the tenant is a given one."""
    if condition is None:
        return False
    if isinstance(condition, Grouping):
        return _has_tenant(condition.element)
    if isinstance(condition, BooleanClauseList):
        every = condition.operator is operators.or_
        return all(map(_is_visible, condition.clauses)) if every else any(map(_has_tenant, condition.clauses))
    return isinstance(_compared(condition), BindParameter)


def _is_visible(condition: Any) -> bool:
    """Return whether a condition is that the tenant is a given one, or none: such rows are of the installation."""
    return _has_tenant(condition) or str(_compared(condition)) == str(EVERY_TENANT)


def _compared(condition: Any) -> Any:
    """Return what a condition compares the tenant with."""
    if not isinstance(condition, BinaryExpression) or condition.operator is not operators.eq:
        return None
    column = condition.left.column if isinstance(condition.left, Unindexed) else condition.left
    return condition.right if isinstance(column, Column) and column.name == "tenant" else None


def statements() -> Iterator[tuple[str, ClauseElement | str]]:
    """Yield every statement of the store that a module names or that a simple function of it builds."""
    for module in _MODULES:
        yield from statements_of(module)


def statements_of(module: ModuleType) -> Iterator[tuple[str, ClauseElement | str]]:
    """Yield the statements of one module, each with its key in the table of engine statements."""
    for name, value in vars(module).items():
        key = f"{module.__name__.removeprefix(ROOT)}:{name}"
        if isinstance(value, str):
            if _SQL.match(value):
                yield key, value
        elif isinstance(value, TextClause):
            if _SQL.match(value.text):
                yield key, value
        elif isinstance(value, (Select, CompoundSelect, Insert, Update, Delete, InsertIfAbsent, CountInRanges)):
            yield key, value
        elif hasattr(value, "cache_info") and getattr(value, "__module__", None) == module.__name__:
            yield from _built(key, value)


def _built(key: str, build: Any) -> Iterator[tuple[str, ClauseElement | str]]:
    """Yield what a function builds with every switch off and with every switch on, if it has only switches."""
    parameters = inspect.signature(build).parameters.values()
    kinds = [str(one.annotation) for one in parameters]
    if all(kind == "bool" or kind == "frozenset[str]" for kind in kinds):
        for switch in (False, True):
            positional: list[Any] = []
            named: dict[str, Any] = {}
            for one, kind in zip(parameters, kinds, strict=True):
                value: Any = switch if kind == "bool" else frozenset()
                if one.kind is inspect.Parameter.KEYWORD_ONLY:
                    named[one.name] = value
                else:
                    positional.append(value)
            yield key, build(*positional, **named)
