"""Every line of the checklist has its test, and every test here its line."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.parity.checklist import CHECKLIST

HERE = Path(__file__)


def _names() -> list[str]:
    found = []
    for file in sorted(HERE.parent.glob("test_*.py")):
        if file != HERE:
            tree = ast.parse(file.read_text())
            found += [one.name for one in tree.body if isinstance(one, ast.FunctionDef) and "test_" in one.name[:5]]
    return found


def test_every_line_has_one_test_of_its_own_and_every_test_a_line() -> None:
    assert sorted(_names()) == sorted(CHECKLIST.values())
    assert len(CHECKLIST) == 53


def test_every_test_runs_on_every_store() -> None:
    for file in sorted(HERE.parent.glob("test_*.py")):
        if file == HERE:
            continue
        for one in ast.parse(file.read_text()).body:
            if isinstance(one, ast.FunctionDef) and one.name.startswith("test_"):
                wanted = {argument.arg for argument in one.args.args}
                assert wanted & {"user", "node", "store", "fresh_database"}, f"{one.name} runs on no store"
