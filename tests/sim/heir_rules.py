"""Of a hero there is one run that counts, and a run that goes on as another one leaves it that place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from detent.clock import Clock
from detent.engine.start import active_key
from detent.store.memory.store import MemoryStore
from detent.store.rows import CONTINUED, End, Flush, Flushed, NewRun, released_key
from tests.sim.store import ModelStore
from tests.sim.story import Violation


class HeirRules:
    """Looked at after every flush."""

    def __init__(self, model: MemoryStore, count: Callable[[str], None]) -> None:
        self._model, self._count = model, count
        self._heirs: dict[bytes, bytes] = {}  # by the run that they go on from

    def flushed(self, flush: Flush) -> None:
        """Every open run of a hero holds the key, but for those whose heir is there: they hold none."""
        for start in flush.starts:
            if start.origin_kind == CONTINUED and start.origin is not None and start.id in self._model.table:
                self._begun(start.origin, start)
        for end in flush.ends:
            if end.successor is not None:
                self._ended(end, end.successor)
        holders: dict[str, bytes] = {}
        for run, row in self._model.table.items():
            hero_type, hero_id = row.new.hero_type, row.new.hero_id
            if hero_type is None or hero_id is None or not row.is_open():
                continue
            key = active_key(self._model.saved[row.new.workflow].new.name, (hero_type, hero_id))
            held = released_key(run) if run in self._heirs else key
            if row.new.active_key != held:
                raise Violation(f"an open run of a hero has the key {row.new.active_key}, and not {held}")
            if held == key and holders.setdefault(key, run) != run:
                raise Violation(f"two open runs have the active key {key}")

    def _begun(self, old: bytes, heir: NewRun) -> None:
        known = self._heirs.setdefault(old, heir.id)
        if known != heir.id:
            raise Violation("a run goes on as two")
        if self._model.table[old].is_open():
            raise Violation("a run goes on as another one before it has ended")
        key = self._model.table[old].new.active_key
        if heir.active_key is not None:
            if key != released_key(old):
                raise Violation(f"a run has gone on as another one and keeps its key {key}")
            self._count("key was handed over")

    def _ended(self, end: End, successor: bytes) -> None:
        row = self._model.table[end.run]
        has_counted = not row.is_open() and row.output == end.output  # and was not fenced
        if has_counted and successor not in self._model.table:
            raise Violation("a run has ended for another one that is not there")

    def refused(self, hero: tuple[str, str], obstacle: bytes) -> None:
        """A start was refused: what is said to be in its way must be a run of that hero."""
        row = self._model.table.get(obstacle)
        if row is None or (row.new.hero_type, row.new.hero_id) != hero:
            raise Violation("a start was refused for a run that is not in its way")
        self._count("rival was refused")


class KeptKey(ModelStore):
    """Lets an heir begin, and the other run keep its key."""

    def _pass_key(self, start: NewRun) -> None:
        return None


class LostKey(ModelStore):
    """Takes the key from one run and does not give it to the other."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._lost: list[bytes] = []

    def _pass_key(self, start: NewRun) -> None:
        super()._pass_key(start)
        self._lost.append(start.id)

    async def flush(self, *args: Any, **kwargs: Any) -> Flushed | None:
        flushed = await super().flush(*args, **kwargs)
        for heir in self._lost:
            self.table[heir].new = self.table[heir].new._replace(active_key=None)
        self._lost.clear()
        return flushed
