"""Packages offer actions as entry points, and only a process that runs workflows loads them."""

from pathlib import Path

import pytest

from detent.errors import InvalidInput
from detent.process import load_connectors, run_app
from detent.settings import Settings
from detent.steps.actions import registry

MODULE = """
from detent import action


@action("{name}.greet", effect="none")
def greet(who: str) -> str:
    return f"hello {{who}}"
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which packages are found as installed ones are."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}_actions.py").write_text(text)
    facts = folder / f"{name}-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[detent.connectors]\n{name} = {name}_actions\n")


async def test_a_node_serves_the_actions_of_installed_packages(installed: Path) -> None:
    install(installed, "offered", MODULE.format(name="offered"))
    async with run_app(Settings(database_url="memory://"), claims=False):
        assert "offered.greet" not in registry.names(), "a process that runs nothing loads nothing"
    async with run_app(Settings(database_url="memory://")) as app:
        assert "offered.greet" in registry.names()
        assert "offered.greet" in app.engine.serves


def test_a_package_that_cannot_be_loaded_is_named(installed: Path) -> None:
    install(installed, "broken", "raise RuntimeError('no key')")
    with pytest.raises(InvalidInput, match="cannot load the connector broken") as caught:
        load_connectors()
    [problem] = caught.value.problems
    assert "RuntimeError: no key" in problem.message
