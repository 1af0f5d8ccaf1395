"""How things look: colours, marks and words, on a terminal and off it."""

from __future__ import annotations

import json
import sys
from typing import Final

import typer
from rich.console import Console
from rich.json import JSON
from rich.markup import escape

from detent.errors import DetentError, InvalidInput

out: Final = Console(highlight=False, soft_wrap=True)
err: Final = Console(stderr=True, highlight=False, soft_wrap=True)

#: Mark and colour of each status of steps and runs.
MARKS: Final = {
    "pending": ("·", "bright_black"),
    "scheduled": ("◷", "yellow"),
    "running": ("●", "cyan"),
    "sleeping": ("☾", "blue"),
    "waiting": ("◇", "magenta"),
    "paused": ("‖", "yellow"),
    "success": ("✓", "green"),
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "timeout": ("✗", "red"),
    "template_error": ("✗", "red"),
    "skipped": ("-", "bright_black"),
    "cancelled": ("⊘", "yellow"),
}
SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def marked(status: str, *, word: bool = True) -> str:
    """A status with its mark, in its colour."""
    mark, colour = MARKS.get(status, ("?", "default"))
    if not _can_show_marks():
        return f"[{colour}]{status}[/]"
    return f"[{colour}]{mark}{' ' + status if word else ''}[/]"


def _can_show_marks() -> bool:
    return "utf" in (sys.stdout.encoding or "").lower()


def plain(text: str) -> str:
    """Text from elsewhere that can neither colour the screen nor move its cursor."""
    return escape("".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text))


def one_line(text: str | None) -> str:
    """Text from elsewhere on one line, without what could move the cursor. Not escaped."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join((text or "").split()))


def say_error(error: DetentError) -> None:
    """An error and all its problems, each with its place."""
    problems = error.problems if isinstance(error, InvalidInput) else ()
    err.print(f"[red]error:[/] {plain(error.message)}")
    for problem in problems:
        if problem.field or problem.message != error.message:
            place = f"[bold]{plain(problem.field)}[/]: " if problem.field else ""
            err.print(f"  {place}{plain(problem.message)}")


def print_json(document: object) -> None:
    """A document for a program, or for a person in colour."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if out.is_terminal:
        out.print(JSON(text))
    else:
        print(text)


def confirm(question: str, *, yes: bool) -> None:
    """Go on only if a person says so, or has said so. Where nobody can be asked, tell how to say it."""
    if yes:
        return
    if not sys.stdin.isatty():
        err.print(f"{plain(question)} Nothing is done without --yes.")
        raise typer.Exit(1)
    if not typer.confirm(question, err=True):
        err.print("nothing was done")
        raise typer.Exit(1)


def warn(message: str) -> None:
    err.print(f"[yellow]warning:[/] {plain(message)}")


def duration(seconds: float) -> str:
    """A length of time as short as it can be said."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "m"), (rest, "s"))
    shown = [f"{count}{unit}" for count, unit in parts if count]
    return " ".join(shown[:2])
