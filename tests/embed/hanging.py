"""Workflows with transactions that stay open until a test lets them end.

Loaded in the process of a node too: `LEDGER_URL` says where the table is, and nobody lets them end there.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.flow import reattempt
from detent.python.functions import Run, gather
from detent.python.functions.workflow import workflow
from tests.embed.ledger import WRITE

LONGEST = 60.0
#: The time of a step that takes longer than it may. A transaction must be open by then, on a busy machine too.
LIMIT = 2.0


class Gate:
    """`entered` counts the transactions that are open or were; they end when `released` is set. What stands beside
    them ends when `passable` is set."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.entered, self.released, self.calls = threading.Semaphore(0), threading.Event(), 0
        self.passable, self.opened = threading.Event(), threading.Event()

    def hold(self, session: Any, run: str, amount: int) -> int:
        session.execute(WRITE, {"run": run, "amount": amount})
        self.entered.release()
        self.opened.set()
        assert self.released.wait(LONGEST), "nobody released it"
        return amount

    async def wait(self, count: int = 1) -> None:
        """Until so many more are open."""
        for _ in range(count):
            assert await asyncio.to_thread(self.entered.acquire, timeout=300)


gate = Gate()


class Limited(Workflow):
    """Takes longer than it may."""

    name = "limited"

    @step(transactional=True, timeout=LIMIT, on_exception="cancel")
    def book(self) -> int:
        return gate.hold(self.session, self.run_id, 3)


class Unlimited(Workflow):
    name = "unlimited"

    @step(transactional=True)
    def book(self) -> int:
        return gate.hold(self.session, self.run_id, 3)


class Bystander(Workflow):
    """Has nothing to do with the others."""

    name = "bystander"

    @step
    async def pass_by(self) -> str:
        return "passed"


@step(transactional=True)
def debit(session: Any, run: str, amount: int) -> int:
    return gate.hold(session, run, amount)


@step(transactional=True, timeout=LIMIT)
def limited_debit(session: Any, run: str, amount: int) -> int:
    return gate.hold(session, run, amount)


@step(transactional=True, timeout=LIMIT)
async def limited_credit(session: Any, run: str, amount: int) -> int:
    await session.execute(WRITE, {"run": run, "amount": amount})
    await asyncio.sleep(LONGEST)
    return amount


async def fails() -> None:
    assert await asyncio.to_thread(gate.opened.wait, LONGEST), "no transaction was opened beside it"
    raise ValueError("no")


@workflow(on_exception="fail")
async def times_out(run: Run) -> int:
    return await run.step(limited_debit, run.id, 3)


@workflow(on_exception="fail")
async def times_out_on_the_loop(run: Run) -> int:
    return await run.step(limited_credit, run.id, 3)


@workflow(on_exception="fail")
async def fails_beside(run: Run) -> None:
    await gather(run.step(debit, run.id, 3), run.step(fails))


def passes() -> str:
    assert gate.passable.wait(LONGEST), "nobody let it pass"
    return "passed"


@workflow
async def goes_on_beside(run: Run) -> None:
    await gather(run.step(debit, run.id, 3), run.step(passes))


@workflow
async def thinks_better(run: Run) -> str:
    try:
        async with asyncio.timeout(LIMIT):
            await run.step(debit, run.id, 3)
    except TimeoutError:
        return "never mind"
    return "booked"


@workflow(on_exception=reattempt(wait=0.2, factor=1))
async def fails_again(run: Run) -> None:
    gate.calls += 1
    if gate.calls == 1:
        await gather(run.step(debit, run.id, 3), run.step(fails))
    raise ValueError("again")


@workflow
async def two_at_once(run: Run) -> int:
    one, other = await gather(run.step(debit, run.id, 3), run.step(debit, run.id, 4))
    return int(one) + int(other)
