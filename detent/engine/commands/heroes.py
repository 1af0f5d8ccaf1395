"""Looking at runs as a story: the attempts of one, and everything that happened to one hero."""

from __future__ import annotations

from typing import Final, NamedTuple

from detent.engine.commands.ground import DEFAULT_TENANT
from detent.engine.commands.runs import RunCommands
from detent.engine.view import facts_of_row
from detent.planner.history import PastAttempt, history
from detent.store.rows import Happening, Place

#: Entries are read a few at a time, until a page has this many bytes.
PAGE_BYTES: Final = 1024 * 1024
_PIECE: Final = 25


class Happenings(NamedTuple):
    """A page of a timeline. `is_last`: there was no more when it was read."""

    found: list[Happening]
    is_last: bool


class HeroCommands(RunCommands):
    """Nothing here changes anything."""

    async def history(self, run: str, *, tenant: int = DEFAULT_TENANT) -> list[PastAttempt]:
        """The attempts of a run that are over, in the order they ended."""
        row = await self.run_row(run, tenant=tenant)
        tokens = self._engine.tokens
        facts = facts_of_row(row, lambda step: tokens.url(row.id, step))
        return history(await self.prepared(row), facts, row.opening, await self._store.journal(row.id))

    async def timeline(
        self, hero: tuple[str, str], *, limit: int, after: Place | None = None, tenant: int = DEFAULT_TENANT
    ) -> Happenings:
        """What happened in all runs of a hero behind that place: at most `limit`, and no more than a page may hold
        unless the first alone does."""
        found: list[Happening] = []
        size = 0
        while True:
            asked = min(_PIECE, limit + 1 - len(found))
            piece = await self._store.timeline(tenant, hero, limit=asked, after=after)
            for one in piece:
                size += len(one.entry.data)
                if len(found) == limit or (found and size > PAGE_BYTES):
                    return Happenings(found, is_last=False)
                found.append(one)
            if len(piece) < asked:
                return Happenings(found, is_last=True)
            after = found[-1].place()
