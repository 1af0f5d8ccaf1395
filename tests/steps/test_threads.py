"""The pool of threads: nothing a function does takes a thread from it or leaves its caller waiting."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial

import pytest

from detent.steps.user_code import Escaped, ThreadPool

PATIENCE = 60.0


@pytest.fixture
async def pool() -> AsyncIterator[ThreadPool]:
    made = ThreadPool(2)
    yield made
    made.close()


def raising(error: BaseException) -> Callable[[], None]:
    def function() -> None:
        raise error

    return function


def struck_from_outside() -> None:
    """As libraries do that end a function which takes too long, when they come too late."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(SystemExit))


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    "function",
    [
        *map(raising, [ValueError("no"), SystemExit(), KeyboardInterrupt(), GeneratorExit(), StopIteration(), Mute()]),
        raising(asyncio.CancelledError()),
        struck_from_outside,
    ],
    ids=["value", "exit", "interrupt", "generator", "stop", "mute", "cancelled", "outside"],
)
async def test_what_a_function_raises_comes_to_its_caller_and_its_thread_goes_on(
    pool: ThreadPool, function: Callable[[], None]
) -> None:
    async with asyncio.timeout(PATIENCE):
        for _ in range(5):
            with pytest.raises(Escaped):
                await pool.run(function)
        assert await pool.run(lambda: 7) == 7


async def test_an_error_that_escaped_is_named_with_its_cause(pool: ThreadPool) -> None:
    error = ValueError("no funds")
    with pytest.raises(Escaped, match="ValueError: no funds") as caught:
        await pool.run(raising(error))
    assert caught.value.__cause__ is error


async def test_tidying_that_raises_takes_no_thread(pool: ThreadPool, monkeypatch: pytest.MonkeyPatch) -> None:
    tidied: list[str] = []
    monkeypatch.setattr(
        "detent.steps.user_code.TIDYING",
        [raising(SystemExit()), lambda: tidied.append(threading.current_thread().name)],
    )
    async with asyncio.timeout(PATIENCE):
        for number in range(4):
            assert await pool.run(partial(int, number)) == number
        with pytest.raises(Escaped):
            await pool.run(raising(ValueError()))
        assert await pool.run(lambda: 7) == 7
    assert len(tidied) >= 5  # the last may not have come to it yet
