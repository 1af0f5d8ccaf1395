"""Receiving callbacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from detent.commands.context import CommandContext, encoder
from detent.errors import TooLarge
from detent.observe.failpoints import reach
from detent.settings import DEFAULT_TENANT
from detent.store.rows import CallbackRow, Delivery, Receipt
from detent.values.http_body import SECRET_HEADERS
from detent.values.limits import INPUT_LIMIT

#: What a callback takes to keep: its body, as base64 if it is not text, and its headers.
LARGEST_MESSAGE: Final = INPUT_LIMIT * 4 // 3 + 48 * 1024


class CallbackView(NamedTuple):
    """A callback for the person it was sent to. `state`: pending, active, received or expired."""

    workflow: str
    step: str
    state: str
    until: int | None


class CallbackCommands(CommandContext):
    """Whatever is accepted here is durable and will be consumed exactly once."""

    async def deliver(
        self,
        token: str,
        *,
        body: Any,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        message_id: str | None,
        encoding: str | None = None,
    ) -> tuple[Receipt, bool]:
        """Receive a callback. `encoding` says how the body was written down if it is not what it was sent as. The flag
        says that the same message came before."""
        place = self._engine.tokens.read(token)
        if place is None:
            return Receipt.NOT_FOUND, False
        kept = {name.lower(): value for name, value in headers.items() if name.lower() not in SECRET_HEADERS}
        facts = {"body": body, "headers": kept, "query": dict(query)}
        data = encoder.encode(facts | {"encoding": encoding} if encoding else facts)
        if len(data) > LARGEST_MESSAGE:
            raise TooLarge(f"a callback may have {INPUT_LIMIT} bytes; this one takes {len(data)} to keep")
        answer = await self._deliveries.deliver(Delivery(*place, data, message_id))
        reach("after_delivery")
        self.nudge()
        return answer

    def callback_place(self, token: str) -> tuple[bytes, str] | None:
        """(run, step) of a callback token this instance made."""
        return self._engine.tokens.read(token)

    async def callback(self, token: str) -> CallbackRow | None:
        """Where a callback stands; null for a token that nobody made."""
        place = self._engine.tokens.read(token)
        if place is None:
            return None
        run, step = place
        return next((row for row in await self._store.callbacks(run) if row.step == step), None)

    async def callback_state(self, token: str, *, tenant: int = DEFAULT_TENANT) -> CallbackView | None:
        """The same for the person it was sent to."""
        found, place = await self.callback(token), self._engine.tokens.read(token)
        row = None if found is None or place is None else await self._store.run(tenant, place[0])
        if found is None or row is None:
            return None
        return CallbackView(row.workflow_name, found.step, found.state, found.until)
