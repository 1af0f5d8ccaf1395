"""The statements of a commit, for one packet. The server runs them one after the other in one transaction.

The servers have no `if` outside of a procedure. So a condition is a *check*: a statement whose value is out of range if
the condition does not hold. That ends the packet there, and the transaction is rolled back. The first check is the
fence.

No statement changes a table that it joins with another one. MariaDB 10.11 first writes such changes into a temporary
table. That is slow, and a deadlock while it applies them can crash the server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

import msgspec

from detent.run.journal import Entry
from detent.store.audit import AuditRow
from detent.store.letters import NewLetter
from detent.store.links import LinkKey, NewLink
from detent.store.logs.rows import LogRow
from detent.store.rows import FORWARDED, Activation, End, Flush, NewRun, Park, StartCheck
from detent.store.sql.compiler import in_order, successors

# Values as SQL text: the driver cannot send arguments separately from a packet of several statements.
#
# A text with a backslash is written as hexadecimal digits, so that it means the same in every `sql_mode`.


T = TypeVar("T")

PART: Final = 50


def quote(value: str | None) -> str:
    """Return a text or `None` as a literal, in the connection's utf8mb4."""
    if value is None:
        return "null"
    if "\\" in value:
        return f"_utf8mb4 x'{value.encode().hex()}'"
    return "'" + value.replace("'", "''") + "'"


def data(value: bytes | None) -> str:
    """Return JSON bytes or `None` as a text literal."""
    return "null" if value is None else quote(str(value, "utf-8"))


def blob(value: bytes | None) -> str:
    """Return bytes (an id, a hash) or `None` as a literal."""
    return "null" if value is None else f"x'{value.hex()}'"


def number(value: int | None) -> str:
    return "null" if value is None else str(int(value))


def literal(value: Any) -> str:
    """Return any value as a literal. A list becomes the content of the parentheses of `in (...)`."""
    match value:
        case None:
            return "null"
        case bool() | int():
            return str(int(value))
        case bytes():
            return blob(value)
        case str():
            return quote(value)
        case list():
            return listed(value)
    raise TypeError(f"{type(value).__name__} cannot be stored as a value")


def listed(values: Iterable[Any]) -> str:
    return ",".join(map(literal, values))


def filled(statement: str, values: Sequence[Any]) -> str:
    """Return a statement with each `%s` replaced by its value."""
    return statement % tuple(map(literal, values))


def any_of(places: Iterable[str]) -> str:
    """Return a condition that holds if one of these holds."""
    return "(" + " or ".join(places) + ")"


def by_place(places: Sequence[str], values: Sequence[str]) -> str:
    """Return an expression for the value of a row, chosen by the condition in `places` that the row meets."""
    if len(set(values)) == 1:
        return values[0]
    arms = (f"when {place} then {value}" for place, value in zip(places, values, strict=True))
    return f"case {' '.join(arms)} end"


def in_parts(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield a few rows at a time: the cost of `by_place` grows with the square."""
    for start in range(0, len(rows), PART):
        yield rows[start : start + PART]


NOW: Final = "timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))"
SELECT_NOW: Final = f"select {NOW}"

_RUN: Final = (
    'insert into run (id, tenant, workflow, version, status, "trigger", input, opening, owner, epoch, wake_at,'
    " expires_at, queue, priority, code, request_id, request_hash, hero_type, hero_id, labels, origin, parent,"
    " started_at, origin_kind, fired_by, active_key, stage, stage_step, stage_epoch, principal, via,"
    " correlation)"
)
_JOURNAL: Final = "insert into journal (tenant, run, seq, at, kind, step, attempt, outcome, data)"
_CALLBACK: Final = "insert into callback (tenant, run, step, early, state, created_at, ask)"
_LINK: Final = 'insert into link (tenant, "system", type, id, run, step, url, at)'
_LETTER: Final = (
    'insert into dead_letter (id, tenant, kind, workflow, run, step, source, "trigger", reason, message, payload,'
    " attempts, last_error, at, state)"
)
_AUDIT: Final = f"insert into audit ({', '.join(AuditRow._fields)})"
_LOG: Final = "insert into step_log (id, tenant, run, kind, step, attempt, first, size, data)"
_INBOX: Final = "insert into inbox (tenant, run, kind, step, data, source, source_seq, at)"

#: A start whose key is in a unique index already is left out. If the run itself exists, that is an error (`epoch`
#: cannot be null), unless the flush is repeated.
_REFUSED: Final = " on duplicate key update epoch = if(values(id) = run.id, null, run.epoch)"
#: A run must be looked up by its id. The planner would otherwise scan all runs of the node, or a whole small table. A
#: scan waits for every row that another transaction has locked.
_RUNS: Final = "run force index (primary)"
_CALLBACKS: Final = "callback force index (primary)"
_HAS_ENDED: Final = "exists (select 1 from run r where r.id = {} and r.ended_at is not null)"
_HAS_VERSION: Final = "exists (select 1 from workflow_version v where v.workflow = {0} and v.version = {1})"
_THERE: Final = " on duplicate key update {0} = {0}"


def fence(node: bytes, epoch: int) -> str:
    """Return a check that the node is registered under that epoch.

    No other transaction can change that before this one ends."""
    return (
        f"select 9223372036854775807 + (count(*) = 0) from node where id = {blob(node)} and epoch = {epoch:d}"
        " lock in share mode"
    )


def currency(starts: Sequence[NewRun]) -> str | None:
    """Return a check that every workflow with a start of its current version is still at that version.

    Return `None` if there is none."""
    current = StartCheck.CURRENT
    wanted = sorted({(start.workflow, start.version) for start in starts if start.check is current})
    if not wanted:
        return None
    places = " or ".join(f"id = {blob(workflow)} and version = {version:d}" for workflow, version in wanted)
    return (
        f"select 9223372036854775807 + (count(*) < {len(wanted)}) from workflow where ({places}) and enabled"
        " and status = 'active' and deleted_at is null"
    )


def look_for_taken(starts: Sequence[NewRun]) -> str | None:
    """Return a query for the runs that have the unique keys of these starts. Return `None` if the starts have none.

    The query does not wait for locks. An insert would lock the conflicting row, which another transaction may hold for
    any time."""
    looks: list[str] = []
    for column, index, name in (
        ("request_id", "run_request", "request_id"),
        ("active_live", "run_active", "active_key"),
    ):
        wanted = {(start.tenant, getattr(start, name)) for start in starts if getattr(start, name) is not None}
        for tenant in sorted({tenant for tenant, _ in wanted}):
            keys = ",".join(quote(key) for own, key in sorted(wanted) if own == tenant)
            looks.append(
                f"select '{column}', id, tenant, {column} from run force index ({index})"
                f" where tenant = {tenant:d} and {column} in ({keys})"
            )
    return " union all ".join(looks) or None


def taken(starts: Sequence[NewRun], found: Sequence[tuple[str, bytes, int, str]]) -> frozenset[bytes]:
    """Return the starts whose key another run has, unless that is the run they continue."""
    holders = {(column, tenant, key): id_ for column, id_, tenant, key in found}
    return frozenset(
        start.id
        for start in starts
        for key in (("request_id", start.tenant, start.request_id), ("active_live", start.tenant, start.active_key))
        if holders.get(key, start.id) not in (start.id, start.successor_of)  # type: ignore[arg-type]
    )


class Packet:
    """A flush as statements, and the meaning of their answers."""

    def __init__(
        self, node: bytes, flush: Flush, *, again: bool, choosy: bool, without: frozenset[bytes] = frozenset()
    ) -> None:
        """Build the statements. `without`: starts that are already refused.

        `choosy`: each start checks its workflow by itself; otherwise one check was made for all."""
        self._node, self._flush, self._again, self._choosy = node, flush, again, choosy
        self._without = without
        #: Starts that may be refused. Their other rows are written only if the run exists.
        self.doubtful = {
            start.id
            for start in flush.starts
            if start.request_id is not None
            or start.active_key is not None
            or (choosy and start.check is not StartCheck.NONE)
        }
        successor_starts = (
            [start for start in successors(flush.starts) if start.id not in without] if self.doubtful else []
        )
        self.successors = frozenset(start.id for start in successor_starts)
        #: Statements that hand keys over to successors and insert these; the last is a check that all were inserted.
        self.inheritance = list(self._inheritance(successor_starts)) if successor_starts else []
        self.statements: list[str] = []
        self._refused_at = self._expired_at = self._linked_at = -1
        self._write()

    def refused(self, answers: Sequence[Sequence[tuple[bytes, ...]]]) -> frozenset[bytes]:
        if self._refused_at < 0:
            return frozenset()
        return frozenset(self.doubtful - {row[0] for row in answers[self._refused_at]})

    def expired(self, answers: Sequence[Sequence[tuple[bytes, str]]]) -> frozenset[tuple[bytes, str]]:
        if self._expired_at < 0:
            return frozenset()
        return frozenset((run, step) for run, step in answers[self._expired_at])

    def unlinked(self, answers: Sequence[Sequence[tuple[Any, ...]]]) -> frozenset[tuple[LinkKey, bytes]]:
        if self._linked_at < 0:
            return frozenset()
        return self._flush.unlinked([(row[:4], row[4]) for row in answers[self._linked_at]])

    def _write(self) -> None:
        flush, statements = self._flush, self.statements
        if flush.starts:
            statements.extend(self._starts())
            if self.doubtful:
                self._refused_at = len(statements)
                statements.append(f"select id from run where id in ({listed(self.doubtful)})")
        # Messages before entries: in a repeated flush, an existing entry shows that its message was sent.
        statements.extend(self._messages())
        statements.extend(self._entries())
        statements.extend(self._callbacks())
        statements.extend(self._changes())
        if flush.ends:
            statements.extend(self._ends(flush.ends))
        if flush.consumed:
            statements.append(f"delete i from inbox i force index (primary) where i.id in ({listed(flush.consumed)})")
        if flush.expiries:
            self._expired_at = len(statements)
            places = any_of(_callback(run, step) for run, step in flush.expiries)
            statements.append(f"select run, step from callback where {places} and state = 'expired'")
        if flush.letters:
            statements.append(f"{_LETTER} values ({'),('.join(map(_letter, flush.letters))}){_THERE.format('reason')}")
        for run, row in flush.audits:
            statements.append(audit_insert(row, self._if_started(run) or "from dual"))
        if flush.logs:
            statements.append(f"{_LOG} values ({'),('.join(map(_log, flush.logs))}){_THERE.format('step_log.first')}")
        if flush.dropped_logs:
            gone = listed(flush.dropped_logs)
            statements.append(f"delete s from step_log s force index (primary) where s.id in ({gone})")
        if flush.links:
            # Each statement sees what was committed before it. So the look finds a claim that the insert waited for.
            links = flush.sorted_links()
            statements.append(f"{_LINK} values ({'),('.join(map(_link, links))}){_THERE.format('link.run')}")
            self._linked_at = len(statements)
            places = any_of(_link_place(link.key) for link in links)
            statements.append(f'select tenant, "system", type, id, run from link force index (primary) where {places}')
        statements.append(SELECT_NOW)

    def _inheritance(self, starts: list[NewRun]) -> Iterator[str]:
        for part in in_parts(starts):
            places = any_of(
                f"id = {blob(start.successor_of)} and tenant = {start.tenant:d}"
                f" and active_key = {quote(start.active_key)}"
                for start in part
            )
            yield (
                f"update {_RUNS} set active_key = lower(hex(id))"
                f" where {places} and owner = {blob(self._node)} and ended_at is null"
            )
        yield from self._made(starts)
        ids = listed(start.id for start in starts)
        yield f"select 9223372036854775807 + (count(*) < {len(starts)}) from run where id in ({ids})"

    def _starts(self) -> Iterator[str]:
        out = self._without | self.successors
        return self._made([start for start in self._flush.starts if start.id not in out])

    def _made(self, starts: list[NewRun]) -> Iterator[str]:
        if self.doubtful:  # one order for every node, so that two nodes seldom deadlock
            starts = in_order(starts)
        rows = [(self._start(start), _if_current(start) if self._choosy else None) for start in starts]
        return _inserts(_RUN, rows, self._unless_known())

    def _unless_known(self) -> str:
        if self._again:
            return _THERE.format("run.id")
        return _REFUSED if self.doubtful else ""

    def _start(self, start: NewRun) -> str:
        return ",".join(
            (
                blob(start.id), number(start.tenant), blob(start.workflow), number(start.version), quote(start.status),
                quote(start.trigger), data(start.input), data(start.opening),
                blob(self._node if start.owned else None), number(start.owned), number(start.wake_at),
                number(start.expires_at), quote(start.queue), number(start.priority), quote(start.code),
                quote(start.request_id), blob(start.request_hash), quote(start.hero_type), quote(start.hero_id),
                quote(_plain(start.labels)), blob(start.origin), blob(start.parent), number(start.started_at),
                quote(start.origin_kind), blob(start.fired_by), quote(start.active_key), quote(start.stage),
                quote(start.stage_step), number(start.owned), quote(start.principal), quote(start.via),
                quote(start.correlation),
            )
        )  # fmt: skip

    def _messages(self) -> Iterator[str]:
        flush = self._flush
        if not flush.messages:
            return
        sent = {(entry.run, entry.seq) for entry in flush.entries} if self._again else set()
        rows: list[Row] = []
        for message in flush.messages:
            conditions = [_is_there(message.source)] if message.source in self.doubtful else []
            if (message.source, message.source_seq) in sent:
                place = f"run = {blob(message.source)} and seq = {message.source_seq:d}"
                conditions.append(f"not exists (select 1 from journal where {place})")
            values = (
                number(message.tenant), blob(message.run), quote(message.kind), quote(message.step), data(message.data),
                blob(message.source), number(message.source_seq), NOW,
            )  # fmt: skip
            rows.append((",".join(values), f"from dual where {' and '.join(conditions)}" if conditions else None))
        yield from _inserts(_INBOX, rows, _THERE.format("inbox.id"))

    def _entries(self) -> Iterator[str]:
        rows = [(_entry(entry), self._if_started(entry.run)) for entry in self._flush.entries]
        usual = [row for row in rows if row[1] is None]
        there = _THERE.format("journal.seq") if self._again else ""
        yield from _inserts(_JOURNAL, usual, there)
        if len(usual) < len(rows):
            yield from _inserts(_JOURNAL, [row for row in rows if row[1] is not None], there)

    def _callbacks(self) -> Iterator[str]:
        rows: list[Row] = []
        for callback in self._flush.callbacks:
            values = (
                number(callback.tenant), blob(callback.run), quote(callback.step), number(callback.early), "'pending'",
                NOW, quote(callback.ask),
            )  # fmt: skip
            rows.append((",".join(values), self._if_started(callback.run)))
        return _inserts(_CALLBACK, rows, _THERE.format("callback.step") if self._again else "")

    def _if_started(self, run: bytes) -> str | None:
        """Return the `from` clause for a row of a run whose start may be refused."""
        return f"from dual where {_is_there(run)}" if run in self.doubtful else None

    def _changes(self) -> Iterator[str]:
        flush = self._flush
        for activations in in_parts(flush.last_activations()):
            places = [_callback(row.run, row.step) for row in activations]
            yield (
                f"update {_CALLBACKS} set until = {by_place(places, [number(row.until) for row in activations])},"
                f" state = if(state = 'pending', 'active', state){_asked(places, activations)} where {any_of(places)}"
            )
        for expiries in in_parts(flush.expiries):
            places = [_callback(run, step) for run, step in expiries]
            yield (
                f"update {_CALLBACKS} set state = 'expired' where {any_of(places)} and state in ('pending', 'active')"
            )
        for parks in in_parts(flush.parks):
            places = [f"id = {blob(park.run)} and epoch = {park.generation:d}" for park in parks]
            yield (
                f"update {_RUNS} set owner = {_owner(places, parks)},"
                f" wake_at = {by_place(places, [number(park.wake_at) for park in parks])},"
                f" status = {by_place(places, [quote(park.status) for park in parks])},"
                f" queue = coalesce({by_place(places, [quote(park.queue) for park in parks])}, queue),"
                f" priority = coalesce({by_place(places, [number(park.priority) for park in parks])}, priority),"
                f" stage = {by_place(places, [quote(park.stage) for park in parks])},"
                f" stage_step = {by_place(places, [quote(park.stage_step) for park in parks])}, stage_epoch = epoch"
                f"{_moved(places, parks)}"
                f" where {any_of(places)} and owner = {blob(self._node)} and ended_at is null"
            )

    @staticmethod
    def _seals(places: list[str], ends: Sequence[End]) -> str:
        if all(end.seal is None for end in ends):
            return ""
        return f" seal = {by_place(places, [blob(end.seal) for end in ends])},"

    def _ends(self, ends: Sequence[End]) -> Iterator[str]:
        for part in in_parts(ends):
            places = [f"id = {blob(end.run)} and epoch = {end.generation:d}" for end in part]
            yield (
                f"update {_RUNS} set owner = null, wake_at = null,"
                f" status = {by_place(places, [quote(end.status) for end in part])},"
                f" output = {by_place(places, [data(end.output) for end in part])},"
                f"{self._seals(places, part)}"
                f" error = {by_place(places, [quote(end.error) for end in part])},"
                f" ended_at = {by_place(places, [number(end.ended_at) for end in part])}"
                f" where {any_of(places)} and owner = {blob(self._node)} and ended_at is null"
            )
        runs = listed(end.run for end in ends)
        yield (
            f"update {_CALLBACKS} set state = 'expired' where run in ({runs}) and state in ('pending', 'active')"
            f" and {_HAS_ENDED.format('callback.run')}"
        )
        for end in self._flush.continued():
            # After its end no message can be sent to it. The test of the generation leaves mail in place if this node
            # does not own the run.
            yield (
                f"update inbox i force index (inbox_run) set i.run = {blob(end.successor)}"
                f" where i.run = {blob(end.run)} and i.kind in ({listed(map(str, FORWARDED))})"
                f" and exists (select 1 from run r where r.id = {blob(end.run)} and r.ended_at is not null"
                f" and r.epoch = {end.generation:d})"
            )
        yield (
            f"delete i from inbox i force index (inbox_run) where i.run in ({runs}) and {_HAS_ENDED.format('i.run')}"
        )


def _owner(places: list[str], parks: Sequence[Park]) -> str:
    """Return the owner of each run after its park: none, unless the node keeps it."""
    if not any(park.kept for park in parks):
        return "null"
    return by_place(places, ["owner" if park.kept else "null" for park in parks])


def _asked(places: list[str], activations: Sequence[Activation]) -> str:
    """Return the assignment for waits that say what they ask. It is empty if there are none."""
    if all(row.ask is None for row in activations):
        return ""
    return f", ask = coalesce({by_place(places, [quote(row.ask) for row in activations])}, ask)"


def _moved(places: list[str], parks: Sequence[Park]) -> str:
    """Return the assignments for runs that were moved to another version. It is empty if there are none."""
    if all(park.version is None for park in parks):
        return ""
    return (
        f", version = coalesce({by_place(places, [number(park.version) for park in parks])}, version)"
        f", code = coalesce({by_place(places, [quote(park.code) for park in parks])}, code)"
    )


#: The values of a row, and the `from` clause with its condition, if it has one.
Row = tuple[str, str | None]


def _inserts(into: str, rows: Sequence[Row], unless: str) -> Iterator[str]:
    """Yield one statement for all rows, or one per row, in order, if some have conditions.

    With `union all` they could go together, but the server would use a temporary table: slow, and risky (see the
    module)."""
    if not rows:
        return
    if all(condition is None for _, condition in rows):
        yield f"{into} values ({'),('.join(values for values, _ in rows)}){unless}"
    else:
        for values, condition in rows:
            yield f"{into} select {values} {condition or 'from dual where true'}{unless}"


def _entry(entry: Entry) -> str:
    tenant, run, seq, at, kind, step, attempt, outcome, written = entry
    place = f"{tenant:d},x'{run.hex()}',{seq:d},{at:d}"
    return f"{place},{quote(kind)},{quote(step)},{attempt:d},{quote(outcome)},{data(written)}"


def _link(link: NewLink) -> str:
    key = ",".join((number(link.tenant), quote(link.system), quote(link.type), quote(link.id)))
    return f"{key},{blob(link.run)},{quote(link.step)},{quote(link.url)},{NOW}"


def _link_place(key: LinkKey) -> str:
    tenant, system, type_, id_ = key
    return f'tenant = {tenant:d} and "system" = {quote(system)} and type = {quote(type_)} and id = {quote(id_)}'


def _log(row: LogRow) -> str:
    return f"{listed(row[:-1])},{data(row.data)}"


def _letter(letter: NewLetter) -> str:
    return f"{listed(letter[:10])},{data(letter.payload)},{listed(letter[11:])},{NOW},'open'"


def _plain(labels: str | None) -> str | None:
    """Return JSON without needless escapes: MariaDB compares text in JSON as written."""
    if labels is None or "\\u" not in labels:
        return labels
    return msgspec.json.encode(msgspec.json.decode(labels)).decode()


def _callback(run: bytes, step: str) -> str:
    return f"run = {blob(run)} and step = {quote(step)}"


def audit_insert(row: AuditRow, source: str) -> str:
    """Return the insert of a row of the audit, unless it exists. `source` is its `from` clause."""
    values = (blob(row.id), number(row.tenant), number(row.at), *map(quote, row[3:]))
    return f"{_AUDIT} select {','.join(values)} {source}{_THERE.format('audit.id')}"


def _is_there(run: bytes) -> str:
    return f"exists (select 1 from run where id = {blob(run)})"


def _if_current(start: NewRun) -> str:
    """Return the `from` clause of a start that checks its workflow by itself."""
    if start.check is StartCheck.NONE:
        return "from dual where true"
    version = "w.version = {1}" if start.check is StartCheck.CURRENT else _HAS_VERSION
    status = "" if start.check is StartCheck.STORED else " and w.enabled and w.status = 'active'"
    where = f"w.id = {{0}} and {version}{status} and w.deleted_at is null".format(blob(start.workflow), start.version)
    return f"from workflow w where {where}"
