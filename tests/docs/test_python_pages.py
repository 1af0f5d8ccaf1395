"""Pages about workflows in Python are programs that run, and print what they show."""

import re
import sys
from pathlib import Path

import pytest

import detent
from detent import Workflow
from detent.client.client import RunOperations
from detent.embed.runs import FilteredRuns
from detent.python.classes.workflow import RESERVED
from detent.python.decorators import OPTIONS
from detent.python.functions.run import Run
from detent.python.settings import SETTINGS, DriftPolicy
from tests.docs.pages import DOCS, ROOT, blocks_of, tables
from tests.servers import programs

PROGRAMS = [page for page in sorted(DOCS.glob("*.md")) if any(block.language == "pycon" for block in blocks_of(page))]


def test_there_are_such_pages() -> None:
    assert {page.stem for page in PROGRAMS} >= {
        "agents",
        "durable-functions",
        "heroes",
        "python-workflows",
        "starting-runs",
    }


@pytest.mark.slow
@pytest.mark.parametrize("page", PROGRAMS, ids=lambda page: page.name)
def test_the_page_runs_and_prints_what_it_shows(page: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "tests.docs.page_program", str(page)]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    done = programs.run(command, cwd=tmp_path, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def named(page: str, column: str) -> set[str]:
    """The names that stand as code in the first column of the tables with that head."""
    cells = [row[0] for one in tables(page) if one.header[0] == column for row in one.rows]
    return {name for cell in cells for name in re.findall(r"[a-z_]+", cell)}


def test_every_option_of_a_step_and_every_attribute_of_a_class_has_a_row() -> None:
    of_functions = {"retry"}
    assert named("python-workflows.md", "option of `step`") == set(OPTIONS) - of_functions
    assert named("python-workflows.md", "attribute") == set(SETTINGS)


def test_everything_a_step_has_stands_on_its_page() -> None:
    text = (DOCS / "python-workflows.md").read_text() + (DOCS / "starting-runs.md").read_text()
    known = {name for name in vars(Workflow) if not name.startswith("_")} & (RESERVED | {"hero", "state"})
    assert {name for name in known if not re.search(rf"`(self\.)?{name}\b|self\.{name}", text)} == set()


def test_everything_a_function_and_a_handle_can_do_stands_on_a_page() -> None:
    functions, starts = (DOCS / "durable-functions.md").read_text(), (DOCS / "starting-runs.md").read_text()
    operations = {name for name in vars(Run) if not name.startswith("_")} - {"asked", "continued", "bind", "attempt"}
    assert {name for name in operations if f"run.{name}" not in functions} == set()
    verbs = {name for name in vars(RunOperations) if not name.startswith("_")}
    scopes = {name for name in vars(FilteredRuns) if not name.startswith("_")} - {"which"}
    assert {name for name in verbs | scopes if not re.search(rf"\b{name}\b", starts)} == set()


def test_every_mode_of_drift_and_every_public_name_stands_on_a_page() -> None:
    pages = {name: (DOCS / f"{name}.md").read_text() for name in ("python-workflows", "durable-functions")}
    assert all(f"**{mode}**" in text for mode in DriftPolicy for text in pages.values())
    everything = "".join(page.read_text() for page in DOCS.glob("*.md"))
    names = [name for name in detent.__all__ if not name.startswith("_")]
    assert [name for name in names if not re.search(rf"\b{name}\b", everything)] == []
