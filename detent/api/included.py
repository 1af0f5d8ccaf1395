"""What can be shown of a run beside its own document: its attempts, events and children, and its whole family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from detent.api.queries import grouped, number_of, wait_of
from detent.api.spelling import our_names, refuse_if_any, spellings
from detent.api.wire import RunSummary, RunTree, run_summary
from detent.authoring.fields import Problems, shown
from detent.engine.commands import Commands
from detent.engine.entry_view import entry_json
from detent.engine.feeds import Feeds
from detent.errors import NotFound
from detent.ids import RUN, show
from detent.store.rows import RunRow

LISTS: Final = ("actions", "resources", "events", "children")
_MESSAGE: Final = "the run cannot be shown"
_MOST: Final = 200
_USUAL: Final = 100
_LARGEST_OFFSET: Final = 999_999_999
_MOST_MEMBERS: Final = 1_000
_DEEPEST: Final = 64
_NAMES: Final = spellings("include", "limit", "offset", "wait")


@dataclass(frozen=True, slots=True)
class Look:
    """How somebody wants to see a run."""

    include: frozenset[str]
    limit: int
    offset: int
    wait: float | None


def read_look(query: bytes) -> Look:
    """What the query of a run says."""
    problems = Problems()
    given = our_names(grouped(query), _NAMES, problems)
    include = {word.strip() for text in given.pop("include", ()) for word in text.split(",") if word.strip()}
    for word in sorted(include - set(LISTS)):
        problems.add("include", f"{shown(word)} is not one of {', '.join(LISTS)}")
    found: dict[str, Any] = {}
    readers = {
        "limit": lambda text: number_of(text, 1, _MOST),
        "offset": lambda text: number_of(text, 0, _LARGEST_OFFSET),
        "wait": wait_of,
    }
    for name, texts in given.items():
        try:
            found[name] = readers[name](texts[-1])
        except ValueError as error:
            problems.add(name, str(error))
    refuse_if_any(problems, _MESSAGE)
    return Look(frozenset(include), found.get("limit", _USUAL), found.get("offset", 0), found.get("wait"))


async def included(
    commands: Commands, feeds: Feeds, run: bytes, document: dict[str, Any], look: Look
) -> dict[str, Any]:
    """The lists that were asked for, and which of them go on."""
    lists: dict[str, list[Any]] = {}
    more: list[str] = []
    for name in LISTS:
        if name not in look.include:
            continue
        found, goes_on = await _list(name, commands, feeds, run, document, look)
        lists[name] = found
        if goes_on:
            more.append(name)
    return {**lists, "more": more}


async def _list(
    name: str, commands: Commands, feeds: Feeds, run: bytes, document: dict[str, Any], look: Look
) -> tuple[list[Any], bool]:
    match name:
        case "actions":
            return _cut(_attempts(document), look)
        case "events":
            events = await feeds.wait_entries(run, look.offset, limit=look.limit)
            rest = await feeds.wait_entries(run, events.entries[-1].seq, limit=1) if events.entries else None
            return [msgspec.Raw(entry_json(entry)) for entry in events.entries], bool(rest and rest.entries)
        case "children":
            return _cut([run_summary(row) for row in await commands.children([run])], look)
        case _:
            # Nothing in this version links a resource of another system to a run.
            return [], False


def _cut(items: list[Any], look: Look) -> tuple[list[Any], bool]:
    end = look.offset + look.limit
    return items[look.offset : end], len(items) > end


def _attempts(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = [
        {"step": name, "type": step["type"], **attempt}
        for name, step in document["tasks"].items()
        for attempt in step["attempts"]
    ]
    return sorted(found, key=lambda attempt: (attempt["finished_at"], attempt["step"]))


async def family(commands: Commands, row: RunRow) -> tuple[RunTree, bool]:
    """The tree of runs a run belongs to, and whether it is all of it."""
    top = await _first(commands, row)
    root = _tree(top)
    layer, members = {top.id: root}, 1
    while layer and members < _MOST_MEMBERS:
        below = await commands.children(list(layer))
        grown: dict[bytes, RunTree] = {}
        for child in below[: _MOST_MEMBERS - members]:
            if child.parent is not None and child.parent in layer:
                grown[child.id] = _tree(child)
                layer[child.parent].children.append(grown[child.id])
        members += len(grown)
        layer = grown
    return root, members < _MOST_MEMBERS


async def _first(commands: Commands, row: RunRow) -> RunRow:
    for _ in range(_DEEPEST):
        if row.parent is None:
            break
        try:
            row = await commands.run_row(show(RUN, row.parent))
        except NotFound:
            break  # it was kept for a shorter time than its children
    return row


def _tree(row: RunRow) -> RunTree:
    summary: RunSummary = run_summary(row)
    return RunTree(**msgspec.structs.asdict(summary), children=[])
