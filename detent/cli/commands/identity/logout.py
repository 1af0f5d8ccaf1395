"""`detent logout URL`: forget the key of a server."""

from __future__ import annotations

import typer

from detent.cli.commands.identity.login import Server
from detent.cli.output.terminal import out, plain
from detent.client.calls import server_url
from detent.client.identity.key_file import drop_key, key_file


def logout(url: Server = None) -> None:
    """Remove the key of a server from the file on this machine. The key itself stays valid."""
    address = server_url(url)
    if drop_key(address):
        out.print(f"the key of {plain(address)} is forgotten; `detent keys revoke` ends a key")
    else:
        out.print(f"{plain(str(key_file()))} has no key of {plain(address)}")


def add_to(app: typer.Typer) -> None:
    app.command()(logout)
