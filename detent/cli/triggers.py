"""`detent triggers`: what starts workflows, and what came of it."""

from __future__ import annotations

import typer

from detent.cli import triggers_firing, triggers_keeping


def add_to(app: typer.Typer) -> None:
    triggers_keeping.add_to(app)
    triggers_firing.add_to(app)
