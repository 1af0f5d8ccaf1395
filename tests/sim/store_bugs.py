"""Stores with one bug each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from detent.clock import Clock
from detent.instant import micros
from detent.store.rows import CallbackState, ClaimedRun, ClaimResult, Flush, MessageKind, NewRun, Receipt
from detent.store.trigger_rows import FiringRow, NewFiring
from tests.sim.store import ModelStore


class ClockFence(ModelStore):
    """Asks whether the lease held when the statement was sent, and not whether the node is still registered."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._told: dict[bytes, int] = {}

    async def register(
        self, node: bytes, *, ttl: float, queues: Sequence[str] | None = None, actions: Sequence[str] = ()
    ) -> tuple[int, int]:
        self._told[node] = self.clock.wall() + micros(ttl)
        return await super().register(node, ttl=ttl, queues=queues, actions=actions)

    async def beat(self, node: bytes, *, ttl: float) -> int | None:
        now = await super().beat(node, ttl=ttl)
        if now is not None:
            self._told[node] = now + micros(ttl)
        return now

    def _fenced(self, node: bytes, epoch: int) -> bool:
        return self._told.get(node, 0) <= self.sent_at


class UnfencedClaim(ModelStore):
    async def claim(self, node: bytes, epoch: int, **rest: Any) -> ClaimResult | None:
        was, self.nodes[node] = self.nodes.get(node), epoch
        try:
            return await super().claim(node, epoch, **rest)
        finally:
            if was is None:
                del self.nodes[node]
            else:
                self.nodes[node] = was


class DeafClaim(ModelStore):
    """Does not see that a run has mail."""

    def _has_mail(self, run: bytes) -> bool:
        return False


class ForgetfulClaim(ModelStore):
    """Does not tell that the run was a dead node's."""

    def _claimed(self, run: Any, adopted: bool) -> ClaimedRun:
        return super()._claimed(run, False)


class ForgetfulRelease(ModelStore):
    """A run that is given back looks as if nobody had ever worked on it."""

    async def release(self, node: bytes, epoch: int, runs: Any) -> None:
        await super().release(node, epoch, runs)
        for run, _ in runs:
            if self.table[run].owner == bytes(16):
                self.table[run].owner = None


class CarelessPark(ModelStore):
    """Lets go of a run whoever owns it, in whatever generation."""

    def _mine(self, node: bytes, run: bytes, generation: int) -> Any:
        row = self.table.get(run)
        return row if row and row.is_open() else None


class EagerTakeover(ModelStore):
    """Takes nodes over that live, when their next heartbeat is due soon."""

    async def overdue(self) -> list[bytes]:
        soon = self.clock.wall() + 6_500_000
        return [node for node, until in self.leases.items() if until < soon]

    async def take_over(self, node: bytes) -> bool:
        await self.retire(node)
        return True


class BothWin(ModelStore):
    """A timeout counts though the callback was received first."""

    def _is_expired(self, key: tuple[bytes, str]) -> bool:
        return True


class LateWelcome(ModelStore):
    """A callback is still accepted after its timeout."""

    def _expire(self, key: tuple[bytes, str]) -> None:
        return None

    def _is_expired(self, key: tuple[bytes, str]) -> bool:
        return self.waits[key].state is not CallbackState.RECEIVED


class TwiceWelcome(ModelStore):
    """A callback is accepted whatever came before."""

    async def deliver(self, run: bytes, step: str, **rest: Any) -> tuple[Receipt, bool]:
        callback = self.waits.get((run, step))
        if callback and callback.state is CallbackState.RECEIVED:
            self.post(run, MessageKind.CALLBACK, step, rest["data"])
            return Receipt.ACCEPTED, False
        return await super().deliver(run, step, **rest)


class LostPayload(ModelStore):
    """A callback is received and its payload is not kept."""

    async def deliver(self, run: bytes, step: str, **rest: Any) -> tuple[Receipt, bool]:
        before = self.last_mail
        answer = await super().deliver(run, step, **rest)
        if self.last_mail > before:
            self.inbox.pop(self.last_mail)
        return answer


class OpenEnd(ModelStore):
    """A run's end leaves its callbacks open."""

    def _release_runs(self, node: bytes, flush: Flush) -> None:
        before = {key: callback.state for key, callback in self.waits.items()}
        super()._release_runs(node, flush)
        for key, state in before.items():
            self.waits[key].state = state


class ForgottenRequest(ModelStore):
    """Does not see that a request id was used before."""

    def _has_request(self, start: NewRun) -> bool:
        return False


class IgnoredKey(ModelStore):
    """Lets a run begin whoever has its active key."""

    def _is_active(self, start: NewRun) -> bool:
        return False


class KeyOfTheOwned(ModelStore):
    """Takes a run that nobody has in his hands for one that has ended."""

    def _is_active(self, start: NewRun) -> bool:
        holder = None if start.active_key is None else self.holder(start.tenant, start.active_key)
        return holder is not None and self.table[holder].owner is not None


class StaleStart(ModelStore):
    """Starts whatever version it is asked for."""

    def _is_startable(self, start: NewRun) -> bool:
        return True


class TwiceTaken(ModelStore):
    """Lets every node take a slot."""

    async def take_slots(
        self, tenant: int, trigger: bytes, *, seen: int, next_at: int | None, firings: Sequence[NewFiring]
    ) -> bool:
        self.rules[trigger].new = self.rules[trigger].new._replace(next_at=next_at)
        for new in firings:
            self.fired[new.id] = FiringRow(**new._asdict(), at=self.clock.wall(), until=None, run=None)
        return True


class LostSlot(ModelStore):
    """Moves a schedule on and forgets its firings."""

    async def take_slots(
        self, tenant: int, trigger: bytes, *, seen: int, next_at: int | None, firings: Sequence[NewFiring]
    ) -> bool:
        return await super().take_slots(tenant, trigger, seen=seen, next_at=next_at, firings=firings[1:])


class NoTurns(ModelStore):
    """Lets a firing go on whatever else is open."""

    def _open_runs(self, trigger: bytes) -> tuple[bytes, ...]:
        return ()


OF_SCHEDULES: Final[dict[str, type[ModelStore]]] = {
    "a slot that two nodes take": TwiceTaken,
    "a slot that is lost": LostSlot,
    "a firing that does not wait for its turn": NoTurns,
}
OF_HEROES: Final[dict[str, type[ModelStore]]] = {
    "an active key that is ignored": IgnoredKey,
    "an active key that is free while its run is parked": KeyOfTheOwned,
}
OF_STARTS: Final[dict[str, type[ModelStore]]] = {
    "a request id that starts twice": ForgottenRequest,
    "a version that is not current is started": StaleStart,
}
OF_CALLBACKS: Final[dict[str, type[ModelStore]]] = {
    "callback and timeout both win": BothWin,
    "a callback is accepted after its timeout": LateWelcome,
    "a callback is accepted twice": TwiceWelcome,
    "an accepted payload is lost": LostPayload,
    "the end of a run leaves callbacks open": OpenEnd,
    "a claim that ignores the inbox": DeafClaim,
}
OF_LEAVING: Final[dict[str, type[ModelStore]]] = {"park without generation check": CarelessPark}
OF_OWNERSHIP: Final[dict[str, type[ModelStore]]] = {
    "clock instead of epoch in the fence": ClockFence,
    "unfenced claim": UnfencedClaim,
    "adopted run without its entry": ForgetfulClaim,
    "a run given back forgets its crash": ForgetfulRelease,
    "takeover of nodes that live": EagerTakeover,
}
