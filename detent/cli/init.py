"""`detent init`: a small project to begin with."""

from __future__ import annotations

import re
from pathlib import Path
from shlex import quote
from typing import Annotated, Final

import typer
from rich.markup import escape

from detent.cli.init_files import DJANGO, FLASK, IGNORED, project, steps_project
from detent.cli.options import wrong
from detent.cli.terminal import out
from detent.errors import InvalidInput

_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_NAME: Final = 60
_FILES: Final = (".yaml", ".yml")


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder, this one if it is left out; or a workflow file to write.")
    ] = Path(),
    name: Annotated[
        str | None, typer.Option("--name", help="The name of the project; that of the folder if it is left out.")
    ] = None,
    steps: Annotated[bool, typer.Option("--steps", help="A workflow file (YAML) instead of Python.")] = False,
    django: Annotated[bool, typer.Option("--django", help="Say what a Django project needs; write nothing.")] = False,
    flask: Annotated[bool, typer.Option("--flask", help="Say what a Flask app needs; write nothing.")] = False,
) -> None:
    """Begin a project that runs as it is: workflows, tests of them, settings, a README. Nothing that exists is
    changed."""
    if django or flask:
        out.print(escape(DJANGO if django else FLASK), end="")
        return
    if folder.suffix in _FILES:
        folder, name, steps = folder.parent, name or folder.stem, True
    chosen = _chosen(folder, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in (steps_project if steps else project)(chosen).items():
            _tell(folder / file, "wrote" if _write(folder / file, text) else "kept")
        _tell(folder / ".gitignore", _ignore(folder / ".gitignore"))
    except OSError as error:
        raise InvalidInput(f"cannot write {error.filename or folder}: {error.strerror or error}") from None
    go = "" if folder.resolve() == Path.cwd() else f"cd {escape(quote(str(folder)))} && "
    first = f"detent run {chosen}.yaml" if steps else "pytest"
    out.print(f"\n[bold]Next[/]\n  {go}{first}\n  {go}detent serve")


def _chosen(folder: Path, name: str | None) -> str:
    if name is None:
        words = re.findall(r"[a-z0-9]+", folder.resolve().name.lower())
        return "-".join(words)[:_LONGEST_NAME].rstrip("-") or "hello"
    if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise wrong("--name", f"{name!r} is no name; write small letters, digits and hyphens, such as order-processing")
    return name


def _write(file: Path, text: str) -> bool:
    """Make a file; whether it was not there before."""
    try:
        with file.open("x") as new:
            new.write(text)
    except FileExistsError:
        return False
    return True


def _ignore(file: Path) -> str:
    """Keep the database out of version control: one line is added to what is there, if it is not there."""
    if _write(file, f"{IGNORED}\n"):
        return "wrote"
    old = file.read_text()
    if IGNORED in old.split():
        return "kept"
    with file.open("a") as more:
        more.write(("" if not old or old.endswith("\n") else "\n") + f"{IGNORED}\n")
    return "added to"


def _tell(file: Path, what: str) -> None:
    colour = "bright_black" if what == "kept" else "green"
    out.print(f"[{colour}]{what:<8}[/]  {escape(str(file))}")


def add_to(app: typer.Typer) -> None:
    app.command()(init)
