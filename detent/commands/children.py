"""Runs that runs start: children, and the run that a durable function continues as."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from detent.auth.caller import Caller
from detent.commands.context import CommandContext
from detent.commands.start import StartCommands, check_payload, encode_input, prepare_start
from detent.engine.prepared_start import PreparedStart
from detent.engine.start import PreparedSuccessor, start_run
from detent.errors import Recursion, TooDeep
from detent.ids import RUN, WORKFLOW, show
from detent.run.initiator import Initiator
from detent.run.start import StartRequest
from detent.run.state import RunFacts
from detent.steps.child_step import inherited
from detent.store.rows import CONTINUED

#: How deep child runs may nest where recursion is allowed.
DEEPEST: Final = 50


class ChildStarts:
    """Starts child runs for the engine. The parent is the caller that starts them."""

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._store = context.store

    async def start(self, parent: RunFacts, run: bytes, child: StartRequest, recursion: bool) -> None:
        """Start a child under the id that its parent chose. It must not exist yet.

        Raise TooDeep if too many runs are above it. Raise Recursion if one of them is a run of the same workflow,
        unless that is allowed."""
        assert child.family is not None
        if child.family.depth > (DEEPEST if recursion else self._context.limits.nesting):
            raise TooDeep(f"it would be {child.family.depth} levels below the first run")
        if not recursion:
            await self._refuse_recursion(parent, child)
        request = replace(child, id=run, parent=parent.id, initiator=_initiator(parent, child))
        await StartCommands(self._context, _caller(parent)).start(request)

    async def start_page(self, page: PreparedStart) -> None:
        """Start a page of a map. It must not exist yet."""
        await start_run(self._context.engine, page)

    async def _refuse_recursion(self, parent: RunFacts, child: StartRequest) -> None:
        assert child.family is not None
        workflows, tenant, key = self._context.workflows, parent.tenant, child.workflow
        if isinstance(child.version, int):
            ready = await workflows.pinned(tenant, key, child.version)
        else:
            ready = await self._context.installed.startable(tenant, key)
        if show(WORKFLOW, ready.id) in child.family.path:
            raise Recursion(
                f"{child.workflow!r} is a parent of this run already; set allowRecursion if that is what you want"
            )

    async def prepare_successor(self, run: RunFacts, request: StartRequest) -> PreparedSuccessor:
        """Prepare the run that takes over from this one: same parent and place below it, same hero.

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
            family=run.family,
            extra=inherited(run),
            successor_of=run.id,
            allow_multiple=not has_key,
        )
        request.check()
        initiator = _initiator(run, request)
        request = replace(request, initiator=initiator)
        content = encode_input(request, initiator)
        ready = await self._context.workflows.current(run.tenant, request.workflow)
        check_payload(ready, request.body)
        prepared = prepare_start(run.tenant, ready, request, content, None, initiator)
        return PreparedSuccessor(engine, node, prepared, engine.new_id())


def _initiator(run: RunFacts, following: StartRequest) -> Initiator:
    return run.initiator._replace(correlation=following.extra["correlation_id"])


def _caller(run: RunFacts) -> Caller:
    return Caller(run.tenant, show(RUN, run.id))
