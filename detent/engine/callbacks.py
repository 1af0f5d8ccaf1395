"""Callbacks of waits: the tokens in their URLs, their delivery into the inbox, and how they are closed.

A token is not stored: it is the run's id, the step's name and a MAC of 144 bits over both, in URL-safe base64. So any
node renders the same URL after any crash, and a token cannot be made without the instance's key. Tokens are compared in
constant time.

A callback may be accepted while a cancel or the end of a durable function is on its way. Its payload must count then,
because its sender got a yes. So the callbacks are expired in the store first. A wait whose callback was expired can
receive nothing more. Where the store answers that a payload came first, the payload is in the inbox: it is read, and
then the run is stopped.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable
from typing import Final

from detent.engine.owned_run import Happen, OwnedRun, Stopping
from detent.engine.release import is_quarantined
from detent.planner.flow import can_skip
from detent.planner.functions import ends_function
from detent.run import events
from detent.run.call import Op, op_of
from detent.run.outcomes import Cancel, Finish
from detent.run.state import Phase
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


#: What ends a run from outside.
_ENDING: Final = frozenset({events.Cancelled, events.Expired, events.Finished})
_ENDING_OUTCOMES: Final = (Cancel, Finish)


def may_end_waits(held: OwnedRun, event: events.Event) -> bool:
    """Whether an event can end waits without their callbacks."""
    kind = type(event)
    if isinstance(event, events.AttemptEnded):
        return bool(held.state.operations) or isinstance(event.outcome, _ENDING_OUTCOMES)
    return kind in _ENDING or kind is events.Skipped


class WaitCloser:
    """Keeps what stops a run (`OwnedRun.stopping`) until the callbacks of the waits that it ends are closed."""

    def __init__(self, handle: Happen, expire: Callable[[OwnedRun, int | str], None]) -> None:
        """`expire` asks the store to expire the callback of a wait."""
        self._handle, self._expire = handle, expire

    def defer(self, held: OwnedRun, event: events.Event, message: int | None) -> bool:
        """Return whether the event has to wait for callbacks to be closed. Then it is kept."""
        if isinstance(event, events.Skipped) and event.step is None:
            event = events.Skipped(can_skip(held.state, None), event.by)  # the step that is meant now
        waits = _ended_by(held, event)
        if not waits or is_quarantined(held.state.paused_by):  # its payload may be what it cannot be planned with
            return False
        stopping = held.stopping = held.stopping or Stopping()
        if stopping.closed.issuperset(waits):
            return False
        if (event, message) not in stopping.events:
            stopping.events.append((event, message))
        for wait in waits:
            if wait not in stopping.closing:
                stopping.closing.add(wait)
                self._expire(held, wait)
        return True

    def is_stopping(self, held: OwnedRun, wait: int | str, *, expired: bool) -> bool:
        """Note the answer of the store. Return whether it was asked because the run stops."""
        if held.stopping is None or wait not in held.stopping.closing:
            return False
        if expired:
            held.stopping.closed.add(wait)
        return True

    def go_on(self, held: OwnedRun, stopping: Stopping) -> None:
        """Handle what was kept. What must still wait is kept again."""
        kept, stopping.events = stopping.events, []
        for event, message in kept:
            self._handle(held, event, message=message)


def _ended_by(held: OwnedRun, event: events.Event) -> list[int | str]:
    """The active waits that would end without a callback."""
    state = held.state
    if state.operations and (type(event) in _ENDING or ends_function(held.prepared, state, event)):
        return [key for key in state.operations if op_of(key) is Op.WAIT]
    if isinstance(event, events.Skipped):
        return [event.step] if event.step is not None and state.phase[event.step] is Phase.WAITING else []
    if isinstance(event, events.AttemptEnded) and not isinstance(event.outcome, _ENDING_OUTCOMES):
        return []
    return [index for index, phase in enumerate(state.phase) if phase is Phase.WAITING]
