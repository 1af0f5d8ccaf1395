"""Callbacks: the answers that wait steps receive from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from detent.commands.context import CommandPart, encoder
from detent.errors import TooLarge
from detent.observe.failpoints import reach
from detent.store.rows import Delivery, Receipt
from detent.values.http_body import SECRET_HEADERS
from detent.values.limits import INPUT_LIMIT

#: A stored callback has its body, as base64 if it is not text, and its headers.
LARGEST_MESSAGE: Final = INPUT_LIMIT * 4 // 3 + 48 * 1024


class CallbackView(NamedTuple):
    """A callback as its confirm page shows it. `state`: pending, active, received or expired."""

    workflow: str
    step: str
    state: str
    until: int | None


class DeliveryResult(NamedTuple):
    """The result of a delivery. `is_repeated`: the same message was received before. `step` is empty for a token that
    this instance did not make."""

    receipt: Receipt
    is_repeated: bool
    step: str


class CallbackCommands(CommandPart):
    """Commands for callbacks. An accepted callback is durable and is consumed exactly once. Its token is the
    permission."""

    async def deliver(
        self,
        token: str,
        *,
        body: Any,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        message_id: str | None,
        encoding: str | None = None,
    ) -> DeliveryResult:
        """Receive a callback. `encoding` is the encoding of a body that is neither JSON nor text."""
        key = self._engine.tokens.read(token)
        if key is None:
            return DeliveryResult(Receipt.NOT_FOUND, False, "")
        kept = {name.lower(): value for name, value in headers.items() if name.lower() not in SECRET_HEADERS}
        facts = {"body": body, "headers": kept, "query": dict(query)}
        data = encoder.encode(facts | {"encoding": encoding} if encoding else facts)
        if len(data) > LARGEST_MESSAGE:
            raise TooLarge(f"a callback may have {INPUT_LIMIT} bytes; this one takes {len(data)} bytes to store")
        receipt, is_repeated = await self._context.deliveries.deliver(Delivery(*key, data, message_id))
        reach("after_delivery")
        self._context.nudge()
        return DeliveryResult(receipt, is_repeated, key[1])

    async def view(self, token: str) -> CallbackView | None:
        """Return what the confirm page of a callback shows; `None` for a token that this instance did not make."""
        key = self._engine.tokens.read(token)
        if key is None:
            return None
        run, step = key
        callback = next((row for row in await self._store.callbacks(run) if row.step == step), None)
        row = None if callback is None else await self._store.run(self._tenant, run)
        if callback is None or row is None:
            return None
        return CallbackView(row.workflow_name, callback.step, callback.state, callback.until)
