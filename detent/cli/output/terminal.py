"""Output on a terminal and into files: colours, status marks, tables, errors and confirmations."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import typer
from rich.console import Console
from rich.json import JSON
from rich.markup import escape
from rich.text import Text

from detent.clock import SystemClock
from detent.errors import DetentError, InvalidInput
from detent.instant import as_datetime

out: Final = Console(emoji=False, highlight=False, soft_wrap=True)
err: Final = Console(stderr=True, emoji=False, highlight=False, soft_wrap=True)

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
    """Return the markup of a status with its mark and colour."""
    mark, colour = MARKS.get(status, ("?", "default"))
    if not _can_show_marks():
        return f"[{colour}]{status}[/]"
    return f"[{colour}]{mark}{' ' + status if word else ''}[/]"


def _can_show_marks() -> bool:
    return "utf" in (sys.stdout.encoding or "").lower()


def plain(text: str) -> str:
    """Escape untrusted text, so that it can neither colour the screen nor move the cursor."""
    return escape("".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text))


def one_line(text: str | None) -> str:
    """Return untrusted text on one line, without control characters. Markup in it is not escaped."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join((text or "").split()))


def say_error(error: DetentError) -> None:
    """Print an error and all its problems, each with its field. A problem that is in the message is not repeated."""
    problems = error.problems if isinstance(error, InvalidInput) else ()
    err.print(f"[red]error:[/] {plain(error.message)}")
    for problem in problems:
        if str(problem) not in error.message:
            place = f"[bold]{plain(problem.field)}[/]: " if problem.field else ""
            err.print(f"  {place}{plain(problem.message)}")


def print_json(document: object) -> None:
    """Print a document as JSON, in colour on a terminal."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    if out.is_terminal:
        out.print(JSON(text))
    else:
        print(text)


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation, unless `yes` is true. Exit with code 1 if it is refused. Without a terminal, name `--yes`
    and exit with code 1."""
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
    """Format a duration with at most two units."""
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


# Tables: their columns fit the width of a terminal; elsewhere each line is complete.


_FAINT: Final = "bright_black"
_GAP: Final = 2
_LEAST: Final = 8
_HOUR: Final = 3_600.0
_DAY: Final = 86_400.0


class Column(NamedTuple):
    """A column of a table. A column with `may_shrink` is cut if the table is too wide; other columns are never cut."""

    title: str
    may_shrink: bool = False
    right: bool = False


def show_table(
    columns: Sequence[Column], rows: Iterable[Sequence[str | Text]], *, nothing: str, titled: bool = False
) -> None:
    """Print rows below their titles. Without rows, print `nothing` on a terminal. Cells that are not `Text` may have
    markup. If the output is not a terminal, no cell is cut, and the titles are printed only if `titled` is true."""
    titled = titled or out.is_terminal
    cells = [[Text.from_markup(cell, emoji=False) if isinstance(cell, str) else cell for cell in row] for row in rows]
    if not cells:
        if out.is_terminal:
            out.print(nothing, style=_FAINT)
        return
    if titled:
        cells.insert(0, [Text(column.title, style=_FAINT) for column in columns])
    widths = _natural(cells, titled=titled)
    if out.is_terminal:
        _fit(widths, columns, out.width)
    for row in cells:
        out.print(_line(row, columns, widths), no_wrap=True)


def _natural(rows: Sequence[Sequence[Text]], *, titled: bool) -> dict[int, int]:
    """Return the natural width of each column. Empty columns are left out."""
    indexes = range(len(rows[0]))
    below = rows[1:] if titled else rows
    return {index: max(row[index].cell_len for row in rows) for index in indexes if any(row[index] for row in below)}


def _fit(widths: dict[int, int], columns: Sequence[Column], room: int) -> None:
    """Cut the columns with `may_shrink`, the widest first. If that is not enough, remove the last of them."""
    while (excess := sum(widths.values()) + _GAP * (len(widths) - 1) - room) > 0:
        shrinking = [index for index in widths if columns[index].may_shrink]
        if not shrinking:
            return
        widest = max(shrinking, key=lambda index: widths[index])
        if widths[widest] > _LEAST:
            widths[widest] -= min(excess, widths[widest] - _LEAST)
        else:
            del widths[shrinking[-1]]


def _line(row: Sequence[Text], columns: Sequence[Column], widths: dict[int, int]) -> Text:
    parts: list[Text] = []
    for index, width in widths.items():
        cell = row[index].copy()
        cell.truncate(width, overflow="ellipsis")
        blank = " " * (width - cell.cell_len)
        parts.append(Text(blank) + cell if columns[index].right else cell + Text(blank))
    line = Text(" " * _GAP).join(parts)
    line.rstrip()
    return line


def facts(pairs: Iterable[tuple[str, str | Text | None]]) -> None:
    """Print names and values, one line each. Values that are `None` or empty are left out."""
    given = [(name, value) for name, value in pairs if value]
    width = max((len(name) for name, _ in given), default=0)
    for name, value in given:
        # Indent further lines of a value below its first line.
        whole = value.replace("\n", "\n" + " " * (width + 2)) if isinstance(value, str) else value
        out.print(Text(f"{name:<{width}}  ", style=_FAINT), whole, sep="")


def faint(text: str) -> Text:
    return Text(text, style=_FAINT)


def ago(text: str | None) -> str:
    """Format the distance of an instant from now, such as `5m ago`. From a day on, format it as local date and time."""
    if text is None:
        return ""
    seconds = _since(text)
    return local(text) if abs(seconds) >= _DAY else _distance(seconds)


def local_and_ago(text: str) -> str:
    """Format an instant as local date and time, with its distance from now."""
    return f"{local(text)} ({_distance(_since(text))})"


def _since(text: str) -> float:
    return (as_datetime(SystemClock().wall()) - datetime.fromisoformat(text)).total_seconds()


def _distance(seconds: float) -> str:
    if abs(seconds) < 1:
        return "just now"
    if seconds <= -_HOUR:  # a person plans by it: 1d 23h are almost two days
        return f"in {duration(-seconds)}"
    said = f"{abs(seconds):.0f} s" if abs(seconds) < 60 else duration(abs(seconds)).split(" ")[0]
    return f"{said} ago" if seconds > 0 else f"in {said}"


def local(text: str | None) -> str:
    """Format an instant as local date and time, to the second."""
    return "" if text is None else datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S")
