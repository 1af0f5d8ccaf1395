"""What is left when the dust has settled: the rows of the database, read without the store's own code, the target's
ledger, and what the clients wrote down."""

import asyncio
import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import asyncmy.errors
import asyncpg

from detent.run.journal import Entry
from detent.store.url import scheme, sqlite_path
from tests.servers.target import Hit, read_ledger

RUNS = """select id, workflow, version, status, input, opening, owner, started_at, expires_at, ended_at, error,
    hero_id, active_key, parent from run"""
JOURNAL = "select tenant, run, seq, at, kind, step, attempt, outcome, data from journal order by run, seq"
CALLBACKS = "select run, step, state from callback"
INBOX = "select run, kind from inbox"
GRAPHS = "select v.workflow, v.version, w.name, v.graph from workflow_version v join workflow w on w.id = v.workflow"
NODES = "select id from node"
EVERYTHING = (RUNS, JOURNAL, CALLBACKS, INBOX, GRAPHS, NODES)
#: What transactional steps wrote, where they can: in the same database.
BESIDE = "select n, step from beside"

Rows = list[tuple[Any, ...]]


class Run(NamedTuple):
    """A run's row."""

    id: bytes
    workflow: bytes
    version: int
    status: str
    input: str
    opening: str | None
    owner: bytes | None
    started_at: int
    expires_at: int | None
    ended_at: int | None
    error: str | None
    hero: str | None
    active_key: str | None
    parent: bytes | None

    @property
    def number(self) -> int:
        """The number its client gave it; that of a child is its parent's below zero."""
        return int(json.loads(self.input)["body"]["n"])


@dataclass
class Evidence:
    """Everything the checker looks at."""

    runs: dict[bytes, Run] = field(default_factory=dict)
    journal: dict[bytes, list[Entry]] = field(default_factory=dict)
    callbacks: Rows = field(default_factory=list)
    inbox: Rows = field(default_factory=list)
    nodes: Rows = field(default_factory=list)
    graphs: dict[tuple[bytes, int], tuple[str, bytes]] = field(default_factory=dict)
    hits: Mapping[tuple[int, str], list[Hit]] = field(default_factory=dict)
    clients: Sequence[Mapping[str, Any]] = ()
    integrity: str = "ok"
    beside: Rows = field(default_factory=list)


def gather(store: str, ledger: Path, clients: Path, *, beside: bool = False) -> Evidence:
    """Read it all. Nobody may be at work any more. `beside`: there is a table of the user's."""
    integrity, wanted = "ok", (*EVERYTHING, BESIDE) if beside else EVERYTHING
    match scheme(store):
        case "sqlite":
            tables, integrity = _read_sqlite(sqlite_path(store))
        case "mysql":
            tables = asyncio.run(_read_mysql(store, wanted))
        case _:
            tables = asyncio.run(_read_postgres(store, wanted))
    runs, journal, callbacks, inbox, graphs, nodes, *more = tables
    found = Evidence(callbacks=callbacks, inbox=inbox, nodes=nodes, integrity=integrity, beside=more[0] if more else [])
    found.runs = {row[0]: Run(*row) for row in runs}
    for row in journal:
        found.journal.setdefault(row[1], []).append(Entry._make((*row[:-1], row[-1].encode())))
    found.graphs = {(row[0], row[1]): (row[2], row[3]) for row in graphs}
    found.hits = _by_step(read_ledger(ledger))
    found.clients = [json.loads(line) for line in clients.read_text().splitlines()]
    return found


def _read_sqlite(path: Path) -> tuple[list[Rows], str]:
    connection = sqlite3.connect(path)
    try:
        integrity = str(connection.execute("pragma integrity_check").fetchone()[0])
        return [connection.execute(sql).fetchall() for sql in EVERYTHING], integrity
    finally:
        connection.close()


async def _read_postgres(url: str, sqls: Sequence[str]) -> list[Rows]:
    connection = await asyncpg.connect(url)
    try:
        await _plain_types(connection)
        return [[tuple(row) for row in await connection.fetch(sql)] for sql in sqls]
    finally:
        await connection.close()


async def _read_mysql(url: str, sqls: Sequence[str]) -> list[Rows]:
    parts = urlsplit(url)
    connection = await asyncmy.connect(
        host=str(parts.hostname), port=parts.port, user=parts.username, database=parts.path[1:], connect_timeout=1
    )
    try:
        tables = []
        async with connection.cursor() as cursor:
            for sql in sqls:
                await cursor.execute(sql)
                fixed = [description[1] == FIXED_BYTES for description in cursor.description]
                rows = await cursor.fetchall()
                tables.append([tuple(map(_plain, row, fixed, cursor.description)) for row in rows])
        return tables
    finally:
        await connection.ensure_closed()


def _plain(value: Any, is_id: bool, description: Sequence[Any]) -> Any:
    """Names are bytes to the server, and so are ids and graphs; only names are text to us."""
    is_text = isinstance(value, bytes) and not is_id and description[0] != "graph"
    return value.decode() if is_text else value


async def _plain_types(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    await connection.set_type_codec("uuid", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")
    await connection.set_type_codec(
        "timestamptz",
        schema="pg_catalog",
        encoder=lambda at: (at - Y2K,),
        decoder=lambda at: at[0] + Y2K,
        format="tuple",
    )


#: MySQL's type of a column of so many bytes, no more and no less.
FIXED_BYTES = 254
#: PostgreSQL counts microseconds from the year 2000.
Y2K = 946_684_800_000_000


def _by_step(hits: Sequence[Hit]) -> dict[tuple[int, str], list[Hit]]:
    """The hits of each (run's number, step), as their address says."""
    found: dict[tuple[int, str], list[Hit]] = defaultdict(list)
    for hit in hits:
        query = parse_qs(urlsplit(hit.path).query)
        found[int(query["n"][0]), query["step"][0]].append(hit)
    return found


class Onlooker:
    """Asks a database under fire which runs a dead node had."""

    def __init__(self, store: str) -> None:
        self._store = store

    async def owned(self, node: bytes) -> tuple[bytes, ...] | None:
        """Null if it cannot be known: an engine's file is its own, and a database may be down."""
        if scheme(self._store) == "sqlite":
            return None
        try:
            if scheme(self._store) == "mysql":
                owned = f"select id from run where owner = x'{node.hex()}' and ended_at is null"
                [found] = await _read_mysql(self._store, [owned])
                return tuple(row[0] for row in found)
            connection = await asyncpg.connect(self._store, timeout=1)
            try:
                await _plain_types(connection)
                rows = await connection.fetch("select id from run where owner = $1 and ended_at is null", node)
                return tuple(row[0] for row in rows)
            finally:
                await connection.close()
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncmy.errors.Error):
            return None
