"""The items of a map: what became of each, read from the pages that have them."""

from __future__ import annotations

from typing import Final, NamedTuple

from detent.commands.context import CommandPart
from detent.commands.runs import RunCommands
from detent.documents.runs import ItemDocument
from detent.errors import Conflict, NotFound
from detent.ids import RUN, parse, show
from detent.run.state import MapState
from detent.store.rows import RunRow
from detent.values.nearest import nearest
from detent.views.runs import children_by_step, item_document

#: An answer ends early after so many bytes of results, or so many pages of the map.
MOST_BYTES: Final = 1024 * 1024
MOST_PAGES: Final = 20


class PageOfItems(NamedTuple):
    """Some items in their order. `next` is the index to go on from; None: there are no more."""

    items: list[ItemDocument]
    next: int | None


class ItemCommands(CommandPart):
    """Reads of the items of maps."""

    async def find(self, run: str, step: str, *, begin: int, limit: int, status: str | None) -> PageOfItems:
        """Return items of a map from the index `begin` on. Raise NotFound if the run has no such map."""
        runs = RunCommands(self._context, self._caller)
        row = await runs.row(run)
        prepared, state = await runs.folded(row)
        index = prepared.numbers.get(step)
        if index is None:
            near = nearest(step, list(prepared.numbers))
            raise NotFound(f"the run has no step {step[:80]!r}" + (f"; did you mean {near!r}?" if near else ""))
        if prepared.steps[index].items is None:
            raise Conflict(f"step {step!r} does not run for each item of a list, so it has no items")
        found = state.maps.get(index)
        if found is None:
            return PageOfItems([], None)
        return await self._read(runs, row, found, begin, limit, status)

    async def _read(
        self, runs: RunCommands, row: RunRow, found: MapState, begin: int, limit: int, status: str | None
    ) -> PageOfItems:
        items: list[ItemDocument] = []
        size, at = 0, begin
        last = (begin // found.size + MOST_PAGES) * found.size
        while at < min(found.count, last):
            first = at // found.size * found.size
            for item in (await self._page(runs, row, found, first))[at - first :]:
                length = len(bytes(item.result or b""))
                if len(items) == limit or (items and size + length > MOST_BYTES):
                    return PageOfItems(items, item.index)
                at = item.index + 1
                if status in (None, item.status):
                    items.append(item)
                    size += length
        return PageOfItems(items, at if at < found.count else None)

    async def _page(self, runs: RunCommands, row: RunRow, found: MapState, first: int) -> list[ItemDocument]:
        """Return the items of the page that begins with this one."""
        number, count = first // found.size, min(found.size, found.count - first)
        run = found.pages[number] if number < len(found.pages) else None
        page = None if run is None else await self._store.run(row.tenant, parse(RUN, run))
        if run is None or page is None:
            return [
                ItemDocument(
                    index=index, status="pending", attempts=0, error=None, result=None, run_id=run, child_run_id=None
                )
                for index in range(first, first + count)
            ]
        prepared, state = await runs.folded(page)
        name, owned = show(RUN, page.id), page.owner is not None
        children = children_by_step(prepared, await runs.entries(page.id)) if prepared.child_steps else {}
        return [
            item_document(state, offset, first, name, children.get(f"i{offset}"), owned=owned)
            for offset in range(count)
        ]
