"""Fixtures for pytest. They are available wherever Detent is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from detent.testing.clock import FakeClock
    from detent.testing.engine import MemoryEngine
    from detent.testing.result import Speedrun


@pytest.fixture
def fake_clock() -> FakeClock:
    """Return a clock that does not run until it is moved: `fake_clock.advance(days=2)`."""
    clock: FakeClock = import_module("detent.testing.clock").FakeClock()
    return clock


@pytest.fixture
def speedrun() -> Callable[..., Speedrun]:
    """Return `speedrun(workflow, hero=..., answers={...})`, which runs a workflow to its end at once."""
    function: Callable[..., Any] = import_module("detent.testing.speedruns").speedrun
    return function


@pytest.fixture
def detent_engine(fake_clock: FakeClock) -> Iterator[MemoryEngine]:
    """Yield an engine in memory: `start` runs, `advance(days=2)`, check them. Its clock is `fake_clock`."""
    with import_module("detent.testing.engine").MemoryEngine(fake_clock) as engine:
        yield engine
