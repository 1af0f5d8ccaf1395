"""The measurement of resource links, in a short form: each resource has one owner, and no run is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.links import measure, resources

STEPS = 200

pytestmark = pytest.mark.slow


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/detent.db"
    return str(request.getfixturevalue(f"{request.param}_database"))


async def test_each_resource_belongs_to_one_run_and_no_run_is_lost(url: str) -> None:
    names = resources(STEPS, 0.2)
    found = await measure(url, names, nodes=1 if url.startswith("sqlite") else 4)
    assert found.wrong() == []
    assert found.statuses["completed"] == len(set(names))
    assert found.statuses["failed"] == STEPS - len(set(names)) == 20
