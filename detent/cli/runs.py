"""`detent runs`: looking at runs, steering them, and doing them again."""

from __future__ import annotations

import typer

from detent.cli import runs_again, runs_flow, runs_looking, runs_signal, runs_steering, runs_telling


def add_to(app: typer.Typer) -> None:
    runs_looking.add_to(app)
    runs_telling.add_to(app)
    runs_steering.add_to(app)
    runs_flow.add_to(app)
    runs_signal.add_to(app)
    runs_again.add_to(app)
