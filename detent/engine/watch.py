"""Looks after what others left behind: nodes whose lease is over, and runs this node owns without holding them."""

from __future__ import annotations

from detent.engine.committer import Committer
from detent.engine.runner import Runner
from detent.engine.tuning import Tuning
from detent.observe import emit
from detent.store.protocol import NodeStore


class Takeovers:
    """Removes nodes whose lease is over; their runs are then claimed like any other."""

    name = "takeovers"

    def __init__(self, store: NodeStore, node: bytes, *, tuning: Tuning) -> None:
        self._store, self._node, self._tuning = store, node, tuning

    async def poll(self) -> float:
        for node in await self._store.overdue():
            if node != self._node and await self._store.take_over(node):
                emit("node.taken_over", node=node)
        return min(self._tuning.lease / 4, 2.0)


class Watchdog:
    """Finds runs that this node owns but does not hold: a claim or a start whose reply was lost.

    A run is given back when it was seen so twice in a row with the same generation: by then nothing of it can still
    be on its way."""

    name = "watchdog"

    def __init__(self, store: NodeStore, node: bytes, *, runner: Runner, committer: Committer, tuning: Tuning) -> None:
        self._store, self._node, self._runner = store, node, runner
        self._committer, self._tuning = committer, tuning
        self._suspects: dict[tuple[bytes, int], None] = {}

    async def poll(self) -> float:
        owned = await self._store.owned(self._node)
        loose = {key: None for key in owned if not self._holds(*key)}
        again = [key for key in loose if key in self._suspects]
        self._suspects = loose
        if again and not self._committer.is_unsure:
            await self._store.release(self._node, self._committer.epoch, again)
        return self._tuning.watch

    def _holds(self, run: bytes, generation: int) -> bool:
        held = self._runner.held.get(run)
        return held is not None and held.generation == generation
