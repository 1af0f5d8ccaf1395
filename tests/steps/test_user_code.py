"""User code on the loop, with a time limit and with a transaction in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from functools import partial

import pytest

from detent.steps.user_code import CommitGuard, ThreadPool, TimeLimit, run_on_loop

PATIENCE = 300.0
SHORT = 0.01


def failed(error: BaseException) -> object:
    return error


async def forever() -> object:
    return await asyncio.Event().wait()


async def swallows() -> object:
    try:
        return await forever()
    except asyncio.CancelledError:
        return "late"


async def raises_instead() -> object:
    try:
        return await forever()
    except asyncio.CancelledError:
        raise ConnectionError("closed") from None


@pytest.mark.parametrize("code", [forever, swallows, raises_instead])
async def test_code_whose_time_is_over_has_timed_out_whatever_it_makes_of_that(
    code: Callable[[], Awaitable[object]],
) -> None:
    async with asyncio.timeout(PATIENCE):
        assert isinstance(await run_on_loop(code, failed, limit=SHORT), TimeLimit)


@pytest.mark.parametrize("limit", [None, 30.0])
async def test_a_cancellation_that_code_raised_by_itself_is_its_failure(limit: float | None) -> None:
    async def code() -> object:
        raise asyncio.CancelledError

    assert isinstance(await run_on_loop(code, failed, limit=limit), asyncio.CancelledError)


@pytest.mark.parametrize("limit", [None, 30.0])
async def test_a_cancellation_of_the_attempt_passes_through(limit: float | None) -> None:
    attempt = asyncio.create_task(run_on_loop(forever, failed, limit=limit))
    await asyncio.sleep(0)
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt


async def test_a_timeout_of_the_code_is_not_its_time_limit() -> None:
    async def code() -> object:
        raise TimeoutError("the server did not answer")

    error = await run_on_loop(code, failed, limit=30.0)
    assert type(error) is TimeoutError


class Transaction:
    """A transaction in a thread that lasts until it may end."""

    def __init__(self, threads: int = 1) -> None:
        self.pool, self.guard = ThreadPool(threads), CommitGuard()
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.is_committed = False

    def start(self, limit: float | None = None) -> asyncio.Task[object]:
        code = partial(self.pool.run_guarded, partial(self.guard.hold, self._body), failed, self.guard)
        return asyncio.create_task(run_on_loop(code, failed, limit=limit, guard=self.guard))

    def _body(self) -> object:
        self.begun.set()
        assert self.may_end.wait(PATIENCE)
        self.guard.check()
        self.is_committed = True
        return "committed"


@pytest.fixture
def transaction() -> Iterator[Transaction]:
    made = Transaction()
    yield made
    made.may_end.set()
    made.pool.close()


async def test_a_transaction_within_its_time_is_committed(transaction: Transaction) -> None:
    transaction.may_end.set()
    assert await transaction.start(PATIENCE) == "committed"


async def test_a_transaction_whose_time_is_over_rolls_back_and_only_then_has_timed_out(
    transaction: Transaction,
) -> None:
    attempt = transaction.start(SHORT)
    assert await asyncio.to_thread(transaction.begun.wait, PATIENCE)
    while transaction.guard.reason is None:  # noqa: ASYNC110 - a timer sets it
        await asyncio.sleep(0.001)
    await asyncio.sleep(0)
    assert not attempt.done()
    transaction.may_end.set()
    assert isinstance(await attempt, TimeLimit)
    assert not transaction.is_committed


async def test_a_transaction_whose_time_is_over_before_it_begins_never_does(transaction: Transaction) -> None:
    busy = transaction.pool.submit(partial(transaction.may_end.wait, PATIENCE), failed)
    assert isinstance(await transaction.start(SHORT), TimeLimit)
    transaction.may_end.set()
    assert await busy
    assert await transaction.pool.submit(lambda: 7, failed) == 7
    assert not transaction.begun.is_set()


async def test_an_attempt_that_is_cancelled_ends_when_its_transaction_has_rolled_back(
    transaction: Transaction,
) -> None:
    attempt = transaction.start()
    assert await asyncio.to_thread(transaction.begun.wait, PATIENCE)
    attempt.cancel()
    await asyncio.sleep(SHORT)
    assert not attempt.done()
    transaction.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    assert not transaction.is_committed


async def test_an_attempt_that_is_cancelled_twice_does_not_wait_for_its_transaction(
    transaction: Transaction,
) -> None:
    attempt = transaction.start()
    assert await asyncio.to_thread(transaction.begun.wait, PATIENCE)
    for _ in range(2):
        attempt.cancel()
        await asyncio.sleep(SHORT)
    with pytest.raises(asyncio.CancelledError):
        await attempt
    transaction.may_end.set()
    assert await transaction.pool.submit(lambda: 7, failed) == 7
    assert not transaction.is_committed
