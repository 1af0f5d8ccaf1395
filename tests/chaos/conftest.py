"""A PostgreSQL database with our tables, and the address of an empty store of either kind."""

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store with its tables, on each database that a process can be killed beside."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/detent.db"
    return str(request.getfixturevalue("postgres_database"))
