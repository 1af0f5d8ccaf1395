"""Async tests really run, and share a loop with their fixtures."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest_plugins = ["pytester"]

closed: list[str] = []


@pytest.fixture
async def loop_of_fixture() -> AsyncIterator[asyncio.AbstractEventLoop]:
    yield asyncio.get_running_loop()
    closed.append("closed")


async def test_a_fixture_and_its_test_share_one_loop(loop_of_fixture: asyncio.AbstractEventLoop) -> None:
    assert asyncio.get_running_loop() is loop_of_fixture
    assert closed == []


@given(st.integers())
async def test_a_property_may_be_async(number: int) -> None:
    await asyncio.sleep(0)
    assert number + 0 == number


INNER = """
import asyncio
from collections.abc import AsyncIterator
import pytest
from hypothesis import given, strategies as st

pytest_plugins = ["tests.aio"]
log = []

@pytest.fixture
async def thing() -> AsyncIterator[int]:
    log.append("open")
    yield 1
    await asyncio.sleep(0)
    log.append("close")

async def test_fails(thing):
    await asyncio.sleep(0)
    assert thing == 2

def test_was_closed():
    assert log == ["open", "close"]

@given(st.integers())
async def test_property_fails(number):
    assert number < 5

@pytest.fixture(scope="module")
async def wide():
    yield 1

async def test_wide(wide):
    pass
"""


def test_a_failing_async_test_fails_and_its_fixture_is_closed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(INNER)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=2, errors=1)
    result.stdout.fnmatch_lines(["*async fixture 'wide' must have function scope*"])
