"""Runs that runs start: children, and the run that a durable function continues as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from detent.auth.caller import Caller
from detent.commands.context import CommandContext
from detent.commands.start import StartCommands, check_payload, encode_input, prepare_start
from detent.engine.children import cancel_data
from detent.engine.start import PreparedSuccessor
from detent.ids import RUN, show
from detent.run.start import StartRequest
from detent.run.state import RunFacts
from detent.run.status import TERMINAL, Status
from detent.store.rows import CONTINUED, Message, MessageKind, RunCriteria

#: A run continues as one other run. More can exist only if a user started them.
_MOST_SUCCESSORS: Final = 20


class ChildStarts:
    """Starts child runs for the engine. The parent is the caller that starts them."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._store = context.store

    async def start(self, parent: RunFacts, run: bytes, child: StartRequest, may_exist: bool) -> None:
        """Start a child under the id that its parent chose. If it `may_exist`, look for it first."""
        if may_exist and await self._store.run(parent.tenant, run) is not None:
            return
        request = replace(child, id=run, parent=parent.id)
        await StartCommands(self._context, _caller(parent)).start(request)

    async def prepare_successor(self, run: RunFacts, request: StartRequest) -> PreparedSuccessor:
        """Prepare the run that takes over from this one: same parent, same hero.

        It has the version that is current now. If another version is saved before the run starts, it counts as saved
        a moment later. The start cannot be refused, because it is written together with the end."""
        engine = self._context.engine
        node = engine.node
        row = await self._store.run(run.tenant, run.id)
        has_key = row is not None and row.active_key is not None
        request = replace(
            request,
            origin=run.id,
            origin_kind=CONTINUED,
            parent=run.parent,
            successor_of=run.id,
            allow_multiple=not has_key,
        )
        request.check()
        content = encode_input(request)
        ready = await self._context.workflows.current(run.tenant, request.workflow)
        check_payload(ready, request.body)
        prepared = prepare_start(run.tenant, ready, request, content, None)
        return PreparedSuccessor(engine, node, prepared, engine.new_id())

    async def cancel_successors(self, cancelled: Sequence[Message]) -> None:
        """Cancel the runs that these runs continued as. Their parent cancelled them with these messages."""
        for message in cancelled:
            run: bytes | None = message.run
            while run is not None and (run := await self._successor(message.tenant, run, message.source)) is not None:
                await self._store.send(message.tenant, run, MessageKind.CANCEL, message.data)
                self._context.nudge()

    async def cancel_orphan(self, tenant: int, parent: bytes, successor: bytes) -> None:
        """Cancel a run that continues a child if the parent has failed, as the parent's other children were."""
        row = await self._store.run(tenant, parent)
        if row is not None and row.status in TERMINAL and row.status != Status.COMPLETED:
            await self._store.send(tenant, successor, MessageKind.CANCEL, cancel_data(parent, row.status))
            self._context.nudge()

    async def _successor(self, tenant: int, run: bytes, parent: bytes) -> bytes | None:
        rows = await self._store.runs(tenant, limit=_MOST_SUCCESSORS, where=RunCriteria(origin=run, parent=parent))
        return next((row.id for row in rows if row.origin_kind == CONTINUED), None)


def _caller(run: RunFacts) -> Caller:
    return Caller(run.tenant, show(RUN, run.id))
