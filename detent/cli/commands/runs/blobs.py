"""`detent blobs list|get`: the large payloads that runs name."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from detent.cli.client import CommandClient, Document, open_client
from detent.cli.options import Database, Json, Url, settings_of
from detent.cli.output.terminal import Column, ago, faint, print_json, show_table
from detent.client import blobs

_COLUMNS: Final = (Column("id"), Column("bytes"), Column("type", may_shrink=True), Column("stored", may_shrink=True))


def list_blobs(
    run: Annotated[str | None, typer.Option("--run", help="Only those that this run names.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many.")] = 50,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """List the large payloads that are stored, newest first."""
    with open_client(settings_of(database_url=database), url) as client:
        rows = list(islice(client.each(blobs.list_all(run=run, limit=min(limit, 100))), limit))
    if as_json:
        print_json(rows)
        return
    show_table(_COLUMNS, map(_row, rows), nothing="there are no blobs")


def get_blob(
    blob: Annotated[str, typer.Argument(help="The id of the blob, as $blob has it.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file to write; - is the output.")] = None,
    url: Url = None,
    database: Database = None,
) -> None:
    """Download a large payload, to the standard output or to a file. A part that is lost is asked for again."""
    is_file = output is not None and str(output) != "-"
    with (
        open_client(settings_of(database_url=database), url) as client,
        output.open("wb") if is_file and output is not None else nullcontext(sys.stdout.buffer) as file,
    ):
        for part in _parts(client, blob):
            file.write(part)
        file.flush()


def _parts(client: CommandClient, blob: str) -> Iterator[bytes]:
    start = 0
    while True:
        part = client.ask(blobs.read(blob, start))
        yield part.data
        start += len(part.data)
        if start >= part.size:
            return


def _row(blob: Document) -> list[str | Text]:
    return [blob["id"], f"{blob['size']:,}", Text(blob["type"]), faint(ago(blob["created_at"]))]


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_blobs)
    app.command("get")(get_blob)
