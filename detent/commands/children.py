"""Runs that runs start: children, and the run that a durable function continues as."""

from __future__ import annotations

from msgspec.structs import replace

from detent.auth.caller import Caller
from detent.commands.context import CommandContext
from detent.commands.start import StartCommands, check_payload, encode_input, prepare_start
from detent.engine.start import PreparedSuccessor
from detent.ids import RUN, show
from detent.run.start import StartRequest
from detent.run.state import RunFacts
from detent.store.rows import CONTINUED


class ChildStarts:
    """Starts child runs for the engine. The parent is the caller that starts them."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._store = context.store

    async def start(self, parent: RunFacts, run: bytes, child: StartRequest) -> None:
        """Start a child under the id that its parent chose. It must not exist yet."""
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


def _caller(run: RunFacts) -> Caller:
    return Caller(run.tenant, show(RUN, run.id))
