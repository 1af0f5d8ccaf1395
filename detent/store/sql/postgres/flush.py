"""Turn a flush into the columns of its statement.

All parts of one PostgreSQL statement see the rows as they were before it. If two parts change the same row, only one
change is applied. So a change to a row that the same flush inserts is folded into that insert. A run that starts and
parks or ends within one flush is inserted in its final state. So is a callback.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from typing import Any, Final

from detent.run.journal import Entry
from detent.store.letters import NewLetter
from detent.store.links import NewLink
from detent.store.logs.rows import LogRow
from detent.store.rows import Activation, CallbackState, End, Flush, NewCallback, NewRun, Park
from detent.store.sql.compiler import checking, in_order, once_and_again, read_sql

# The statements of a commit, joined from the parts of flush.sql.
#
# The setup of a statement costs time for each part, even an empty one. All parts take more than a millisecond, the
# entries alone a third of that. So there are several statements, and a flush uses the smallest one that fits.


_STAGED: Final = re.compile(r"/\*staged (.*?) \*/")
_PART: Final = re.compile(r"^-- part (\w+)$\n", re.MULTILINE)
_FENCED: Final = "\nselect (select count(*) from fence) as held, clock_timestamp() as now"
_REFUSED: Final = ",\n       array(select id from refused) as refused"
_EXPIRED: Final = """,
       array(select run from known where state = 'expired') as expired_runs,
       array(select step from known where state = 'expired') as expired_steps"""
_LINKED: Final = """,
       array(select tenant from linked) as linked_tenants, array(select system from linked) as linked_systems,
       array(select type from linked) as linked_types, array(select id from linked) as linked_ids,
       array(select run from linked) as linked_runs"""


def _parts() -> dict[str, str]:
    _, *pieces = _PART.split(read_sql(__package__, "flush.sql"))
    return {name: text.strip() for name, text in zip(pieces[::2], pieces[1::2], strict=True)}


_ALL: Final = _parts()
_STARTS: Final = {False: ("started",), True: ("checked", "refused")}
_ENDS: Final = ("ended", "closed", "dropped")
_LOGS: Final = ("logged", "unlogged")
_REST: Final = ("awaited", "activated", "lapsed", "parked", *_ENDS, "posted", "consumed", "known")


def _of(*names: str, answer: str = _FENCED, checked: bool = False) -> dict[bool, str]:
    numbers = count(3)  # $1 and $2 are the node and its epoch, in every part
    text = "with " + ",\n".join(_ALL[name] for name in ("fence", *names)) + answer
    text = _STAGED.sub(r"\1" if "parked" in names else "", text)
    return once_and_again(checking(re.sub(r"\$\?", lambda _: f"${next(numbers)}", text), checked=checked))


#: Only journal entries.
APPEND: Final = _of("written")
#: Starts, entries, ends: most flushes.
USUAL: Final = _of(*_STARTS[False], "written", *_ENDS)
#: The same, with starts that may be refused.
CHECKED_USUAL: Final = _of(*_STARTS[True], "written", *_ENDS, answer=_FENCED + _REFUSED, checked=True)
#: Everything.
FLUSH: Final = _of(*_STARTS[False], "written", *_REST, answer=_FENCED + _EXPIRED)
CHECKED_FLUSH: Final = _of(*_STARTS[True], "written", *_REST, answer=_FENCED + _REFUSED + _EXPIRED, checked=True)
#: Entries, and claims of links.
LINKED: Final = _of("written", "linked", answer=_FENCED + _LINKED)
#: Starts, entries and ends, with rows of step logs.
LOGGED: Final = _of(*_STARTS[False], "written", *_ENDS, *_LOGS)
#: Everything, with claims of links, dead letters, rows of the audit and of step logs.
MORE: Final = _of(
    *_STARTS[False], "written", *_REST, "linked", "lettered", "audited", *_LOGS, answer=_FENCED + _EXPIRED + _LINKED
)
CHECKED_MORE: Final = _of(
    *_STARTS[True],
    "written",
    *_REST,
    "linked",
    "lettered",
    "audited",
    *_LOGS,
    answer=_FENCED + _REFUSED + _EXPIRED + _LINKED,
    checked=True,
)


Columns = list[list[Any]]
Key = tuple[bytes, str]

_START_COLUMNS: Final = 26
_STAGED_COLUMNS: Final = 28
_CHECKED_COLUMNS: Final = 36
_ENTRY_COLUMNS: Final = 9
_FIRST: Final = 1  # the generation of a run that its starting node owns


def is_usual(flush: Flush) -> bool:
    """Return whether the flush has only starts, entries and ends."""
    return is_plain(flush) and not has_more(flush) and not has_logs(flush)


def has_logs(flush: Flush) -> bool:
    """Return whether the flush writes or drops rows of step logs."""
    return bool(flush.logs or flush.dropped_logs)


def has_more(flush: Flush) -> bool:
    """Return whether the flush has what few flushes have: claims of links, dead letters or rows of the audit."""
    return bool(flush.links or flush.letters or flush.audits)


def is_plain(flush: Flush) -> bool:
    """Return whether the flush has no change of a callback, no park and no message."""
    return not (
        flush.callbacks or flush.activations or flush.parks or flush.expiries or flush.messages or flush.consumed
    )


def only_entries(flush: Flush) -> bool:
    """Return whether the flush has only journal entries."""
    return not flush.starts and not flush.ends and is_usual(flush)


def only_linked(flush: Flush) -> bool:
    """Return whether the flush has only journal entries and claims of links."""
    others = flush.starts or flush.ends or flush.letters or flush.audits or has_logs(flush)
    return bool(flush.links) and not others and is_plain(flush)


def entry_columns(entries: Sequence[Entry]) -> Columns:
    """Return the columns tenant, run, seq, at, kind, step, attempt, outcome, data."""
    if not entries:
        return [[] for _ in range(_ENTRY_COLUMNS)]
    columns: Columns = [list(column) for column in zip(*entries, strict=True)]
    columns[-1] = [str(data, "utf-8") for data in columns[-1]]
    return columns


def flush_columns(flush: Flush, *, again: bool, checked: bool = False) -> Columns:
    """Return every array of flush.sql, in its order."""
    parks = {park.run: park for park in flush.parks}
    ends = {end.run: end for end in flush.ends}
    parks = {run: park for run, park in parks.items() if run not in ends}
    kept = {start.id for start in flush.starts if start.owned}
    later_parks = [park for run, park in parks.items() if run not in kept]
    return [
        *(_checked_columns if checked else _staged_columns)(flush, parks, ends),
        *entry_columns(flush.entries),
        *_callback_columns(flush, ends),
        *_columns(later_parks, 11),
        *_end_columns(flush, ends),
        *_message_columns(flush, again=again),
        list(flush.consumed),
        *_columns(flush.expiries, 2),
    ]


def usual_columns(flush: Flush, *, checked: bool = False) -> Columns:
    """Return the arrays of a usual flush: starts, entries, ends."""
    ends = {end.run: end for end in flush.ends}
    starts = _checked_columns(flush, {}, ends) if checked else _start_columns(flush, ends)
    return [*starts, *entry_columns(flush.entries), *_end_columns(flush, ends)]


def _start_columns(flush: Flush, ends: dict[bytes, End]) -> Columns:
    return _columns([_start_row(start, None, ends.get(start.id)) for start in flush.starts], _START_COLUMNS)


def _staged_columns(flush: Flush, parks: dict[bytes, Park], ends: dict[bytes, End]) -> Columns:
    rows = []
    for start in flush.starts:
        park, end = parks.get(start.id), ends.get(start.id)
        rows.append((*_start_row(start, park, end), *_stage(start, park, end)))
    return _columns(rows, _STAGED_COLUMNS)


def _stage(start: NewRun, park: Park | None, end: End | None) -> tuple[str | None, str | None]:
    """Return what a run waits for after the flush that starts it."""
    if start.owned and park is not None and end is None and park.generation == _FIRST:
        return park.stage, park.stage_step
    return start.stage, start.stage_step


def _checked_columns(flush: Flush, parks: dict[bytes, Park], ends: dict[bytes, End]) -> Columns:
    starts = in_order(flush.starts)
    rows = [
        (
            *_start_row(start, parks.get(start.id), ends.get(start.id)),
            start.origin_kind, start.fired_by, start.check, start.active_key,
            *_stage(start, parks.get(start.id), ends.get(start.id)),
            start.principal, start.via, start.correlation, _seal(start, ends.get(start.id)),
        )
        for start in starts
    ]  # fmt: skip
    return _columns(rows, _CHECKED_COLUMNS)


def _end_columns(flush: Flush, ends: dict[bytes, End]) -> Columns:
    kept = {start.id for start in flush.starts if start.owned}
    return _columns([_end_row(end) for run, end in ends.items() if run not in kept], 7)


def _start_row(start: NewRun, park: Park | None, end: End | None) -> tuple[Any, ...]:
    owned, status, wake_at = start.owned, start.status, start.wake_at
    queue, priority = start.queue, start.priority
    version, code = start.version, start.code
    ended_at, output, error = None, None, None
    if end and owned and end.generation == _FIRST:
        owned, status, wake_at = False, end.status, None
        ended_at, output, error = end.ended_at, end.output, end.error
    elif park and owned and park.generation == _FIRST:
        owned, status, wake_at = park.kept, park.status, park.wake_at
        queue = queue if park.queue is None else park.queue
        priority = priority if park.priority is None else park.priority
        version = version if park.version is None else park.version
        code = code if park.code is None else park.code
    return (
        start.id, start.tenant, start.workflow, version, status, start.trigger, _text(start.input),
        _text(start.opening), owned, int(start.owned), wake_at, start.expires_at, queue, priority,
        code, start.request_id, start.request_hash, start.hero_type, start.hero_id, start.labels, start.origin,
        start.parent, start.started_at, ended_at, _text(output), error,
    )  # fmt: skip


def _end_row(end: End) -> tuple[Any, ...]:
    return end.run, end.generation, end.status, end.ended_at, _text(end.output), end.error, end.seal


def _seal(start: NewRun, end: End | None) -> bytes | None:
    """Return the seal of a run that ends in the flush that starts it."""
    return end.seal if end is not None and start.owned and end.generation == _FIRST else None


def _callback_columns(flush: Flush, ends: dict[bytes, End]) -> Columns:
    """Return the columns of new callbacks, of activations of existing ones, and of expiries of existing ones."""
    active = {(activation.run, activation.step): activation for activation in flush.last_activations()}
    expiring = set(flush.expiries)
    new = {(callback.run, callback.step) for callback in flush.callbacks}
    rows = [_callback_row(callback, active, expiring, ends) for callback in flush.callbacks]
    activations = [
        (run, step, activation.until, _active_state((run, step), expiring, ends), activation.ask)
        for (run, step), activation in active.items()
        if (run, step) not in new
    ]
    lapsing = [key for key in flush.expiries if key not in new and key not in active]
    return [*_columns(rows, 7), *_columns(activations, 5), *_columns(lapsing, 2)]


def _callback_row(
    callback: NewCallback, active: dict[Key, Activation], expiring: set[Key], ends: dict[bytes, End]
) -> tuple[Any, ...]:
    key = (callback.run, callback.step)
    activation = active.get(key)
    state = CallbackState.PENDING
    if activation or key in expiring or callback.run in ends:
        state = _active_state(key, expiring, ends)
    until, ask = (activation.until, activation.ask) if activation else (None, None)
    ask = callback.ask if ask is None else ask
    return callback.tenant, callback.run, callback.step, callback.early, state, until, ask


def _active_state(key: Key, expiring: set[Key], ends: dict[bytes, End]) -> CallbackState:
    return CallbackState.EXPIRED if key in expiring or key[0] in ends else CallbackState.ACTIVE


def _message_columns(flush: Flush, *, again: bool) -> Columns:
    sent = {(entry.run, entry.seq) for entry in flush.entries} if again and flush.messages else set()
    rows = [
        (
            message.tenant, message.run, message.kind, message.step, _text(message.data), message.source,
            message.source_seq, (message.source, message.source_seq) in sent,
        )
        for message in flush.messages
    ]  # fmt: skip
    return _columns(rows, 8)


def linked_columns(flush: Flush) -> Columns:
    """Return the arrays of a flush with only entries and claims of links."""
    return [*entry_columns(flush.entries), *_link_columns(flush.sorted_links())]


def more_columns(flush: Flush, *, again: bool, checked: bool) -> Columns:
    """Return every array of flush.sql, with those of links, dead letters and rows of the audit."""
    return [
        *flush_columns(flush, again=again, checked=checked),
        *_link_columns(flush.sorted_links()),
        *_letter_columns(flush.letters),
        *_columns([(run, *row) for run, row in flush.audits], 14),
        *_log_columns(flush),
    ]


def logged_columns(flush: Flush) -> Columns:
    """Return the arrays of a flush with starts, entries, ends and rows of step logs."""
    return [*usual_columns(flush), *_log_columns(flush)]


def _log_columns(flush: Flush) -> Columns:
    rows = [(*row[:-1], _text(row.data)) for row in flush.logs]
    return [*_columns(rows, len(LogRow._fields)), list(flush.dropped_logs)]


def _link_columns(links: Sequence[NewLink]) -> Columns:
    return _columns(links, 7)


def _letter_columns(letters: Sequence[NewLetter]) -> Columns:
    return _columns([letter._replace(payload=_text(letter.payload)) for letter in letters], 13)  # type: ignore[arg-type]


def _columns(rows: Sequence[Sequence[Any]], width: int) -> Columns:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]


def _text(data: bytes | None) -> str | None:
    return None if data is None else str(data, "utf-8")
