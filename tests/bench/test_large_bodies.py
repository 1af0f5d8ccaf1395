"""Large bodies in flight and a kill, in small: nothing is left and nothing is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.large_bodies import Plan, measure


@pytest.mark.slow
@pytest.mark.parametrize("place", ["database", "directory"])
async def test_a_killed_node_leaves_no_orphan_and_loses_no_large_body(tmp_path: Path, place: str) -> None:
    blobs = "database" if place == "database" else f"directory:{tmp_path}/blobs"
    plan = Plan(4, 2 * 2**20, tmp_path, f"sqlite:///{tmp_path}/detent.db", blobs, kill=0.5)
    figures = await measure(plan)
    assert figures.most > 0
