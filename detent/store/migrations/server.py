"""Migrate a database server while nodes use it.

A `post` migration first raises `oldest_code` and then reads which nodes are registered. A node first registers and then
reads `oldest_code`. So one of the two always sees the other, and no node uses tables that lack what it needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, Protocol

import msgspec

from detent.errors import SchemaMismatch, StoreLocked
from detent.store.migrations.plan import BASE, Migration, plan
from detent.store.sql import schema
from detent.store.sql.schema import StoredRevision

#: How often a statement that waits for another transaction's lock is tried again. Other statements run in between.
ATTEMPTS: Final = 30
PAUSE: Final = 1.0


class MigrationServer(Protocol):
    """A server of one dialect, on a connection that no other migration can use at the same time."""

    dialect: str

    async def stored_revision(self) -> StoredRevision: ...

    async def offers(self) -> list[str | None]:
        """Return the offers of the registered nodes whose lease has not ended."""

    async def note_oldest_code(self, code: str) -> None: ...

    async def apply(self, migration: Migration) -> None: ...


async def migrate_server(server: MigrationServer, to: str | None, *, force: bool, only_up: bool) -> str:
    """Bring the tables to a revision and return it. The default is the newest revision that can be reached now.

    A `post` migration that this code does not need waits until the older nodes have ended."""
    for migration in plan(server.dialect, await server.stored_revision(), to, force=force, only_up=only_up):
        if migration.is_post and (older := await _older_nodes(server, migration)):
            if to is None and str(migration.goal) > schema.HEAD:
                break
            raise SchemaMismatch(
                f"migration {migration.goal} needs code made for revision {migration.oldest_after} or later, and there "
                f"are older nodes: {', '.join(older)}; end them and run `detent migrate` again"
            )
        if migration.is_down and (newer := await _newer_nodes(server, migration)):
            raise SchemaMismatch(
                f"revision {migration.goal or BASE} lacks what newer nodes need: {', '.join(newer)}; end them and run "
                f"`detent migrate --to {to}` again"
            )
        await server.apply(migration)
    return (await server.stored_revision()).revision or BASE


async def _older_nodes(server: MigrationServer, migration: Migration) -> list[str]:
    """Return the nodes whose code is too old for this migration.

    If there are none, prevent such nodes from starting."""

    async def look() -> list[str]:
        return [f"{node}" for node in await _nodes(server) if node.revision < migration.oldest_after]

    older = await look()
    if not older:
        await server.note_oldest_code(migration.oldest_after)
        older = await look()  # a node may have registered before it could read the note
        if older:
            await server.note_oldest_code(migration.oldest_before)
    return older


async def _newer_nodes(server: MigrationServer, migration: Migration) -> list[str]:
    return [f"{node}" for node in await _nodes(server) if migration.goal is None or node.revision > migration.goal]


class _Code(NamedTuple):
    """The code of a node."""

    revision: str
    version: str

    def __str__(self) -> str:
        return f"version {self.version} (revision {self.revision})"


async def _nodes(server: MigrationServer) -> list[_Code]:
    decoded = [msgspec.json.decode(offers) if offers else {} for offers in await server.offers()]
    return [_Code(one.get("revision", schema.FIRST), one.get("version", "unknown")) for one in decoded]


async def repeat(work: Callable[[], Awaitable[None]]) -> None:
    """Run `work` again while another transaction holds a lock that it needs."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await work()
        except StoreLocked:
            await asyncio.sleep(PAUSE)
    return await work()
