"""Python workflows whose steps write to a table of the user's own in one transaction with what Detent keeps of them."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import create_engine, text
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import sessionmaker
from sqlalchemy.pool import NullPool

from detent import Run, StepContext, Workflow, gather, step, transactions, workflow
from tests.chaos.python_workflows import AGAIN, PATIENT, effect_of, send, tell

WRITE: Final = text("insert into beside (n, step) values (:n, :step)")


def make_beside(url: str) -> None:
    """The user's own table. Nothing in it keeps a second row away."""
    with create_engine(_blocking(url), poolclass=NullPool).begin() as connection:
        connection.execute(text("create table beside (n int not null, step varchar(64) not null)"))


def _blocking(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://").replace("mysql://", "mysql+pymysql://")


def use_database(url: str) -> None:
    """Take the sessions of transactional steps from there."""
    awaited = url.replace("postgresql://", "postgresql+asyncpg://").replace("mysql://", "mysql+asyncmy://")
    transactions(
        sessionmaker(create_engine(_blocking(url), poolclass=NullPool)),
        async_sessionmaker(create_async_engine(awaited, poolclass=NullPool)),
    )


class Booking(Workflow):
    """Two rows beside, and an effect between them."""

    name = "python_booking"
    on_exception = AGAIN

    @step(transactional=True)
    def debit(self) -> str:
        self.session.execute(WRITE, {"n": self.input["n"], "step": self.step_name})
        return "debited"

    @step
    async def announce(self) -> None:
        await send(effect_of(self), self.results["debit"])

    @step(transactional=True, wait=0.1)
    async def credit(self) -> None:
        await self.session.execute(WRITE, {"n": self.input["n"], "step": self.step_name})


@step(transactional=True, retry=PATIENT)
def note_in_thread(session: Any, n: int, context: StepContext) -> None:
    session.execute(WRITE, {"n": n, "step": context.step})


@step(transactional=True, retry=PATIENT)
async def note(session: Any, n: int, context: StepContext) -> None:
    await session.execute(WRITE, {"n": n, "step": context.step})


@workflow(name="python_transfer")
async def transfer(run: Run, n: int, target: str) -> int:
    """Two at once, and one behind an effect."""
    await gather(run.step(note_in_thread, n, name="debit"), run.step(note, n, name="credit"))
    await run.step(tell, target, n, None, name="announce", retry=PATIENT)
    await run.step(note, n, name="close")
    return n
