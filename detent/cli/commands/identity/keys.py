"""`detent keys create|list|show|rotate|revoke`: keys of the API, what each may do, and until when."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from detent.auth.scopes import MEANINGS, SCOPES, Role
from detent.cli.client import Document, open_client
from detent.cli.options import Database, Json, Url, Yes, settings_of
from detent.cli.output.terminal import Column, ago, confirm, err, faint, one_line, out, plain, print_json, show_table
from detent.client.identity import keys

_COLUMNS: Final = (
    *(Column("key"), Column("name", may_shrink=True), Column("may", may_shrink=True), Column("status")),
    *(Column("created"), Column("used"), Column("expires")),
)
_COLOURS: Final = {"active": "green", "rotated": "yellow"}
_ROLES: Final = ", ".join(Role)
_PREFIX: Final = "dk_"
Key = Annotated[str, typer.Argument(help="The id of a key: the 8 letters after dk_.")]
Expires = Annotated[
    str | None, typer.Option("--expires", metavar="WHEN", help="Until when it is valid: 90d, or an instant.")
]


def create_key(
    name: Annotated[str, typer.Argument(help="What the key is for, such as deploy.")],
    role: Annotated[str | None, typer.Option("--role", metavar="ROLE", help=f"One of {_ROLES}.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="SCOPE", help=f"Instead of a role: {', '.join(MEANINGS)}; repeatable."),
    ] = None,
    workflow: Annotated[
        list[str] | None,
        typer.Option("--workflow", metavar="NAME", help="It may start only this workflow; repeatable."),
    ] = None,
    expires: Expires = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="NAME", help="A key of this tenant; needs tenants:manage.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Create a key and print it. It is not stored, so it cannot be printed again."""
    call = keys.create(name, role=role, scopes=scope, workflows=workflow, expires_at=expires, tenant=tenant)
    _show_new(call, as_json, url, database, makes=True)


def list_keys(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 100,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the keys, also those that have expired or were revoked."""
    with open_client(settings_of(database_url=database), url, makes_database=True) as client:
        rows = list(islice(client.each(keys.list_all(limit=min(limit, 100))), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no keys; create one: detent keys create NAME --role ROLE")


def show_key(key: Key, as_json: Json = False, url: Url = None, database: Database = None) -> None:
    """Show what a key may do."""
    with open_client(settings_of(database_url=database), url) as client:
        found = client.ask(keys.get(_id(key)))
    if as_json:
        print_json(found)
        return
    out.print(f"{found['id']}  {plain(one_line(found['name']))}  {_status(found)}")
    out.print(f"  may      {_may(found)}")
    for word in ("created_by", "created_at", "expires_at", "revoked_at", "used_at"):
        if found[word] is not None:
            out.print(f"  {word.partition('_')[0]:<8} {word.partition('_')[2]} {plain(str(found[word]))}")


def rotate_key(
    key: Key,
    grace: Annotated[
        str | None, typer.Option("--grace", metavar="TIME", help="How long the old key stays valid, by default 1d.")
    ] = None,
    expires: Expires = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Create a key that may do the same, print it, and end the old one after a grace period."""
    _show_new(keys.rotate(_id(key), grace=grace, expires_at=expires), as_json, url, database)


def revoke_keys(
    ids: Annotated[list[str], typer.Argument(metavar="KEY...", help="The ids of keys.")],
    yes: Yes = False,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Revoke keys: from now on, requests with them are refused."""
    confirm(f"Revoke {', '.join(map(_id, ids))}?", yes=yes)
    with open_client(settings_of(database_url=database), url) as client:
        done = [client.ask(keys.revoke(_id(one))) for one in ids]
    if as_json:
        print_json(done)
        return
    for one in done:
        out.print(f"revoked  {one['id']}  {plain(one_line(one['name']))}")


def _show_new(call: Any, as_json: bool, url: str | None, database: str | None, *, makes: bool = False) -> None:
    """Create a key and print it alone on the standard output, so that a script can read it."""
    with open_client(settings_of(database_url=database), url, makes_database=makes) as client:
        made = client.ask(call)
    if as_json:
        print_json(made)
        return
    err.print(f"key {made['id']} [bold]{plain(one_line(made['name']))}[/] may {_may(made)}. This is the key:")
    out.print(made["key"], soft_wrap=True, highlight=False)
    err.print(
        "Store it now: it is not shown again. Clients send it as `Authorization: Bearer KEY`;\n"
        "`detent` and its clients read it from DETENT_KEY, or `detent login URL` stores it."
    )


def _row(key: Document) -> list[str | Text]:
    return [
        key["id"],
        Text(one_line(key["name"])),
        Text(_may(key)),
        _status(key),
        faint(ago(key["created_at"])),
        faint(ago(key["used_at"])) if key["used_at"] else faint("never"),
        faint(str(key["expires_at"])[:10]) if key["expires_at"] else faint("never"),
    ]


def _status(key: Document) -> str:
    colour = _COLOURS.get(key["status"])
    return f"[{colour}]{key['status']}[/]" if colour else str(key["status"])


def _may(key: Document) -> str:
    """Describe what a key may do: its role or its scopes, and its workflows."""
    what = key["role"] if key["role"] in SCOPES else " ".join(key["scopes"])
    return what if key["workflows"] is None else f"{what} for {', '.join(key['workflows'])}"


def _id(text: str) -> str:
    """Return the id in a key. The rest of a whole key must not be sent in an address."""
    return text.removeprefix(_PREFIX).partition("_")[0] if text.startswith(_PREFIX) else text


def add_to(app: typer.Typer) -> None:
    app.command("create")(create_key)
    app.command("list")(list_keys)
    app.command("show")(show_key)
    app.command("rotate")(rotate_key)
    app.command("revoke")(revoke_keys)
