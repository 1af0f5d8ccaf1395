"""The family of a run: its parents, its children, and the runs that its maps started."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

import msgspec

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart
from detent.commands.runs import RunCommands
from detent.documents.runs import HierarchyDocument, MapTree, RunTree
from detent.errors import NotFound, UnknownGraph
from detent.ids import RUN, parse, show
from detent.instant import Instant
from detent.planner.prepared import PreparedStep
from detent.run.journal import family_in
from detent.run.state import MapState
from detent.store.rows import RunRow
from detent.views.runs import item_counts, run_summary

#: How many parents are looked for.
_DEEPEST: Final = 64
#: How many runs of one map are shown. Its counts are of all items, and the items themselves have a route.
MOST_OF_A_MAP: Final = 50
#: How many pages of one map are looked through. A page that takes over all its items starts no run.
_MOST_PAGES: Final = 100

_Member = tuple[RunRow, RunTree]


class HierarchyCommands(CommandPart):
    """Reads of families of runs."""

    def __init__(self, context: CommandContext, caller: Caller, runs: RunCommands) -> None:
        super().__init__(context, caller)
        self._runs = runs

    async def read(self, run: str, *, limit: int) -> HierarchyDocument:
        """Return the tree that a run belongs to, of up to `limit` runs. Raise NotFound if there is no such run."""
        row = await self._runs.row(run)
        top = await self._first(row)
        root = _tree(top, self._context.now())
        waiting, left, is_complete = deque([(top, root)]), limit - 1, True
        while waiting and left:
            above, tree = waiting.popleft()
            found = await self._children(above, tree, left)
            left -= len(found)
            is_complete &= not tree.more
            for map_ in await self._maps(above):
                tree.maps.append(map_.tree)
                inner = await self._started(map_, min(left, MOST_OF_A_MAP))
                left -= len(inner)
                found += inner
                is_complete &= not map_.tree.more
            waiting.extend(found)
        return HierarchyDocument(run_id=show(RUN, row.id), complete=is_complete and not waiting, root=root)

    async def _first(self, row: RunRow) -> RunRow:
        for _ in range(_DEEPEST):
            if row.parent is None:
                break
            try:
                row = await self._runs.row(show(RUN, row.parent))
            except NotFound:
                break  # the parent was deleted before its children, by another retention time
        return row

    async def _children(self, row: RunRow, tree: RunTree, limit: int) -> list[_Member]:
        """Add the runs that a run started, but for those of its maps."""
        rows, tree.more = await self._runs.children(row.id, limit=limit)
        tree.children = [_tree(child, self._context.now()) for child in rows]
        return list(zip(rows, tree.children, strict=True))

    async def _maps(self, row: RunRow) -> list[_Map]:
        """Return the maps of a run that start runs. A graph that this code cannot read has none."""
        try:
            prepared = await self._runs.prepared(row)
            if not any(map(_starts_runs, prepared.steps)):
                return []
            prepared, state = await self._runs.folded(row)
        except (NotFound, UnknownGraph):
            return []
        return [
            _Map(
                MapTree(step=step.name, items=item_counts(state.maps[step.index]), children=[]), state.maps[step.index]
            )
            for step in prepared.steps
            if _starts_runs(step) and step.index in state.maps
        ]

    async def _started(self, found: _Map, limit: int) -> list[_Member]:
        """Add the runs that the pages of a map started, in the order of its items."""
        members: list[_Member] = []
        pages = found.state.pages
        for number, page in enumerate(pages[:_MOST_PAGES]):
            rows, has_more = await self._runs.children(parse(RUN, page), limit=limit - len(members))
            items = sorted((number * found.state.size + _item_of(row), row.id, row) for row in rows)
            members += [(row, _tree(row, self._context.now(), item)) for item, _, row in items]
            if has_more:
                found.tree.more = True
                break
        found.tree.more |= len(pages) > _MOST_PAGES
        found.tree.children = [tree for _, tree in members]
        return members


class _Map(NamedTuple):
    tree: MapTree
    state: MapState


def _starts_runs(step: PreparedStep) -> bool:
    return step.is_child and step.items is not None


def _item_of(row: RunRow) -> int:
    """Return the number of the item in its page that a run was started for: the step of the page names it."""
    family = family_in(row.opening)
    return 0 if family is None else int(family.step.removeprefix("i"))


def _tree(row: RunRow, now: Instant, item: int | None = None) -> RunTree:
    return RunTree(**msgspec.structs.asdict(run_summary(row, now)), item=item, children=[])
