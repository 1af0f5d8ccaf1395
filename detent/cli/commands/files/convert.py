"""`detent convert FILE --to FORM`"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Final

import typer

from detent.cli.options import read_file, settings_of, wrong
from detent.cli.output.terminal import err, print_json, warn
from detent.errors import InvalidInput
from detent.forms.compiled import limits_of
from detent.forms.conversion.convert import TARGETS, convert
from detent.forms.definition import read_definition
from detent.values.yaml import dump_yaml

_COMMENT: Final = re.compile(r"(?m)(^|\s)#")


def convert_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A workflow file, YAML or JSON.")],
    to: Annotated[str, typer.Option("--to", metavar="FORM", help=f"The form: {', '.join(TARGETS)}.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it to this file, YAML or JSON.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Another name for the converted workflow.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the form, fingerprint and definition.")] = False,
) -> None:
    """Write a workflow file in another form. It runs as before: the fingerprint of its graph is the same.

    A file that has the form already is written as it is, with its comments. A form that cannot hold the workflow is
    refused with every step and edge that it cannot hold (exit code 2)."""
    if to not in TARGETS:
        raise wrong("--to", f"must be one of {', '.join(TARGETS)}, not {to!r}")
    data = read_file(file)
    found = convert(read_definition(data, filename=file.name), to, limits=limits_of(settings_of()), name=name)
    text = data.decode("utf-8-sig")
    was_json = file.suffix.lower() == ".json"
    wants_json = was_json if output is None else output.suffix.lower() == ".json"
    if found.is_same and wants_json == was_json:
        written = text
    else:
        as_text = json.dumps(found.document, indent=2, ensure_ascii=False) + "\n"
        written = as_text if wants_json else dump_yaml(found.document)
        if not was_json and _COMMENT.search(text):
            warn("comments are not converted")
    if output is not None:
        try:
            output.write_text(written, encoding="utf-8")
        except OSError as error:
            raise InvalidInput(f"cannot write {output}: {error.strerror or error}") from None
    if as_json:
        print_json({"form": found.form, "fingerprint": found.fingerprint, "definition": found.document})
    elif output is None:
        print(written, end="" if written.endswith("\n") else "\n")
    else:
        err.print(f"wrote {output}")


def add_to(app: typer.Typer) -> None:
    app.command()(convert_file)
