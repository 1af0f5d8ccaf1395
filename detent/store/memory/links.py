"""The verbs of resource links and of dead letters on the memory store."""

from __future__ import annotations

from collections.abc import Sequence

from detent.run.links import Reservation
from detent.store.letters import EVERY_LETTER, LetterCriteria, LetterRow, LetterState
from detent.store.links import MOST_ORIGINS, LinkKey, LinkPlace, LinkRow, NewLink
from detent.store.memory.tables import MemoryTables
from detent.store.rows import Flush


class MemoryLinks(MemoryTables):
    """Links and reservations."""

    async def link_owners(self, keys: Sequence[LinkKey]) -> dict[LinkKey, bytes]:
        return {key: self.links[key].run for key in keys if key in self.links}

    async def hand_over_links(self, run: bytes, claims: Sequence[NewLink]) -> dict[LinkKey, bytes]:
        origins = self._ended_origins(run)
        for claim in sorted(claims, key=lambda one: one.key):
            known = self.links.get(claim.key)
            if known is not None and known.run in origins:
                self.links[claim.key] = known._replace(run=run, step=claim.step, url=claim.url or known.url)
        return {claim.key: self.links[claim.key].run for claim in claims if claim.key in self.links}

    def _ended_origins(self, run: bytes) -> set[bytes]:
        found, row = set(), self.table.get(run)
        for _ in range(MOST_ORIGINS):
            origin = None if row is None else row.new.origin
            row = None if origin is None else self.table.get(origin)
            if row is None:
                break
            if not row.is_open():
                found.add(row.new.id)
        return found

    async def run_links(self, tenant: int, run: bytes, *, limit: int, offset: int = 0) -> list[LinkRow]:
        found = [row for row in self.links.values() if (row.tenant, row.run) == (tenant, run)]
        found.sort(key=lambda row: (row.at, row.place()))
        return found[offset : offset + limit]

    async def find_links(
        self,
        tenant: int,
        *,
        limit: int,
        system: str | None = None,
        type_: str | None = None,
        id_: str | None = None,
        after: LinkPlace | None = None,
    ) -> list[LinkRow]:
        found = [
            row
            for row in self.links.values()
            if row.tenant == tenant
            and system in (None, row.system)
            and type_ in (None, row.type)
            and id_ in (None, row.id)
            and (after is None or row.place() > after)
        ]
        return sorted(found, key=LinkRow.place)[:limit]

    async def reserve(self, key: LinkKey, *, run: bytes, step: str) -> Reservation:
        known = self.reservations.get(key)
        if known is not None and known.resource is None and known.run != run:
            owner = self.table.get(known.run)
            known = known if owner is not None and owner.is_open() else None
        if known is None:
            known = self.reservations[key] = Reservation(run, None, None, is_mine=True)
        return known._replace(is_mine=known.run == run)

    async def fulfil(self, key: LinkKey, *, run: bytes, resource: str, url: str | None) -> Reservation | None:
        known = self.reservations.get(key)
        if known is None:
            return None
        if known.run == run and known.resource is None:
            known = self.reservations[key] = known._replace(resource=resource, url=url)
        return known._replace(is_mine=known.run == run)

    def _claim_links(self, flush: Flush, now: int) -> frozenset[tuple[LinkKey, bytes]]:
        """Insert the claims of a flush. Return those that were not inserted."""
        inserted: list[tuple[LinkKey, bytes]] = []
        for link in flush.sorted_links():
            if link.key not in self.links:
                self.links[link.key] = LinkRow(*link, at=now)
                inserted.append((link.key, link.run))
        return flush.unlinked(inserted)


class MemoryLetters(MemoryTables):
    """Dead letters."""

    async def letters(
        self,
        tenant: int,
        *,
        limit: int,
        where: LetterCriteria = EVERY_LETTER,
        cursor: bytes | None = None,
        oldest_first: bool = False,
    ) -> list[LetterRow]:
        found = sorted(self._letters_of(tenant, where), key=lambda row: row.id, reverse=not oldest_first)
        if cursor is not None:
            found = [row for row in found if (row.id > cursor if oldest_first else row.id < cursor)]
        return found[:limit]

    async def letter(self, tenant: int, letter: bytes) -> LetterRow | None:
        row = self.dead.get(letter)
        return self._with_name(row) if row is not None and row.tenant == tenant else None

    async def count_letters(self, tenant: int, *, where: LetterCriteria, limit: int) -> int:
        return min(limit, len(self._letters_of(tenant, where)))

    async def take_letter(self, tenant: int, letter: bytes, *, by: str, stale: int) -> LetterRow | None:
        row, now = await self.letter(tenant, letter), self.clock.wall()
        if row is None:
            return None
        if row.state != LetterState.OPEN and (row.result is not None or (row.settled_at or 0) > now - stale):
            return None
        self.dead[letter] = row._replace(state=str(LetterState.REQUEUED), settled_at=now, settled_by=by, result=None)
        return row

    async def settle_letter(self, tenant: int, letter: bytes, *, result: str | None) -> None:
        row = await self.letter(tenant, letter)
        if row is None:
            return
        if result is not None:
            self.dead[letter] = row._replace(result=result)
        else:
            self.dead[letter] = row._replace(state=str(LetterState.OPEN), settled_at=None, settled_by=None)

    async def drop_letters(self, tenant: int, letters: Sequence[bytes]) -> int:
        found = [letter for letter in letters if letter in self.dead and self.dead[letter].tenant == tenant]
        for letter in found:
            del self.dead[letter]
        return len(found)

    async def prune_letters(self, *, before: int, limit: int) -> int:
        old = sorted((row.at, row.id) for row in self.dead.values() if row.at < before)[:limit]
        for _, letter in old:
            del self.dead[letter]
        return len(old)

    def _letters_of(self, tenant: int, where: LetterCriteria) -> list[LetterRow]:
        given = where.given()
        before = given.pop("before", None)
        return [
            self._with_name(row)
            for row in self.dead.values()
            if row.tenant == tenant
            and all(getattr(row, name) == value for name, value in given.items())
            and (before is None or row.at < before)  # type: ignore[operator]
        ]

    def _with_name(self, row: LetterRow) -> LetterRow:
        saved = self.saved.get(row.workflow)
        return row._replace(workflow_name=saved.new.name if saved else "")
