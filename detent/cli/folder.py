"""A folder of workflow files: which files it has, its id, and the values of an environment.

`detent-folder.yaml` is optional and has the id of the folder: `folder: shop`. A folder with an id manages its
workflows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from detent.catalog.file_values import fill_text
from detent.catalog.workflow_template import has_places
from detent.cli.options import read_file, wrong
from detent.cli.output.terminal import err, say_error
from detent.errors import InvalidInput, Problem
from detent.forms.compile import name_in
from detent.forms.definition import read_definition, read_document
from detent.values.folders import check_folder_id

#: The file that has the id of its folder.
MARKER: Final = "detent-folder.yaml"
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_FEW: Final = 20

FolderId = Annotated[
    str | None,
    typer.Option("--folder", metavar="ID", help=f"The id of the folder, if no {MARKER} in it says so."),
]
Values = Annotated[
    Path | None,
    typer.Option("--values", metavar="FILE", help="Values for ${config.NAME} in the files, YAML or JSON."),
]


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """A workflow file: its text with the values filled in, and the name of its workflow."""

    path: Path
    text: str
    name: str


@dataclass(frozen=True, slots=True)
class Folder:
    """The workflow files of a folder, by path. `id` is `None` if the folder does not manage its workflows."""

    path: Path
    id: str | None
    files: tuple[WorkflowFile, ...]

    def shown(self, file: WorkflowFile) -> str:
        """Return the path of a file inside the folder."""
        return file.path.relative_to(self.path).as_posix()


def definition_files(folder: Path) -> list[Path]:
    """Return the workflow files in a folder and the folders in it, by path. Hidden files, tests, values and the file
    with the id are not among them."""
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is not a folder")
    found = (path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
    return sorted(
        (path for path in found if _is_definition(path.relative_to(folder))), key=lambda path: path.as_posix()
    )


def _is_definition(path: Path) -> bool:
    *_, last = path.stem.lower().split(".")
    first = path.name.lower().split(".")[0]
    is_hidden = any(part.startswith(".") for part in path.parts)
    return not (is_hidden or path.name == MARKER or last in ("test", "values") or first == "values")


def read_folder(path: Path, *, id_: str | None, values: Path | None) -> Folder:
    """Read a folder. Its files are not compiled: the server does that. Print the problems of every file that cannot be
    read, then raise InvalidInput."""
    known = {} if values is None else read_values(values)
    found = folder_id(path, id_)
    paths = [one for one in definition_files(path) if values is None or not one.samefile(values)]
    files: list[WorkflowFile] = []
    bad = 0
    for one in paths:
        try:
            files.append(read_workflow_file(one, known, has_values=values is not None))
        except InvalidInput as error:
            bad += 1
            err.print(f"[red]✗[/] {one}", markup=True)
            say_error(error)
    if bad:
        raise InvalidInput(f"{bad} of {len(paths)} files of {path} are not valid; nothing was changed")
    _refuse_twice(files, path)
    return Folder(path, found, tuple(files))


def _refuse_twice(files: Iterable[WorkflowFile], folder: Path) -> None:
    first: dict[str, Path] = {}
    problems = []
    for file in files:
        known = first.setdefault(file.name, file.path)
        if known != file.path:
            place = str(file.path.relative_to(folder))
            words = f"is the workflow {file.name!r}, like {known.relative_to(folder)}"
            problems.append(Problem(place, words))
    if problems:
        raise InvalidInput(f"two files of {folder} are the same workflow", problems)


def read_workflow_file(path: Path, values: dict[str, Any], *, has_values: bool) -> WorkflowFile:
    """Read a file and fill in the values. Raise InvalidInput."""
    text = read_file(path).decode("utf-8-sig", "replace")
    if has_values:
        text = fill_text(text, values, filename=path.name)
    elif has_places(text):
        raise InvalidInput("has places for values (${config.NAME}), and there are none; add --values FILE")
    return WorkflowFile(path, text, name_in(read_definition(text, filename=path.name)))


def read_values(path: Path) -> dict[str, Any]:
    """Read the values of an environment: a mapping, in YAML or JSON."""
    return read_document(read_file(path), filename=path.name, needs="values are a mapping of names to values")


def folder_id(path: Path, given: str | None) -> str | None:
    """Return the id of a folder: the one given, else that of its file, else `None`."""
    marker = path / MARKER
    if given is not None:
        return check_folder_id(given, "--folder")
    if not marker.is_file():
        return None
    document = read_document(read_file(marker), filename=MARKER, needs="it is a mapping such as `folder: shop`")
    found = document.get("folder")
    if not isinstance(found, str):
        raise InvalidInput(f"{marker} needs an id", [Problem("folder", "must be a text such as shop")])
    return check_folder_id(found, f"{marker}: folder")


def need_id(folder: Folder, option: str) -> str:
    """Return the id of a folder. Raise InvalidInput if it has none and an option needs it."""
    if folder.id is None:
        raise wrong(
            option, f"needs the id of the folder: write `folder: NAME` into {folder.path / MARKER}, or --folder"
        )
    return folder.id


@contextmanager
def showing(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how far a long task is. Yield a function that adds to what is done."""
    if total < _FEW or not err.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)
