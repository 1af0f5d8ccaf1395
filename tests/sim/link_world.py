"""A world whose steps name resources, of which there are few, so that runs meet at them.

A step succeeds only after its run has every resource that it names; it fails with the run that has one; a resource
changes hands only to a run that repeats its owner, which has ended; and all nodes claim in one order.
"""

from __future__ import annotations

import random
from collections import deque
from typing import Any, Final

from detent.ids import RUN, show
from detent.run.journal import Entry, Kind, decode_data
from detent.run.links import CONFLICT, Link
from detent.run.outcomes import Done
from detent.store.links import LinkKey, LinkRow
from detent.store.rows import Flush
from tests.sim.node import SimNode
from tests.sim.world import World

RESOURCES: Final = 8
#: How many of the latest claims of other nodes are compared.
LATEST: Final = 40


class LinkNode(SimNode):
    """A node whose steps name resources."""

    def boot(self) -> None:
        super().boot()
        world = self._world
        assert isinstance(world, LinkWorld)
        for executor in self.executors:
            executor.links = world.links


class LinkWorld(World):
    """`run` lives it through and gives what went wrong, or null."""

    def __init__(self, seed: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(seed, *args, **kwargs)
        self._chance = random.Random(seed + 1)
        self._had: dict[LinkKey, set[bytes]] = {}  # every run that had a resource
        self._orders: deque[tuple[bytes, list[LinkKey]]] = deque(maxlen=LATEST)

    def make_node(self, number: int) -> SimNode:
        return LinkNode(self, number)

    def links(self) -> tuple[Link, ...]:
        """What a step names that succeeds."""
        if self._chance.random() < 0.4:
            return ()
        chosen = self._chance.sample(range(RESOURCES), self._chance.choice((1, 1, 2, 3)))
        return tuple(Link("sim", "item", f"r{number}") for number in chosen)

    def _watched(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        before = dict(self.database.model.links)
        result = super()._watched(verb, args, kwargs)
        if verb == "hand_over_links":
            self._check_heirs(before)
        for key, row in self.database.model.links.items():
            self._had.setdefault(key, set()).add(row.run)
        if verb == "flush" and result is not None:
            self._check_owners(before)
            self._check_order(args[0], args[2])
            for entry in args[2].entries:
                self._check_entry(entry, before)
        return result

    def _check_heirs(self, before: dict[LinkKey, LinkRow]) -> None:
        model = self.database.model
        for key, row in model.links.items():
            was = before[key].run
            if row.run == was:
                continue
            repeated, origin = set(), model.table[row.run].new.origin
            while origin is not None:
                repeated.add(origin)
                origin = model.table[origin].new.origin
            if was not in repeated or model.table[was].is_open():
                self.fail(f"{key} was handed over to a run that does not repeat its owner, or too soon")
            self.counters.add("resource was handed over")

    def _check_owners(self, before: dict[LinkKey, LinkRow]) -> None:
        links = self.database.model.links
        if any(links.get(key) != row for key, row in before.items()):
            self.fail("a resource changed hands")
        if len(links) > len(before):
            self.counters.add("resource was claimed")

    def _check_order(self, node: bytes, flush: Flush) -> None:
        """Two nodes that claim the same resources in different orders can block each other for ever."""
        mine = [link.key for link in flush.sorted_links()]
        for other, theirs in self._orders if len(mine) > 1 else ():
            common = [key for key in theirs if key in mine]
            if other != node and common != [key for key in mine if key in theirs]:
                self.fail(f"two nodes claim {common} in different orders and can deadlock")
            elif other != node and len(common) > 1:
                self.counters.add("two nodes claimed the same resources")
        if mine:
            self._orders.append((node, mine))

    def _check_entry(self, entry: Entry, before: dict[LinkKey, LinkRow]) -> None:
        if entry.kind != Kind.ENDED or entry.step is None:
            return
        data = decode_data(entry.data)
        if data.by is not None:
            return  # a person resolved an uncertain step, and a person names no resources
        error = data.error
        effect = self.ledger.attempt(entry.run, entry.step, entry.attempt)
        if error is not None and error.code == CONFLICT:
            key = (entry.tenant, error.detail["system"], error.detail["type"], error.detail["id"])
            owner = before[key].run if key in before else b""
            had = {show(RUN, run) for run in self._had.get(key, ())}  # it may have been handed over since
            if owner == entry.run or error.detail["run_id"] not in had:
                self.fail(f"{entry.step} failed because of {key}, which belongs to {owner.hex()}")
            self.counters.add("resource belonged to another run")
        elif error is None and effect is not None and isinstance(effect.outcome, Done):
            for link in effect.outcome.links:
                row = before.get((entry.tenant, link.system, link.type, link.id))
                if row is None or row.run != entry.run:
                    self.fail(f"{entry.step} succeeded although its run does not have {link.id}")
                elif row.at < self.checks.stories[entry.run].row.started_at or row.step != entry.step:
                    self.counters.add("resource was claimed again by its run")
