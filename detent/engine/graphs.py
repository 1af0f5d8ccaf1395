"""Graphs ready for planning, by workflow and version: loaded once, kept while they are used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from detent.graph import codec
from detent.observe import emit
from detent.planner.prepared import Prepared, prepare
from detent.store.protocol import NodeStore

KEPT: Final = 512

Version = tuple[bytes, int]


class Graphs:
    """A version never changes, so nothing here is ever out of date."""

    def __init__(self, store: NodeStore) -> None:
        self._store = store
        self._kept: OrderedDict[Version, tuple[str, Prepared]] = OrderedDict()

    async def get(self, versions: Sequence[Version]) -> dict[Version, tuple[str, Prepared]]:
        """(workflow name, prepared graph) of each that can be read; the missing ones are loaded in one query."""
        wanted = list(dict.fromkeys(versions))
        missing = [version for version in wanted if version not in self._kept]
        if missing:
            for version, (name, raw) in (await self._store.graphs(missing)).items():
                self._load(version, name, raw)
        found = {version: self._kept[version] for version in wanted if version in self._kept}
        for version in found:
            self._kept.move_to_end(version)
        while len(self._kept) > max(KEPT, len(wanted)):
            self._kept.popitem(last=False)
        return found

    def _load(self, version: Version, name: str, raw: bytes) -> None:
        try:
            self._kept[version] = (name, prepare(codec.decode(raw)))
        except Exception as error:  # noqa: BLE001 - one unreadable graph must not keep the others from being loaded
            emit("engine.trouble", where="graphs", error=f"{name} version {version[1]} cannot be read: {error}")

    def put(self, version: Version, name: str, raw: bytes) -> Prepared:
        """The prepared graph of a version whose bytes are at hand."""
        kept = self._kept.get(version)
        if kept is None:
            kept = self._kept[version] = (name, prepare(codec.decode(raw)))
        return kept[1]
