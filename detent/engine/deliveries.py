"""Callbacks that arrive together are received together: one commit for all that came while the last one was on its way.

Nobody waits longer for it: the first that comes is sent at once, and what comes meanwhile goes with the next.
"""

from __future__ import annotations

import asyncio
from typing import Final

from detent.store.protocol import DoorStore
from detent.store.rows import Delivery, Receipt

MOST: Final = 500
MOST_BYTES: Final = 1_000_000

Answer = tuple[Receipt, bool]


class Deliveries:
    """One batch at a time, and never two callbacks of one place in it."""

    def __init__(self, store: DoorStore) -> None:
        self._store = store
        self._waiting: list[tuple[Delivery, asyncio.Future[Answer]]] = []
        self._sending: asyncio.Task[None] | None = None
        self._others: set[asyncio.Task[None]] = set()

    async def deliver(self, delivery: Delivery) -> Answer:
        """The receipt, and whether the same message came before."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((delivery, answer))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send())
        return await answer

    async def _send(self) -> None:
        try:
            while self._waiting:
                await self._send_batch(self._take())
        finally:
            self._sending = None

    def _take(self) -> dict[tuple[bytes, str], tuple[Delivery, asyncio.Future[Answer]]]:
        batch: dict[tuple[bytes, str], tuple[Delivery, asyncio.Future[Answer]]] = {}
        left, size = [], 0
        for waiting in self._waiting:
            delivery = waiting[0]
            place = (delivery.run, delivery.step)
            if place in batch or len(batch) >= MOST or (batch and size + len(delivery.data) > MOST_BYTES):
                left.append(waiting)
            else:
                batch[place] = waiting
                size += len(delivery.data)
        self._waiting = left
        return batch

    async def _send_batch(self, batch: dict[tuple[bytes, str], tuple[Delivery, asyncio.Future[Answer]]]) -> None:
        waiting = list(batch.values())
        try:
            receipts = await self._store.deliver_many([delivery for delivery, _ in waiting])
        except BaseException as error:
            for _, answer in waiting:
                if not answer.done():
                    answer.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
            if not isinstance(error, Exception):
                raise
            return
        for (delivery, answer), receipt in zip(waiting, receipts, strict=True):
            if receipt is None:
                other = asyncio.create_task(self._alone(delivery, answer))
                self._others.add(other)
                other.add_done_callback(self._others.discard)
            elif not answer.done():
                answer.set_result((receipt, False))

    async def _alone(self, delivery: Delivery, answer: asyncio.Future[Answer]) -> None:
        """One that the batch could not receive: it is refused, or somebody was in its way."""
        try:
            found = await self._store.deliver(
                delivery.run, delivery.step, data=delivery.data, message_id=delivery.message_id
            )
        except Exception as error:  # noqa: BLE001 - it belongs to whoever sent it
            if not answer.done():
                answer.set_exception(error)
        else:
            if not answer.done():
                answer.set_result(found)
