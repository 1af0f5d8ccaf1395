"""`detent validate FILE...`"""

from __future__ import annotations

import typer
from rich.markup import escape

from detent.cli.options import Files, Imports, settings_of
from detent.cli.output.terminal import marked, out, say_error, warn
from detent.cli.targets import compile_file
from detent.errors import InvalidInput


def validate(files: Files, imports: Imports = None) -> None:
    """Check workflow files and list all problems.

    With --import, names and constant parameters of actions are checked too. Exit code 2 if a file is not valid."""
    settings = settings_of(**{"import": imports})
    bad = 0
    for file in files:
        try:
            _, compiled = compile_file(file, settings, strict=bool(settings.imports))
        except InvalidInput as error:
            bad += 1
            out.print(f"{marked('failed', word=False)} {escape(str(file))}")
            say_error(error)
            continue
        steps = len(compiled.graph.steps)
        out.print(
            f"{marked('success', word=False)} {escape(str(file))}: {escape(compiled.name)}, "
            f"{steps} step{'s' if steps != 1 else ''}"
        )
        for warning in compiled.warnings:
            warn(warning)
    if bad:
        raise typer.Exit(2)


def add_to(app: typer.Typer) -> None:
    app.command()(validate)
