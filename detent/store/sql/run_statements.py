"""The statements that look for runs: filters, the indexes that lists walk along, and what a list shows of a run.

A filter may have no index of its own. So a list walks along *lanes*: each is a part of the runs that one index has in
the order of their ids. What else the filter asks for is checked run by run, of as many runs as the caller allows.

The lanes of a list are read by one statement. A run changes its lane whenever it is claimed or parked, so between two
statements it could go from the lane that is read next to the one that was read before, and be in neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BindParameter,
    ClauseElement,
    ColumnElement,
    CompoundSelect,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    null,
    or_,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from detent.run.journal import MAP
from detent.run.stage import PARKED, StageKind
from detent.run.status import OPEN, Status
from detent.store.list_rows import Range
from detent.store.rows import RunCriteria
from detent.store.sql.compiler import (
    Bytewise,
    Contains,
    HasLabel,
    HasLabelValue,
    IdEnds,
    InList,
    IsOpen,
    NameOrEmpty,
    NewestId,
    OldestId,
    Unindexed,
    Values,
)
from detent.store.sql.schema import journal, run, workflow

#: Most runs have one of these. Runs of the other statuses have an index of their own.
USUAL_STATUSES: Final = frozenset({"running", "completed"})
#: Every stage that a row can have. Rows of runs that are running or queued have none.
STAGES: Final[tuple[str | None, ...]] = (*(None, StageKind.QUEUED, *PARKED, StageKind.PAUSED, StageKind.UNCERTAIN),)

_NAME: Final = NameOrEmpty(workflow.c.name)
_NAMED: Final = run.outerjoin(workflow, workflow.c.id == run.c.workflow)
RUN_COLUMNS: Final = (
    run.c.id, run.c.tenant, run.c.workflow, _NAME, run.c.version, run.c.status,
    run.c.trigger, run.c.input, run.c.opening, run.c.owner, run.c.epoch, run.c.wake_at, run.c.expires_at, run.c.queue,
    run.c.priority, run.c.code, run.c.request_id, run.c.hero_type, run.c.hero_id, run.c.labels, run.c.origin,
    run.c.parent, run.c.started_at, run.c.ended_at, run.c.output, run.c.error, run.c.request_hash, run.c.origin_kind,
    run.c.fired_by, run.c.active_key, run.c.stage, run.c.stage_step, run.c.stage_epoch, run.c.principal, run.c.via,
    run.c.correlation, run.c.seal,
)  # fmt: skip
#: The columns of a `ListedRun`. The opening of a child says which step started it; others are not read.
LIST_COLUMNS: Final = (
    run.c.id, run.c.workflow, _NAME, run.c.version, run.c.status, run.c.trigger, run.c.owner, run.c.epoch,
    run.c.wake_at, run.c.expires_at, run.c.request_id, run.c.hero_type, run.c.hero_id, run.c.labels, run.c.origin,
    run.c.parent, run.c.started_at, run.c.ended_at, run.c.error, run.c.origin_kind, run.c.fired_by, run.c.stage,
    run.c.stage_step, run.c.stage_epoch, case((run.c.parent.is_not(None), run.c.opening)),
)  # fmt: skip
#: The columns of a `RunMark`.
MARK_COLUMNS: Final = (run.c.id, run.c.status, run.c.stage, run.c.started_at, run.c.ended_at)
_SELECTED: Final = {
    "row": select(*RUN_COLUMNS).select_from(_NAMED),
    "listed": select(*LIST_COLUMNS).select_from(_NAMED),
    "mark": select(*MARK_COLUMNS),
    "group": select(run.c.id, run.c.workflow, run.c.version, run.c.status, run.c.trigger, run.c.labels),
}
RUN: Final = _SELECTED["row"].where(run.c.tenant == bindparam("tenant"), run.c.id == bindparam("run"))

_EQUAL: Final = ("workflow", "trigger", "fired_by", "hero_type", "hero_id", "request_id", "origin", "parent", "version")
_MANY: Final = ("statuses", "stages", "labels", "owned")


class Lane(NamedTuple):
    """Runs that one index has in the order of their ids. `value`: the status (`troubled`) or stage (`open`)."""

    kind: str
    value: str | None = None


class Shape(NamedTuple):
    """The parts of a filter that its statement depends on."""

    names: tuple[str, ...]
    statuses: int
    is_troubled: bool
    stages: int
    labels: int
    owned: bool | None


def shape_of(where: RunCriteria) -> Shape:
    is_troubled = bool(where.statuses) and USUAL_STATUSES.isdisjoint(where.statuses)
    return Shape(
        tuple(where.given()), len(where.statuses), is_troubled, len(where.stages), len(where.labels), where.owned
    )


def lanes_of(where: RunCriteria) -> list[Lane]:
    """Return disjoint lanes that have every run of a filter."""
    for name in ("ids", "request_id", "parent", "origin"):
        if getattr(where, name):
            return [Lane("few")]  # an index finds them, and there are not many
    if where.hero_type is not None and where.hero_id is not None:
        return [Lane("hero")]
    if where.stages:
        return _lanes_of_stages(frozenset(where.stages))
    if where.statuses and USUAL_STATUSES.isdisjoint(where.statuses):
        return [Lane("troubled", status) for status in sorted(set(where.statuses))]
    if where.statuses and OPEN.issuperset(where.statuses):
        return [Lane("open", stage) for stage in STAGES]
    return [Lane("tenant" if where.workflow is None else "workflow")]


def _lanes_of_stages(stages: frozenset[str]) -> list[Lane]:
    if stages == {StageKind.DELAYED}:
        return [Lane("troubled", Status.PENDING)]
    if stages <= {StageKind.PAUSED, StageKind.UNCERTAIN}:
        return [Lane("troubled", Status.PAUSED)]
    if StageKind.QUEUED in stages:  # also runs that were parked, and whose time has come
        return [Lane("open", stage) for stage in STAGES]
    # Rows without a stage are of runs that work or begin later, or were parked by older code.
    return [Lane("open", stage) for stage in STAGES if stage is None or stage in stages]


def is_exact(lane: Lane, where: RunCriteria) -> bool:
    """Return whether every run of the lane is one of the filter, so that a list never walks past others."""
    covered = {
        "tenant": set(),
        "workflow": {"workflow"},
        "hero": {"hero_type", "hero_id"},
        "troubled": {"statuses"},
        "open": set(),
        "few": set(where.__slots__),
    }
    return covered[lane.kind].union({"first", "last", "now"}).issuperset(where.given())


def filter_values(where: RunCriteria) -> dict[str, Any]:
    """Return the arguments of a filter."""
    values = where.given()
    for name in _MANY:
        values.pop(name, None)
    if where.ids:
        values["ids"] = list(where.ids)
    values |= {f"status_{index}": str(status) for index, status in enumerate(where.statuses)}
    values |= {f"stage_{index}": str(stage) for index, stage in enumerate(where.stages)}
    for index, (key, value) in enumerate(where.labels):
        values |= {f"label_{index}": key, f"label_value_{index}": value}
    return values


def runs(
    where: RunCriteria, lanes: Sequence[Lane] = (), *, cursor: bool, oldest_first: bool, end: bool = False,
    what: str = "row",
) -> Select[Any]:  # fmt: skip
    """Return the runs of these lanes in the order of their ids, narrowed by the given criteria, and up to `end`.

    `what` is a `row`, or the shorter `listed` or `mark`, or what groups are counted by."""
    return _runs(shape_of(where), _lane_shapes(lanes), cursor, oldest_first, end, what)


def group_runs(where: RunCriteria, lanes: Sequence[Lane], *, cursor: bool, end: bool) -> CompoundSelect[Any]:
    """Return the values of the newest runs that lists are narrowed by, how many runs have them together, and the oldest
    of these. Then return the labels, and how many runs have them: together they would be almost as many groups as
    runs."""
    return _group_runs(shape_of(where), _lane_shapes(lanes), cursor, end)


def count_runs(where: RunCriteria, lanes: Sequence[Lane] = ()) -> Select[Any]:
    """Return the number of these runs, up to a limit."""
    return _count_runs(shape_of(where), _lane_shapes(lanes))


def lane_end(where: RunCriteria, lane: Lane, *, cursor: bool, oldest_first: bool) -> Select[Any]:
    """Return the id of the run of a lane that `skipped` others are before, in the order of a list."""
    return _lane_end(frozenset(where.given()), _lane_shapes([lane])[0], cursor, oldest_first)


def lane_ends(
    where: RunCriteria, lanes: Sequence[Lane], *, cursor: bool, oldest_first: bool
) -> Select[Any] | CompoundSelect[Any]:
    """Return `lane_end` of each lane that has one, in any order: one statement instead of one for each lane."""
    return _lane_ends(frozenset(where.given()), _lane_shapes(lanes), cursor, oldest_first)


#: The kind of a lane, and the argument that has its value.
LaneShape = tuple[str, str | None]


def _lane_shapes(lanes: Sequence[Lane]) -> tuple[LaneShape, ...]:
    found = ((lane.kind, None if lane.value is None else f"lane_{index}") for index, lane in enumerate(lanes))
    return tuple(found) or (("", None),)


@lru_cache(maxsize=1024)
def _runs(
    shape: Shape, lanes: tuple[LaneShape, ...], cursor: bool, oldest_first: bool, end: bool, what: str
) -> Select[Any]:
    # A union has ids alone: PostgreSQL would need ten times longer to plan nine lanes of all columns than to read them.
    selected = _SELECTED[what] if len(lanes) == 1 else select(run.c.id)
    parts = [
        _ordered(selected.where(*_conditions(shape, lane), *_in_lane(lane)), cursor, oldest_first, end)
        for lane in lanes
    ]
    if len(parts) == 1:
        [query] = parts
        if "ids" in shape.names:  # the list of ids is shorter than the index of all of them
            query = query.order_by(None).order_by(Unindexed(run.c.id) if oldest_first else Unindexed(run.c.id).desc())
        return query.limit(bindparam("limit"))
    every = union_all(*(select(part.limit(bindparam("limit")).subquery()) for part in parts)).subquery()
    found = (
        select(every.c.id).order_by(every.c.id if oldest_first else every.c.id.desc()).limit(bindparam("limit"))
    ).subquery("found")
    return (
        _SELECTED[what]
        .join(found, found.c.id == run.c.id)
        .where(Unindexed(run.c.tenant) == bindparam("tenant"))
        .order_by(found.c.id if oldest_first else found.c.id.desc())
    )


@lru_cache(maxsize=256)
def _group_runs(shape: Shape, lanes: tuple[LaneShape, ...], cursor: bool, end: bool) -> CompoundSelect[Any]:
    newest = _runs(shape, lanes, cursor, False, end, "group").cte("newest")
    values = [newest.c[name] for name in ("workflow", "version", "status", "trigger")]
    groups = select(*values, null(), func.count(), OldestId(newest.c.id)).group_by(*values)
    labels = select(*(null() for _ in values), newest.c.labels, func.count(), null()).group_by(newest.c.labels)
    return union_all(groups, labels.where(newest.c.labels.is_not(None)))


@lru_cache(maxsize=1024)
def _count_runs(shape: Shape, lanes: tuple[LaneShape, ...]) -> Select[Any]:
    parts = [
        select(run.c.id).where(*_conditions(shape, lane), *_in_lane(lane)).limit(bindparam("limit")).subquery()
        for lane in lanes
    ]
    counts = [select(func.count()).select_from(part).scalar_subquery() for part in parts]
    return select(sum(counts[1:], counts[0]))


@lru_cache(maxsize=1024)
def _lane_end(names: frozenset[str], lane: LaneShape, cursor: bool, oldest_first: bool) -> Select[Any]:
    equal = {"workflow": ("workflow",), "hero": ("hero_type", "hero_id")}.get(lane[0], ())
    query = select(run.c.id).where(
        run.c.tenant == bindparam("tenant"),
        *(run.c[name] == bindparam(name) for name in equal),
        *_in_lane(lane),
        *_in_range(names),
    )
    return _ordered(query, cursor, oldest_first, False).limit(literal_column("1")).offset(bindparam("skipped"))


@lru_cache(maxsize=1024)
def _lane_ends(
    names: frozenset[str], lanes: tuple[LaneShape, ...], cursor: bool, oldest_first: bool
) -> Select[Any] | CompoundSelect[Any]:
    parts = [_lane_end(names, lane, cursor, oldest_first) for lane in lanes]
    return parts[0] if len(parts) == 1 else union_all(*(select(part.subquery()) for part in parts))


def _ordered(query: Select[Any], cursor: bool, oldest_first: bool, end: bool) -> Select[Any]:
    if cursor:
        query = query.where(run.c.id > bindparam("cursor") if oldest_first else run.c.id < bindparam("cursor"))
    if end:
        query = query.where(run.c.id <= bindparam("end") if oldest_first else run.c.id >= bindparam("end"))
    return query.order_by(run.c.id if oldest_first else run.c.id.desc())


def _in_lane(lane: LaneShape) -> list[ColumnElement[bool]]:
    kind, value = lane
    if kind == "troubled":
        return [run.c.status == bindparam(value), _TROUBLED]
    if kind == "open":
        return [IsOpen(run.c.ended_at), run.c.stage.is_(None) if value is None else run.c.stage == bindparam(value)]
    return []


def _in_range(names: frozenset[str] | Sequence[str]) -> list[ColumnElement[bool]]:
    found = []
    if "first" in names:
        found.append(run.c.id >= bindparam("first"))
    if "last" in names:
        found.append(run.c.id < bindparam("last"))
    return found


#: The exact condition of the index; written differently, the index is not used.
_TROUBLED: Final = run.c.status.not_in([literal_column("'running'"), literal_column("'completed'")])


def _word(value: str) -> ColumnElement[Any]:
    return literal_column(f"'{value}'")


#: The stage of an open run: `stage_kind` as SQL.
STAGE: Final = case(
    (
        run.c.status == _word(Status.PAUSED),
        case(
            (
                and_(
                    run.c.owner.is_(None),
                    run.c.stage == _word(StageKind.UNCERTAIN),
                    run.c.stage_epoch == run.c.epoch,
                ),
                _word(StageKind.UNCERTAIN),
            ),
            else_=_word(StageKind.PAUSED),
        ),
    ),
    (run.c.owner.is_not(None), _word(StageKind.RUNNING)),
    (run.c.wake_at <= bindparam("now"), _word(StageKind.QUEUED)),
    (run.c.status == _word(Status.PENDING), _word(StageKind.DELAYED)),
    (
        and_(run.c.stage_epoch == run.c.epoch, run.c.stage.in_([_word(kind) for kind in (*PARKED, StageKind.QUEUED)])),
        run.c.stage,
    ),
    (run.c.wake_at.is_(None), _word(StageKind.WAITING)),
    else_=_word(StageKind.SLEEPING),
)


def _conditions(shape: Shape, lane: LaneShape) -> list[ColumnElement[bool]]:
    names, statuses, is_troubled, stages, labels, owned = shape
    tenant = Unindexed(run.c.tenant) if {"origin", "parent", "ids"}.intersection(names) else run.c.tenant
    conditions = [tenant == bindparam("tenant")]
    conditions += [run.c[name] == bindparam(name) for name in _EQUAL if name in names]
    if statuses and (lane[0] != "troubled" or stages):  # else the lane has one of them
        conditions.append(run.c.status.in_([bindparam(f"status_{index}") for index in range(statuses)]))
        if is_troubled and lane[0] != "troubled":
            conditions.append(_TROUBLED)
    if stages:
        conditions.append(IsOpen(run.c.ended_at))
        conditions.append(STAGE.in_([bindparam(f"stage_{index}") for index in range(stages)]))
    if "ids" in names:
        conditions.append(InList(run.c.id, "ids", ids=True))
    if owned is not None:
        conditions.append(run.c.owner.is_not(None) if owned else run.c.owner.is_(None))
    if "without" in names:
        conditions.append(run.c.trigger != bindparam("without"))
    if "started_after" in names:
        conditions.append(run.c.started_at >= bindparam("started_after"))
    if "started_before" in names:
        conditions.append(run.c.started_at < bindparam("started_before"))
    if "ended_after" in names:
        conditions.append(run.c.ended_at >= bindparam("ended_after"))
    conditions += _in_range(names)
    conditions += [HasLabel(run.c.labels, f"label_{index}", f"label_value_{index}") for index in range(labels)]
    if "error" in names:
        conditions.append(Contains(run.c.error, "error"))
    if "text" in names:
        conditions.append(_has_text(with_id="id_end" in names))
    return conditions


def _has_text(*, with_id: bool) -> ColumnElement[bool]:
    named = select(workflow.c.id).where(workflow.c.tenant == bindparam("tenant"), Contains(workflow.c.name, "text"))
    places: list[ColumnElement[bool]] = [
        Contains(column, "text") for column in (run.c.hero_id, run.c.error, run.c.request_id, run.c.stage_step)
    ]
    places += [HasLabelValue(run.c.labels, "text"), run.c.workflow.in_(named)]
    if with_id:
        places.append(IdEnds(run.c.id, "id_end"))
    return or_(*places)


# What lists count.


def _newest_open() -> Select[Any]:
    """Return the ids of the newest open runs, by the index of open runs alone."""
    parts = [
        select(run.c.id)
        .where(
            run.c.tenant == bindparam("tenant"),
            IsOpen(run.c.ended_at),
            run.c.stage.is_(None) if stage is None else run.c.stage == _word(stage),
        )
        .order_by(run.c.id.desc())
        .limit(bindparam("limit"))
        .subquery()
        for stage in STAGES
    ]
    every = union_all(*map(select, parts)).subquery()
    return select(every.c.id).order_by(every.c.id.desc()).limit(bindparam("limit"))


_OPEN: Final = _newest_open().subquery("newest")
COUNT_OPEN: Final = (
    select(run.c.workflow, run.c.version, func.count())
    .select_from(_OPEN.join(run, run.c.id == _OPEN.c.id))
    .where(Unindexed(run.c.trigger) != _word(MAP))
    .group_by(run.c.workflow, run.c.version)
)
WORKFLOW_NAMES: Final = select(workflow.c.id, workflow.c.name).where(
    Unindexed(workflow.c.tenant) == bindparam("tenant"), InList(workflow.c.id, "ids", ids=True)
)

_FAILED: Final = ("failed", "timeout", "template_error")
PROGRESS: Final = (
    select(
        journal.c.run,
        func.count(journal.c.step.distinct()),
        func.count(
            case(
                (
                    journal.c.outcome.in_([_word(word) for word in ("failed", "timeout", "template_error")]),
                    journal.c.step,
                )
            ).distinct()
        ),
    )
    .where(
        Unindexed(journal.c.tenant) == bindparam("tenant"),
        InList(journal.c.run, "runs", ids=True),
        journal.c.kind.in_([_word("ended"), _word("checkpoint")]),
        journal.c.outcome.is_not(None),
    )
    .group_by(journal.c.run)
)
FAILED_SINCE: Final = select(func.count()).select_from(
    select(run.c.id)
    .where(
        Unindexed(run.c.tenant) == bindparam("tenant"),
        run.c.status == bindparam("status"),
        run.c.ended_at.is_not(None),
        run.c.ended_at >= bindparam("since"),
    )
    .limit(bindparam("limit"))
    .subquery()
)
#: The queues and priorities that have unowned runs, one after the other.
NEXT_DUE_LANE: Final = (
    select(run.c.queue, run.c.priority)
    .where(
        run.c.owner.is_(None),
        run.c.ended_at.is_(None),
        tuple_(run.c.queue, run.c.priority) > tuple_(bindparam("queue"), bindparam("priority")),
    )
    .order_by(run.c.queue, run.c.priority)
    .limit(literal_column("1"))
)
LATE: Final = (
    select(run.c.id)
    .where(
        run.c.owner.is_(None),
        run.c.ended_at.is_(None),
        run.c.queue == bindparam("queue"),
        run.c.priority == bindparam("priority"),
        run.c.wake_at <= bindparam("before"),
        Unindexed(run.c.tenant) == bindparam("tenant"),
    )
    .limit(bindparam("limit"))
)
NEXT_OWNER: Final = (
    select(run.c.owner)
    .where(run.c.owner.is_not(None), run.c.owner > bindparam("owner"))
    .order_by(run.c.owner)
    .limit(literal_column("1"))
)
OWNED_BY: Final = (
    select(run.c.id)
    .where(
        run.c.owner == bindparam("owner"),
        run.c.ended_at.is_(None),
        Unindexed(run.c.tenant) == bindparam("tenant"),
    )
    .limit(bindparam("limit"))
)


class CountInRanges(ClauseElement):
    """The number of runs in each range of ids, with the place of the range from 1. `lows` and `highs` are lists."""

    inherit_cache = False

    def __init__(self, conditions: Sequence[ColumnElement[bool]]) -> None:
        self.conditions = and_(run.c.tenant == bindparam("tenant"), *conditions)
        self.lows: BindParameter[Any] = bindparam("lows")
        self.highs: BindParameter[Any] = bindparam("highs")


@lru_cache(maxsize=64)
def _count_in_ranges(workflow: bool, status: bool, is_open: bool, stage: bool, pages: bool) -> CountInRanges:
    conditions: list[ColumnElement[bool]] = []
    if pages:
        conditions.append(run.c.trigger == _word(MAP))
    if workflow:  # the index of what is rare is better than that of the workflow
        column = Unindexed(run.c.workflow) if pages or status or is_open else run.c.workflow
        conditions.append(column == bindparam("workflow"))
    if status:
        conditions += [run.c.status == bindparam("status"), _TROUBLED]
    if is_open:
        conditions.append(IsOpen(run.c.ended_at))
        conditions.append(run.c.stage == bindparam("stage") if stage else run.c.stage.is_(None))
    return CountInRanges(conditions)


def count_in_range(what: Range) -> Select[Any]:
    """Return the statement that counts these runs in one range, [low, high)."""
    counted = count_in_ranges(what)
    return (
        select(func.count())
        .select_from(run)
        .where(counted.conditions, run.c.id >= bindparam("low"), run.c.id < bindparam("high"))
    )


def count_in_ranges(what: Range) -> CountInRanges:
    """Return the statement that counts these runs."""
    return _count_in_ranges(
        what.workflow is not None, what.status is not None, what.is_open, what.stage is not None, what.pages
    )


@compiles(CountInRanges, "postgresql")
def _ranges_postgres(element: CountInRanges, compiler: SQLCompiler, **given: Any) -> str:
    conditions, lows, highs = (
        compiler.process(part, **given) for part in (element.conditions, element.lows, element.highs)
    )
    return (
        f"select given.place, (select count(*) from run where {conditions} and run.id >= given.low"
        f" and run.id < given.high) from unnest({lows}::uuid[], {highs}::uuid[]) with ordinality"
        " as given(low, high, place)"
    )


@compiles(CountInRanges, "sqlite")
def _ranges_sqlite(element: CountInRanges, compiler: SQLCompiler, **given: Any) -> str:
    lows, highs, conditions = (
        compiler.process(part, **given) for part in (element.lows, element.highs, element.conditions)
    )
    return (
        f"with recursive given (place, lows, highs) as (select 1, {lows}, {highs} union all"
        " select place + 1, lows, highs from given where place * 16 < length(lows))"
        f" select place, (select count(*) from run where {conditions} and run.id >= substr(lows, place * 16 - 15, 16)"
        " and run.id < substr(highs, place * 16 - 15, 16)) from given"
    )


_HERO_TYPE: Final = Bytewise(run.c.hero_type)
_HERO_ID: Final = Bytewise(run.c.hero_id)
NEXT_HERO_TYPE: Final = (
    select(_HERO_TYPE)
    .where(run.c.tenant == bindparam("tenant"), run.c.hero_type.is_not(None), bindparam("type") < _HERO_TYPE)
    .order_by(_HERO_TYPE)
    .limit(literal_column("1"))
)


@lru_cache(maxsize=8)
def heroes(*, prefix: bool, after: bool) -> Select[Any]:
    """Return the heroes of a type by id, from a prefix on, each with the number of its runs and the newest of them."""
    columns: tuple[Any, ...] = (_HERO_ID, func.count(), NewestId(run.c.id))
    query = select(*columns).where(
        run.c.tenant == bindparam("tenant"), run.c.hero_type.is_not(None), bindparam("type") == _HERO_TYPE
    )
    if prefix:
        query = query.where(bindparam("prefix") <= _HERO_ID)
    if after:
        query = query.where(bindparam("after") < _HERO_ID)
    return query.group_by(_HERO_ID).order_by(_HERO_ID).limit(bindparam("limit"))


@lru_cache(maxsize=2)
def find_workflows(*, text: bool) -> Select[Any]:
    """Return workflows by name, without their definitions."""
    query = select(workflow.c.id, workflow.c.name, workflow.c.title).where(
        workflow.c.tenant == bindparam("tenant"), workflow.c.deleted_at.is_(None), workflow.c.name > bindparam("after")
    )
    if text:
        query = query.where(or_(Contains(workflow.c.name, "text"), Contains(workflow.c.title, "text")))
    return query.order_by(workflow.c.name).limit(bindparam("limit"))


def values_of(where: RunCriteria, lanes: Sequence[Lane], tenant: int, **more: object) -> Values:
    """Return the arguments of a statement about these lanes of a filter."""
    named = {f"lane_{index}": str(lane.value) for index, lane in enumerate(lanes) if lane.value is not None}
    return {**filter_values(where), **named, "tenant": tenant, **more}
