"""A world of functions that go on as new runs all the time, while they are sent one signal after the other.

Every signal that was certainly accepted reaches a run of the chain, once, in the order in which they were sent; and a
run that is paused does not go on.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from detent.errors import DetentError, StoreBusy
from detent.ids import RUN, show
from detent.run.start import StartRequest
from detent.run.status import Status
from detent.store.rows import Flush, MessageKind
from tests.sim.function_world import FunctionWorld
from tests.sim.story import Violation


@dataclass(slots=True)
class Chain:
    """A run with those it goes on as, and the signals that were certainly accepted."""

    first: bytes
    accepted: list[int] = field(default_factory=list)
    is_complete: bool = False  # nothing more is sent


class CollectingWorld(FunctionWorld):
    """Every second start is one of a chain."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.chains: list[Chain] = []

    async def _start(self, number: int) -> None:
        if number % 2:
            await super()._start(number)
            return
        await asyncio.sleep(self.rng.uniform(0.05, self.swarm.chaos * 0.4))
        run = await self.begun(StartRequest("collecting", {"seen": []}, request_id=f"start {number}"))
        chain = Chain(run)
        self.chains.append(chain)
        self.started.append(run)
        for signal in range(self.rng.randint(4, 20)):
            await asyncio.sleep(self.rng.choice((0.0, 0.0, 0.1, 0.6)))
            await self._send(chain, signal)
            if self.rng.random() < self.swarm.controls / 5:
                self.loop.spawn(None, self._interrupt(chain))
        chain.is_complete = True

    async def _send(self, chain: Chain, number: int) -> None:
        data = json.dumps({"name": "item", "data": number}).encode()
        while True:
            try:
                is_accepted = await self.client.send(1, self.last_of(chain.first), MessageKind.SIGNAL, data)
            except StoreBusy:
                is_accepted = False
            except DetentError:
                return  # nobody knows, and it may still come
            if is_accepted:
                chain.accepted.append(number)
                self.counters.add("signal was accepted")
                return
            await asyncio.sleep(0.05)

    async def _interrupt(self, chain: Chain) -> None:
        for kind in (MessageKind.PAUSE, MessageKind.RESUME):
            try:
                await self.client.send(1, self.last_of(chain.first), kind, b'{"by":"somebody"}')
            except DetentError:
                return
            await asyncio.sleep(self.rng.choice((0.0, 0.3, 3.0)))

    def last_of(self, run: bytes) -> bytes:
        while (follower := self.follower_of(run)) is not None:
            run = follower
        return run

    def _help(self, run: bytes) -> None:
        is_of_chain = self.state_of(run).facts.workflow == "collecting"
        if not is_of_chain or any(self.last_of(chain.first) == run for chain in self.chains if chain.is_complete):
            super()._help(run)

    def _watched(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = super()._watched(verb, args, kwargs)
        if verb == "flush" and result is not None:
            self._check_pauses(args[2])
        return result

    def _check_pauses(self, flush: Flush) -> None:
        for end in flush.ends:
            if end.successor is not None:
                self.counters.add("run went on as another one")
                if self.state_of(end.run).paused_by is not None:
                    self.fail(f"{show(RUN, end.run)} was paused and went on as another run")

    def _check_all(self) -> None:
        super()._check_all()
        for chain in self.chains:
            row = self.database.model.table[self.last_of(chain.first)]
            if row.status == Status.FAILED:
                continue  # it was blamed for its nodes
            seen = json.loads(row.output or b"null")
            if row.status != Status.COMPLETED or len(seen) != len(set(seen)):
                raise Violation(f"a chain is {row.status} and has seen {seen}")
            if [number for number in seen if number in chain.accepted] != chain.accepted:
                raise Violation(f"a chain was sent {chain.accepted} and has seen {seen}")
