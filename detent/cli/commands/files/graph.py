"""`detent graph FILE`"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from detent.cli.options import Imports, settings_of
from detent.cli.targets import compile_file, python_workflow
from detent.graph import draw


class Format(StrEnum):
    """The format of a drawn graph."""

    TEXT = "text"
    MERMAID = "mermaid"


def graph(
    file: Annotated[Path, typer.Argument(help="A workflow file, YAML or JSON; or module:Name of one in Python.")],
    format_: Annotated[Format, typer.Option("--format", "-f", help="How to draw it.")] = Format.TEXT,
    imports: Imports = None,
) -> None:
    """Draw a workflow as a tree of text, or as Mermaid for a document."""
    settings = settings_of(**{"import": imports})
    written = python_workflow(str(file))
    compiled = written.compiled if written else compile_file(file, settings, strict=False)[1]
    drawing = draw.mermaid if format_ is Format.MERMAID else draw.text
    print(drawing(compiled.graph, compiled.title), end="")


def add_to(app: typer.Typer) -> None:
    app.command()(graph)
