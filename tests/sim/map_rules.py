"""The rules of maps: each item has one result in its place, each page is one run, and none is left behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from typing import Any

import msgspec

from detent.graph.model import FAILURES, Each, Ending, ItemFailure
from detent.ids import RUN, parse, show
from detent.planner.maps import items_of, pages_open
from detent.run.journal import Entry, EntryData, Kind, Page, PageEnded, family_in
from detent.run.status import TERMINAL, Status
from detent.store.memory.store import MemoryStore
from detent.store.rows import MessageKind, NewRun
from tests.sim.route_rules import RouteRules
from tests.sim.story import Story, Violation

#: The map of a run.
Place = tuple[bytes, str]


@dataclass(slots=True)
class Mapped:
    """One attempt of a map: its pages in order, those that are open, and how many items ended so far."""

    each: Each
    items: list[Any]
    size: int
    pages: list[bytes] = field(default_factory=list)
    open: dict[bytes, None] = field(default_factory=dict)
    succeeded: int = 0
    failed: int = 0

    def page(self, number: int, step: str) -> Page:
        first = number * self.size
        return Page(step, first, min(self.size, len(self.items) - first))

    def is_intolerable(self) -> bool:
        each, share = self.each, int(self.each.tolerate_share * len(self.items))
        if each.on_failure is ItemFailure.STOP:
            return self.failed > 0
        return bool(each.tolerate or each.tolerate_share) and self.failed > max(each.tolerate, share)


class MapRules:
    """Looks at every entry of a map, at every page that is started, and at every item that begins."""

    def __init__(
        self, model: MemoryStore, stories: dict[bytes, Story], routes: RouteRules, count: Callable[[str], None]
    ) -> None:
        self._model, self._stories, self._routes, self._count = model, stories, routes, count
        self.known: dict[bytes, tuple[Place, Mapped, int]] = {}  # the pages that a journal names, with their numbers
        self.current: dict[Place, Mapped] = {}
        self._last: dict[Place, Mapped] = {}
        self.left: dict[bytes, None] = {}  # pages that no map waits for any more, and that had not ended
        self._gone: frozenset[bytes] = frozenset()  # those of them that were left before the flush at hand

    # -- the journal

    def entry(self, story: Story, entry: Entry, data: EntryData) -> bool:
        """Look at an entry that is durable now. Return whether it is about a map."""
        index = story.prepared.numbers.get(entry.step or "")
        if entry.step is None or index is None or story.prepared.steps[index].items is None:
            return False
        place = (story.row.id, entry.step)
        if entry.kind == Kind.REUSED and data.map is not None:
            self._check_past(story, place, data)
        elif entry.kind == Kind.PAGED:
            self._paged(story, place, index, data)
        elif entry.kind in (Kind.ENDED, Kind.RETRY, Kind.PAUSED) and not data.released:
            self._ended(story, place, entry, data)
        return True

    def _check_past(self, story: Story, place: Place, data: EntryData) -> None:
        past = self._last.get((story.row.origin or b"", place[1]))
        assert data.map is not None
        if past is None or (data.map.count, data.map.size) != (len(past.items), past.size):
            raise Violation(f"{place[1]} takes over a map that the run before did not have")
        if [parse(RUN, page) for page in data.pages] != past.pages:
            raise Violation(f"{place[1]} takes over pages that the run before did not have")
        self._count("map taken over from another run")

    def _paged(self, story: Story, place: Place, index: int, data: EntryData) -> None:
        if data.map is not None:
            if place in self.current:
                raise Violation(f"{place[1]} began its pages again")
            each = story.prepared.graph.steps[index].each
            assert each is not None
            found = Mapped(each, items_of(story.prepared, story.state_before(), index), data.map.size)
            self.current[place] = self._last[place] = found
            if data.map.count != len(found.items):
                raise Violation(f"{place[1]} has {data.map.count} items, and its list has {len(found.items)}")
            self._count("map began")
        if place not in self.current:
            raise Violation(f"{place[1]} has pages, and it is over")
        found = self.current[place]
        if data.page is not None:
            self._page_ended(place, found, data.page)
            if found.is_intolerable():
                raise Violation(f"{place[1]} goes on though {found.failed} of {len(found.items)} items have failed")
        for name in data.pages:
            page = parse(RUN, name)
            if page in self.known:
                raise Violation(f"{name} is a page twice")
            self.known[page] = (place, found, len(found.pages))
            found.pages.append(page)
            found.open[page] = None
        most = ceil(len(found.items) / found.size)
        if len(found.pages) > most:
            raise Violation(f"{place[1]} has {len(found.pages)} pages, and its list fills {most}")
        if len(found.open) > pages_open(found.each):
            raise Violation(f"{place[1]} has {len(found.open)} pages open at once")
        if not found.open and len(found.pages) < most:
            raise Violation(f"{place[1]} has no page open, and {len(found.pages)} of {most} have begun")

    def _page_ended(self, place: Place, found: Mapped, ended: PageEnded) -> None:
        page = parse(RUN, ended.child)
        if page not in found.open:
            raise Violation(f"{place[1]} counts the page {ended.child}, which it does not wait for")
        del found.open[page]
        row, number = self._model.table[page], found.pages.index(page)
        if row.status not in TERMINAL:
            raise Violation(f"{place[1]} counts the page {ended.child}, which is {row.status}")
        closed = self._stories[page].closed
        succeeded = sum(ending == Ending.SUCCESS for ending in closed.values())
        failed = sum(Ending(ending) in FAILURES for ending in closed.values())
        if row.status in (Status.CANCELLED, Status.TIMEOUT) or (row.status != Status.COMPLETED and not failed):
            failed = found.page(number, place[1]).size - succeeded
        if (ended.succeeded, ended.failed) != (succeeded, failed):
            raise Violation(f"{place[1]} counts {ended}, and the items of that page ended {closed}")
        found.succeeded += succeeded
        found.failed += failed
        self._count(f"page {row.status}")

    def _ended(self, story: Story, place: Place, entry: Entry, data: EntryData) -> None:
        found = self.current.pop(place, None)
        if found is None:
            if entry.kind == Kind.ENDED and entry.outcome == Ending.SUCCESS and data.by is None:
                self._check_empty(story, place, data)
            return
        if data.page is not None:
            self._page_ended(place, found, data.page)
        if data.error is not None and data.error.code == "items_failed":
            self._count("map failed because of its items")
            if not found.is_intolerable():
                raise Violation(f"{place[1]} failed, and tolerates {found.failed} failed items")
        elif entry.kind == Kind.ENDED and entry.outcome == Ending.SUCCESS and data.by is None:
            self._check_result(place, found, data)
        self._leave(found)

    def _check_empty(self, story: Story, place: Place, data: EntryData) -> None:
        items = items_of(story.prepared, story.state_before(), story.prepared.numbers[place[1]])
        counts = {"count": 0, "succeeded": 0, "failed": 0}
        if items or msgspec.json.decode(data.result) != {"output": [], "items": counts}:
            raise Violation(f"{place[1]} ended with {bytes(data.result)!r} without a page, and has {len(items)} items")
        self._count("map of no items")

    def _check_result(self, place: Place, found: Mapped, data: EntryData) -> None:
        if found.open or len(found.pages) * found.size < len(found.items):
            raise Violation(f"{place[1]} ended before its pages")
        expected = [value for number in range(len(found.pages)) for value in self._values(found, number)]
        counts = {"count": len(found.items), "succeeded": found.succeeded, "failed": found.failed}
        given = msgspec.json.decode(data.result)
        if given != {"output": expected, "items": counts}:
            raise Violation(f"{place[1]} gave {given}, and its items {expected} with {counts}")
        self._count("map completed")
        if len(found.pages) > 1:
            self._count("map of several pages completed")

    def _values(self, found: Mapped, number: int) -> list[Any]:
        """What is collected of each item of a page; null for one that did not succeed."""
        state, values = self._stories[found.pages[number]].state(), []
        for index, ending in enumerate(state.ending):
            result = msgspec.json.decode(state.results.get(index, b"{}"))
            value = (
                result.get("output", result.get("body")) if found.each.collect is None else number * found.size + index
            )
            values.append(value if ending is Ending.SUCCESS and index in state.results else None)
        return values

    def _leave(self, found: Mapped) -> None:
        self.left.update(found.open)
        found.open.clear()

    # -- flushes

    def before(self) -> None:
        self._gone = frozenset(self.left)

    def after(self, *, is_written: bool) -> None:
        for place in [place for place in self.current if place[1] in self._stories[place[0]].closed]:
            self._leave(self.current.pop(place))  # it ended with its run, or was given up
        if not is_written:
            return
        for page in self.left:
            row = self._model.table.get(page)
            if row is not None and row.is_open() and not self._is_cancelled(page):
                raise Violation(f"the page {show(RUN, page)} runs on, and no map waits for it")

    def check_start(self, start: NewRun) -> None:
        """A page is started that did not exist: the journal names it, and its map has not ended."""
        family = family_in(start.opening)
        assert family is not None
        known = self.known.get(start.id)
        if known is None or known[0][0] != start.parent:
            raise Violation(f"the page {show(RUN, start.id)} was started and is not in the journal of its parent")
        place, found, number = known
        if start.id in self._gone:
            raise Violation(f"page {number} of {place[1]} was started after the map was over")
        page = found.page(number, place[1])
        if family.page != page:
            raise Violation(f"{page} was started as {family.page}")
        given = msgspec.json.decode(start.input)["body"]["items"]
        if given != found.items[page.first : page.first + page.size]:
            raise Violation(f"{page} was started with {given}, and the items are {found.items}")
        story = self._stories[place[0]]
        # An attempt that began before a move starts its pages as it would have without it.
        if start.version not in (story.row.version, *story.versions):
            raise Violation(f"{page} was started with version {start.version}, which its parent never had")
        if start.origin is not None:
            self._count("page takes over items")
        self._count("page started")

    def _is_cancelled(self, page: bytes) -> bool:
        mails = self._model.inbox.values()
        return any(mail.run == page and mail.kind == MessageKind.CANCEL for mail in mails)

    # -- items

    def check_item(self, story: Story, step: str) -> None:
        """An item begins: fewer are in flight than the map allows."""
        known = self.known.get(story.row.id)
        if known is None:
            return
        (_, name), found, _ = known
        others = 0
        for page in found.open:
            row, other = self._model.table.get(page), self._stories.get(page)
            if row is None or other is None or row.owner is None:
                continue
            state, names = other.state(), [one for one in other.prepared.numbers if (page, one) != (story.row.id, step)]
            others += sum(self._routes.is_in_flight(other, state, one, row.owner) for one in names)
        if others >= found.each.parallel:
            raise Violation(f"an item of {name} began while {others} were in flight, and {found.each.parallel} may be")
        if others + 1 == found.each.parallel > 1:
            self._count("as many items were in flight as the map allows")

    # -- the end

    def is_awaited(self, run: bytes) -> bool:
        """Whether a map of the run waits for a page that has not ended."""
        open_ = [page for place, found in self.current.items() if place[0] == run for page in found.open]
        return any(page in self._model.table and self._model.table[page].is_open() for page in open_)

    def outlived(self) -> list[bytes]:
        """The pages that go on although no map waits for them."""
        return [page for page in self.left if page in self._model.table and self._model.table[page].is_open()]
