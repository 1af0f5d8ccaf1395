"""Misfortune: crashes, pauses, graceful stops, outages, foreign locks and jumping clocks, at the rates of the world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.sim.node import SimNode

if TYPE_CHECKING:
    from tests.sim.world import World


class Nemesis:
    """Strikes until it is told to heal."""

    def __init__(self, world: World) -> None:
        self._world, self._swarm, self._rng = world, world.swarm, world.rng

    def begin(self) -> None:
        swarm = self._swarm
        for rate, strike in (
            (swarm.crashes, self._crash),
            (swarm.pauses, self._pause),
            (swarm.stops, self._stop),
            (swarm.outages, self._outage),
            (swarm.locks, self._lock),
            (swarm.jumps, self._jump),
            (swarm.arrests, self._arrest),
        ):
            if rate:
                self._world.loop.spawn(None, self._strike(rate, strike))

    async def _strike(self, per_minute: float, strike: Callable[[], None]) -> None:
        while True:
            await asyncio.sleep(self._rng.expovariate(per_minute / 60))
            if self._world.is_healed:
                return
            strike()

    def heal(self) -> None:
        """Every process runs, the database answers, nobody holds a row."""
        world = self._world
        world.database.is_healed = True
        world.database.gone_until = 0.0
        world.database.cut_off.clear()
        world.database.model.locked.clear()
        for node in world.nodes:
            if not node.is_alive:
                node.boot()
            elif node.process.paused_until:
                world.loop.resume(node.process)
            for executor in node.executors:
                executor.is_healed = True

    def _some_node(self) -> SimNode | None:
        alive = [node for node in self._world.nodes if node.is_alive]
        return self._rng.choice(alive) if alive else None

    def _crash(self) -> None:
        world = self._world
        node = self._some_node()
        victims = [one for one in world.nodes if one.is_alive] if self._rng.random() < 0.1 else [node]
        for victim in victims:
            if victim is not None:
                world.counters.add("node crashed")
                world.note(f"{victim.process} crashes")
                victim.crash()
                world.loop.spawn(None, self._boot_later(victim, self._rng.choice((0.1, 2.0, 12.0))))

    async def _boot_later(self, node: SimNode, delay: float) -> None:
        process = node.process
        await asyncio.sleep(delay)
        if node.process is process and process.is_dead:
            node.boot()

    def _pause(self) -> None:
        node = self._some_node()
        if node is None or node.process.paused_until:
            return
        length = self._rng.choice((0.3, 3.0, 5.9, 9.0, 20.0))
        self._world.counters.add("node paused beyond its lease" if length > 8 else "node paused")
        self._world.note(f"{node.process} stands still for {length} s")
        node.process.paused_until = self._world.loop.time() + length
        self._world.loop.spawn(None, self._resume_later(node, length))

    async def _resume_later(self, node: SimNode, length: float) -> None:
        process = node.process
        await asyncio.sleep(length)
        if process.paused_until and not process.is_dead:
            self._world.note(f"{process} goes on")
            self._world.loop.resume(process)

    def _stop(self) -> None:
        node = self._some_node()
        if node is None or node.is_stopping:
            return
        node.is_stopping = True
        self._world.note(f"{node.process} is asked to stop")
        self._world.loop.spawn(node.process, self._stop_gracefully(node))

    async def _stop_gracefully(self, node: SimNode) -> None:
        await node.engine.stop()
        self._world.counters.add("node drained")
        node.crash()
        self._world.loop.spawn(None, self._boot_later(node, 0.5))

    def _outage(self) -> None:
        self._world.counters.add("store was gone")
        length = self._rng.choice((0.5, 3.0, 10.0))
        self._world.note(f"the database is gone for {length} s")
        self._world.database.gone_until = self._world.loop.time() + length

    def _lock(self) -> None:
        model = self._world.database.model
        if not model.table:
            return
        run = self._rng.choice(list(model.table))
        until = self._world.loop.time() + self._rng.choice((0.5, 1.9, 8.0))
        model.locked[run] = until
        self._world.loop.spawn(None, self._unlock_later(run, until))

    async def _unlock_later(self, run: bytes, until: float) -> None:
        await asyncio.sleep(until - self._world.loop.time())
        model = self._world.database.model
        if model.locked.get(run) == until:
            del model.locked[run]

    def _arrest(self) -> None:
        """A node's heart does not reach the database, while all its other statements do."""
        node = self._some_node()
        if node is not None:
            self._world.counters.add("heart was cut off")
            self._world.note(f"the heart of {node.process} is cut off")
            until = self._world.loop.time() + self._rng.choice((3.0, 7.0, 12.0))
            self._world.database.cut_off[node.process] = until

    def _jump(self) -> None:
        """The database's clock steps ahead, or back by a little."""
        self._world.counters.add("database clock jumped")
        self._world.clock.jump(self._rng.choice((-2.0, 5.0, 60.0, 7200.0)))
        self._world.note("the database's clock jumps")
