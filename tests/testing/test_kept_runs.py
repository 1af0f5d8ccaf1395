"""Runs of every kind, made on a real engine and kept with `detent runs show --as-test`: the tests pass, have no effect,
and fail when the code of the workflow is changed."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.program import environment, free_port
from tests.servers import programs

KEPT = Path(__file__).parent / "kept"
CODE = KEPT / "shop_workflows.py"
#: Tests with their definition in them.
DEFINITIONS = {"yaml"}


def program(folder: Path, *arguments: str) -> str:
    done = programs.run([sys.executable, *arguments], cwd=folder, env=environment(folder), timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout + done.stderr


def without(mark: str) -> str:
    """The code without the lines that are marked so."""
    return "".join(line for line in CODE.read_text().splitlines(keepends=True) if not line.endswith(f"# {mark}\n"))


def outcomes(folder: Path) -> dict[str, str]:
    """How each test of the folder ends."""
    options = ["-q", "-rA", "--tb=short", "-p", "no:cacheprovider", "-W", "error", "-W", "ignore::UserWarning"]
    told = program(folder, "-m", "pytest", *options)
    found = dict(reversed(row) for row in re.findall(r"^(PASSED|FAILED|ERROR) test_(\w+)\.py", told, re.MULTILINE))
    assert found, told
    (folder / "told.txt").write_text(told)
    return found


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the code, and a test for each run."""
    folder = tmp_path_factory.mktemp("kept")
    shutil.copy(KEPT / "make_runs.py", folder)
    for phase, unwanted in (("first", "new"), ("second", "old")):
        (folder / CODE.name).write_text(without(unwanted))
        told = program(folder, "make_runs.py", phase, str(free_port()))
        assert "Traceback" not in told, told
    told = program(folder, "make_runs.py", "keep")
    names = json.loads((folder / "ids.json").read_text())
    assert {*names} == {file.stem.removeprefix("test_") for file in folder.glob("test_*.py")}, told
    (folder / "effects.txt").unlink()
    return folder


def test_every_run_is_kept_as_a_test_that_passes_and_has_no_effect(kept: Path) -> None:
    found = outcomes(kept)
    assert len(found) >= 30
    assert {name for name, how in found.items() if how != "PASSED"} == set(), (kept / "told.txt").read_text()
    assert not (kept / "effects.txt").exists()


def test_each_of_them_fails_when_its_workflow_is_changed(kept: Path) -> None:
    code = kept / CODE.name
    before = code.read_text()
    changed = re.sub(r"(?m)^(async def kept_\w+\(.*:)$", r"\1\n    await run.step(extra)", before)
    changed = re.sub(r"(?m)^(class \w+\(Workflow\):)$", r'\1\n    step("extra", lambda self: None)\n', changed)
    code.write_text(changed)
    try:
        assert {name for name, how in outcomes(kept).items() if how == "PASSED"} == DEFINITIONS
    finally:
        code.write_text(before)


def test_a_test_of_a_definition_fails_when_the_definition_is_changed(kept: Path, tmp_path: Path) -> None:
    text = (kept / "test_yaml.py").read_text()
    changed = text.replace("'needs': ['here']", "'needs': ['missing']")
    assert changed != text
    (tmp_path / "test_yaml.py").write_text(changed)
    assert outcomes(tmp_path) == {"yaml": "FAILED"}
