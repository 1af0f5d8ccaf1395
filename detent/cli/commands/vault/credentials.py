"""`detent credentials set|list|show|connect|delete`: what steps authenticate with. Nothing shows a sealed part."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import CommandClient, Document, open_client
from detent.cli.options import Database, Json, Url, Yes, settings_of, wrong
from detent.cli.output.terminal import (
    Column,
    ago,
    confirm,
    facts,
    faint,
    one_line,
    out,
    plain,
    print_json,
    show_table,
)
from detent.client.vault import credentials
from detent.errors import DetentError, InvalidInput
from detent.values.yaml import load_yaml
from detent.vault.credential import LONGEST_SECRET, PARTS, CredentialKind

_COLUMNS: Final = (
    *(Column("credential"), Column("kind"), Column("state"), Column("hosts", may_shrink=True)),
    *(Column("changed"), Column("by", may_shrink=True)),
)
_COLOURS: Final = {"ready": "green", "new": "yellow", "reconnect": "red"}
_LONGEST_WAIT: Final = 600.0
_LOOK_AGAIN: Final = 0.5
_LARGEST_FILE: Final = 128 * 1024
Name = Annotated[str, typer.Argument(help="The name of a credential, such as crm.")]


def set_credential(
    name: Name,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help=f"{', '.join(one.value for one in CredentialKind)}.")
    ] = None,
    host: Annotated[
        list[str] | None, typer.Option("--host", metavar="HOST", help="A host that it may be sent to; repeatable.")
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option("--part", metavar="NAME=VALUE", help="A part that is not secret, such as client_id; repeatable."),
    ] = None,
    secret_file: Annotated[
        list[str] | None,
        typer.Option("--secret-file", metavar="NAME=PATH", help="Read a secret part from a file; repeatable."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="PATH", help="Read the whole credential, YAML or JSON; - is standard input."),
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Set a credential. Secret parts that are not given are asked for, or read from the standard input."""
    document: dict[str, Any] = {} if file is None else _read_document(file)
    document |= {} if kind is None else {"kind": kind}
    document |= {} if not host else {"hosts": host}
    for one in part or ():
        _put(document, *_pair("--part", one))
    for one in secret_file or ():
        where, path = _pair("--secret-file", one)
        document[where] = _read(path, "--secret-file").removesuffix("\n").removesuffix("\r")
    if file is None:
        _ask_secrets(document)
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        found = client.ask(credentials.put(name, document))
    if as_json:
        print_json(found)
        return
    out.print(f"set  [bold]{plain(found['name'])}[/]  {_state(found)}  [bright_black]for[/] {_hosts(found)}")
    _say_next(found)


def _pair(option: str, text: str) -> tuple[str, str]:
    name, is_pair, value = text.partition("=")
    if not is_pair or not name:
        raise wrong(option, f"{text!r} is not NAME=VALUE")
    return name, value


def _put(document: dict[str, Any], name: str, value: str) -> None:
    """Put a part into the document. `parameters.audience` is an entry of `parameters`."""
    outer, is_inside, inner = name.partition(".")
    if is_inside:
        document.setdefault(outer, {})[inner] = value
    else:
        document[name] = value


def _ask_secrets(document: dict[str, Any]) -> None:
    """Ask for the secret parts that are missing. Without a terminal one of them may come on the standard input."""
    kind = document.get("kind")
    if kind not in [one.value for one in CredentialKind]:
        return  # the server says which kinds there are
    missing = [name for name in PARTS[CredentialKind(kind)].sealed if name not in document]
    if sys.stdin.isatty():
        for name in missing:
            document[name] = typer.prompt(name, hide_input=True)
    elif len(missing) > 1:
        raise wrong("--secret-file", f"is needed for {' and '.join(missing)}: the standard input has only one of them")
    elif missing:
        document[missing[0]] = sys.stdin.read(LONGEST_SECRET + 2).removesuffix("\n").removesuffix("\r")


def _read_document(file: str) -> dict[str, Any]:
    try:
        found = load_yaml(_read(file, "--file"), depth=8)
    except InvalidInput as error:
        raise wrong("--file", f"cannot be read: {error.message}") from None
    if not isinstance(found, dict):
        raise wrong("--file", "must be a mapping with kind and the parts of the kind")
    return found


def _read(file: str, option: str) -> str:
    try:
        if file == "-":
            return sys.stdin.read(_LARGEST_FILE)
        with Path(file).open(encoding="utf-8") as opened:
            return opened.read(_LARGEST_FILE)
    except (OSError, UnicodeDecodeError) as error:
        raise wrong(option, f"cannot be read: {error}") from None


def list_credentials(as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """List the credentials. No command shows a sealed part."""
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        rows = list(client.each(credentials.list_all()))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no credentials")


def _row(credential: Document) -> list[str | Text]:
    return [
        f"[bold]{plain(credential['name'])}[/]",
        credential["kind"],
        _state(credential),
        Text(one_line(", ".join(credential["hosts"]))),
        ago(credential["updated_at"]),
        faint(credential["updated_by"]),
    ]


def show_credential(name: Name, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Show a credential without what is sealed of it."""
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(credentials.get(name))
    if as_json:
        print_json(found)
        return
    out.print(f"[bold]{plain(found['name'])}[/]  {_state(found)}")
    parts = [(part, plain(one_line(str(value)))) for part, value in found["config"].items()]
    expiry = found["expires_at"]
    facts(
        [
            ("kind", found["kind"]),
            ("hosts", _hosts(found)),
            *parts,
            ("version", f"{found['version']}, of its values and tokens: people and renewals raise it"),
            ("token until", "" if expiry is None else plain(expiry)),
            ("reason", plain(found["reason"] or "")),
            ("changed", f"{ago(found['updated_at'])} by {plain(found['updated_by'])}"),
        ]
    )
    _say_next(found)


def connect_credential(
    name: Name,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until a person has agreed, at most ten minutes.")
    ] = True,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Connect a credential to an account: print the page of the provider, and wait until a person has agreed there."""
    with open_client(settings_of(database_url=database), url) as client:
        client.need_engine("connecting a credential")
        before = client.ask(credentials.get(name))
        page = client.ask(credentials.connect(name))
        if as_json and not wait:
            print_json(page)
            return
        if not as_json:
            out.print("Open this page in a browser, and agree there. It works for ten minutes.")
            sys.stdout.write(f"{page['url']}\n")
            sys.stdout.flush()
        if not wait:
            return
        found = _connected(client, before)
    print_json(found) if as_json else out.print(f"[green]connected[/]  [bold]{plain(found['name'])}[/]")


def _connected(client: CommandClient, before: Document) -> Document:
    """Return the credential when it has new tokens. Raise DetentError after ten minutes."""
    until = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < until:
        found: Document = client.ask(credentials.get(before["name"]))
        if found["state"] == "ready" and found["version"] != before["version"]:
            return found
        client.pause(_LOOK_AGAIN)
    raise DetentError(f"the credential {before['name']!r} was not connected within ten minutes; try again")


def delete_credential(
    name: Name, yes: Yes = False, as_json: Json = False, url: Url = None, database: Database = None
) -> None:
    """Delete a credential."""
    confirm(f"Delete the credential {name}? Steps that name it fail then.", yes=yes)
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(credentials.delete(name))
    print_json(found) if as_json else out.print(f"deleted  {plain(found['name'])}")


def _state(credential: Document) -> str:
    state = credential["state"]
    return f"[{_COLOURS.get(state, 'white')}]{plain(state)}[/]"


def _hosts(credential: Document) -> str:
    return plain(one_line(", ".join(credential["hosts"])))


def _say_next(credential: Document) -> None:
    if credential["state"] != "ready":
        verb = "connect" if credential["kind"] == CredentialKind.OAUTH2_CODE else "set"
        out.print(f"[yellow]run[/] detent credentials {verb} {plain(credential['name'])}")


def add_to(app: typer.Typer) -> None:
    app.command("set")(set_credential)
    app.command("list")(list_credentials)
    app.command("show")(show_credential)
    app.command("connect")(connect_credential)
    app.command("delete")(delete_credential)
