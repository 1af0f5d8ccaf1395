"""Caches in memory: prepared graphs by workflow and version, and workflows that can be started."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar

from detent.errors import InvalidDefinition, NotFound, NotStartable, UnknownGraph
from detent.forms.compile import compile_document, is_code
from detent.forms.definition import read_definition
from detent.forms.payload_schema import PayloadSchema
from detent.graph import codec
from detent.ids import WORKFLOW, InvalidId, parse, show
from detent.observe import emit
from detent.planner.maps import page_of
from detent.planner.prepared import Prepared, prepare
from detent.run.journal import Page, family_in
from detent.store.protocol import NodeStore, Store
from detent.store.rows import RunRow, StartCheck, VersionFacts, VersionRow, WorkflowRow
from detent.values.limits import LARGEST_VERSION

#: The approximate size limit of each cache, in bytes.
CACHE_BYTES: Final = 64_000_000
#: The size of an entry: a fixed part, plus about twelve times the length of the encoded graph.
ENTRY_BYTES: Final = 2_000
GRAPH_FACTOR: Final = 12
#: The size of one item in the graph of a page, and the limit of all such graphs.
PAGE_BYTES: Final = 800
PAGES_BYTES: Final = 16_000_000

K = TypeVar("K")
V = TypeVar("V")
Version = tuple[bytes, int]


def weight(encoded: int) -> int:
    """Estimate the memory of a prepared graph from the length of its encoding."""
    return ENTRY_BYTES + GRAPH_FACTOR * encoded


class ByteCache(Generic[K, V]):
    """A cache of at most `limit` bytes. The caller states the weight of each value. The oldest values are evicted."""

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: K) -> bool:
        return key in self._kept

    def get(self, key: K) -> V | None:
        kept = self._kept.get(key)
        return None if kept is None else kept[0]

    def put(self, key: K, value: V, weight: int) -> V:
        """Store a value and return it. Evict the oldest other values while the cache is above its limit."""
        self.pop(key)
        self._kept[key] = (value, weight)
        self.bytes += weight
        while self.bytes > self._limit and len(self._kept) > 1:
            self.bytes -= self._kept.popitem(last=False)[1][1]
        return value

    def pop(self, key: K) -> None:
        """Remove a value if it exists."""
        kept = self._kept.pop(key, None)
        if kept is not None:
            self.bytes -= kept[1]

    def renew(self, key: K) -> None:
        """Mark a value as the newest."""
        self._kept.move_to_end(key)


class GraphCache:
    """A cache of prepared graphs. A version never changes, so no entry is ever stale."""

    def __init__(self, store: NodeStore) -> None:
        self._store = store
        self._kept: ByteCache[Version, tuple[str, Prepared]] = ByteCache()
        self._pages: ByteCache[tuple[bytes, int, Page], Prepared] = ByteCache(PAGES_BYTES)

    async def one(self, version: Version) -> Prepared:
        """Return the prepared graph of a version. Raise NotFound, or UnknownGraph if this code cannot read it."""
        found, unreadable = await self.load([version])
        if version in unreadable:
            raise unreadable[version]
        if version not in found:
            raise NotFound(f"there is no version {version[1]} of that workflow")
        return found[version][1]

    async def get(self, versions: Sequence[Version]) -> dict[Version, tuple[str, Prepared]]:
        """Return (workflow name, prepared graph) of each version that can be read."""
        return (await self.load(versions))[0]

    async def load(
        self, versions: Sequence[Version]
    ) -> tuple[dict[Version, tuple[str, Prepared]], dict[Version, UnknownGraph]]:
        """Return (workflow name, prepared graph) of each version, and why others cannot be read by this code.

        Missing ones are loaded in one query.
        """
        wanted = list(dict.fromkeys(versions))
        found: dict[Version, tuple[str, Prepared]] = {}
        for version in wanted:
            kept = self._kept.get(version)
            if kept is not None:
                found[version] = kept
                self._kept.renew(version)
        missing = [version for version in wanted if version not in found]
        unreadable: dict[Version, UnknownGraph] = {}
        if missing:
            for version, (name, raw) in (await self._store.graphs(missing)).items():
                try:
                    found[version] = name, self.put(version, name, raw)
                except Exception as error:  # noqa: BLE001 - one bad graph must not block the others
                    message = f"{name} version {version[1]} cannot be read: {error}"
                    emit("engine.error", where="graphs", error=message)
                    unreadable[version] = error if isinstance(error, UnknownGraph) else UnknownGraph(message)
        return found, unreadable

    def page(self, version: Version, prepared: Prepared, page: Page) -> Prepared:
        """Return the prepared graph of a page of a map, from the graph of its version."""
        key = (*version, page)
        kept = self._pages.get(key)
        return kept or self._pages.put(key, page_of(prepared, page), PAGE_BYTES * page.size)

    async def of_run(self, row: RunRow) -> Prepared:
        """Return the prepared graph of a run. Raise NotFound or UnknownGraph."""
        version = (row.workflow, row.version)
        prepared = await self.one(version)
        family = None if row.parent is None else family_in(row.opening)
        return prepared if family is None or family.page is None else self.page(version, prepared, family.page)

    def put(self, version: Version, name: str, raw: bytes) -> Prepared:
        """Return the prepared graph of a version. Decode `raw` if the graph is not cached."""
        kept = self._kept.get(version)
        if kept is None:
            kept = self._kept.put(version, (name, prepare(codec.decode(raw))), weight(len(raw)))
        return kept[1]


# Workflows that can be started, cached in memory.
#
# This process is not notified when another process saves, disables or deletes a workflow. It need not be: the store
# accepts a start only if its version is still the current one (see `StartCheck`). After a refusal the workflow is
# loaded again. So a stale entry costs a second attempt, but never a run of the wrong version.


LONGEST_NAME: Final = 200
DEFAULT_QUEUE: Final = "default"


@dataclass(frozen=True, slots=True)
class Startable:
    """A version of a workflow, ready to be started. `check` is what the store has to check of it."""

    id: bytes
    version: int
    name: str
    prepared: Prepared
    queue: str
    priority: int
    code: tuple[str, ...]
    labels: str | None
    payload: PayloadSchema | None
    check: StartCheck = StartCheck.CURRENT


class WorkflowCache:
    """A cache of startable workflows by the key that callers use: id or name."""

    def __init__(self, store: Store, graphs: GraphCache) -> None:
        self._store, self._graphs = store, graphs
        self._kept: ByteCache[tuple[int, str], Startable] = ByteCache()
        self._pinned: ByteCache[tuple[int, str, int], Startable] = ByteCache()
        self._loads: dict[tuple[int, str], asyncio.Task[Startable]] = {}

    async def startable(self, tenant: int, key: str) -> Startable:
        """Return the workflow, from the cache if possible. Raise NotFound or NotStartable.

        Starts that miss the cache at the same time share one read: a crowd of them would use up the connections.
        """
        kept = self._kept.get((tenant, key))
        if kept is not None:
            return kept
        load = self._loads.get((tenant, key))
        if load is None:
            load = self._loads[tenant, key] = asyncio.create_task(self._load(tenant, key))
            load.add_done_callback(partial(self._has_loaded, (tenant, key)))
        return await asyncio.shield(load)

    async def current(self, tenant: int, key: str) -> Startable:
        """Return the workflow as it is in the store now. Raise NotFound or NotStartable."""
        self._kept.pop((tenant, key))
        return await self._load(tenant, key)

    async def pinned(self, tenant: int, key: str, number: int, *, again: bool = False) -> Startable:
        """Return a version of the workflow, whichever is current, from the cache unless it is read `again`. Raise
        NotFound or NotStartable."""
        place = (tenant, key, number)
        kept = None if again else self._pinned.get(place)
        if kept is not None:
            return kept
        row = await self.row(tenant, key)
        refuse_unless_active(row)
        prepared, version = await self.version(row, number)
        made = startable(_at(row, version), prepared, StartCheck.STARTABLE)
        return self._pinned.put(place, made, weight(len(version.source)))

    async def version(self, row: WorkflowRow, number: int) -> tuple[Prepared, VersionRow]:
        """Return a version of a workflow, with its facts. Raise NotFound if there is none, or UnknownGraph if this code
        cannot read it."""
        fits = -LARGEST_VERSION <= number <= LARGEST_VERSION
        found = await self._store.for_tenant(row.tenant).version(row.tenant, row.id, number) if fits else None
        if found is None:
            raise NotFound(f"the workflow {row.name!r} has no version {number}")
        return await self._graphs.one((row.id, number)), found._replace(facts=facts_of(row, found))

    async def _load(self, tenant: int, key: str) -> Startable:
        row = await self.row(tenant, key)
        made = self._prepare(row)
        # Of the trigger only a payload schema stays in memory.
        size = len(row.graph) + (0 if made.payload is None else len(row.trigger))
        return self._kept.put((tenant, key), made, weight(size))

    def _has_loaded(self, key: tuple[int, str], load: asyncio.Task[Startable]) -> None:
        del self._loads[key]
        if not load.cancelled():
            load.exception()  # asyncio would log an error that no caller was left to receive

    def forget(self, tenant: int, row: WorkflowRow) -> None:
        """Remove the workflow from the cache, because its entry is stale."""
        for key in (row.name, show(WORKFLOW, row.id)):
            self._kept.pop((tenant, key))

    async def row(self, tenant: int, key: str) -> WorkflowRow:
        """Return the workflow's row from the store. Raise NotFound if there is none."""
        store, found = self._store.for_tenant(tenant), None
        try:
            found = await store.workflow(tenant, parse(WORKFLOW, key))
        except InvalidId:
            # No valid name is longer or contains a NUL, and a database may refuse such a query.
            if len(key) <= LONGEST_NAME and "\x00" not in key:
                found = await store.workflow(tenant, key)
        if found is None:
            raise NotFound(f"there is no workflow {key[:200]!r}")
        return found

    def _prepare(self, row: WorkflowRow) -> Startable:
        refuse_unless_active(row)
        return startable(row, self._graphs.put((row.id, row.version), row.name, row.graph))


def refuse_unless_active(row: WorkflowRow) -> None:
    """Raise NotStartable if the workflow is disabled or its status is not `active`."""
    if row.status != "active":
        raise NotStartable(f"Workflow is not Active (current status: {row.status.capitalize()}): {row.name}")
    if not row.enabled:
        raise NotStartable(f"Workflow is disabled: {row.name}")


def facts_of(row: WorkflowRow, version: VersionRow) -> VersionFacts:
    """Return the facts of a version of a workflow.

    A version that older code saved has none. If it is the current one, they are in the workflow's row. Otherwise its
    text is compiled again. If that is not possible, because it is Python code or its form has changed, the facts of the
    current version stand in."""
    if version.facts is not None:
        return version.facts
    if version.version == row.version or is_code(row.form):
        return row.facts()
    try:
        compiled = compile_document(read_definition(version.source))
    except InvalidDefinition:
        return row.facts()
    labels = json.dumps(dict(compiled.labels)) if compiled.labels else None
    return VersionFacts(compiled.form, compiled.title, compiled.description, json.dumps(compiled.start_facts()), labels)


def _at(row: WorkflowRow, version: VersionRow) -> WorkflowRow:
    """Return a workflow's row as if that version were its current one."""
    assert version.facts is not None
    return row._replace(version=version.version, source=version.source, **version.facts._asdict())


def startable(row: WorkflowRow, prepared: Prepared, check: StartCheck = StartCheck.CURRENT) -> Startable:
    """Build the startable workflow from its row and its prepared graph."""
    facts = json.loads(row.trigger)
    return Startable(
        id=row.id,
        version=row.version,
        name=row.name,
        prepared=prepared,
        queue=facts.get("queue") or DEFAULT_QUEUE,
        priority=facts.get("priority") or 0,
        code=tuple(facts.get("code", ())),
        labels=row.labels,
        payload=PayloadSchema(facts["payload"]) if facts.get("payload") else None,
        check=check,
    )
