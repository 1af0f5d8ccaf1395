"""The statements about connectors and actions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, Select, bindparam, func, literal_column, or_, select, text, update

from detent.store.catalog_rows import EVERY_TENANT, ActionMark, ActionRow, ConnectorRow, NewAction, NewConnector
from detent.store.sql.catalog.schema import action, connector
from detent.store.sql.compiler import Contains, InList, InsertIfAbsent

_newer_connector: Final = connector.alias("newer_connector")
_newer_action: Final = action.alias("newer_action")


def _seen(table: FromClause) -> ColumnElement[bool]:
    """Return whether a tenant sees a row: its own, and those of every tenant."""
    return or_(table.c.tenant == bindparam("tenant"), table.c.tenant == literal_column(str(EVERY_TENANT)))


def _newest(table: FromClause, newer: FromClause) -> ColumnElement[bool]:
    """Return whether there is no newer version of a row."""
    return ~(
        select(newer.c.id)
        .where(newer.c.tenant == table.c.tenant, newer.c.id == table.c.id, newer.c.ranking > table.c.ranking)
        .correlate(table)
        .exists()
    )


_CONNECTORS: Final = select(*(connector.c[name] for name in ConnectorRow._fields)).where(
    _seen(connector), connector.c.removed_at.is_(None), _newest(connector, _newer_connector)
)
CONNECTORS: Final = (
    _CONNECTORS.where(connector.c.id > bindparam("after")).order_by(connector.c.id).limit(bindparam("limit"))
)
CONNECTOR: Final = _CONNECTORS.where(connector.c.id == bindparam("id"))

#: Of a connector all versions are locked: of two saves the second sees the first.
LOCK_CONNECTOR: Final = (
    select(connector.c.ranking, connector.c.checksum, connector.c.enabled, connector.c.removed_at)
    .where(connector.c.tenant == bindparam("tenant"), connector.c.id == bindparam("id"))
    .order_by(connector.c.ranking)
    .with_for_update()
)
ENABLE_CONNECTOR: Final = (
    update(connector)
    .where(connector.c.tenant == bindparam("owner"), connector.c.id == bindparam("known"))
    .values({connector.c.enabled: bindparam("enabled")})
)
REMOVE_CONNECTOR: Final = (
    update(connector)
    .where(connector.c.tenant == bindparam("owner"), connector.c.id == bindparam("known"))
    .values({connector.c.removed_at: bindparam("at")})
)


def _insert(table: str, fields: tuple[str, ...]) -> InsertIfAbsent:
    names = ", ".join((*fields, "enabled", "created_at"))
    values = ", ".join(f":{name}" for name in (*fields, "enabled", "now"))
    return InsertIfAbsent(text(f"insert into {table} ({names}) values ({values})"))


ADD_CONNECTOR: Final = _insert("connector", NewConnector._fields)
ADD_ACTION: Final = _insert("action", NewAction._fields)

#: An action belongs to its connector, whose versions are alike in `enabled` and `removed_at`.
_with_connector: Final = action.join(
    connector, (connector.c.tenant == action.c.tenant) & (connector.c.id == action.c.connector)
)
_STATE: Final = (connector.c.enabled, connector.c.removed_at)
_LISTED: Final = (
    _seen(action),
    connector.c.removed_at.is_(None),
    _newest(action, _newer_action),
    _newest(connector, _newer_connector),
)


@lru_cache(maxsize=16)
def actions(given: frozenset[str]) -> Select[Any]:
    """Return the newest version of each action by id, narrowed by `connector`, `category`, `tag` (as JSON)
    and `text`."""
    query = (
        select(*(action.c[name] for name in ActionMark._fields), connector.c.enabled)
        .select_from(_with_connector)
        .where(*_LISTED, action.c.id > bindparam("after"))
        .order_by(action.c.id)
        .limit(bindparam("limit"))
    )
    for name in sorted(given & {"connector", "category"}):
        query = query.where(action.c[name] == bindparam(name))
    if "tag" in given:
        query = query.where(Contains(action.c.tags, "tag"))
    if "text" in given:
        columns = (action.c.id, action.c.title, action.c.description, action.c.tags)
        query = query.where(or_(*(Contains(column, "text") for column in columns)))
    return query


NAMES: Final = (
    select(action.c.id).select_from(_with_connector).where(*_LISTED).order_by(action.c.id).limit(bindparam("limit"))
)
_ROWS: Final = (
    select(*(action.c[name] for name in ActionRow._fields[:-1]), *_STATE)
    .select_from(_with_connector)
    .where(_seen(action), _newest(connector, _newer_connector))
)
VERSION: Final = _ROWS.where(action.c.id == bindparam("id"), action.c.version == bindparam("version"))
NEWEST: Final = _ROWS.where(action.c.id == bindparam("id"), _newest(action, _newer_action))
NEWEST_OF: Final = _ROWS.where(InList(action.c.id, "ids", ids=False), _newest(action, _newer_action))

#: What a save compares with the actions of its connector, and with others of the same id.
KNOWN_ACTIONS: Final = select(
    action.c.id, action.c.ranking, action.c.checksum, action.c.enabled, action.c.connector, action.c.source
).where(action.c.tenant == bindparam("tenant"), action.c.connector == bindparam("connector"))
ENABLE_ACTION: Final = (
    update(action)
    .where(action.c.tenant == bindparam("owner"), action.c.id == bindparam("known"))
    .values({action.c.enabled: bindparam("enabled")})
)
RETIRE_ACTION: Final = (
    update(action)
    .where(action.c.tenant == bindparam("owner"), action.c.id == bindparam("known"))
    .values(
        {
            action.c.enabled: bindparam("enabled"),
            action.c.deprecation: func.coalesce(action.c.deprecation, bindparam("reason")),
        }
    )
)
#: Code has no versions of its own rows: what its node has is what is listed.
REPLACE_CODE: Final = (
    update(action)
    .where(
        action.c.tenant == bindparam("owner"),
        action.c.id == bindparam("known"),
        action.c.ranking == bindparam("rank"),
    )
    .values({action.c[name]: bindparam(name) for name in (*NewAction._fields[5:13], "checksum")})
)
OWNERS: Final = select(action.c.tenant).where(_seen(action), action.c.id == bindparam("id")).limit(1)
CONNECTOR_OWNERS: Final = (
    select(connector.c.tenant)
    .where(_seen(connector), connector.c.id == bindparam("id"), connector.c.removed_at.is_(None))
    .limit(1)
)
