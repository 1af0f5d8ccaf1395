"""`detent login URL`: store the key of a server, for this user of this machine."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from detent.cli.client import PATIENCE, CommandClient
from detent.cli.options import wrong
from detent.cli.output.terminal import out, plain
from detent.client.calls import server_url
from detent.client.identity.key_file import store_key
from detent.client.overviews import me
from detent.client.transports import HttpTransport

Server = Annotated[
    str | None,
    typer.Argument(
        metavar="URL", help="The address of a Detent that serves its API; else DETENT_URL, else that on this machine."
    ),
]


def login(
    url: Server = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="The key. Other users can see it in `ps`; prefer the prompt."),
    ] = None,
) -> None:
    """Store the key of a server, so that clients on this machine send it. The key is asked for, or read from the
    standard input."""
    address = server_url(url)
    given = (key if key is not None else _ask(address)).strip()
    if not given:
        raise wrong("--key", "is empty; `detent keys create NAME --role ROLE` makes a key")
    transport = HttpTransport(address, lambda: given)
    try:
        caller = CommandClient(transport, PATIENCE).ask(me())["caller"]
    finally:
        transport.close()
    path = store_key(address, given)
    out.print(f"{plain(address)} knows you as [bold]{plain(caller['name'])}[/]; the key is in {plain(str(path))}")
    if os.environ.get("DETENT_URL", "").rstrip("/") != address:
        out.print(
            f"Commands ask this server with `--url {plain(address)}`, or after:\nexport DETENT_URL={plain(address)}"
        )


def _ask(address: str) -> str:
    return typer.prompt(f"Key of {address}", hide_input=True) if sys.stdin.isatty() else sys.stdin.readline(10_000)


def add_to(app: typer.Typer) -> None:
    app.command()(login)
