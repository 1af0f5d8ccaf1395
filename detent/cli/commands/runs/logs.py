"""`detent logs RUN`: print the journal of a run, and what its steps have logged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Annotated, Final

import typer
from rich.text import Text

from detent.cli.client import LONG_PATIENCE, PATIENCE, CommandClient, Document, open_client
from detent.cli.options import Database, Url, settings_of
from detent.cli.output.journal import INDENT, JournalLine, day, drawn, drawn_log, lines_of
from detent.cli.output.progress import instant, user_traceback
from detent.cli.output.terminal import err, out
from detent.client import runs
from detent.client.stream import ReadLog
from detent.client.stream import logs as read_logs
from detent.clock import SystemClock
from detent.documents.runs import ENDED
from detent.instant import iso

#: Seconds for which a server holds a request while a run is followed. The journal is read as often.
_LOOK: Final = 1.0


def logs(
    run: Annotated[str, typer.Argument(help="The id of a run, run_...")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run has ended.")] = False,
    since: Annotated[int, typer.Option("--since", metavar="SEQ", min=0, help="Only what came after this entry.")] = 0,
    step: Annotated[str | None, typer.Option("--step", help="Only what is about this step.")] = None,
    attempt: Annotated[int | None, typer.Option("--attempt", min=1, help="Only what is about this attempt.")] = None,
    level: Annotated[
        str | None,
        typer.Option("--level", help="Only lines of this level or above: debug, info, warning or error."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Each entry and line as the API has it.")] = False,
    url: Url = None,
    database: Database = None,
) -> None:
    """Show what happened in a run, by time: what its steps have logged, and its journal.

    With -f it follows the run until it ends, also over a restart of the server."""
    with open_client(settings_of(database_url=database), url, patience=LONG_PATIENCE if follow else PATIENCE) as client:
        document = client.ask(runs.get(run))
        if follow and document["status"] not in ENDED:
            client.need_engine("to follow a run")
        found = _Sources(client, document["id"], since, read_logs(run, step=step, attempt=attempt, level=level))
        try:
            _print(document, found.follow() if follow else found.stored(), is_whole=not since, as_json=as_json)
        except KeyboardInterrupt:
            err.print("the run goes on")
            raise typer.Exit(130) from None


class _Sources:
    """The journal of a run after an entry, and the log of its steps. It owns how far both were read."""

    def __init__(self, client: CommandClient, run: str, since: int, log: ReadLog) -> None:
        self._client = client
        self._run = run
        self._log = log
        self._seen = since
        self._cursor: str | None = None
        self._is_over = False
        self._begun = self._time_of(since)

    def stored(self) -> Iterator[Document]:
        """Yield what is stored now, by time."""
        return merge(self._entries(), self._lines(), key=_when)

    def follow(self) -> Iterator[Document]:
        """Yield what is stored and what comes, until the run has ended."""
        yield from self.stored()
        while not self._is_over:
            lines = self._next_lines(wait=_LOOK)
            yield from merge(list(self._entries()), lines, key=_when)

    def _time_of(self, seq: int) -> int:
        """Return when an entry was written. Lines before that are left out."""
        found = next(self._client.entries(self._run, seq - 1), []) if seq else []
        return instant(found[0]["at"]) if found and found[0]["seq"] == seq else 0

    def _entries(self) -> Iterator[Document]:
        for entries in self._client.entries(self._run, self._seen):
            for entry in entries:
                self._seen = entry["seq"]
                if self._log.step in (None, entry["step"]) and self._log.attempt in (None, entry["attempt"]):
                    yield entry

    def _lines(self) -> Iterator[Document]:
        while not self._is_over and (lines := self._next_lines()):
            yield from lines

    def _next_lines(self, wait: float = 0.0) -> list[Document]:
        _, body = self._client.answer(self._log.page(self._cursor, wait))
        self._cursor = body["next_cursor"]
        self._is_over = self._cursor is None
        return [line for line in body["data"] if instant(line["at"]) >= self._begun]


def _when(document: Document) -> int:
    return instant(document["at"])


def _print(document: Document, found: Iterator[Document], *, is_whole: bool, as_json: bool) -> None:
    paper = _Paper(max(map(len, document["tasks"]), default=0))
    begun = document["started_at"] or document["start_at"]
    if not as_json and is_whole and begun:
        words = "run is to begin" if document["start_at"] else f"run of {document['workflow']} begins"
        paper.write(begun, [drawn(JournalLine(begun, "", "running", words), paper.width)])
    for one in found:
        if as_json:
            print(json.dumps(one, ensure_ascii=False), flush=True)
        elif "seq" in one:
            trace = (user_traceback(one["error"]) or "").splitlines()
            texts = [Text(f"{INDENT}  {line}", "bright_black") for line in trace]
            paper.write(one["at"], [*(drawn(line, paper.width) for line in lines_of(one)), *texts])
        else:
            paper.write(one["at"], drawn_log(one, paper.width))


class _Paper:
    """Prints lines, and the date before the first line of another day. It owns the last printed date."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._day = day(iso(SystemClock().wall()))

    def write(self, at: str, texts: Iterable[Text]) -> None:
        """Print lines of this time."""
        if day(at) != self._day:
            self._day = day(at)
            out.print(self._day, style="bright_black")
        for text in texts:
            out.print(text)
        out.file.flush()


def add_to(app: typer.Typer) -> None:
    app.command()(logs)
