"""Looks after what others left behind: nodes whose lease is over, and runs this node owns without holding them."""

from __future__ import annotations

from collections.abc import Callable

from detent.engine.claims import Claims
from detent.engine.committer import Committer
from detent.engine.runner import Runner
from detent.engine.tuning import Tuning
from detent.observe import emit
from detent.store.protocol import NodeStore


class Takeovers:
    """Removes nodes whose lease is over; their runs are then claimed like any other."""

    name = "takeovers"

    def __init__(self, store: NodeStore, node: bytes, *, tuning: Tuning, freed: Callable[[], None]) -> None:
        """`freed` is called when there are runs to be claimed that were not there before."""
        self._store, self._node, self._tuning, self._freed = store, node, tuning, freed

    async def poll(self) -> float:
        for node in await self._store.overdue():
            if node != self._node and await self._store.take_over(node):
                emit("node.taken_over", node=node)
                self._freed()
        return min(self._tuning.lease / 10, 1.0)


class Watchdog:
    """Finds runs that this node owns but does not hold: a claim whose reply was lost.

    A run is given back only when nothing of it can still be on its way: it was loose before with the same generation,
    every claim that had been sent by then is over, and no write of it is waiting."""

    name = "watchdog"

    def __init__(
        self,
        store: NodeStore,
        node: bytes,
        *,
        runner: Runner,
        committer: Committer,
        claims: Claims,
        tuning: Tuning,
    ) -> None:
        self._store, self._node, self._runner, self._claims = store, node, runner, claims
        self._committer, self._tuning = committer, tuning
        self._suspects: dict[tuple[bytes, int], int] = {}  # with the number of claims begun when it was first seen

    async def poll(self) -> float:
        owned = await self._store.owned(self._node)
        sent = self._claims.begun
        loose = {key: self._suspects.get(key, sent) for key in owned if not self._runner.knows(*key)}
        lost = [key for key, claim in loose.items() if key in self._suspects and claim <= self._claims.ended]
        self._suspects = loose
        if lost and not self._committer.is_unsure:
            await self._store.release(self._node, self._committer.epoch, lost)
        return self._tuning.watch
