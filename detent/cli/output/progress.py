"""Show the progress of a run: a live tree of its steps on a terminal, one line per change elsewhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.text import Text

import detent
from detent.cli.output.terminal import MARKS, SPINNER, duration
from detent.instant import SECOND

ENDED: Final = frozenset({"success", "failed", "timeout", "skipped", "cancelled", "template_error"})
BAD: Final = frozenset({"failed", "timeout", "template_error"})
_LONGEST: Final = 300
_OURS: Final = f'  File "{Path(detent.__file__).parent}'
#: How the traceback of an exception group begins, and what is before each of its lines.
_GROUP: Final = "Exception Group Traceback (most recent call last):"
_GROUP_MARGIN: Final = re.compile(r"^ *(?:[|+] |\+-)")
_NO_MARGIN: Final = re.compile(r"^")
_REST: Final = 6  # lines of the terminal that are not part of the tree

Document = dict[str, Any]


class View(Protocol):
    """A view of a run on the terminal."""

    def note(self, text: str) -> None: ...

    def show(self, document: Document) -> None: ...

    def close(self) -> None: ...


class LineView:
    """Prints one line for each change of a step. It owns the last printed state of each step."""

    def __init__(self, console: Console, wall: Callable[[], int]) -> None:
        self._console, self._wall = console, wall
        self._seen: dict[str, str] = {}

    def note(self, text: str) -> None:
        self._console.print(escape(text))

    def show(self, document: Document) -> None:
        width = max(map(len, document["tasks"]), default=0)
        for name, step in document["tasks"].items():
            state = f"{step['status']}/{len(step['attempts'])}{reported(step)}"
            if self._seen.get(name, "pending/0") == state:
                continue
            self._seen[name] = state
            now = self._wall()
            words = (f"{name:<{width}}  {step['status']:<9}", took(step, now), detail(step, now))
            self._console.print(escape("  ".join(filter(None, words)).rstrip()))

    def close(self) -> None:
        return None


class LiveView:
    """Draws the tree of steps in place, after each change, or with `ticks` ten times a second. It owns the live
    display."""

    def __init__(
        self, console: Console, lines: Sequence[tuple[str, str]], wall: Callable[[], int], *, ticks: bool = False
    ) -> None:
        self._lines, self._wall = list(lines), wall
        self._height = max(5, console.height - _REST)
        self._tick = 0
        self._document: Document | None = None
        self._live = Live(
            console=console,
            auto_refresh=ticks,
            refresh_per_second=10,
            vertical_overflow="crop",
            get_renderable=self._drawn_now,
        )
        self._live.start()

    def note(self, text: str) -> None:
        self._live.console.print(escape(text), style="dim")

    def show(self, document: Document) -> None:
        self._document = document
        self._live.refresh()

    def close(self) -> None:
        self._live.stop()

    def _drawn_now(self) -> RenderableType:
        self._tick += 1
        return "" if self._document is None else self._drawn(self._document)

    def _drawn(self, document: Document) -> RenderableType:
        lines = self._known(document)
        shown = self._chosen(document, lines)
        rows = step_rows(document, shown, self._wall(), spinner=SPINNER[self._tick % len(SPINNER)])
        for row in rows:
            row.no_wrap, row.overflow = True, "ellipsis"
        hidden = len(lines) - len(shown)
        more = Text(f"… and {hidden} more steps, {_ended(document)} of all have ended", style="bright_black")
        return Group(*rows, more) if hidden else Group(*rows)

    def _known(self, document: Document) -> list[tuple[str, str]]:
        """Return the steps of the graph, then the operations that a durable function has called so far."""
        named = {name for name, _ in self._lines}
        return [*self._lines, *((name, "  ") for name in document["tasks"] if name not in named)]

    def _chosen(self, document: Document, lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return all steps if the terminal has room for them, else the active and the failed ones first."""
        if len(lines) <= self._height:
            return lines
        dull = ("pending", "skipped", "success")
        active = [line for line in lines if document["tasks"][line[0]]["status"] not in dull]
        return active[: self._height - 1] or lines[: self._height - 1]


def step_rows(
    document: Document, lines: Sequence[tuple[str, str]], now: int, *, spinner: str | None = None, below: bool = False
) -> list[Text]:
    """Render the steps of a run, one line each, with their branches of the tree. Name and status are never cut. An
    error is at the end of the line, or with `below` on a line of its own."""
    cells = [_cells(document["tasks"][name], name, lead, now, spinner) for name, lead in lines]
    widths = [max((row[index].cell_len for row in cells), default=0) for index in range(3)]
    rows = []
    for (name, lead), row in zip(lines, cells, strict=True):
        step = document["tasks"][name]
        row[0].pad_right(widths[0] - row[0].cell_len)
        row[1].pad_right(widths[1] - row[1].cell_len)
        row[2].pad_left(widths[2] - row[2].cell_len)
        error, bad = error_of(step), step["status"] in BAD
        style = MARKS[step["status"]][1] if bad else "bright_black"
        words = notes(step, now) if below else detail(step, now)[:_LONGEST]
        line = Text("  ").join([*row, Text(words, style="bright_black" if below else style)])
        line.rstrip()
        rows.append(line)
        if below and error:
            margin = " " * (len(lead) + 4)
            rows.append(Text(f"{margin}{error}", style=style))
            found = user_traceback(last_error(step))
            rows += [Text(f"{margin}{text}", style="bright_black") for text in (found or "").splitlines()]
    return rows


def _cells(step: Document, name: str, lead: str, now: int, spinner: str | None) -> list[Text]:
    mark, colour = MARKS.get(step["status"], ("?", "default"))
    if step["status"] == "running" and spinner is not None:
        mark = spinner
    faint = "bright_black" if step["status"] in ("pending", "skipped") else "default"
    return [
        Text.assemble((lead, "bright_black"), (f"{mark} ", colour), (name, faint)),
        Text(step["status"], style=colour),
        Text(took(step, now), style="bright_black"),
    ]


def took(step: Document, now: int) -> str:
    """Return how long a step took, or has taken so far."""
    if step["status"] in ("pending", "skipped") or not step["started_at"]:
        return ""
    if step["status"] in ENDED and step["duration_ms"] is not None:
        return duration(step["duration_ms"] / 1000)
    end = instant(step["finished_at"]) if step["finished_at"] else now
    return duration(max(0, end - instant(step["started_at"])) / SECOND)


def detail(step: Document, now: int) -> str:
    """Return the notes and the error of a step on one line."""
    return ", ".join(filter(None, (notes(step, now), error_of(step))))


def notes(step: Document, now: int) -> str:
    """Return the status code, the attempt, the decision and the time left of a step, in a few words."""
    words: list[str] = []
    if step.get("status_code") is not None:
        words.append(str(step["status_code"]))
    tries = step.get("attempt") or len(step["attempts"])
    if tries > 1:
        words.append(f"attempt {tries}")
    if report := reported(step) or decided(step):
        words.append(report)
    until = step.get("until") or step.get("next_at")
    if until and step["status"] not in ENDED:
        left = duration(max(0, instant(until) - now) / SECOND)
        due = f"again in {left}" if tries > 1 or step["attempts"] else f"in {left}"
        words.append({"scheduled": due, "waiting": f"at most {left} more"}.get(step["status"], f"{left} left"))
    return ", ".join(words)


def reported(step: Document) -> str:
    """Return how far a step in flight is, as its code has reported."""
    found = step.get("progress")
    if not found or step["status"] in ENDED:
        return ""
    return f"{found['fraction']:.0%} {_printable(' '.join(found['text'].split()))[:_LONGEST]}".rstrip()


def decided(step: Document) -> str:
    """Return how an approval was decided, by whom, and why."""
    found = step.get("output")
    if step["type"] != "wait" or not isinstance(found, dict) or not isinstance(found.get("approved"), bool):
        return ""
    by, comment = found.get("name") or found.get("by"), found.get("comment")
    who = f" by {by}" if by else " because its time was over"
    words = f"{'approved' if found['approved'] else 'rejected'}{who}{f': {comment}' if comment else ''}"
    return _printable(" ".join(words.split()))[:_LONGEST]


def error_of(step: Document) -> str:
    """Return the error message of a step on one line, without control characters."""
    error = last_error(step)
    return "" if error is None else _printable(" ".join(error["message"].split()))


def last_error(step: Document) -> Document | None:
    """Return the error of a step that did not succeed, or of its last attempt."""
    if step["status"] == "success":
        return None
    return step.get("error") or (step["attempts"][-1]["error"] if step["attempts"] else None)


def user_traceback(error: Document | None) -> str | None:
    """Return the traceback of an error without the frames of Detent, or None if it has no others."""
    detail = None if error is None else error.get("detail")
    text = detail.get("traceback") if isinstance(detail, dict) else None
    if not isinstance(text, str):
        return None
    margin = _GROUP_MARGIN if _GROUP in text else _NO_MARGIN
    kept, is_ours, has_frames = [], False, False
    for line in text.rstrip().splitlines():
        bare = margin.sub("", line)
        is_frame = bare.startswith('  File "')
        if is_frame or not bare.startswith("  "):
            is_ours = bare.startswith(_OURS)
        if not is_ours:
            kept.append(_printable(line))
            has_frames |= is_frame
    return "\n".join(kept) if has_frames else None


def _printable(text: str) -> str:
    return "".join(filter(str.isprintable, text))


def instant(text: str) -> int:
    """Convert a time of a document to microseconds."""
    return int(datetime.fromisoformat(text).timestamp() * SECOND)


def _ended(document: Document) -> int:
    return sum(step["status"] in ENDED for step in document["tasks"].values())
