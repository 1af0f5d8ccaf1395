"""The pool of threads: nothing a function does takes a thread from it or leaves its caller waiting."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest

from detent.steps.user_code import ThreadPool, TimeLimit

PATIENCE = 300.0


@pytest.fixture
async def pool() -> AsyncIterator[ThreadPool]:
    made = ThreadPool(2)
    yield made
    made.close()


def raising(error: BaseException) -> Callable[[], object]:
    def function() -> None:
        raise error

    return function


def name_of(error: BaseException) -> object:
    return type(error).__name__


def struck_from_outside() -> None:
    """As libraries do that end a function which takes too long, when they come too late."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(SystemExit))


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    ("function", "name"),
    [
        *((raising(error), type(error).__name__) for error in [ValueError("no"), SystemExit(), KeyboardInterrupt()]),
        *((raising(error), type(error).__name__) for error in [GeneratorExit(), StopIteration(), Mute()]),
        (raising(asyncio.CancelledError()), "CancelledError"),
        (struck_from_outside, "SystemExit"),
    ],
    ids=["value", "exit", "interrupt", "generator", "stop", "mute", "cancelled", "outside"],
)
async def test_what_a_function_raises_becomes_its_result_and_its_thread_goes_on(
    pool: ThreadPool, function: Callable[[], object], name: str
) -> None:
    async with asyncio.timeout(PATIENCE):
        for _ in range(5):
            assert await pool.submit(function, name_of) == name
        assert await pool.submit(lambda: 7, name_of) == 7


async def test_a_failure_that_cannot_be_made_a_result_is_raised_with_both_errors(pool: ThreadPool) -> None:
    def failed(error: BaseException) -> object:
        raise TypeError("not a result")

    async with asyncio.timeout(PATIENCE):
        with pytest.raises(RuntimeError, match="TypeError: not a result"):
            await pool.submit(raising(ValueError("no funds")), failed)
        assert await pool.submit(lambda: 7, name_of) == 7


async def test_a_function_whose_time_is_over_while_it_waits_for_a_thread_never_runs() -> None:
    pool, may_end = ThreadPool(1), threading.Event()
    ran: list[int] = []
    busy = pool.submit(partial(may_end.wait, PATIENCE), name_of)
    late = pool.submit(partial(ran.append, 1), lambda error: error, limit=0.01)
    async with asyncio.timeout(PATIENCE):
        error = await late
        may_end.set()
        assert await busy
        assert await pool.submit(lambda: 7, name_of) == 7
    assert isinstance(error, TimeLimit)
    assert str(error) == "the step did not end within 0.01 s"
    assert ran == []
    pool.close()


async def test_a_machine_without_threads_is_a_failure(pool: ThreadPool, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    async with asyncio.timeout(PATIENCE):
        assert await pool.submit(lambda: 7, name_of) == "RuntimeError"


async def test_tidying_that_raises_takes_no_thread(pool: ThreadPool, monkeypatch: pytest.MonkeyPatch) -> None:
    tidied: list[str] = []
    monkeypatch.setattr(
        "detent.steps.user_code.TIDYING",
        [raising(SystemExit()), lambda: tidied.append(threading.current_thread().name)],
    )
    async with asyncio.timeout(PATIENCE):
        for number in range(4):
            assert await pool.submit(partial(int, number), name_of) == number
        assert await pool.submit(raising(ValueError()), name_of) == "ValueError"
        assert await pool.submit(lambda: 7, name_of) == 7
        while len(tidied) < 6:  # noqa: ASYNC110 - a thread tidies up after its result was sent
            await asyncio.sleep(0.01)
