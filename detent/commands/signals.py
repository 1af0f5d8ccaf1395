"""What durable functions bring: signals to a run, and runs that runs start."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from detent.commands.context import encoder
from detent.commands.runs import RunCommands
from detent.commands.start import RunInput, StartCommands, StartOptions
from detent.engine.children import CONTINUED, cancel_data
from detent.engine.engine import Engine
from detent.errors import Conflict, InvalidInput, TooLarge
from detent.forms.compiled import Limits
from detent.run.call import Child, is_name
from detent.run.state import RunFacts
from detent.run.status import TERMINAL, Status
from detent.settings import DEFAULT_TENANT
from detent.store.rows import Message, MessageKind, RunCriteria, RunRow
from detent.values.limits import INPUT_LIMIT

#: A run continues as one other; more can have come of it only by hand.
_MOST_HEIRS: Final = 20


class FunctionCommands(StartCommands, RunCommands):
    """Also teaches the engine how children are started."""

    def __init__(self, engine: Engine, *, limits: Limits | None = None, actions: Collection[str] | None = None) -> None:
        super().__init__(engine, limits=limits, actions=actions)
        engine.family.start, engine.family.cancel_heirs = self._start_child, self._cancel_heirs

    async def signal(self, run: str, name: str, data: Any = None, *, tenant: int = DEFAULT_TENANT) -> RunRow:
        """Send a signal to a run of a durable function. When this returns it is durable, and the function will get it,
        whether it asks for it before or after."""
        if not is_name(name):
            raise InvalidInput(f"{name[:80]!r} cannot be the name of a signal")
        try:
            body = encoder.encode(data)
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise InvalidInput(f"the data of the signal is not JSON: {error}") from None
        if len(body) > INPUT_LIMIT:
            raise TooLarge(f"a signal may have {INPUT_LIMIT} bytes; this one has {len(body)}")
        row = await self.run_row(run, tenant=tenant)
        prepared = await self.prepared(row)
        if not any(step.kind.receives_signals for step in prepared.steps):
            raise Conflict(f"the workflow {row.workflow_name!r} is no durable function: nobody would hear the signal")
        message = encoder.encode({"name": name, "data": msgspec.Raw(body)})
        if row.status in TERMINAL or not await self._store.send(row.tenant, row.id, MessageKind.SIGNAL, message):
            raise Conflict("the run has ended: nobody would hear the signal")
        self.nudge()
        return row

    async def _start_child(self, parent: RunFacts, run: bytes, child: Child, perhaps_there: bool) -> None:
        is_there = perhaps_there and await self._store.run(parent.tenant, run) is not None
        options = StartOptions(id=run, hero=child.hero, priority=child.priority, labels=child.labels, parent=parent.id)
        if child.origin_kind is not None and not is_there:
            options = await self._in_place_of(parent, child.origin_kind, options)
        if not is_there:
            await self.start(child.workflow, RunInput(child.body), options, tenant=parent.tenant)
        if child.origin_kind is not None and parent.parent is not None:
            await self._go_with(parent.tenant, parent.parent, run)

    async def _go_with(self, tenant: int, parent: bytes, heir: bytes) -> None:
        """An heir whose parent had ended before it was started is cancelled, as its other children were."""
        row = await self._store.run(tenant, parent)
        if row is not None and row.status in TERMINAL and row.status != Status.COMPLETED:
            await self._store.send(tenant, heir, MessageKind.CANCEL, cancel_data(parent, row.status))
            self.nudge()

    async def _cancel_heirs(self, cancelled: Sequence[Message]) -> None:
        """These runs were cancelled by their parent. What they had continued as by then is cancelled too."""
        for message in cancelled:
            run: bytes | None = message.run
            while run is not None and (run := await self._heir(message.tenant, run, message.source)) is not None:
                await self._store.send(message.tenant, run, MessageKind.CANCEL, message.data)
                self.nudge()

    async def _heir(self, tenant: int, run: bytes, parent: bytes) -> bytes | None:
        rows = await self._store.runs(tenant, limit=_MOST_HEIRS, where=RunCriteria(origin=run, parent=parent))
        return next((row.id for row in rows if row.origin_kind == CONTINUED), None)

    async def _in_place_of(self, run: RunFacts, kind: str, options: StartOptions) -> StartOptions:
        """How a run is started that takes over from this one: it is what this one is to the parent and the hero."""
        row = await self._store.run(run.tenant, run.id)
        several = row is not None and run.hero is not None and await self.was_one_of_several(row)
        return replace(options, origin=(run.id, kind), parent=run.parent, successor_of=run.id, allow_multiple=several)
