"""The screen of `detent dev`: where everything is, and the examples as they run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from detent.cli.progress import ENDED, instant
from detent.cli.terminal import MARKS, SPINNER, duration, marked
from detent.instant import SECOND
from detent.version import VERSION

_HEAD: Final = """
  [bold]Detent[/] {version}   [bright_black]everything in one process[/]

  [bright_black]page     [/]  [bold]{base}[/]   [bright_black]API docs at[/] {base}/docs
  [bright_black]database [/]  {database}
  [bright_black]examples [/]  {shop}   [bright_black]a shop that the examples call, on this machine only[/]
  [bright_black]egress   [/]  steps may call this machine (127.0.0.0/8, ::1) as well as public addresses
"""
_STATUS_WIDTH: Final = 8
_FOOT: Final = """
  [bold]Try it[/]
    curl {base}/api/v1/workflows/order-processing/trigger -d '{{"order_id": 7}}'
    curl {base}/api/v1/workflows/order-processing/runs
  [bright_black]and your own:[/] detent run FILE   [bright_black]or[/] detent apply FILE
  [bright_black]Ctrl-C stops gently; what sleeps or waits goes on at the next start.[/]
"""


@dataclass(slots=True, eq=False)
class Shown:
    """A run on the screen."""

    run: str
    input: dict[str, Any]
    document: dict[str, Any] | None = None

    @property
    def status(self) -> str:
        return str(self.document["status"]) if self.document else "running"


class Screen:
    """Draws on a terminal, prints lines elsewhere."""

    def __init__(self, console: Console, base_url: str, database: str, shop_url: str) -> None:
        self._console, self._tick = console, 0
        self._words = {
            "version": VERSION,
            "base": escape(base_url),
            "database": escape(database.removeprefix("sqlite:///")),
            "shop": escape(shop_url),
        }

    def head(self) -> None:
        self._console.print(_HEAD.format(**self._words))

    def foot(self) -> None:
        self._console.print(_FOOT.format(**self._words))

    def line(self, document: dict[str, Any]) -> None:
        """A run that ended."""
        took = _took(document)
        name = escape(document["workflow"])
        self._console.print(f"  {marked(document['status'])}  {name}  [bright_black]{took}  {document['id']}[/]")

    @contextmanager
    def watching(self, shown: Sequence[Shown]) -> Iterator[Callable[[], None]]:
        """Give a function that draws the runs as they are now."""
        if not self._console.is_terminal:
            told: set[str] = set()
            yield lambda: self._tell(shown, told)
            return
        with Live(console=self._console, auto_refresh=False, vertical_overflow="crop") as live:
            yield lambda: live.update(self._drawn(shown), refresh=True)

    def _tell(self, shown: Sequence[Shown], told: set[str]) -> None:
        for each in shown:
            if each.document and each.document["finished_at"] and each.run not in told:
                told.add(each.run)
                self.line(each.document)

    def _drawn(self, shown: Sequence[Shown]) -> RenderableType:
        self._tick += 1
        table = Table.grid(padding=(0, 2))
        known = [each.document for each in shown if each.document]
        table.add_column(no_wrap=True, min_width=2 + max((len(one["workflow"]) for one in known), default=0))
        table.add_column(no_wrap=True, min_width=max((len(_short(each.input)) for each in shown), default=0))
        table.add_column(no_wrap=True, min_width=_STATUS_WIDTH)
        table.add_column(no_wrap=True, overflow="ellipsis")
        for each in shown:
            if each.document is not None:
                mark, colour = self._mark(each.status)
                name = Text.assemble((f"{mark} ", colour), each.document["workflow"])
                note = Text(_short(each.input), style="bright_black")
                table.add_row(name, note, Text(_took(each.document), style="bright_black"), self._steps(each.document))
        return Padding(table, (0, 0, 0, 2))

    def _steps(self, document: dict[str, Any]) -> Text:
        parts = Text()
        for name, step in document["tasks"].items():
            mark, colour = self._mark(step["status"])
            faint = "bright_black" if step["status"] in ("pending", "skipped") else "default"
            parts.append(f"{mark} ", colour).append(f"{name}  ", faint)
        return parts

    def _mark(self, status: str) -> tuple[str, str]:
        mark, colour = MARKS.get(status, ("?", "default"))
        return (SPINNER[self._tick % len(SPINNER)], colour) if status == "running" else (mark, colour)


def _took(document: dict[str, Any]) -> str:
    if not document["finished_at"]:
        active = [step["status"] for step in document["tasks"].values() if step["status"] not in {*ENDED, "pending"}]
        return active[0] if active else "running"
    return duration((instant(document["finished_at"]) - instant(document["started_at"])) / SECOND)


def _short(value: dict[str, Any]) -> str:
    """The first thing a run was given."""
    return next((f"{key} {json.dumps(one, ensure_ascii=False)}" for key, one in value.items()), "")
