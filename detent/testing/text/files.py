"""Find and read tests in text: definitions with `tests:`, and files `*.test.yaml`, `*.test.yml` and `*.test.json`.

workflow: order.yaml          a path, or the definition itself
with: [payment.yaml]          the workflows that its steps start; those of the same folder are found by their name
tests: [...]
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from detent.errors import InvalidDefinition, InvalidInput, Problem
from detent.forms.compile import FORMS, compile_document, form_of, name_in
from detent.forms.compiled import Compiled
from detent.forms.definition import read_definition
from detent.forms.text_tests import FIELD, TextTest, read_text_tests
from detent.graph.check import called_workflows
from detent.testing.speedruns import Definition
from detent.testing.text.trial import TextTrial
from detent.values.fields import Fields, Problems
from detent.values.limits import DEFINITION_LIMIT

_SUFFIXES: Final = (".yaml", ".yml", ".json")
_TEST_SUFFIXES: Final = tuple(f".test{suffix}" for suffix in _SUFFIXES)
_FILE_FIELDS: Final = ("workflow", "with", FIELD)
#: The keys that have the steps of a definition, in any form.
_STEPS: Final = {key for form in FORMS.values() for key in form.keys}
_LEFT_OUT: Final = frozenset({"node_modules", "__pycache__"})
_MOST_FILES: Final = 20_000
_MOST_CHILDREN: Final = 200


@dataclass(frozen=True, slots=True)
class TextTestFile:
    """The tests of one file, and what runs them."""

    path: Path
    trial: TextTrial
    tests: tuple[TextTest, ...]


def find_files(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """Yield the files that may have tests, and whether each was named. A folder is searched with all folders in it.
    Raise InvalidInput for a path that does not exist."""
    for path in paths:
        if path.is_dir():
            yield from ((found, False) for found in _inside(path))
        elif path.exists():
            yield path, True
        else:
            raise InvalidInput(f"there is no file or folder {path}")


def _inside(folder: Path) -> Iterator[Path]:
    count, pending = 0, [folder]
    while pending:
        for path in sorted(pending.pop(0).iterdir()):
            count += 1
            if count > _MOST_FILES:
                raise InvalidInput(f"{folder} has more than {_MOST_FILES} files; name the folders with tests")
            if path.name.startswith(".") or path.name in _LEFT_OUT:
                continue
            if path.is_dir() and not path.is_symlink():
                pending += [] if (path / "pyvenv.cfg").exists() else [path]
            elif path.suffix in _SUFFIXES:
                yield path


def read_tests(path: Path, *, is_named: bool) -> TextTestFile | None:
    """Read the tests of a file; `None` if it has none. Raise InvalidDefinition with all problems.

    A file that was only found in a folder may be anything: without tests of a workflow in it, it is left out."""
    if path.name.endswith(_TEST_SUFFIXES):
        return _read_beside(path, _document(path))
    data = _data(path)
    if not is_named and (len(data) > DEFINITION_LIMIT or FIELD.encode() not in data):
        return None
    try:
        document = read_definition(data, filename=path.name)
    except InvalidDefinition:
        if is_named:
            raise
        return None
    if FIELD not in document or not (is_named or set(document) & _STEPS):
        return None
    compiled = compile_document(document)
    return _file(path, Definition(data.decode("utf-8-sig"), path.name), compiled, compiled.tests, (), path.parent)


def _read_beside(path: Path, document: Mapping[str, Any]) -> TextTestFile:
    problems = Problems()
    fields = Fields(document, "", problems)
    fields.refuse_unknown(_FILE_FIELDS)
    folder, given, compiled = path.parent, fields.get("workflow"), None
    text = json.dumps(given)
    if isinstance(given, str):
        place = folder / given
        folder = place.parent
        if place.is_file():
            text, compiled = _compiled(place, problems, "workflow")
        else:
            problems.add("workflow", f"there is no file {given!r} beside {path.name}")
    elif isinstance(given, dict):
        compiled = _inline(given, problems)
    else:
        fields.wrong("workflow", "the path of a definition, or a definition")
    if not fields.values.get(FIELD):
        problems.add(FIELD, "is missing: a list of tests")
    tests = read_text_tests(fields.get(FIELD), FIELD, problems, None if compiled is None else compiled.graph)
    others = _others(fields, path.parent)
    problems.raise_if_any()
    assert compiled is not None
    name = None if isinstance(given, dict) else str(given)
    return _file(path, Definition(text, name), compiled, tests, others, folder)


def _inline(given: dict[str, Any], problems: Problems) -> Compiled | None:
    try:
        return compile_document(given)
    except InvalidDefinition as error:
        for problem in error.problems:
            problems.add(f"workflow.{problem.field}" if problem.field else "workflow", problem.message)
        return None


def _compiled(place: Path, problems: Problems, field: str) -> tuple[str, Compiled | None]:
    try:
        data = _data(place)
        return data.decode("utf-8-sig"), compile_document(read_definition(data, filename=place.name))
    except InvalidDefinition as error:
        for problem in error.problems or (Problem("", error.message),):
            problems.add(field, f"{place.name}: {problem}")
        return "", None


def _others(fields: Fields, folder: Path) -> list[Path]:
    given = fields.get("with")
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        fields.wrong("with", "a list of paths")
        return []
    for number, one in enumerate(given):
        if not (folder / one).is_file():
            fields.problems.add(f"with[{number}]", f"there is no file {one!r}")
    return [folder / one for one in given]


def _file(
    path: Path,
    definition: Definition,
    compiled: Compiled,
    tests: tuple[TextTest, ...],
    others: Sequence[Path],
    folder: Path,
) -> TextTestFile:
    """Build the tests of a file with the workflows that its steps start: the named files, then those of the folder."""
    problems = Problems()
    known = {one.name: found for other in others if (one := (found := _compiled(other, problems, "with"))[1])}
    wanted, children = [compiled], dict[str, Definition]()
    for one in wanted:  # grows while it is read
        for _, name, _ in called_workflows(one.graph):
            if name in children or name == compiled.name or len(children) >= _MOST_CHILDREN:
                continue
            if name not in known and name in (beside := _names_in(folder)):
                known[name] = _compiled(beside[name], problems, f"workflow {name}")
            text, child = known.get(name, ("", None))
            if child is not None:
                children[name] = Definition(text)
                wanted.append(child)
    problems.raise_if_any()
    return TextTestFile(path, TextTrial(definition, tuple(children.values())), tests)


@cache
def _names_in(folder: Path) -> dict[str, Path]:
    """Return the definitions of a folder by the name of their workflow."""
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix not in _SUFFIXES or path.name.endswith(_TEST_SUFFIXES) or not path.is_file():
            continue
        try:
            document = read_definition(_data(path), filename=path.name)
            if set(document) & set(form_of(document).keys):
                found.setdefault(name_in(document), path)
        except InvalidInput:
            continue
    return found


def _document(path: Path) -> dict[str, Any]:
    return read_definition(_data(path), filename=path.name)


def _data(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from None
