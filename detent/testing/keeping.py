"""Transactional steps where Detent's tables are in memory: the user's transactions are real, what is kept is not.

A result is kept when its transaction was committed, as it would be in the user's own database, and is there after a
crash.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from detent.python.transactional import Transactions, keeper
from detent.run.call import StepCall


class MemoryKeeper(Transactions):
    """Takes its sessions from where the user's steps get theirs."""

    def __init__(self, kept: dict[tuple[bytes, str], bytes]) -> None:
        vars(self).update(vars(keeper))
        self._kept = kept

    def keep(self, call: StepCall, generation: int, body: Callable[[object], bytes]) -> bytes:
        if self._blocking is None:
            return super().keep(call, generation, body)  # which says what is missing
        key = (call.run_id, call.step)
        if key not in self._kept:
            with self._blocking() as session, session.begin():
                result = body(session)
            self._kept[key] = result
        return self._kept[key]

    async def keep_async(self, call: StepCall, generation: int, body: Callable[[object], Awaitable[bytes]]) -> bytes:
        if self._awaited is None:
            return await super().keep_async(call, generation, body)
        key = (call.run_id, call.step)
        if key not in self._kept:
            async with self._awaited() as session, session.begin():
                result = await body(session)
            self._kept[key] = result
        return self._kept[key]
