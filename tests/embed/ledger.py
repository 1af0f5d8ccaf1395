"""Workflows whose steps write to the user's own table in one transaction with what Detent keeps of them.

Loaded in the process of a node: `LEDGER_URL` says where the table is.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, ClassVar

from sqlalchemy import TextClause, create_engine, text
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import sessionmaker
from sqlalchemy.pool import NullPool

from detent.python.classes.workflow import Workflow
from detent.python.decorators import step
from detent.python.functions import Run
from detent.python.functions.workflow import workflow
from detent.python.transactions import transactions

WRITE = text("insert into ledger (run, amount) values (:run, :amount)")


def use(url: str) -> None:
    """Take sessions from there."""
    transactions(
        sessionmaker(create_engine(blocking(url), poolclass=NullPool)),
        async_sessionmaker(create_async_engine(awaited(url), poolclass=NullPool)),
    )


def blocking(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://").replace("mysql://", "mysql+pymysql://")


def awaited(url: str) -> str:
    return url.replace("postgresql://", "postgresql+asyncpg://").replace("mysql://", "mysql+asyncmy://")


class Booking(Workflow):
    """Books once in a thread, once on the loop."""

    name = "booking"

    @step(transactional=True)
    def book(self) -> int:
        self.session.execute(WRITE, {"run": self.run_id, "amount": self.input["amount"]})
        return int(self.input["amount"])

    @step(transactional=True)
    async def fee(self) -> int:
        await self.session.execute(WRITE, {"run": self.run_id, "amount": 1})
        return int(self.results["book"]) + 1


class Failing(Workflow):
    """Books, and then fails."""

    name = "failing"

    @step(transactional=True, on_exception="cancel")
    def book(self) -> None:
        self.session.execute(WRITE, {"run": self.run_id, "amount": 7})
        raise ValueError("no money left")


class Leaving(Workflow):
    """Books, and then thinks better of it."""

    name = "leaving"

    @step(transactional=True)
    def book(self) -> None:
        self.session.execute(WRITE, {"run": self.run_id, "amount": 7})
        self.skip()

    @step
    def after(self) -> str:
        return "went on"


@step(transactional=True)
def debit(session: Any, run: str, amount: int) -> int:
    session.execute(WRITE, {"run": run, "amount": amount})
    return amount


@step(transactional=True)
async def credit(session: Any, run: str, amount: int) -> int:
    await session.execute(WRITE, {"run": run, "amount": amount})
    return amount


@workflow
async def moving(run: Run, amount: int) -> int:
    taken = await run.step(debit, run.id, amount)
    given = await run.step(credit, run.id, amount + 1)
    return int(taken) + int(given)


class Slow(Workflow):
    """Books, and commits only when it is let: meanwhile somebody can interfere."""

    name = "slow-booking"
    entered: ClassVar[asyncio.Event]
    released: ClassVar[asyncio.Event]

    @step(transactional=True)
    async def book(self) -> str:
        await self.session.execute(WRITE, {"run": self.run_id, "amount": 3})
        self.entered.set()
        await self.released.wait()
        return "booked"

    @step
    def after(self) -> str:
        return "after"


def booked(url: str, run: str) -> list[int]:
    """What stands in the ledger for a run."""
    query = text("select amount from ledger where run = :run order by amount")
    return [amount for (amount,) in execute(url, query, run=run)]


def execute(url: str, statement: TextClause, **values: Any) -> list[tuple[Any, ...]]:
    """Run one statement of a bystander."""
    engine = create_engine(blocking(url), poolclass=NullPool)
    with engine.begin() as connection:
        result = connection.execute(statement, values)
        return [tuple(row) for row in result] if result.returns_rows else []


if "LEDGER_URL" in os.environ:
    use(os.environ["LEDGER_URL"])
