"""The measures find what they are for: each is shown something bad and something good."""

from pathlib import Path

import pytest

from tests.architecture import measure
from tests.architecture.measure import Source


def source(text: str, path: str = "detent/engine/sample.py") -> Source:
    return Source(Path(path), text)


def lines(count: int) -> str:
    return "\n".join(["x = 1"] * count)


def function(count: int) -> str:
    return "\n".join(["def long() -> None:", *["    pass"] * (count - 1)])


def test_a_file_of_601_lines_is_found_and_one_of_600_is_not() -> None:
    assert measure.long_files([source(lines(601))]) == ["detent/engine/sample.py: 601 lines, at most 600"]
    assert measure.long_files([source(lines(600))]) == []


def test_a_function_of_61_lines_is_found_and_one_of_60_is_not() -> None:
    assert measure.long_functions([source(function(61))]) == ["detent/engine/sample.py:1 long: 61 lines, at most 60"]
    assert measure.long_functions([source(function(60))]) == []


@pytest.mark.parametrize("text", ["from detent.b import thing", "from detent import b", "import detent.b",
                                  "def f() -> None:\n    from detent.b import thing"])  # fmt: skip
def test_a_cycle_is_found_however_it_is_written(text: str) -> None:
    first = source(text, "detent/a.py")
    second = source("from detent.a import other", "detent/b.py")
    assert len(measure.import_cycles([first, second])) == 1


def test_a_chain_of_imports_is_no_cycle() -> None:
    package = source("from detent.b import thing", "detent/__init__.py")
    assert measure.import_cycles([package, source("import os", "detent/b.py")]) == []


def test_an_import_inside_a_function_is_found_unless_it_is_excused() -> None:
    sample = source("import os\nasync def f() -> None:\n    import asyncpg.pool\n    import json")
    assert measure.inner_imports([sample], {"asyncpg": "optional"}) == [
        "detent/engine/sample.py:4 imports json inside a function"
    ]


@pytest.mark.parametrize("path", ["detent/utils.py", "detent/store/base.py", "detent/helpers/text.py"])
def test_a_name_that_says_nothing_is_found(path: str) -> None:
    assert len(measure.forbidden_names([source("", path)])) == 1


def test_a_name_that_says_something_is_not_found() -> None:
    assert measure.forbidden_names([source("", "detent/database.py")]) == []


@pytest.mark.parametrize("text", ["def f(a) -> None: ...", "def f(a: int): ...", "def f(*args) -> None: ...",
                                  "class C:\n    async def f(self, *, a) -> None: ..."])  # fmt: skip
def test_a_missing_type_is_found(text: str) -> None:
    assert len(measure.untyped_functions([source(text)])) == 1


def test_typed_and_private_functions_are_not_found() -> None:
    text = "class C:\n    def f(self, a: int) -> None: ...\n    def _g(self, a): ..."
    assert measure.untyped_functions([source(text)]) == []


@pytest.mark.parametrize("text", ["class RunJob: ...", "def start_task() -> None: ...", "def f(execution: int): ...",
                                  "class C:\n    jobs: int"])  # fmt: skip
def test_a_forbidden_word_is_found(text: str) -> None:
    assert len(measure.forbidden_words([source(text)])) == 1


@pytest.mark.parametrize("text", ["class Executor: ...", "pump = asyncio.create_task(work())", "ROOTS = ('tasks',)",
                                  "class C:\n    tasks: set[asyncio.Task[None]]", "multitasking: int"])  # fmt: skip
def test_a_word_that_only_looks_forbidden_is_not_found(text: str) -> None:
    assert measure.forbidden_words([source(text)]) == []


@pytest.mark.parametrize("text", ["see " + "/ro" + "ot/x", "'" + "/wo" + "rk/main'", "https://py" + "pi.org/simple"])
def test_a_trace_of_one_machine_is_found(text: str) -> None:
    assert len(measure.machine_traces({"README.md": f"fine\n{text}\n"})) == 1


def test_a_relative_path_or_an_own_host_is_not_found() -> None:
    assert measure.machine_traces({"README.md": "docs/home/page.md, example.org/wo" + "rk/"}) == []
