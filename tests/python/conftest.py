"""A registry of each test's own, and the stores that whole runs are tried on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.python.heroes import Heroes
from detent.python.registry import PythonRegistry


@pytest.fixture
def code() -> PythonRegistry:
    return PythonRegistry()


@pytest.fixture
def heroes() -> Heroes:
    return Heroes()


@pytest.fixture(params=["memory", "sqlite", "postgres", "mariadb"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty store."""
    if request.param == "memory":
        yield "memory://"
    elif request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'detent.db'}"
    else:
        yield request.getfixturevalue(f"{request.param}_database")
