"""Every test here starts processes: none belongs to the fast loop but those that say so."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to work in."""
    made = tmp_path / "work"
    made.mkdir()
    return made
