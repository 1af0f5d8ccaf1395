"""Runs that runs start: children, and the run that a durable function continues as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from detent.auth.caller import Caller
from detent.commands.context import CommandContext
from detent.commands.runs import RunCommands
from detent.commands.start import StartCommands
from detent.engine.children import CONTINUED, cancel_data
from detent.ids import RUN, show
from detent.run.start import StartRequest
from detent.run.state import RunFacts
from detent.run.status import TERMINAL, Status
from detent.store.rows import Message, MessageKind, RunCriteria

#: A run continues as one other run. More can exist only if a person made them.
_MOST_HEIRS: Final = 20


class ChildStarts:
    """Starts child runs for the engine. The parent is the caller that starts them."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._store = context.store

    async def start(self, parent: RunFacts, run: bytes, child: StartRequest, may_exist: bool) -> None:
        """Start a child under the id that its parent chose. If it `may_exist`, look for it first."""
        is_there = may_exist and await self._store.run(parent.tenant, run) is not None
        request = replace(child, id=run, parent=parent.id)
        if child.origin_kind is not None and not is_there:
            request = await self._in_place_of(parent, request)
        if not is_there:
            await StartCommands(self._context, _caller(parent)).start(request)
        if child.origin_kind is not None and parent.parent is not None:
            await self._cancel_if_parent_ended(parent.tenant, parent.parent, run)

    async def cancel_heirs(self, cancelled: Sequence[Message]) -> None:
        """Cancel the runs that these runs continued as. Their parent cancelled them with these messages."""
        for message in cancelled:
            run: bytes | None = message.run
            while run is not None and (run := await self._heir(message.tenant, run, message.source)) is not None:
                await self._store.send(message.tenant, run, MessageKind.CANCEL, message.data)
                self._context.nudge()

    async def _cancel_if_parent_ended(self, tenant: int, parent: bytes, heir: bytes) -> None:
        """Cancel a run whose parent had ended before it was started, as the parent's other children were."""
        row = await self._store.run(tenant, parent)
        if row is not None and row.status in TERMINAL and row.status != Status.COMPLETED:
            await self._store.send(tenant, heir, MessageKind.CANCEL, cancel_data(parent, row.status))
            self._context.nudge()

    async def _heir(self, tenant: int, run: bytes, parent: bytes) -> bytes | None:
        rows = await self._store.runs(tenant, limit=_MOST_HEIRS, where=RunCriteria(origin=run, parent=parent))
        return next((row.id for row in rows if row.origin_kind == CONTINUED), None)

    async def _in_place_of(self, run: RunFacts, request: StartRequest) -> StartRequest:
        """Let a request take over from this run: same parent, same hero."""
        row = await self._store.run(run.tenant, run.id)
        runs = RunCommands(self._context, _caller(run))
        several = row is not None and run.hero is not None and await runs.was_one_of_several(row)
        return replace(request, origin=run.id, parent=run.parent, successor_of=run.id, allow_multiple=several)


def _caller(run: RunFacts) -> Caller:
    return Caller(run.tenant, show(RUN, run.id))
