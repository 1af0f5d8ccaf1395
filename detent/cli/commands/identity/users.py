"""`detent users create|list|disable|enable|password|role|sessions`: people who sign in with a name and a password."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.output.terminal import Column, ago, faint, out, plain, print_json, show_table
from detent.client.identity import people
from detent.errors import InvalidInput, Problem

_COLUMNS: Final = (
    *(Column("name"), Column("role"), Column("status"), Column("email", may_shrink=True)),
    *(Column("display name", may_shrink=True), Column("added", may_shrink=True)),
)
_SESSION_COLUMNS: Final = (
    *(Column("session"), Column("name", may_shrink=True), Column("via"), Column("seen")),
    *(Column("address", may_shrink=True), Column("browser", may_shrink=True)),
)
Name = Annotated[str, typer.Argument(help="The name, or the id usr_...")]
RoleName = Annotated[str, typer.Argument(metavar="ROLE", help="viewer, operator, editor, admin or instance-admin.")]
FromInput = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from the first line of standard input.")
]


def create_user(
    name: Annotated[str, typer.Argument(help="With which the person signs in, such as alice.")],
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="viewer, operator, editor, admin or instance-admin.")
    ],
    display_name: Annotated[
        str | None, typer.Option("--display-name", metavar="TEXT", help="How the person is called.")
    ] = None,
    email: Annotated[str | None, typer.Option("--email", metavar="ADDRESS", help="The person's address.")] = None,
    password_stdin: FromInput = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Add a person. The password is asked for, or read from standard input; it is never an argument."""
    password = _password(name, password_stdin)
    call = people.create_person(name, role, password=password, display_name=display_name, email=email)
    _ask(call, "added", as_json, url, database, makes=True)


def list_users(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 100,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the people, also disabled ones."""
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        rows = list(islice(client.each(people.list_people(limit=min(limit, 100))), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no people; add one: detent users create NAME --role ROLE")


def disable_user(name: Name, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Let a person not sign in any more, and end the person's sessions."""
    _ask(people.change_person(name, disabled=True), "disabled", as_json, url, database)


def enable_user(name: Name, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Let a person sign in again."""
    _ask(people.change_person(name, disabled=False), "enabled", as_json, url, database)


def change_password(
    name: Name,
    password_stdin: FromInput = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Set a new password, and end the person's sessions."""
    call = people.change_person(name, password=_password(name, password_stdin))
    _ask(call, "new password of", as_json, url, database)


def change_role(name: Name, role: RoleName, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Give a person another role."""
    _ask(people.change_person(name, role=role), f"{role} is", as_json, url, database)


def list_sessions(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 100,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the browsers that are signed in."""
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        rows = list(islice(client.each(people.list_sessions(everyone=True, limit=min(limit, 100))), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_SESSION_COLUMNS, map(_session_row, rows), nothing="no browser is signed in")


def end_sessions(
    sessions: Annotated[list[str], typer.Argument(metavar="SESSION...", help="The ids of sessions, ses_...")],
    url: Url = None,
    database: Database = None,
) -> None:
    """Sign browsers out. Every node refuses their cookies within two seconds."""
    with open_client(settings_of(database_url=database), url) as client:
        for session in sessions:
            client.text(people.end_session(session))
            out.print(f"ended  {plain(session)}")


def _password(name: str, from_input: bool) -> str:
    """Return a new password: typed twice on a terminal, or the first line of standard input."""
    if from_input:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        message = "there is no terminal to ask for the password; add --password-stdin and send it as a line"
        raise InvalidInput("the password is missing", [Problem("--password-stdin", message)])
    found: str = typer.prompt(f"password of {name}", hide_input=True, confirmation_prompt=True, err=True)
    return found


def _ask(call: Any, what: str, as_json: bool, url: str | None, database: str | None, *, makes: bool = False) -> None:
    with open_client(settings_of(database_url=database), url, makes_database=makes) as client:
        done = client.ask(call)
    if as_json:
        print_json(done)
        return
    out.print(f"{what}  {plain(done['name'])}  {done['role']}")


def _row(person: Document) -> list[str | Text]:
    status = "disabled" if person["disabled"] else "active" if person["has_password"] else "no password"
    return [
        Text(person["name"]),
        person["role"],
        status,
        Text(person["email"] or ""),
        Text(person["display_name"]),
        faint(ago(person["inserted_at"])),
    ]


def _session_row(session: Document) -> list[str | Text]:
    return [
        session["id"],
        Text(session["name"]),
        session["via"],
        faint(ago(session["seen_at"])),
        Text(session["address"] or ""),
        Text(session["agent"] or ""),
    ]


def add_to(app: typer.Typer) -> None:
    app.command("create")(create_user)
    app.command("list")(list_users)
    app.command("disable")(disable_user)
    app.command("enable")(enable_user)
    app.command("password")(change_password)
    app.command("role")(change_role)
    app.command("sessions")(list_sessions)
    app.command("end-session")(end_sessions)
