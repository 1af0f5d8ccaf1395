"""`detent secrets new-key|set|list|rotate|delete`: values that steps send and nothing shows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, Yes, settings_of, wrong
from detent.cli.output.terminal import Column, ago, confirm, faint, one_line, out, plain, print_json, show_table
from detent.client.vault import secrets
from detent.vault.sealing import new_key
from detent.vault.secrets import LARGEST_SECRET

_COLUMNS: Final = (
    *(Column("secret"), Column("version"), Column("hosts", may_shrink=True)),
    *(Column("changed"), Column("by", may_shrink=True)),
)
Name = Annotated[str, typer.Argument(help="The name of a secret, as templates write it: secrets.NAME.")]


def print_key() -> None:
    """Print a new encryption key, for DETENT_ENCRYPTION_KEY."""
    sys.stdout.write(f"{new_key()}\n")


def set_secret(
    name: Name,
    file: Annotated[
        str | None, typer.Option("--file", metavar="PATH", help="Read the value from a file; - is the standard input.")
    ] = None,
    value: Annotated[
        str | None,
        typer.Option(
            "--value", metavar="TEXT", help="The value. Other users of this machine can see it; prefer --file."
        ),
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option("--host", metavar="HOST", help="Send it to this host only; may be repeated.")
    ] = None,
    any_host: Annotated[bool, typer.Option("--any-host", help="Send it to every host again.")] = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Set a secret. The value is asked for, or read from the standard input or a file."""
    if host and any_host:
        raise wrong("--any-host", "cannot be given together with --host")
    hosts = host or ([] if any_host else None)
    call = secrets.set_value(name, _value(value, file), hosts=hosts)
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        found = client.ask(call)
    if as_json:
        print_json(found)
        return
    bound = f"  [bright_black]for[/] {plain(', '.join(found['hosts']))}" if found["hosts"] else ""
    out.print(f"set  [bold]{plain(found['name'])}[/]  version {found['version']}{bound}")


def _value(value: str | None, file: str | None) -> str:
    """Return the value: of the option, of a file, of the standard input, or of a prompt. One line end is removed."""
    if value is not None and file is not None:
        raise wrong("--value", "cannot be given together with --file")
    if value is not None:
        return value
    if file is None and sys.stdin.isatty():
        return str(typer.prompt("Value", hide_input=True, confirmation_prompt=True))
    try:
        raw = sys.stdin.buffer.read(LARGEST_SECRET + 2) if file in (None, "-") else _read(Path(str(file)))
        text = raw.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise wrong("--file", f"cannot be read: {error}") from None
    return text.removesuffix("\n").removesuffix("\r")


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST_SECRET + 2)


def list_secrets(as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """List the names of secrets. No command shows a value."""
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        rows = list(client.each(secrets.list_all()))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no secrets")


def _row(secret: Document) -> list[str | Text]:
    return [
        f"[bold]{plain(secret['name'])}[/]",
        str(secret["version"]),
        Text(one_line(", ".join(secret["hosts"]) or "all")),
        ago(secret["updated_at"]),
        faint(secret["updated_by"]),
    ]


def rotate_secrets(as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Seal all secrets with the first key of DETENT_ENCRYPTION_KEY."""
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(secrets.rotate())
    if as_json:
        print_json(found)
        return
    out.print(f"sealed {found['sealed']} with the key {found['key']}; {found['current']} had it already")


def delete_secret(
    name: Name, yes: Yes = False, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Delete a secret."""
    confirm(f"Delete the secret {name}? Steps that send it fail then.", yes=yes)
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(secrets.delete(name))
    print_json(found) if as_json else out.print(f"deleted  {plain(found['name'])}")


def add_to(app: typer.Typer) -> None:
    app.command("new-key")(print_key)
    app.command("set")(set_secret)
    app.command("list")(list_secrets)
    app.command("rotate")(rotate_secrets)
    app.command("delete")(delete_secret)
