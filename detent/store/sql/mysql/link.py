"""Connections that heal: opened when they are needed, thrown away after a failure, opened again by the next call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from detent.errors import StoreError
from detent.store.sql.mysql.address import Address
from detent.store.sql.mysql.faults import Refusal, leaves_doubt, translated
from detent.store.sql.mysql.wire import COMMAND_TIMEOUT, Answer, Wire, connect
from detent.store.sql.pool import LinkPool

T = TypeVar("T")
Work = Callable[[Wire], Coroutine[Any, Any, T]]

BEGIN = "start transaction"
COMMIT = "commit"
ROLLBACK = "rollback"
OUT_OF_RANGE = 1690


class Link:
    """One connection, one packet or transaction at a time."""

    def __init__(self, address: Address, *, limit: float = COMMAND_TIMEOUT, patient: bool = True) -> None:
        """`limit`: how many seconds a call may take before its connection is cut; `patient`: see `connect`."""
        self._address, self._limit, self._patient = address, limit, patient
        self._wire: Wire | None = None
        self._turn = asyncio.Lock()

    async def send(self, *statements: str, writing: bool = True) -> list[Answer]:
        """Run statements, each as a transaction of its own."""

        async def work(wire: Wire) -> list[Answer]:
            return await wire.send_all(statements)

        return await self.call(work, writing=writing)

    async def commit(self, *statements: str) -> list[Answer]:
        """Run statements as one transaction, in one packet if the server takes it. Refusal says which was refused."""

        async def work(wire: Wire) -> list[Answer]:
            return (await wire.send_all((BEGIN, *statements, COMMIT)))[1:-1]

        return await self.call(work)

    async def commit_if(self, checks: Sequence[str], statements: Sequence[str]) -> list[Answer] | int:
        """The same, if every check holds; otherwise nothing, and the number of the check that does not. A check is a
        statement whose value is out of range when it does not hold."""

        async def work(wire: Wire) -> list[Answer] | int:
            try:
                answers = await wire.send_all((BEGIN, *checks, *statements, COMMIT))
            except Refusal as refusal:
                if refusal.code != OUT_OF_RANGE or refusal.place > len(checks):
                    raise
                await wire.send(ROLLBACK)
                return refusal.place - 1
            return answers[1 + len(checks) : -1]

        return await self.call(work)

    async def fenced(self, work: Work[T]) -> T | None:
        """Run `work`, which begins with a check and commits by itself; nothing, and null, if that does not hold."""

        async def checked(wire: Wire) -> T | None:
            try:
                return await work(wire)
            except Refusal as refusal:
                if refusal.code != OUT_OF_RANGE:
                    raise
                await wire.send(ROLLBACK)
                return None

        return await self.call(checked)

    async def transaction(self, work: Work[T]) -> T:
        """Run `work` as one transaction; what it sends is its own affair."""

        async def whole(wire: Wire) -> T:
            await wire.send(BEGIN)
            result = await work(wire)
            await wire.send(COMMIT)
            return result

        return await self.call(whole)

    async def call(self, work: Work[T], *, writing: bool = True) -> T:
        """Run `work` on the connection. After every error what it began is rolled back: a lock timeout (1205) leaves a
        transaction open, with half of what was meant."""
        async with self._turn:
            wire = await self._open()
            try:
                with translated(writing=writing, address=self._address):
                    async with asyncio.timeout(self._limit):
                        return await _or_nothing(wire, work)
            except BaseException as error:
                if leaves_doubt(error.__cause__ or error):
                    self._drop()
                raise

    async def close(self) -> None:
        wire, self._wire = self._wire, None
        if wire and not wire.is_gone:
            try:
                async with asyncio.timeout(1.0):
                    await wire.ensure_closed()
            except (OSError, TimeoutError):
                wire.cut()

    async def _open(self) -> Wire:
        if self._wire is None or self._wire.is_gone:
            self._drop()
            self._wire = await connect(self._address, patient=self._patient)
        return self._wire

    def _drop(self) -> None:
        wire, self._wire = self._wire, None
        if wire:
            wire.cut()


async def _or_nothing(wire: Wire, work: Work[T]) -> T:
    try:
        return await work(wire)
    except (Refusal, StoreError) as error:
        if not leaves_doubt(error):
            try:
                await wire.send(ROLLBACK)
            except Refusal:
                wire.cut()  # then the server rolls back
        raise


class Pool(LinkPool[Link]):
    """A few links for the doors."""

    def __init__(self, address: Address, size: int, patience: float = 5.0) -> None:
        super().__init__((Link(address) for _ in range(size)), patience)

    async def send(self, *statements: str, writing: bool = True) -> list[Answer]:
        async with self.link() as link:
            return await link.send(*statements, writing=writing)

    async def commit(self, *statements: str) -> list[Answer]:
        async with self.link() as link:
            return await link.commit(*statements)

    async def transaction(self, work: Work[T]) -> T:
        async with self.link() as link:
            return await link.transaction(work)
