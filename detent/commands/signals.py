"""Signals: messages that a durable function waits for by name."""

from __future__ import annotations

from typing import Any

import msgspec

from detent.auth.caller import Caller
from detent.commands.context import CommandContext, CommandPart, encoder
from detent.commands.runs import RunCommands
from detent.errors import Conflict, InvalidInput, TooLarge
from detent.run.call import is_name
from detent.run.status import TERMINAL
from detent.store.rows import MessageKind, RunRow
from detent.values.limits import INPUT_LIMIT


class SignalCommands(CommandPart):
    """Signals to runs of durable functions."""

    def __init__(self, context: CommandContext, caller: Caller, runs: RunCommands) -> None:
        super().__init__(context, caller)
        self._runs = runs

    async def send(self, run: str, name: str, data: Any = None) -> RunRow:
        """Send a signal to a run of a durable function. When this returns, the signal is durable. The function receives
        it whether it waits for it now or later, in this run or in its successor."""
        if not is_name(name):
            raise InvalidInput(f"{name[:80]!r} cannot be the name of a signal")
        try:
            body = encoder.encode(data)
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise InvalidInput(f"the data of the signal is not JSON: {error}") from None
        if len(body) > INPUT_LIMIT:
            raise TooLarge(f"a signal may have {INPUT_LIMIT} bytes; this one has {len(body)}")
        row = await self._runs.row(run)
        prepared = await self._runs.prepared(row)
        if not any(step.kind.receives_signals for step in prepared.steps):
            raise Conflict(f"workflow {row.workflow_name!r} is not a durable function and cannot receive signals")
        message = encoder.encode({"name": name, "data": msgspec.Raw(body)})
        if row.status in TERMINAL or not await self._store.send(self._tenant, row.id, MessageKind.SIGNAL, message):
            raise Conflict("the run has ended and cannot receive signals")
        self._context.nudge()
        return row
