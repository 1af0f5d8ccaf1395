"""`detent schema FORM`"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from detent.catalog.manifest_schema import published_schema


def schema(
    form: Annotated[str, typer.Argument(help="graph or rule, or connector for manifests.")],
) -> None:
    """Print the JSON Schema of a form of definitions or of manifests, for editors and other programs."""
    print(json.dumps(published_schema(form), indent=2, ensure_ascii=False))


def add_to(app: typer.Typer) -> None:
    app.command()(schema)
