"""Options that several commands have, and the settings they make."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from detent.authoring.documents import decode_json
from detent.cli.terminal import warn
from detent.errors import InvalidInput, Problem
from detent.settings import Settings, load_settings

INPUT_LIMIT = 256 * 1024

Database = Annotated[
    str | None, typer.Option("--database", metavar="URL", help="sqlite:///file.db, postgresql://... or memory://")
]
Imports = Annotated[
    list[str] | None, typer.Option("--import", metavar="MODULE", help="A module that registers actions; repeatable.")
]
Input = Annotated[
    str | None, typer.Option("--input", "-i", metavar="JSON", help="What the run begins with: JSON, or @file.json.")
]
Url = Annotated[
    str | None, typer.Option("--url", metavar="URL", help="The address of a Detent that is serving its API.")
]
Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Workflow files, YAML or JSON.")]
Port = Annotated[int | None, typer.Option("--port", help="The port of the API; 0 takes a free one.")]
Host = Annotated[str | None, typer.Option("--host", help="The address of the API.")]


def settings_of(**flags: Any) -> Settings:
    """The settings of this call: flags, environment, file. Names nobody knows are told."""
    if not flags.get("import"):
        flags.pop("import", None)
    loaded = load_settings(flags, environ=os.environ, folder=Path.cwd())
    for warning in loaded.warnings:
        warn(warning)
    return loaded.settings


def read_input(text: str | None) -> Any:
    """The value of `--input`."""
    if text is None:
        return {}
    data = read_file(Path(text[1:])) if text.startswith("@") else text.encode()
    return decode_value(data, "--input")


def decode_value(data: bytes, option: str) -> Any:
    """JSON that a person typed."""
    try:
        return decode_json(data, INPUT_LIMIT)
    except InvalidInput as error:
        raise InvalidInput("an option cannot be read", [Problem(option, error.message)]) from None


def read_file(path: Path) -> bytes:
    """The bytes of a file, or InvalidInput."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from None
