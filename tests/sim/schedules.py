"""Schedules of the simulated world, and their rules: one slot one run, none is lost, and none overlaps that may not."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from typing import Final

from detent.instant import SECOND
from detent.store.rows import NewRun
from detent.store.trigger_rows import OPEN_FIRINGS, FiringState, NewTrigger, OverlapRule
from tests.sim.programs import Program
from tests.sim.store import DatabaseClock, ModelStore, finished
from tests.sim.story import Violation

PERIOD: Final = 10
_SERIAL: Final = (OverlapRule.SKIP, OverlapRule.QUEUE)


class Schedules:
    """Made at the world's start; looked at when a run begins, and in the end."""

    def __init__(self, model: ModelStore, clock: DatabaseClock, count: Callable[[str], None]) -> None:
        self._model, self._clock, self._count = model, clock, count
        self._overlaps: dict[bytes, OverlapRule] = {}
        self._span: dict[bytes, tuple[int, int]] = {}  # the first slot, and the one that was not taken any more
        self.was_switched_off = False

    def make(self, rng: random.Random, new_id: Callable[[], bytes], programs: Iterable[Program]) -> None:
        """A schedule for each of these workflows."""
        for program in programs:
            overlap = rng.choice(list(OverlapRule))
            config = {
                "cron_expression": f"*/{PERIOD} * * * * *",
                "timezone": "UTC",
                "jitter": rng.choice((0, 0, 4)),
                "missed": "all",
                "missed_window": 86_400,
                "overlap": overlap,
            }
            id_, first = new_id(), (self._clock.wall() // SECOND // PERIOD + 1) * PERIOD * SECOND
            new = NewTrigger(
                id_, program.tenant, program.id, "cron", None, True, json.dumps(config), None, None, first, False
            )
            finished(self._model.add_trigger(new))
            self._overlaps[id_], self._span[id_] = overlap, (first, first)

    def stop(self) -> None:
        """No slot is to come any more."""
        for id_, rule in self._model.rules.items():
            self._span[id_] = (self._span[id_][0], rule.new.next_at or 0)
            rule.new = rule.new._replace(enabled=False, next_at=None)

    @property
    def are_there(self) -> bool:
        return bool(self._overlaps)

    def is_idle(self) -> bool:
        return not any(row.state in OPEN_FIRINGS for row in self._model.fired.values())

    def check_start(self, start: NewRun) -> None:
        """A run that was fired has just been written."""
        if start.fired_by is None:
            return
        self._count("run started by a schedule")
        others = [
            row for row in self._model.table.values() if row.new.fired_by == start.fired_by and row.new.id != start.id
        ]
        if self._overlaps[start.fired_by] in _SERIAL and any(row.is_open() for row in others):
            raise Violation("two runs of a schedule that lets one go on at a time are open")

    def check_all(self) -> None:
        """In the end every slot has one firing, and every firing that started has its run."""
        runs = {row.new.id: row for row in self._model.table.values() if row.new.fired_by is not None}
        started = {row.run for row in self._model.fired.values() if row.state == FiringState.STARTED}
        if set(runs) != started:
            raise Violation("a run of a schedule has no firing, or a firing no run")
        for trigger in self._overlaps:
            rows = [row for row in self._model.fired.values() if row.trigger == trigger]
            slots = sorted(row.slot for row in rows if row.slot is not None)
            if len(set(slots)) != len(slots):
                raise Violation("a slot fired twice")
            first, end = self._span[trigger]
            lost = set(range(first, end, PERIOD * SECOND)) - set(slots)
            if lost and not self.was_switched_off:  # while a workflow is switched off its slots pass
                raise Violation(f"slots were lost: {sorted(lost)}")
            for row in rows:
                self._count(f"firing {row.state}")
