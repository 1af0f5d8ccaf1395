"""Runs that a credential has paused: they go on when a person has connected it."""

from __future__ import annotations

from typing import Final

from detent.commands.context import CommandContext, encoder
from detent.run.journal import Kind, decode_data
from detent.run.status import TERMINAL, Status
from detent.store.rows import MessageKind
from detent.store.vault.credentials import AwaitingRun
from detent.vault.credential import CREDENTIAL

_BATCH: Final = 200
_INTERVAL: Final = 3.0
#: A run whose pause is not stored yet is looked at again for so long, in microseconds.
_PATIENCE: Final = 3_600 * 1_000_000


class CredentialWaiters:
    """A poller that resumes runs whose credential is ready again."""

    name = "runs that wait for credentials"

    def __init__(self, context: CommandContext) -> None:
        self._context = context
        self._store = context.store

    async def poll(self) -> float:
        found = await self.resume()
        return 0.0 if found == _BATCH else _INTERVAL

    async def resume(self) -> int:
        """Resume a batch of runs. Return how many were done with."""
        waiting = await self._store.awaiting_runs(limit=_BATCH)
        done = [one for one in waiting if await self._is_done(one)]
        await self._store.forget_awaiting(done)
        if done:
            self._context.nudge()
        return len(done)

    async def _is_done(self, one: AwaitingRun) -> bool:
        """Resume a run if this credential has paused it. Return whether its note is not needed any more."""
        row = await self._store.run(one.tenant, one.run)
        if row is None or row.status in TERMINAL:
            return True
        if row.status == Status.PAUSED and await self._is_paused_by_credential(one):
            data = encoder.encode({"by": f"credential {one.name}"})
            await self._store.send(one.tenant, one.run, MessageKind.RESUME, data)
            return True
        # The attempt has noted the run before it was paused: the pause may still come.
        return self._context.now() - one.at > _PATIENCE

    async def _is_paused_by_credential(self, one: AwaitingRun) -> bool:
        for entry in reversed(await self._store.journal(one.tenant, one.run)):
            if entry.kind in (Kind.PAUSED, Kind.RESUMED):
                return entry.kind == Kind.PAUSED and decode_data(entry.data).by == CREDENTIAL
        return False
