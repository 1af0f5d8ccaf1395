"""Workflows whose steps write to the user's own table in one transaction with what Detent keeps of them.

Loaded in the process of a node: `LEDGER_URL` says where the table is.
"""

from __future__ import annotations

import os
from typing import Any

from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import sessionmaker
from sqlalchemy.pool import NullPool

from detent.python.marks import step
from detent.python.transactional import transactions
from detent.python.workflow import Workflow

WRITE = text("insert into ledger (run, amount) values (:run, :amount)")


def use(url: str) -> None:
    """Take sessions from there."""
    transactions(
        sessionmaker(create_engine(url.replace("postgresql://", "postgresql+psycopg://"), poolclass=NullPool)),
        async_sessionmaker(
            create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://"), poolclass=NullPool)
        ),
    )


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


def booked(connection: Any, run: str) -> list[int]:
    found = connection.execute("select amount from ledger where run = %s order by amount", (run,)).fetchall()
    return [amount for (amount,) in found]


if "LEDGER_URL" in os.environ:
    use(os.environ["LEDGER_URL"])
