"""Render the journal of a run as lines: time, step, event, duration and error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from rich.text import Text

from detent.cli.output.progress import instant
from detent.cli.output.terminal import MARKS, duration, one_line
from detent.instant import SECOND

Document = dict[str, Any]

_LONGEST: Final = 500
_FAINT: Final = "bright_black"
#: The colours of the levels of lines that steps log.
_LEVELS: Final = {"info": "default", "warning": "yellow", "error": "red"}
#: As wide as the time of a line.
INDENT: Final = " " * 14
_BAD: Final = ("failed", "timeout", "template_error")


class JournalLine(NamedTuple):
    """One line of the journal. `status` selects its mark and colour."""

    at: str
    step: str
    status: str
    words: str
    took: str = ""
    error: str = ""


def lines_of(entry: Document) -> Iterator[JournalLine]:
    """Yield the lines of an entry: its event, and what was decided because of it."""
    yield from _KINDS.get(entry["kind"], _other)(entry)
    at = entry["at"]
    for step in entry["skipped"]:
        yield JournalLine(at, step, "skipped", "skipped")
    for step, error in entry["failed"].items():
        yield JournalLine(at, step, "failed", "failed", error=_error_text(error))
    for step, answer in entry.get("answers", {}).items():
        yield JournalLine(at, step, "success", f"the answer is {'true' if answer else 'false'}")
    for note in entry.get("notes", []):
        edge, _, error = note.partition(": ")
        yield JournalLine(at, edge, "skipped", "not taken: its condition cannot be evaluated", error=one_line(error))
    for step, until in entry["sleep_until"].items():
        yield JournalLine(at, step, "sleeping", f"sleeps {_span(at, until)}, until {clock(until)}")
    for step, until in entry["wait_until"].items():
        limit = "" if until is None else f", at most {_span(at, until)}"
        yield JournalLine(at, step, "waiting", f"waits for {_awaited(step)}{limit}")
    if entry["run_status"]:
        yield JournalLine(at, "", entry["run_status"], f"run {entry['run_status']}")


def drawn(line: JournalLine, width: int) -> Text:
    """Render a line in colour, with its step in a column of this width."""
    mark, colour = MARKS.get(line.status, ("·", "default"))
    whole = "bold" if not line.step else "default"
    text = Text.assemble((f"{clock(line.at, precise=True)}  ", _FAINT), (f"{mark} ", colour))
    text.append(f"{line.step:<{width}}  " if line.step or width else "", "default")
    text.append(line.words, f"{whole} {colour}" if line.status in (*_BAD, "completed", "cancelled") else whole)
    if line.took:
        text.append(f"  {line.took}", _FAINT)
    if line.error:
        text.append(f"  {line.error}", "red")
    return text


def drawn_log(line: Document, width: int) -> list[Text]:
    """Render a line that a step has logged, and how many were left out before it. Further lines of its text follow."""
    colour = _LEVELS.get(line["level"], _FAINT)
    first, *others = str(line["message"]).splitlines() or [""]
    text = Text.assemble((f"{clock(line['at'], precise=True)}  ", _FAINT), ("│ ", colour))
    text.append(f"{line['step']:<{width}}  " if width else "", _FAINT)
    text.append(one_line(first), colour)
    for name, value in (line["facts"] or {}).items():
        text.append(f"  {one_line(name)}={one_line(str(value))}", _FAINT)
    left_out = [Text(f"{INDENT}│ … {line['left_out']:,} lines left out", _FAINT)] if line["left_out"] else []
    return [*left_out, text, *(Text(f"{INDENT}│ {_printable(more)}", colour) for more in others)]


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text.expandtabs(4))


def clock(text: str, *, precise: bool = False) -> str:
    """Format an instant in local time: with `precise` the time to the millisecond, else date and time to the second."""
    when = datetime.fromisoformat(text).astimezone()
    return when.strftime("%H:%M:%S") + f".{when.microsecond // 1000:03d}" if precise else f"{when:%Y-%m-%d %H:%M:%S}"


def day(text: str) -> str:
    """Return the local date of an instant."""
    return f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d}"


def _ended(entry: Document) -> Iterator[JournalLine]:
    status, result = entry["status"], entry["result"]
    words = [str(status)]
    if isinstance(result, dict) and isinstance(result.get("status_code"), int):
        words.append(str(result["status_code"]))
    if (entry["attempt"] or 1) > 1:
        words.append(f"in attempt {entry['attempt']}")
    if entry["by"]:
        words.append(f"by {one_line(entry['by'])}")
    if entry.get("probe"):
        words.append(_probed(entry))
    if entry.get("finished"):
        words.append("and finished the run")
    yield JournalLine(
        entry["at"], entry["step"], str(status), " ".join(words), _took(entry), _error_text(entry["error"])
    )


def _probed(entry: Document) -> str:
    """Say how the outcome of an attempt is known whose node died."""
    probe = entry["probe"]
    words = {"happened": "it happened", "did_not_happen": "it did not happen"}.get(probe["answer"], "unknown")
    return f"(its node died; {one_line(probe['action'])} says: {words})"


def _retry(entry: Document) -> Iterator[JournalLine]:
    if entry.get("probe") and not entry["retry_at"]:
        words = f"uncertain {_probed(entry)}"
        yield JournalLine(entry["at"], entry["step"], "paused", words, _took(entry), _error_text(entry["error"]))
        return
    again = f"again in {_span(entry['at'], entry['retry_at'])}" if entry["retry_at"] else "again"
    by = f", requested by {one_line(entry['by'])}" if entry["by"] else ""
    ended = f"attempt {entry['attempt']} {entry['status'] or 'over'}, " if entry["attempt"] else ""
    said = f" {_probed(entry)}" if entry.get("probe") else ""
    words = f"{ended}{again}{by}{said}"
    yield JournalLine(entry["at"], entry["step"], "scheduled", words, _took(entry), _error_text(entry["error"]))


def _started(entry: Document) -> Iterator[JournalLine]:
    child = f" {entry['child_run_id']}" if entry.get("child_run_id") else ""
    yield JournalLine(entry["at"], entry["step"] or "", "running", f"attempt {entry['attempt'] or 1} starts{child}")


def _paged(entry: Document) -> Iterator[JournalLine]:
    """Yield a line for the beginning of a map, and for the end of each of its pages."""
    at, step, count, page = entry["at"], entry["step"] or "", entry.get("item_count"), entry.get("page")
    if count is not None:
        yield JournalLine(at, step, "running", f"begins {count:,} item{'s' if count != 1 else ''}")
    if page is not None:
        failed = f", {page['failed']:,} failed" if page["failed"] else ""
        words = f"a page has ended: {page['succeeded']:,} succeeded{failed}"
        yield JournalLine(at, step, "failed" if failed else "running", words)


def _received(entry: Document) -> Iterator[JournalLine]:
    yield JournalLine(entry["at"], entry["step"] or "", entry["status"] or "success", "got its callback", _took(entry))


def _noted(entry: Document) -> Iterator[JournalLine]:
    """Yield a line for what happened at a wait that goes on."""
    note = entry.get("note") or {}
    decision = note.get("decision")
    if decision is not None:
        verdict = "approved" if decision.get("approved") else "rejected"
        words = f"{verdict} by {one_line(str(decision.get('by')))}, {note.get('count')} of {note.get('quorum')}"
    else:
        words = f"reminder {note['reminder']}" if note.get("reminder") else "escalated: others may decide too"
    yield JournalLine(entry["at"], entry["step"] or "", "waiting", words)


def _began(entry: Document) -> Iterator[JournalLine]:
    """Yield a line for the retry of a step of a durable function. Sleeps and waits get theirs from `sleep_until` and
    `wait_until` of the entry."""
    if not str(entry["step"]).startswith("@"):
        yield from _retry({**entry, "status": "failed"})


def _awaited(step: str) -> str:
    kind = step.partition(":")[0]
    return {"@ask": "a signal", "@child": "its child"}.get(kind, "its callback")


def _reused(entry: Document) -> Iterator[JournalLine]:
    if entry["status"] == "skipped":
        yield JournalLine(entry["at"], entry["step"], "skipped", "skipped as in the run before")
    else:
        yield JournalLine(entry["at"], entry["step"], "success", "reused from the run before")


def _moved(entry: Document) -> Iterator[JournalLine]:
    version = entry.get("version")
    if version is not None:
        by = f" by {one_line(entry['by'])}" if entry["by"] else ""
        if entry["status"] == "refused":
            yield JournalLine(
                entry["at"], "", "failed", f"not moved to version {version}{by}", error=_error_text(entry["error"])
            )
        else:
            words = f"moved from version {entry['was']} to {version}{by}"
            yield JournalLine(entry["at"], "", "running", words)
        return
    kept = ", ".join(entry.get("carried") or ()) or "nothing yet"
    yield JournalLine(entry["at"], "", "running", f"goes on with the current code; done before: {one_line(kept)}")


def _paused(entry: Document) -> Iterator[JournalLine]:
    words = f"paused the run: {one_line(entry['by'] or '')}" if entry["step"] else ""
    by = f" by {one_line(entry['by'])}" if entry["by"] else ""
    yield JournalLine(
        entry["at"], entry["step"] or "", "paused", words or f"paused{by}", error=_error_text(entry["error"])
    )


def _said(status: str, words: str) -> Callable[[Document], Iterator[JournalLine]]:
    def lines(entry: Document) -> Iterator[JournalLine]:
        by = f" by {one_line(entry['by'])}" if entry["by"] else ""
        yield JournalLine(entry["at"], entry["step"] or "", status, f"{words}{by}", error=_error_text(entry["error"]))

    return lines


def _adopted(entry: Document) -> Iterator[JournalLine]:
    by = one_line(entry["by"] or "another node")
    yield JournalLine(entry["at"], "", "running", f"its node is gone; taken over by {by}")


def _cancelled(entry: Document) -> Iterator[JournalLine]:
    reason = one_line(entry["by"] or "")
    words = f"cancelled the run: {reason}" if entry["step"] else f"cancelled by {reason}"
    yield JournalLine(
        entry["at"],
        entry["step"] or "",
        "cancelled",
        words if reason else "cancelled",
        error=_error_text(entry["error"]),
    )


def _other(entry: Document) -> Iterator[JournalLine]:
    yield JournalLine(entry["at"], entry["step"] or "", "pending", entry["kind"])


_KINDS: Final[dict[str, Callable[[Document], Iterator[JournalLine]]]] = {
    "ended": _ended,
    "retry": _retry,
    "started": _started,
    "paged": _paged,
    "received": _received,
    "noted": _noted,
    "reused": _reused,
    "began": _began,
    "checkpoint": _ended,
    "adopted": _adopted,
    "paused": _paused,
    "finished": _said("success", "finished"),
    "moved": _moved,
    "resumed": _said("running", "resumed"),
    "cancelled": _cancelled,
    "expired": _said("timeout", "out of time"),
    "opened": _said("running", "begins"),
    "resolved": _said("running", "resolved"),
}


def _took(entry: Document) -> str:
    return "" if entry["duration_ms"] is None else duration(entry["duration_ms"] / 1000)


def _span(begin: str, end: str) -> str:
    return duration(max(0, instant(end) - instant(begin)) / SECOND)


def _error_text(error: Document | None) -> str:
    return "" if not error else one_line(str(error["message"]))[:_LONGEST]
