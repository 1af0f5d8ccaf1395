"""The tests of this room parse the whole package: half a million nodes that live on."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def resting_collector() -> Iterator[None]:
    """Leave the garbage alone meanwhile. The collector would go over all nodes again and again, and that took longer
    than the parser."""
    gc.disable()
    yield
    gc.enable()
