"""`detent schema FORM`"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from detent.forms.compile import schema_of


def schema(form: Annotated[str, typer.Argument(help="The form of definitions: graph.")]) -> None:
    """Print the JSON Schema of a form of definitions, for editors and other programs."""
    print(json.dumps(schema_of(form), indent=2, ensure_ascii=False))


def add_to(app: typer.Typer) -> None:
    app.command()(schema)
