"""A Detent to call, and a shop for its steps to call.

What the API does is the same on every database, and what a store does is tested in `tests/store`. So tests run in
memory or on SQLite, and those of whole workflows and of races on the servers too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api.server import Detent, serving
from tests.api.shop import Shop, open_shop

EVERY_DATABASE = pytest.mark.parametrize("database_url", ["sqlite", "postgres", "mariadb"], indirect=True)
POSTGRES_TOO = pytest.mark.parametrize("database_url", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
async def shop() -> AsyncIterator[Shop]:
    async with open_shop() as opened:
        yield opened


@pytest.fixture(params=["sqlite"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database; on others run the tests that ask for `POSTGRES_TOO` or `EVERY_DATABASE`."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/detent.db"
    return str(request.getfixturevalue(f"{request.param}_database"))


@pytest.fixture
async def detent(database_url: str) -> AsyncIterator[Detent]:
    """On the database of the test."""
    async with serving(database_url) as opened:
        yield opened


@pytest.fixture
async def api() -> AsyncIterator[Detent]:
    """In memory, for what does not depend on the database."""
    async with serving("memory://") as opened:
        yield opened
