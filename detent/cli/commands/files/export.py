"""`detent export DIR`"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from detent.cli.client import Document, open_client
from detent.cli.folder import MARKER, definition_files, folder_id, showing
from detent.cli.options import Database, Json, Url, read_file, settings_of
from detent.cli.output.terminal import out, plain, print_json, warn
from detent.client import workflows
from detent.errors import InvalidInput
from detent.forms.compile import is_code, name_in
from detent.forms.definition import read_definition
from detent.forms.names import slug
from detent.forms.triggers import HIDDEN
from detent.values.folders import LABEL, label_of

_LONGEST: Final = 100


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write to; it is created if need be.")],
    id_: Annotated[
        str | None, typer.Option("--folder", metavar="ID", help="Only what this folder manages; its id is written too.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Write every workflow as a file, with its text as it was saved: comments and the order of keys stay.

    A workflow that a file of the folder defines is written to that file. Others get a file named like the workflow.
    Workflows in Python, archived ones and drafts that were never published are left out. Files of other workflows stay
    as they are."""
    wanted = folder_id(folder, id_)
    known = _known(folder)
    written: list[Document] = []
    with open_client(settings_of(database_url=database), url) as client:
        label = None if wanted is None else f"{LABEL}:{label_of(wanted)}"
        rows = [row for row in client.each(workflows.list_all(label=label)) if _is_file(row)]
        paths = _paths(rows, known)
        with showing(len(rows), "exporting") as advance:
            for row in rows:
                text = client.text(workflows.text(row["id"]))
                path = _fitting(paths[row["name"]], text, is_known=row["name"] in known)
                change = _write(folder / path, text)
                written.append({"name": row["name"], "file": path.as_posix(), "change": change})
                _warn_about_secrets(row["name"], text)
                advance(1)
    if wanted is not None and not (folder / MARKER).exists():
        _write(folder / MARKER, f"folder: {wanted}\n")
    if as_json:
        print_json(written)
        return
    for one in written:
        if one["change"] != "unchanged":
            out.print(f"{one['change']:<9} {plain(one['name'])} [bright_black]{plain(one['file'])}[/]")
    changed = sum(one["change"] != "unchanged" for one in written)
    out.print(f"{changed} written, {len(written) - changed} unchanged")


def _is_file(row: Document) -> bool:
    return row["status"] == "active" and not is_code(row["form"])


def _known(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by the workflow that they define."""
    found: dict[str, Path] = {}
    for path in definition_files(folder) if folder.is_dir() else ():
        with suppress(InvalidInput):
            name = name_in(read_definition(read_file(path), filename=path.name))
            found.setdefault(name, path.relative_to(folder))
    return found


def _paths(rows: list[Document], known: dict[str, Path]) -> dict[str, Path]:
    """Return a path for each workflow: that of its file, else a new one. Paths never differ in case only."""
    taken = {path.as_posix().casefold() for path in known.values()}
    found: dict[str, Path] = {}
    for row in sorted(rows, key=lambda row: str(row["name"])):
        name = row["name"]
        if name in known:
            found[name] = known[name]
            continue
        base, count = slug(name)[:_LONGEST] or "workflow", 1
        path = f"{base}.yaml"
        while path.casefold() in taken or path.split(".", maxsplit=1)[0] == "values":
            count += 1
            path = f"{base}-{count}.yaml"
        taken.add(path.casefold())
        found[name] = Path(path)
    return found


def _fitting(path: Path, text: str, *, is_known: bool) -> Path:
    """Return the path with the suffix of the text's syntax."""
    is_json = text.lstrip().startswith("{")
    return path.with_suffix(".json") if is_json and not is_known else path


def _write(path: Path, text: str) -> str:
    """Write a file. Return `created`, `changed` or `unchanged`."""
    try:
        if path.exists() and path.read_bytes() == text.encode():
            return "unchanged"
        change = "changed" if path.exists() else "created"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from None
    return change


def _warn_about_secrets(name: str, text: str) -> None:
    trigger = read_definition(text).get("trigger")
    signature = trigger.get("signature") if isinstance(trigger, dict) else None
    secrets = signature.get("secrets") if isinstance(signature, dict) else None
    if HIDDEN in (secrets if isinstance(secrets, list) else [secrets]):
        warn(f"{name}: the secret of its trigger is not exported; write {{env: NAME}} in place of {HIDDEN}")


def add_to(app: typer.Typer) -> None:
    app.command()(export)
