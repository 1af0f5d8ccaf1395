"""`detent init`: a small project to begin with."""

from __future__ import annotations

import re
from pathlib import Path
from shlex import quote
from typing import Annotated, Final

import typer
from rich.markup import escape

from detent.cli.options import wrong
from detent.cli.terminal import out
from detent.errors import InvalidInput

_NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_NAME: Final = 60
_IGNORED: Final = "detent.db*"

_WORKFLOW: Final = """\
# A workflow is a list of steps. `detent run {name}.yaml` runs it here and now.
name: {name}
description: Says hello, takes a breath, and sums up.

tasks:
  # A step does one thing. What stands in double braces is filled in when the step runs;
  # `trigger.body` is what the run was started with, `??` gives what to take if it is missing.
  greet:
    action: core.echo
    with:
      text: "Hello, {{{{trigger.body.name ?? 'world'}}}}"

  # `needs` says what must have ended before. A sleep survives a restart, be it two seconds or two weeks.
  breathe:
    needs: [greet]
    sleep: 2s

  # The result of a step is there for those after it. Instead of an action, a step may call a URL:
  #   url: "https://example.org/orders/{{{{trigger.body.id}}}}"
  #   method: GET
  # or wait until somebody calls it back:
  #   wait_for_webhook: {{timeout: 1h}}
  sum-up:
    needs: [breathe]
    action: core.echo
    with:
      said: "{{{{tasks.greet.output.text}}}}"
"""
_SETTINGS: Final = """\
# Settings of Detent for this folder. A flag or a variable such as DETENT_PORT is stronger.
database_url = "sqlite:///detent.db"
port = 8080
"""
_README: Final = """\
# {name}
- `detent run {name}.yaml` runs the workflow here and now.
- `detent serve` serves the API and runs workflows; its settings are in `detent.toml`.
- `detent apply {name}.yaml`, in another terminal, saves the workflow there.
- `detent trigger {name} --input '{{"name": "Ada"}}' --wait` starts a run of it, and shows how it goes.
"""


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; this one if it is left out.")] = Path(),
    name: Annotated[
        str | None, typer.Option("--name", help="The name of the workflow; that of the folder if it is left out.")
    ] = None,
) -> None:
    """Begin a project: a workflow that runs as it is, settings, a README. Nothing that exists is changed."""
    chosen = _chosen(folder, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = {f"{chosen}.yaml": _WORKFLOW, "detent.toml": _SETTINGS, "README.md": _README}
        for file, text in files.items():
            _tell(folder / file, "wrote" if _write(folder / file, text.format(name=chosen)) else "kept")
        _tell(folder / ".gitignore", _ignore(folder / ".gitignore"))
    except OSError as error:
        raise InvalidInput(f"cannot write {error.filename or folder}: {error.strerror or error}") from None
    go = "" if folder.resolve() == Path.cwd() else f"cd {escape(quote(str(folder)))} && "
    out.print(f"\n[bold]Next[/]\n  {go}detent run {chosen}.yaml\n  {go}detent serve")


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
    if _write(file, f"{_IGNORED}\n"):
        return "wrote"
    old = file.read_text()
    if _IGNORED in old.split():
        return "kept"
    with file.open("a") as more:
        more.write(("" if not old or old.endswith("\n") else "\n") + f"{_IGNORED}\n")
    return "added to"


def _tell(file: Path, what: str) -> None:
    colour = "bright_black" if what == "kept" else "green"
    out.print(f"[{colour}]{what:<8}[/]  {escape(str(file))}")


def add_to(app: typer.Typer) -> None:
    app.command()(init)
