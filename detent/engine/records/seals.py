"""Seals of runs: made in the flush that ends a run, from its whole journal.

A node sends one flush at a time, so the entries before this flush are durable and those of this flush are in it. A node
that has adopted the run reads the same entries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from detent.engine.owned_run import OwnedRun
from detent.engine.write import PendingWrite
from detent.errors import StoreError
from detent.run.journal import Entry
from detent.run.seal import SealedRun, seal_of
from detent.store.protocol import NodeStore
from detent.store.rows import End, Flush

#: Seconds between two attempts to read journals while the database does not answer.
_PAUSE: Final = 0.2


class Sealer:
    """Seals the runs that end in a flush."""

    def __init__(self, store: NodeStore, key: bytes) -> None:
        self._store = store
        self._key = key

    async def seal(self, flush: Flush, batch: Sequence[PendingWrite], may_wait: Callable[[], bool]) -> None:
        """Add the seals to the ends of a flush. While `may_wait`, wait for a database that does not answer; else the
        flush cannot be written anyway."""
        owned = {write.run: write.owned for write in batch if write.owned is not None}
        runs = [end.run for end in flush.ends if end.run in owned]
        stored = await self._read(runs, may_wait) if runs else {}
        if stored is None:
            return
        journals = {run: {entry.seq: entry for entry in stored.get(run, ())} for run in runs}
        for entry in flush.entries:
            if entry.run in journals:
                journals[entry.run].setdefault(entry.seq, entry)
        for place, end in enumerate(flush.ends):
            if end.run in journals:
                entries = [journals[end.run][seq] for seq in sorted(journals[end.run])]
                flush.ends[place] = end._replace(seal=self._seal(owned[end.run], end, entries))

    async def _read(self, runs: list[bytes], may_wait: Callable[[], bool]) -> Mapping[bytes, list[Entry]] | None:
        while True:
            try:
                return await self._store.journals(runs)
            except StoreError:
                if not may_wait():
                    return None
                await asyncio.sleep(_PAUSE)

    def _seal(self, run: OwnedRun, end: End, entries: Sequence[Entry]) -> bytes:
        facts = run.state.facts
        sealed = SealedRun(
            id=facts.id,
            tenant=facts.tenant,
            workflow=facts.workflow_id,
            input=facts.input,
            opening=run.opening,
            started_at=facts.started_at,
            parent=facts.parent,
            hero=facts.hero,
            principal=facts.initiator.principal,
            via=facts.initiator.via,
            correlation=facts.initiator.correlation,
            version=run.version,
            status=end.status,
            ended_at=end.ended_at,
            output=end.output,
            error=end.error,
        )
        return seal_of(self._key, sealed, entries)
