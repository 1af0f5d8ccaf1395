"""Imports: connectors from OpenAPI documents and from tools of MCP servers, and what an update of one breaks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace

from detent.catalog.connections import MissingConnection
from detent.catalog.connector import ActionSpec, Auth, AuthType, Connector
from detent.catalog.manifest import check_connector_id
from detent.catalog.mcp import build_mcp_connector
from detent.catalog.openapi import SkippedOperation, read_openapi
from detent.catalog.source import ConnectorSource
from detent.catalog.update import ConnectorUpdate, compare
from detent.commands.catalog.connectors import CatalogCommands
from detent.commands.catalog.rows import definition_of
from detent.commands.context import CommandPart
from detent.errors import InvalidInput
from detent.store.catalog_rows import ConnectorRow
from detent.store.rows import WorkflowRow
from detent.tenants.limits import INSTALLATION

_PAGE: Final = 200
_FIRST: Final = "1.0.0"


@dataclass(frozen=True, slots=True)
class BrokenStep:
    """A step of a workflow that cannot be published again as it is."""

    workflow: str
    step: str
    action: str
    problems: tuple[str, ...]


@dataclass(slots=True)
class ImportAnswer:
    """What an import did, or would do. `row` is the connector as it is now; `None` if it does not exist yet."""

    row: ConnectorRow | None
    version: str
    is_changed: bool
    operations: int
    actions: int
    update: ConnectorUpdate
    skipped: Sequence[SkippedOperation] = ()
    broken: list[BrokenStep] = field(default_factory=list)


class ImportCommands(CommandPart):
    """Imports of connectors. A published version of a workflow keeps the actions that it pins."""

    async def openapi(
        self, name: str, data: bytes, *, filename: str | None = None, url: str | None = None, dry_run: bool = False
    ) -> ImportAnswer:
        """Import an OpenAPI or Swagger document. `url` is where it was read from; if `data` is empty, it is read from
        there. Raise InvalidInput."""
        check_connector_id(name)
        if not data and url is not None:
            data, filename = await self._source().document(self._tenant, url), None
        found = await asyncio.to_thread(read_openapi, data, name, filename=filename, source_url=url)
        answer = await self._import(found.connector, dry_run=dry_run)
        answer.operations, answer.skipped = found.operations, found.skipped
        return answer

    async def mcp(
        self, name: str, url: str, tools: Any, *, title: str | None, with_token: bool, dry_run: bool = False
    ) -> ImportAnswer:
        """Import the tools of an MCP server, as its `tools/list` returns them. If `tools` is `None`, the server
        is asked for them. Raise InvalidInput."""
        check_connector_id(name)
        if tools is None:
            token = await self._token(name, url) if with_token else None
            found, tools = await self._source().tools(self._tenant, url, token)
            title = title or found
        connector = await asyncio.to_thread(build_mcp_connector, name, url, tools, title=title, with_token=with_token)
        return await self._import(connector, dry_run=dry_run)

    def _source(self) -> ConnectorSource:
        if self._context.source is None:
            raise InvalidInput("this process reads no addresses; send the document, or the list of tools")
        return self._context.source

    async def _token(self, name: str, url: str) -> str:
        """Return the token that the operator set for a connector. Raise InvalidInput if there is none, and Conflict if
        the connector is not the caller's own: its token must not reach another server. Tokens of the operator are for
        the first tenant."""
        if self._tenant != INSTALLATION:
            raise InvalidInput(
                "the tokens in the environment belong to the installation; send the list of tools, without `url` alone"
            )
        await CatalogCommands(self._context, self._caller).refuse_foreign(name)
        try:
            connection, _ = self._context.connections.find(name, url, Auth(type=AuthType.BEARER))
        except MissingConnection as error:
            raise InvalidInput(str(error)) from None
        return connection.secrets["token"]

    async def _import(self, connector: Connector, *, dry_run: bool) -> ImportAnswer:
        row = await self._store.connector(self._tenant, connector.id)
        before = [] if row is None else await self._stored_actions(connector.id)
        update = await asyncio.to_thread(compare, before, connector)
        is_changed = row is None or not update.is_empty
        version = _FIRST if row is None else update.next_version(row.version) if is_changed else row.version
        broken = await self._broken(update) if update.is_breaking else []
        if is_changed and not dry_run:
            catalog = CatalogCommands(self._context, self._caller)
            row, _ = await catalog.add(await asyncio.to_thread(_versioned, connector, version))
        return ImportAnswer(
            row=row,
            version=version,
            is_changed=is_changed,
            operations=len(connector.actions),
            actions=len(connector.actions),
            update=update,
            broken=broken,
        )

    async def _stored_actions(self, connector: str) -> list[ActionSpec]:
        names: list[str] = []
        while page := await self._store.actions(
            self._tenant, limit=_PAGE, after=names[-1] if names else None, connector=connector
        ):
            names += [mark.id for mark in page]
        found = []
        for start in range(0, len(names), _PAGE):
            rows = await self._store.newest_actions(self._tenant, names[start : start + _PAGE])
            # An action that an earlier version has lost is disabled, and is not part of the connector.
            found += [one.action for row in rows if (one := definition_of(row)) is not None and not _is_retired(row)]
        return found

    async def _broken(self, update: ConnectorUpdate) -> list[BrokenStep]:
        """Return the steps of active workflows that an update breaks."""
        found: list[BrokenStep] = []
        after: str | None = None
        while rows := await self._store.workflows(self._tenant, limit=_PAGE, after=after, status="active"):
            for row in rows:
                found += await asyncio.to_thread(_broken_steps, row, update.problems_of)
            after = rows[-1].name
        return found


def _is_retired(row: Any) -> bool:
    return row.deprecation is not None and "does not have this action any more" in row.deprecation


def _versioned(connector: Connector, version: str) -> Connector:
    actions = tuple(replace(action, version=version) for action in connector.actions)
    return replace(connector, version=version, actions=actions)


def _broken_steps(row: WorkflowRow, problems_of: Callable[[str, dict[str, Any]], list[str]]) -> list[BrokenStep]:
    found = []
    for step in json.loads(row.graph).get("steps", ()) if row.graph else ():
        config = step.get("config", {})
        if step.get("kind") == "action" and "version" in config:
            given = config.get("with")
            if problems := problems_of(config["action"], given if isinstance(given, dict) else {}):
                found.append(BrokenStep(row.name, step["name"], config["action"], tuple(problems)))
    return found
