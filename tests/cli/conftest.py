"""Every test here starts processes: none belongs to the fast loop but those that say so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import started
from tests.cli.served import FILES, Served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to work in."""
    made = tmp_path / "work"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that has the workflows of `FILES`."""
    folder = tmp_path_factory.mktemp("served")
    for name, text in FILES.items():
        (folder / f"{name}.yaml").write_text(text)
    with started(folder, "serve", "--port", "0") as server:
        found = Served(folder, server.wait_for(r"answers at (http://\S+)")[1])
        found.says("apply", *(f"{name}.yaml" for name in FILES))
        yield found
