"""The engine and the commands treat every kind of step alike: executors declare what their steps need."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent.graph.model import StepKind
from tests.architecture import measure
from tests.architecture.test_budgets import SOURCES

#: Sleeps, waits and conditions have no executor: the planner itself lets them end.
WITHOUT_EXECUTOR = {"SLEEP", "WAIT", "CONDITION"}


def kinds_in(source: measure.Source) -> set[str]:
    """The members of StepKind that the source names, also those of its values."""
    wanted = (node for node in source.nodes if isinstance(node, ast.Attribute | ast.Call | ast.Compare))
    return {name for node in wanted for name in _named(node)}


def _named(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Attribute(value=ast.Name(id="StepKind") | ast.Attribute(attr="StepKind"), attr=name):
            if name in StepKind.__members__:
                yield name
        case ast.Call(func=ast.Name(id="StepKind"), args=[ast.Constant(value=str(value))]):
            yield StepKind(value).name
        case ast.Compare(left=ast.Attribute(attr="kind"), comparators=[ast.Constant(value=str(value))]):
            if value in {str(kind) for kind in StepKind}:
                yield StepKind(value).name


def test_a_kind_is_found_however_it_is_named() -> None:
    source = "a is StepKind.HTTP, model.StepKind.ACTION, StepKind('python'), step.kind == 'function', StepKind.of"
    assert kinds_in(measure.Source(Path("x.py"), source)) == {"HTTP", "ACTION", "PYTHON", "FUNCTION"}


@pytest.mark.parametrize("package", ["engine", "commands"])
def test_the_engine_and_the_commands_name_no_kind_that_has_an_executor(package: str) -> None:
    modules = [source for source in SOURCES if source.path.parts[1] == package]
    named = {str(source.path): kinds_in(source) - WITHOUT_EXECUTOR for source in modules}
    assert modules
    assert {module: kinds for module, kinds in named.items() if kinds} == {}


def test_the_planner_builds_calls_of_every_kind_alike() -> None:
    [calls] = [source for source in SOURCES if source.path.as_posix() == "detent/planner/calls.py"]
    assert kinds_in(calls) == set()
