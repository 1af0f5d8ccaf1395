"""Runs `async def` tests and async generator fixtures, each test on its own event loop.

A fixture and the test that asked for it share that loop, so a connection opened in one works in the other. Only
function scope is supported: what lives longer than a test must not live on a test's loop.
"""

import asyncio
import functools
import inspect
from collections.abc import Callable, Coroutine, Generator, Iterator
from typing import Any

import pytest


@pytest.fixture
def loop_runner() -> Iterator[asyncio.Runner]:
    """The event loop of this test; closing it cancels what the test left running."""
    with asyncio.Runner() as runner:
        yield runner


def pytest_itemcollected(item: pytest.Item) -> None:
    if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
        item.fixturenames.insert(0, "loop_runner")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    property_test = getattr(pyfuncitem.obj, "hypothesis", None)
    if property_test is not None and inspect.iscoroutinefunction(property_test.inner_test):
        property_test.inner_test = _as_sync(property_test.inner_test)
        return None
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    runner = pyfuncitem.funcargs["loop_runner"]
    assert isinstance(runner, asyncio.Runner)
    wanted = inspect.signature(pyfuncitem.obj).parameters
    runner.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    func = fixturedef.func
    if inspect.isasyncgenfunction(func):
        if fixturedef.scope != "function":
            raise pytest.UsageError(f"async fixture {fixturedef.argname!r} must have function scope")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fixturedef, "func", _on_loop(func, request.getfixturevalue("loop_runner")))
            return (yield)
    return (yield)


def _on_loop(func: Callable[..., Any], runner: asyncio.Runner) -> Callable[..., Iterator[object]]:
    @functools.wraps(func)
    def fixture(**arguments: object) -> Iterator[object]:
        steps = func(**arguments)
        yield runner.run(anext(steps))
        if runner.run(_is_exhausted(steps)):
            return
        raise pytest.UsageError(f"async fixture {func.__name__!r} yielded twice")

    return fixture


async def _is_exhausted(steps: Any) -> bool:
    try:
        await anext(steps)
    except StopAsyncIteration:
        return True
    return False


def _as_sync(func: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(func)
    def run(*args: object, **arguments: object) -> None:
        asyncio.run(func(*args, **arguments))

    return run
