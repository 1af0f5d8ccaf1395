"""Receiving callbacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from detent.engine.commands.ground import INPUT_LIMIT, SECRET_HEADERS, CommandGround, encoder
from detent.errors import TooLarge
from detent.observe.failpoints import reach
from detent.store.rows import CallbackRow, Receipt


class CallbackCommands(CommandGround):
    """Whatever is accepted here is durable and will be consumed exactly once."""

    async def deliver(
        self, token: str, *, body: Any, headers: Mapping[str, str], query: Mapping[str, str], message_id: str | None
    ) -> tuple[Receipt, bool]:
        """Receive a callback. The flag says that the same message came before."""
        place = self._engine.tokens.read(token)
        if place is None:
            return Receipt.NOT_FOUND, False
        kept = {name.lower(): value for name, value in headers.items() if name.lower() not in SECRET_HEADERS}
        data = encoder.encode({"body": body, "headers": kept, "query": dict(query)})
        if len(data) > INPUT_LIMIT + 32 * 1024:
            raise TooLarge(f"a callback may have {INPUT_LIMIT} bytes")
        run, step = place
        answer = await self._store.deliver(run, step, data=data, message_id=message_id)
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
