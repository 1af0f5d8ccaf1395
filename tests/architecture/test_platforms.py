"""Detent is developed on Linux. What only Linux has is used behind a guard, so that it works on macOS.

A guard is a condition that names `sys.platform` or `hasattr`, above the use or before it in the same block with a way
out; or a `try` or `suppress` that catches what the absence raises.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture import measure
from tests.architecture.linux_names import LINUX, PATHS
from tests.cli.program import environment

ROOT = Path(__file__).parents[2]
SOURCES = measure.read_sources(ROOT, "detent")
#: Constants that are read behind a guard elsewhere in the module.
READ_BEHIND_GUARD = {("detent/store/sql/sqlite/lock.py", "/proc/locks")}
CAUGHT = re.compile(r"\b(OSError|AttributeError|ImportError|Exception)\b")
NAMED = re.compile(r"\b(sys\.platform|hasattr|getattr)\b")


def uses(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Each use of what only Linux has. A mention in a docstring is none."""
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="ru_maxrss"):
                yield node, "ru_maxrss, which is in bytes on macOS"
            case ast.Attribute(value=ast.Name(id=module), attr=name) if re.fullmatch(LINUX.get(module, ""), name):
                yield node, f"{module}.{name}"
            case ast.ImportFrom(module=str(module), names=names):
                found = [one.name for one in names if re.fullmatch(LINUX.get(module, ""), one.name)]
                yield from ((node, f"{module}.{name}") for name in found)
            case ast.Constant(value=str(text)) if id(node) not in documented and PATHS.match(text):
                yield node, text


def unguarded(text: str, path: str = "detent/x.py") -> list[str]:
    """The uses of a module that no guard protects, as `line: name`."""
    tree = ast.parse(text)
    found = list(uses(tree))
    if not found:
        return []
    above = {id(child): parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    return [
        f"{path}:{getattr(node, 'lineno', 0)}: {name}"
        for node, name in found
        if (path, name) not in READ_BEHIND_GUARD and not is_guarded(node, above)
    ]


def is_guarded(node: ast.AST, above: dict[int, ast.AST]) -> bool:
    while (parent := above.get(id(node))) is not None:
        match parent:
            case ast.If(test=test) | ast.IfExp(test=test) if node is not test and NAMED.search(ast.unparse(test)):
                return True
            case ast.BoolOp(values=[first, *_]) if node is not first and NAMED.search(ast.unparse(first)):
                return True
            case ast.Try(handlers=handlers) if any(
                CAUGHT.search(ast.unparse(one.type)) for one in handlers if one.type
            ):
                return True
            case ast.With(items=items) if any(
                "suppress(" in (text := ast.unparse(one)) and CAUGHT.search(text) for one in items
            ):
                return True
        if any(is_way_out(one) for one in before(node, parent)):
            return True
        node = parent
    return False


def before(node: ast.AST, parent: ast.AST) -> list[ast.stmt]:
    """The statements before this one in its block."""
    for block in (getattr(parent, name, None) for name in ("body", "orelse", "finalbody")):
        if isinstance(block, list) and node in block:
            return block[: block.index(node)]
    return []


def is_way_out(statement: ast.stmt) -> bool:
    """Whether a statement leaves its block on another platform."""
    if not isinstance(statement, ast.If) or not NAMED.search(ast.unparse(statement.test)):
        return False
    return isinstance(statement.body[-1], ast.Return | ast.Raise | ast.Continue)


def test_what_only_linux_has_is_used_behind_a_guard() -> None:
    assert [line for source in SOURCES for line in unguarded(source.text, str(source.path))] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("import os\nos.pipe2(0)", 1),
        ("from os import sched_getaffinity", 1),
        ("Path('/proc/self/statm').read_text()", 1),
        ("'''/proc is of Linux'''", 0),
        ("def f():\n    if sys.platform != 'linux':\n        return 1\n    return os.sched_getaffinity(0)", 0),
        ("def f():\n    if x:\n        return 1\n    return os.sched_getaffinity(0)", 1),
        ("n = os.sched_getaffinity(0) if hasattr(os, 'sched_getaffinity') else 1", 0),
        ("with suppress(OSError):\n    Path('/proc/self/x').write_text('1')", 0),
        ("with suppress(ValueError):\n    Path('/proc/self/x').write_text('1')", 1),
        ("try:\n    open('/proc/locks')\nexcept FileNotFoundError:\n    pass", 1),
        ("resource.getrusage(0).ru_maxrss * 1024", 1),
    ],
)
def test_a_use_without_a_guard_is_found(text: str, count: int) -> None:
    assert len(unguarded(text)) == count


@pytest.mark.slow
def test_a_workflow_runs_on_sqlite_where_nothing_of_linux_is_there(tmp_path: Path) -> None:
    """It runs on this machine, with the names of Linux removed and its files hidden: macOS itself is not here."""
    (tmp_path / "hello.yaml").write_text("name: hello\ntasks:\n  a: {action: core.echo, with: {x: 1}}\n")
    for words in (["run", "hello.yaml", "--database", "sqlite:///detent.db"], ["dev", "--port", "0"]):
        command = [sys.executable, "-m", "tests.architecture.as_on_macos", *words]
        with subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            try:
                said = ""
                while "completed" not in said:
                    line = process.stdout.readline()
                    assert line, said
                    said += line
            finally:
                process.kill()
