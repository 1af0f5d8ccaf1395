"""`detent runs`: show runs, control them, and run them again."""

from __future__ import annotations

import typer

from detent.cli.commands import runs_control, runs_show


def add_to(app: typer.Typer) -> None:
    runs_show.add_to(app)
    runs_control.add_to(app)
