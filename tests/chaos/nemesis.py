"""What goes wrong: nodes are killed or stood still at random moments, and the database crashes."""

import asyncio
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from tests.chaos.cluster import Cluster, Node
from tests.chaos.tuning import LEASE, RECOVERY


@dataclass
class Kill:
    """A node's death, and the runs it had then, if somebody looked. `calm` is how long nothing else went wrong."""

    at: float
    runs: tuple[bytes, ...] | None = None
    calm: float = 0.0


class Server(Protocol):
    """A database that can be made to crash."""

    def restart_immediately(self) -> None: ...

    def revive(self) -> str:
        """Start it again if it is down, and return the end of its log; an empty text if it was up."""


class Witness(Protocol):
    """Can say which runs a dead node had."""

    async def owned(self, node: bytes) -> tuple[bytes, ...] | None: ...


@dataclass
class Nemesis:
    """Does one thing after the other until told to stop, and remembers what it did."""

    cluster: Cluster
    rng: random.Random
    witness: Witness
    server: Server | None = None
    kills: list[Kill] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    async def rage(self, seconds: float, *, least: Counter[str]) -> None:
        """Until the time is over and everything was done at least so often; at the end all nodes are up."""
        began = time.monotonic()
        while time.monotonic() - began < seconds or any(self.counts[name] < least[name] for name in least):
            await self._once(self._choose(least))
        await asyncio.sleep(0.2)

    def _choose(self, least: Counter[str]) -> str:
        """What is still wanted, in proportion; when everything was done often enough, anything."""
        left = least - self.counts or least
        return self.rng.choices(list(left), list(left.values()))[0]

    async def _once(self, name: str) -> None:
        disturbed = time.time()
        match name:
            case "kill":
                await self._kill(self.rng.choice(self.cluster.living()))
            case "restart" if self.server:
                await asyncio.to_thread(self.server.restart_immediately)
            case "pause":
                await self._pause(self.rng.choice(self.cluster.living()))
            case _:
                raise AssertionError(name)
        self.counts[name] += 1
        calm = self.rng.choice((0.05, 0.3, 0.8, RECOVERY if self.server else 0.5))
        await asyncio.sleep(calm)
        if name == "kill":
            self.kills[-1].calm = time.time() - disturbed

    async def _kill(self, node: Node) -> None:
        victim = bytes.fromhex(node.said("engine.started")[-1]["node"])
        at = time.time()
        await asyncio.to_thread(node.end, signal.SIGKILL)
        self.kills.append(Kill(at, await self.witness.owned(victim)))
        await asyncio.to_thread(self._revive, node)

    def _revive(self, node: Node) -> None:
        node.start()

    async def _pause(self, node: Node) -> None:
        """Stand a node still for longer than its lease, and let it go on as if nothing had happened."""
        node.send(signal.SIGSTOP)
        await asyncio.sleep(LEASE * self.rng.uniform(1.2, 2.0))
        node.send(signal.SIGCONT)
