"""Transactions in threads that are given up: before they begin, in the middle, and when they are over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from detent.clock import SystemClock
from detent.graph.model import StepKind
from detent.python.decorators import step
from detent.python.functions import Run, StepFailed
from detent.python.functions.executor import FunctionExecutor
from detent.python.functions.step_runner import StepRunner
from detent.python.functions.workflow import workflow
from detent.steps.user_code import CommitGuard, ThreadPool
from tests.python.function.test_engine import begin, engine, until

LATE = TimeoutError("late")


class Ledger:
    """Stands for the user's database: knows who wrote, and which of it was committed."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.committed: list[str] = []
        self.entered, self.gave_up, self.may_end = threading.Event(), threading.Event(), threading.Event()

    def run_once(self, call: Any, generation: int, body: Callable[[Any], bytes]) -> bytes:
        result = body(call.step)
        self.committed.append(call.step)
        return result

    async def run_once_async(self, call: Any, generation: int, body: Callable[[Any], Any]) -> bytes:
        raise NotImplementedError

    def write(self, name: str) -> None:
        self.written.append(name)
        self.entered.set()
        assert self.may_end.wait(300)


LEDGER = Ledger()


@pytest.fixture(autouse=True)
def ledger() -> Iterator[Ledger]:
    LEDGER.__init__()  # type: ignore[misc]  # the functions below know this very one
    yield LEDGER
    LEDGER.may_end.set()


@step(transactional=True)
def first(session: str) -> None:
    LEDGER.write(session)


@step(transactional=True, timeout=0.2)
def second(session: str) -> None:
    LEDGER.write(session)


@workflow
async def in_line(run: Run) -> list[str]:
    one = asyncio.ensure_future(run.step(first))
    try:
        await run.step(second)
    except StepFailed as error:
        LEDGER.gave_up.set()
        await one
        return [str(error)]
    return []


def test_a_transaction_that_is_given_up_before_it_begins_never_does() -> None:
    guard, ran = CommitGuard(), []
    assert guard.give_up(LATE)
    with pytest.raises(TimeoutError, match="late"):
        guard.hold(lambda: ran.append(1))
    assert ran == []


def test_a_transaction_that_is_given_up_in_the_middle_ends_with_the_reason_whatever_it_raises() -> None:
    guard = CommitGuard()

    def body() -> None:
        assert not guard.give_up(LATE)
        raise ValueError("the connection is closed")

    with pytest.raises(TimeoutError, match="late") as raised:
        guard.hold(body)
    assert isinstance(raised.value.__cause__, ValueError)


def test_the_first_reason_counts() -> None:
    guard = CommitGuard()
    guard.give_up(LATE)
    guard.give_up(RuntimeError("called off"))
    assert guard.reason is LATE


async def test_a_transaction_whose_time_is_over_while_it_waits_for_a_thread_never_begins(ledger: Ledger) -> None:
    async with engine() as app:
        executors: Any = app.engine._executors  # noqa: SLF001 - the user's database is not here
        executors[StepKind.FUNCTION] = FunctionExecutor(clock=SystemClock(), steps=StepRunner(ThreadPool(1), ledger))
        run = await begin(app, "in_line")
        assert await asyncio.to_thread(ledger.entered.wait, 300)
        assert await asyncio.to_thread(ledger.gave_up.wait, 300)
        assert app.engine.node is not None
        [held] = app.engine.node.runner.owned.values()
        assert held.locks == 1, "what never began is counted as open"
        ledger.may_end.set()
        document = await until(app, run, lambda document: document["status"] == "completed")
        assert "within 0.2 s" in document["output"][0]
    assert ledger.written == ledger.committed == ["first"]
