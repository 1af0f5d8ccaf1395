"""Looking at runs, and waiting for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from detent.engine.commands.ground import DEFAULT_TENANT, CommandGround
from detent.engine.view import fold_row, run_document
from detent.planner.moves import graph_of
from detent.planner.prepared import Prepared
from detent.run.journal import Entry
from detent.run.state import RunState
from detent.run.status import TERMINAL
from detent.store.rows import RunFilter, RunRow

EVERY = RunFilter()


class RunCommands(CommandGround):
    """Nothing here changes anything."""

    async def run(self, run: str, *, tenant: int = DEFAULT_TENANT) -> dict[str, Any]:
        """The document of a run."""
        return await self._document(await self.run_row(run, tenant=tenant))

    async def runs(
        self,
        *,
        limit: int,
        where: RunFilter = EVERY,
        cursor: bytes | None = None,
        oldest_first: bool = False,
        tenant: int = DEFAULT_TENANT,
    ) -> list[RunRow]:
        """Runs by the order they were accepted in, newest first unless asked otherwise."""
        return await self._store.runs(tenant, limit=limit, where=where, cursor=cursor, oldest_first=oldest_first)

    async def count_runs(self, *, where: RunFilter, limit: int, tenant: int = DEFAULT_TENANT) -> int:
        """How many there are, counted up to `limit`."""
        return await self._store.count_runs(tenant, where=where, limit=limit)

    async def entries(self, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        """The journal of a run, from a place on."""
        return await self._store.journal(run, after=after, limit=limit)

    async def prepared(self, row: RunRow) -> Prepared:
        """The graph a run runs on."""
        graphs = await self._engine.graphs.get([(row.workflow, row.version)])
        return graphs[row.workflow, row.version][1]

    async def was_one_of_several(self, row: RunRow) -> bool:
        """Whether a run was allowed beside another of its hero."""
        return row.active_key is None and (await self.prepared(row)).graph.one_per_hero

    async def folded(self, row: RunRow) -> tuple[Prepared, RunState]:
        """The graph of a run, and its state by its journal."""
        prepared, tokens = await self.prepared(row), self._engine.tokens
        entries = await self._store.journal(row.id)
        state = fold_row(row, prepared, entries, lambda step: tokens.url(row.id, step))
        return graph_of(prepared, state), state

    async def children(self, runs: Sequence[bytes], *, tenant: int = DEFAULT_TENANT) -> list[RunRow]:
        """The runs that these have started."""
        found: list[RunRow] = []
        for run in runs:
            found += await self._store.runs(tenant, limit=200, where=RunFilter(parent=run), oldest_first=True)
        return found

    async def _document(self, row: RunRow) -> dict[str, Any]:
        prepared = await self.prepared(row)
        entries = await self._store.journal(row.id)
        callbacks = await self._store.callbacks(row.id)
        tokens, id_ = self._engine.tokens, row.id
        document = run_document(row, prepared, entries, callbacks, lambda step: tokens.url(id_, step))
        if document["status"] in TERMINAL and row.status not in TERMINAL:
            # It ended between the two reads. Its row was written together with its last entry.
            row = await self._store.run(row.tenant, id_) or row
            document = run_document(row, prepared, entries, callbacks, lambda step: tokens.url(id_, step))
        return document
