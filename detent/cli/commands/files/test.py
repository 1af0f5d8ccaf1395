"""`detent test [PATH...]`: run the tests in text of workflow files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from detent.cli.options import Imports, settings_of, wrong
from detent.cli.output.terminal import duration, err, marked, out, plain, say_error
from detent.cli.targets import load_or_show
from detent.clock import SystemClock
from detent.errors import InvalidInput
from detent.forms.text_tests import TextTest
from detent.testing.text.files import TextTestFile, find_files, read_tests
from detent.testing.text.junit import junit_xml
from detent.testing.text.trial import TextTestResult

Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH...", help="Workflow files, *.test.yaml files, or folders; this folder if absent."),
]


def run_tests(
    paths: Paths = None,
    keyword: Annotated[
        str | None, typer.Option("-k", "--only", metavar="TEXT", help="Only tests whose file or name has this text.")
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit XML.")] = None,
    imports: Imports = None,
) -> None:
    """Run tests in text: those under `tests:` in workflow files, and files *.test.yaml.

    The engine runs in memory, and its clock jumps. No effect is made: each step with an effect has an answer in the
    test. Exit code 0 if all tests passed, 1 if one failed, 2 if a file is not valid or there is no test."""
    load_or_show(settings_of(**{"import": imports}).imports)
    began = SystemClock()
    start = began.monotonic()
    files, invalid = _read(paths or [Path()])
    results: list[tuple[str, list[TextTestResult]]] = []
    for file in files:
        chosen = [one for one in file.tests if _is_chosen(file, one, keyword)]
        if chosen:
            results.append((str(file.path), [_run(file, one) for one in chosen]))
    if junit is not None:
        _write(junit, junit_xml(results, invalid))
    tests = [test for _, found in results for test in found]
    failed = sum(bool(test.failures) for test in tests)
    if not tests and not invalid:
        raise wrong("PATH" if keyword is None else "-k", "there is no test here; docs/test-without-python.md shows one")
    words = [f"[green]{len(tests) - failed} passed[/]"]
    words += [f"[red]{failed} failed[/]"] if failed else []
    words += [f"[red]{len(invalid)} not valid[/]"] if invalid else []
    out.print(f"{', '.join(words)} [bright_black]in {duration(began.monotonic() - start)}[/]")
    raise typer.Exit(2 if invalid else 1 if failed else 0)


def _read(paths: Sequence[Path]) -> tuple[list[TextTestFile], list[tuple[str, str]]]:
    """Return the files with tests, and those that are not valid with the reason. Print the problems of the latter."""
    files: dict[Path, TextTestFile] = {}
    invalid: list[tuple[str, str]] = []
    for path, is_named in find_files(paths):
        try:
            found = read_tests(path, is_named=is_named)
        except InvalidInput as error:
            err.print(f"{marked('failed', word=False)} {plain(str(path))}")
            say_error(error)
            invalid.append((str(path), "\n".join([error.message, *map(str, error.problems)])))
            continue
        if found is not None:
            files.setdefault(path.resolve(), found)
    return list(files.values()), invalid


def _is_chosen(file: TextTestFile, test: TextTest, keyword: str | None) -> bool:
    return keyword is None or keyword.casefold() in f"{file.path}: {test.name}".casefold()


def _run(file: TextTestFile, test: TextTest) -> TextTestResult:
    result = file.trial.run(test)
    mark = marked("failed" if result.failures else "success", word=False)
    out.print(f"{mark} {plain(str(file.path))}: {plain(test.name)}")
    for failure in result.failures:
        out.print(f"    {plain(failure)}", style="red")
    if result.route is not None:
        out.print(plain("\n".join(f"    {line}" for line in result.route.splitlines())), style="bright_black")
    return result


def _write(file: Path, data: bytes) -> None:
    try:
        file.write_bytes(data)
    except OSError as error:
        raise wrong("--junit", f"cannot write {file}: {error.strerror or error}") from None


def add_to(app: typer.Typer) -> None:
    app.command("test")(run_tests)
