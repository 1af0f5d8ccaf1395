"""Callback tokens are not stored but made from (run, step) and a key: any node renders the same URL after any crash.

A token is the run's id, the step's name and a MAC of 144 bits over both, in URL-safe base64. Nobody can make one
without the instance's key, and a wrong one is told from a right one in constant time.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
from typing import Final

from detent.store.protocol import CommandStore
from detent.store.rows import Delivery, Receipt

# Callbacks that arrive together are received together: one commit for all that came while the last one was on its
# way.
#
# Nobody waits longer for it: the first that comes is sent at once, and what comes meanwhile goes with the next.


MOST: Final = 500
MOST_BYTES: Final = 1_000_000

Answer = tuple[Receipt, bool]


class Deliveries:
    """One batch at a time, and never two callbacks of one place in it."""

    def __init__(self, store: CommandStore) -> None:
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


_MAC_BYTES: Final = 18
_ID_BYTES: Final = 16
_LONGEST: Final = 200


class CallbackTokens:
    """Makes and reads tokens with one instance's key."""

    def __init__(self, key: str, base_url: str) -> None:
        self._key = hashlib.sha256(b"detent callback token\x00" + key.encode()).digest()
        self._base_url = base_url.rstrip("/")

    def url(self, run: bytes, step: str) -> str:
        """Where the callback of a wait step is to be sent."""
        return f"{self._base_url}/wh/{self.token(run, step)}"

    def token(self, run: bytes, step: str) -> str:
        return _spell(run + self._mac(run, step.encode()) + step.encode())

    def read(self, token: str) -> tuple[bytes, str] | None:
        """(run, step) of a token this instance made; null for anything else, other spellings of it too."""
        if len(token) > _LONGEST or not token.isascii():
            return None
        try:
            raw = base64.b64decode(token.encode() + b"=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            return None
        run, mac, step = raw[:_ID_BYTES], raw[_ID_BYTES : _ID_BYTES + _MAC_BYTES], raw[_ID_BYTES + _MAC_BYTES :]
        if not hmac.compare_digest(mac, self._mac(run, step)) or _spell(raw) != token:
            return None
        return run, step.decode()

    def _mac(self, run: bytes, step: bytes) -> bytes:
        return hmac.digest(self._key, run + step, "sha256")[:_MAC_BYTES]


def _spell(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
