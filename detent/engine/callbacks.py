"""Callbacks of waits: the tokens in their URLs, their delivery into the inbox, and how they are closed.

A token is not stored: it is the run's id, the step's name and a MAC of 144 bits over both, in URL-safe base64. So any
node renders the same URL after any crash, and a token cannot be made without the instance's key. Tokens are compared in
constant time.

A callback may be accepted while a cancel or the end of a durable function is under way. Its payload must count then,
because its sender got a success answer. So the engine first expires the callbacks in the store. A wait whose callback
was expired can receive nothing more. If the store answers that a payload came first, the payload is in the inbox. It is
read, then the run is stopped.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable
from typing import Final

from detent.engine.owned_run import HandleEvent, OwnedRun, Stopping
from detent.engine.release import is_quarantined
from detent.planner.flow import can_skip
from detent.planner.functions import ends_function
from detent.run import events
from detent.run.call import Op, op_of
from detent.run.outcomes import Cancel, Finish
from detent.run.state import Phase
from detent.store.audit import unwritten_audit
from detent.store.protocol import CommandStore
from detent.store.rows import Delivery, Receipt

# Callbacks are received in batches: one commit for all that arrived during the last commit.
#
# This delays no callback: the first one is sent at once, and those that arrive meanwhile form the next batch.


MOST: Final = 500
MOST_BYTES: Final = 1_000_000

Answer = tuple[Receipt, bool]


class Deliveries:
    """The queue of callbacks that wait for their commit.

    It sends one batch at a time. A batch never has two callbacks of the same wait.
    """

    def __init__(self, store: CommandStore) -> None:
        self._store = store
        self._waiting: list[tuple[Delivery, asyncio.Future[Answer]]] = []
        self._sending: asyncio.Task[None] | None = None
        self._others: set[asyncio.Task[None]] = set()

    async def deliver(self, delivery: Delivery) -> Answer:
        """Store a callback. Return its receipt, and whether the same message was received before."""
        if unwritten_audit() is not None:  # its row is a part of its own transaction, not of that of a batch
            return await self._store.deliver(
                delivery.run, delivery.step, data=delivery.data, message_id=delivery.message_id
            )
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
            key = (delivery.run, delivery.step)
            if key in batch or len(batch) >= MOST or (batch and size + len(delivery.data) > MOST_BYTES):
                left.append(waiting)
            else:
                batch[key] = waiting
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
        """Deliver one callback that the batch did not receive: it was refused, or another transaction blocked it."""
        try:
            found = await self._store.deliver(
                delivery.run, delivery.step, data=delivery.data, message_id=delivery.message_id
            )
        except Exception as error:  # noqa: BLE001 - the sender of this callback gets the error
            if not answer.done():
                answer.set_exception(error)
        else:
            if not answer.done():
                answer.set_result(found)


_MAC_BYTES: Final = 18
_ID_BYTES: Final = 16
_LONGEST: Final = 200


class CallbackTokens:
    """The callback tokens of one instance: it owns the key that signs and verifies them."""

    def __init__(self, key: str, base_url: str) -> None:
        self._key = hashlib.sha256(b"detent callback token\x00" + key.encode()).digest()
        self._base_url = base_url.rstrip("/")

    def url(self, run: bytes, step: str) -> str:
        """Return the URL that receives the callback of a wait step."""
        return f"{self._base_url}/wh/{self.token(run, step)}"

    def token(self, run: bytes, step: str) -> str:
        return _spell(run + self._mac(run, step.encode()) + step.encode())

    def read(self, token: str) -> tuple[bytes, str] | None:
        """Return (run, step) of a token that this instance made. Return None for anything else, also for another
        base64 spelling of a valid token."""
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


#: Events from outside that end a run.
_ENDING: Final = frozenset({events.Cancelled, events.Expired, events.Finished})
#: Events that may decide a race, and end the waits that lose it. An answer has closed the callbacks of the others.
_DECIDING: Final = frozenset({events.Woke, events.WaitExpired})
_ENDING_OR_SKIPPED: Final = _ENDING | {events.Skipped}
_ENDING_OUTCOMES: Final = frozenset({Cancel, Finish})


def may_end_waits(run: OwnedRun, event: events.Event) -> bool:
    """Return whether an event can end waits without their callbacks."""
    if type(event) is events.AttemptEnded:
        return bool(run.state.operations) or type(event.outcome) in _ENDING_OUTCOMES
    if type(event) in _DECIDING:
        return bool(run.prepared.races)
    return type(event) in _ENDING_OR_SKIPPED


class WaitCloser:
    """Defers the events that stop a run until the callbacks of its waits are closed.

    The deferred events are in `OwnedRun.stopping`.
    """

    def __init__(self, handle: HandleEvent, expire: Callable[[OwnedRun, int | str], None]) -> None:
        """`expire` asks the store to expire the callback of a wait."""
        self._handle, self._expire = handle, expire

    def defer(self, run: OwnedRun, event: events.Event, message: int | None) -> bool:
        """Defer the event if it ends waits whose callbacks are still open. Return whether it was deferred."""
        if isinstance(event, events.Skipped) and event.step is None:
            event = events.Skipped(can_skip(run.state, None), event.by)  # `None`: the current step
        waits = _ended_by(run, event)
        # A quarantined run is not deferred: the payload it would wait for may be the one that cannot be planned.
        if not waits or is_quarantined(run.state.paused_by):
            return False
        # Nor is the cancel of a run whose payload cannot be read now: its place may not answer for hours.
        if run.has_unread and isinstance(event, events.Cancelled | events.Expired):
            return False
        stopping = run.stopping = run.stopping or Stopping()
        if stopping.closed.issuperset(waits):
            return False
        if (event, message) not in stopping.events:
            stopping.events.append((event, message))
        for wait in waits:
            if wait not in stopping.closing:
                stopping.closing.add(wait)
                self._expire(run, wait)
        return True

    def is_stopping(self, run: OwnedRun, wait: int | str, *, expired: bool) -> bool:
        """Record whether the store expired a callback. Return whether it was asked because the run stops."""
        if run.stopping is None or wait not in run.stopping.closing:
            return False
        if expired:
            run.stopping.closed.add(wait)
        return True

    def go_on(self, run: OwnedRun, stopping: Stopping) -> None:
        """Handle the deferred events. An event that must still wait is deferred again."""
        kept, stopping.events = stopping.events, []
        for event, message in kept:
            self._handle(run, event, message=message)


def _ended_by(run: OwnedRun, event: events.Event) -> list[int | str]:
    """Return the active waits that the event would end without a callback."""
    state = run.state
    if state.operations and (type(event) in _ENDING or ends_function(run.prepared, state, event)):
        return [key for key in state.operations if op_of(key) is Op.WAIT]
    if isinstance(event, events.Woke | events.WaitExpired):
        return _losers(run, event)
    if isinstance(event, events.Skipped):
        return [event.step] if event.step is not None and state.phase[event.step] is Phase.WAITING else []
    if isinstance(event, events.AttemptEnded) and type(event.outcome) not in _ENDING_OUTCOMES:
        return []
    return [index for index, phase in enumerate(state.phase) if phase is Phase.WAITING]


def _losers(run: OwnedRun, event: events.Woke | events.WaitExpired) -> list[int | str]:
    """Return the active waits of a race that a sleep or a timeout decides."""
    state, index = run.state, event.step
    decides = Phase.SLEEPING if isinstance(event, events.Woke) else Phase.WAITING
    if state.phase[index] is not decides:
        return []
    return [other for other in run.prepared.races.get(index, ()) if state.phase[other] is Phase.WAITING]
