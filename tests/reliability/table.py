"""Finds the tests that show each case: by their name (`test_g5_...`) or their mark (`@pytest.mark.case("A6", ...)`)."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.reliability.cases import CASES

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "reliability.md"
BEGIN: Final = "<!-- cases -->"
END: Final = "<!-- end of cases -->"
_MENTIONED: Final = re.compile(r"mark\.case\(|def test_[a-k]\d")
_NAMED: Final = re.compile(r"^test_([a-k]\d+(?:_[a-k]\d+)*)_")


@cache
def shown() -> dict[str, list[str]]:
    """case -> tests as `path::name`, sorted."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        place = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        if not _MENTIONED.search(text):
            continue  # reading it as Python takes long
        for test in _tests(ast.parse(text)):
            for case in _cases(test):
                found[case].append(f"{place}::{test.name}")
    return dict(found)


def _tests(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


def _cases(test: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    named = _NAMED.match(test.name)
    cases = [part.upper() for part in named.group(1).split("_")] if named else []
    for mark in test.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.case":
            cases += [argument.value for argument in mark.args if isinstance(argument, ast.Constant)]
    return list(dict.fromkeys(cases))


def table() -> str:
    """The table of the documentation."""
    tests = shown()
    rows = ["| case | what happens | shown by |", "|---|---|---|"]
    for case, fault in CASES.items():
        names = "<br>".join(f"`{name.removeprefix('tests/')}`" for name in tests.get(case, []))
        rows.append(f"| {case} | {fault} | {names} |")
    return "\n".join(rows)


def page_with(new: str) -> str:
    """The page with the table replaced."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{new}\n{END}{after}"
