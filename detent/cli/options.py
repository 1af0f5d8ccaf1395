"""Options that several commands share, the settings of a command, and readers of option values."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from detent.cli.output.terminal import warn
from detent.clock import SystemClock
from detent.errors import InvalidInput, Problem
from detent.instant import as_datetime
from detent.settings import Settings, load_settings
from detent.values.durations import parse_duration
from detent.values.json import decode_json
from detent.values.limits import INPUT_LIMIT

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        is_eager=True,  # it is read before --url, which depends on it
        help="sqlite:///file.db, postgresql://..., mysql://... or memory://",
    ),
]
Imports = Annotated[
    list[str] | None, typer.Option("--import", metavar="MODULE", help="A module that registers actions; repeatable.")
]
Input = Annotated[
    str | None,
    typer.Option(
        "--input",
        "--body",
        "-i",
        "-d",
        metavar="JSON",
        help="What the run begins with: JSON, @file.json or - (standard input).",
    ),
]


def server_of(url: str | None, database: str | None) -> str | None:
    """Return the address of the server that a command asks: `--url`, else DETENT_URL unless a database is named."""
    if url is not None or database is not None or os.environ.get("DETENT_DATABASE_URL"):
        return url
    return os.environ.get("DETENT_URL") or None


def _server(context: typer.Context, url: str | None) -> str | None:
    return server_of(url, context.params.get("database"))


Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        callback=_server,
        help="The address of a Detent that is serving its API; else DETENT_URL.",
    ),
]
Run = Annotated[str, typer.Argument(help="The id of a run, run_...")]
Json = Annotated[bool, typer.Option("--json", help="Print the documents of the API as JSON.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
Labels = Annotated[list[str] | None, typer.Option("--label", metavar="KEY=VALUE", help="A label; repeatable.")]
Hero = Annotated[str | None, typer.Option("--hero", metavar="TYPE:ID", help="What the run is about.")]
Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Workflow files, YAML or JSON.")]
Port = Annotated[int | None, typer.Option("--port", help="The port of the API; 0 takes a free one.")]
Host = Annotated[str | None, typer.Option("--host", help="The address of the API.")]


def settings_of(**flags: Any) -> Settings:
    """Load the settings from flags, environment and file. Warn about unknown names."""
    if not flags.get("import"):
        flags.pop("import", None)
    loaded = load_settings(flags, environ=os.environ, folder=Path.cwd())
    for warning in loaded.warnings:
        warn(warning)
    return loaded.settings


def read_input(text: str | None, option: str = "--input") -> Any:
    """Read the value of `--input`, by default `{}`."""
    return {} if text is None else read_value(text, option)


def read_value(text: str, option: str) -> Any:
    """Read a JSON value: the text itself, `@file`, or `-` for standard input."""
    if text == "-":
        return decode_value(sys.stdin.buffer.read(), option)
    return decode_value(read_file(Path(text[1:])) if text.startswith("@") else text.encode(), option)


def read_labels(labels: Iterable[str] | None) -> dict[str, str]:
    """Read labels written `key=value` or `key:value`."""
    found: dict[str, str] = {}
    for text in labels or ():
        key, sign, value = text.partition("=" if "=" in text else ":")
        if not sign or not key:
            raise wrong("--label", f"{text!r} is not a valid label; write for example team=shop")
        found[key] = value
    return found


def read_hero(text: str) -> tuple[str, str]:
    """Read a hero written `type:id`."""
    type_, _, id_ = text.partition(":")
    if not type_ or not id_:
        raise wrong("--hero", f"{text!r} is not a valid hero; write for example User:7")
    return type_, id_


def read_moment(text: str, option: str, *, ago: bool) -> datetime:
    """Read an instant in ISO 8601, or a duration ago or from now. Without a time zone it is local time."""
    try:
        span = timedelta(seconds=parse_duration(text))
        return as_datetime(SystemClock().wall()) + (-span if ago else span)
    except InvalidInput:
        pass
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        short, example = ("1h30m", "that long ago") if ago else ("10m", "that long from now")
        raise wrong(option, f"{text!r} is not a valid time; write 2026-02-22T10:00, or {short} for {example}") from None


def read_seconds(text: str, option: str) -> float:
    """Read a duration. A bare number counts seconds."""
    try:
        return parse_duration(float(text) if text.replace(".", "", 1).isdigit() else text)
    except InvalidInput as error:
        raise wrong(option, error.message) from None


def read_version(text: str, option: str) -> int | Literal["draft"]:
    """Read the number of a version, or `draft`."""
    if text == "draft":
        return "draft"
    if not text.isdecimal() or not 1 <= int(text[:12]) < 2**31:
        raise wrong(option, f"must be the number of a version, or draft, not {text[:40]!r}")
    return int(text)


def wrong(option: str, message: str) -> InvalidInput:
    """Build the error of an invalid option."""
    return InvalidInput("invalid option", [Problem(option, message)])


def decode_value(data: bytes, option: str) -> Any:
    """Decode a JSON value of an option. Raise InvalidInput if it is not valid."""
    try:
        return decode_json(data, INPUT_LIMIT)
    except InvalidInput as error:
        raise InvalidInput("an option cannot be read", [Problem(option, error.message)]) from None


def read_file(path: Path) -> bytes:
    """Return the bytes of a file. Raise InvalidInput if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from None
