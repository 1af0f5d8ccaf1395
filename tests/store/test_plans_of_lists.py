"""Lists look at no more than they were asked to, however many runs there are: work counted, not time."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import ClauseElement

from detent.clock import SystemClock
from detent.ids import first_id, new_id
from detent.instant import SECOND
from detent.store.list_rows import Range
from detent.store.rows import RunCriteria
from detent.store.sql import run_statements, statements
from detent.store.sql.auth import audit as audit_verbs
from detent.store.sql.compiler import compiled
from detent.store.sql.postgres.connection import DIALECT as POSTGRES
from detent.store.sql.postgres.connection import Address, Connection, PostgresAccess
from detent.store.sql.postgres.store import PostgresStore
from detent.store.sql.run_statements import Lane, lane_end, lanes_of, runs, values_of
from detent.store.sql.sqlite.connection import DIALECT as SQLITE
from detent.store.sql.sqlite.store import SqliteStore
from tests.store.sessions import session
from tests.store.test_postgres import scans

FILL = """
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, hero_type, hero_id,
                 labels, started_at, ended_at, wake_at, error, stage, stage_epoch)
select gen_random_uuid(), 1, $1, 1, s.status, 'api', repeat('x', 300), 1, 'a', 0, 'order', (g / 4)::text, '{"k":"v"}',
       now(), case s.stage when '' then now() end, case s.stage when '' then null else now() + interval '1 day' end,
       case s.status when 'failed' then 'HTTP 503' end, nullif(s.stage, ''), 1
from generate_series(1, 40000) g,
     lateral (select case when g % 50 = 0 then 'failed' when g % 50 = 1 then 'running' else 'completed' end as status,
                     case when g % 50 = 1 then 'sleeping' else '' end as stage) s"""
WINDOW = 500
NEVER: dict[str, Any] = {"without": "map"}


async def rows_read(connection: Connection, clause: ClauseElement, values: Any) -> int:
    """How many rows a statement reads, planned for these arguments."""
    statement = compiled(clause, POSTGRES)
    text = await connection.fetchval(f"explain (analyze, format json) {statement.text}", *statement.arguments(values))
    return int(sum(rows for _, rows in scans(json.loads(text)[0]["Plan"])))


@pytest.mark.slow
async def test_a_search_is_planned_for_its_arguments_however_often_it_was_made(postgres_database: str) -> None:
    where = RunCriteria(text="x", **NEVER)
    clause = runs(where, [Lane("tenant")], cursor=False, oldest_first=False, what="listed")
    values = values_of(where, [Lane("tenant")], 1, limit=5)
    access = PostgresAccess(Address.parse(postgres_database), 1)
    plans = "select custom_plans, generic_plans from pg_prepared_statements where statement = $1"
    try:
        for _ in range(8):
            await access.search(clause, values)
        text = compiled(clause, POSTGRES).text
        assert [*map(tuple, await access.pool.fetch(plans, text))] == [(8, 0)], "it is kept, and planned each time"
        # The same connection for other statements, which may keep a plan.
        mode = "select current_setting('plan_cache_mode')"
        assert (await access.pool.fetch(mode))[0][0] == "auto"
        await access.search(clause, values)
        assert [*map(tuple, await access.pool.fetch(plans, text))] == [(9, 0)]
    finally:
        await access.close()


@pytest.mark.slow
async def test_a_look_reads_a_window_of_one_index(postgres_store: PostgresStore, postgres_database: str) -> None:
    del postgres_store  # it made sure that the tables are there
    workflow, middle = new_id(), bytes([0x80]) + bytes(15)
    filters = {
        "none match": RunCriteria(labels=(("k", "other"),), **NEVER),
        "by text": RunCriteria(text="nothing", **NEVER),
        "by workflow": RunCriteria(workflow=workflow, version=9),
        "troubled": RunCriteria(statuses=("failed",), error="teapot"),
        "stage": RunCriteria(stages=("sleeping",), now=SystemClock().wall() + 10**15),
        "hero": RunCriteria(hero_type="order", hero_id="7", version=9),
    }
    async with session(postgres_database) as connection:
        await connection.execute("set statement_timeout = 0")
        await connection.execute(FILL, workflow)
        await connection.execute("vacuum analyze run")
        for name, where in filters.items():
            for lane in lanes_of(where):
                asked = values_of(where, [lane], 1, cursor=middle, skipped=WINDOW - 1)
                end = lane_end(where, lane, cursor=True, oldest_first=False)
                assert await rows_read(connection, end, asked) <= WINDOW, (name, lane)
                [*found] = await connection.fetch(
                    compiled(end, POSTGRES).text, *compiled(end, POSTGRES).arguments(asked)
                )
                last = found[0][0] if found else bytes(16)
                clause = runs(where, [lane], cursor=True, oldest_first=False, end=True, what="listed")
                values = values_of(where, [lane], 1, cursor=middle, end=last, limit=50)
                assert await rows_read(connection, clause, values) <= WINDOW + 60, (name, lane)
        ranges = {"lows": [middle], "highs": [bytes([0x81]) + bytes(15)], "workflow": workflow}
        for what, most in {Range(): 400, Range(status="failed"): 20, Range(is_open=True, stage="sleeping"): 20}.items():
            asked = {"tenant": 1, "status": what.status, "stage": what.stage, **ranges}
            read = await rows_read(connection, run_statements.count_in_ranges(what), asked)
            assert read <= most, what
        for where in (RunCriteria(labels=(("k", "v"),)), RunCriteria(statuses=("failed", "timeout"), **NEVER)):
            groups = run_statements.group_runs(where, lanes_of(where), cursor=True, end=False)
            values = values_of(where, lanes_of(where), 1, cursor=middle, limit=20)
            assert await rows_read(connection, groups, values) <= 60, "each run is read once, for values and labels"
        assert await rows_read(connection, run_statements.COUNT_OPEN, {"tenant": 1, "limit": 30}) <= 200
        heroes = {"tenant": 1, "type": "order", "prefix": "77", "limit": 10}
        assert await rows_read(connection, run_statements.heroes(prefix=True, after=False), heroes) <= 60
        failed = {"tenant": 1, "status": "failed", "since": SystemClock().wall() + 3600 * SECOND, "limit": 10}
        assert await rows_read(connection, run_statements.FAILED_SINCE, failed) == 0
        await _look_as_a_small_tenant(connection, workflow)


SMALL, FEW = 2, 20
#: Rows of a small tenant, and those of a large one in other tables.
BESIDE = f"""
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, started_at, ended_at)
select gen_random_uuid(), {SMALL}, gen_random_uuid(), 1, 'completed', 'api', '', 1, 'a', 0, now(), now()
from generate_series(1, {FEW});
insert into audit (id, tenant, at, actor, via, action, kind, object, outcome)
select gen_random_uuid(), case when g > {FEW} then 1 else {SMALL} end, now(), 'key', 'key', 'run.start', 'run',
       g::text, 'done'
from generate_series(1, 20000) g;
insert into firing (id, tenant, trigger, workflow, kind, state, due_at, at)
select gen_random_uuid(), case when g > {FEW} then 1 else {SMALL} end, '00000000-0000-0000-0000-000000000001',
       '00000000-0000-0000-0000-000000000001', 'webhook', 'started', now(), now()
from generate_series(1, 20000) g"""


async def _look_as_a_small_tenant(connection: Connection, workflow: bytes) -> None:
    """Lists, counts and the audit of a small tenant do not read the rows of a large one."""
    await connection.execute(BESIDE)
    await connection.execute("vacuum analyze run, audit, firing")
    now = SystemClock().wall()
    for where in (
        RunCriteria(), RunCriteria(statuses=("completed",)), RunCriteria(statuses=("running",)),
        RunCriteria(statuses=("failed",)), RunCriteria(workflow=workflow), RunCriteria(labels=(("k", "v"),)),
        RunCriteria(text="x", **NEVER), RunCriteria(stages=("sleeping",), now=now), RunCriteria(trigger="api"),
    ):  # fmt: skip
        lanes = lanes_of(where)
        values = values_of(where, lanes, SMALL, limit=50)
        for clause in (
            runs(where, lanes, cursor=False, oldest_first=False, what="listed"),
            run_statements.count_runs(where, lanes),
            run_statements.group_runs(where, lanes, cursor=False, end=False),
        ):
            assert await rows_read(connection, clause, values) <= 3 * FEW, where
    of_audit = {"tenant": SMALL, "limit": 50}
    for given in ({}, {"actor": "nobody"}, {"outcome": "refused"}, {"after": now}, {"kind": "run", "object": "7"}):
        asked = {**of_audit, **given}
        listing = audit_verbs._listing(tuple(name for name in asked if name != "limit"))  # noqa: SLF001
        assert await rows_read(connection, listing, asked) <= FEW, given
    received = {"tenant": SMALL, "trigger": bytes(15) + b"\x01", "limit": 50}
    assert await rows_read(connection, statements.firings(before=False, state=False), received) <= FEW


def plan(path: Path, clause: ClauseElement, values: Any) -> str:
    """The way that SQLite goes."""
    statement = compiled(clause, SQLITE)
    arguments = [b"".join(value) if type(value) is list else value for value in statement.arguments(values)]
    db = sqlite3.connect(path)
    try:
        return " | ".join(row[3] for row in db.execute(f"explain query plan {statement.text}", arguments))
    finally:
        db.close()


LOOKS: dict[str, tuple[RunCriteria, str]] = {
    "tenant": (RunCriteria(text="x", **NEVER), "run_tenant (tenant=? AND id>? AND id<?)"),
    "workflow": (RunCriteria(workflow=new_id(), version=2), "run_list (tenant=? AND workflow=? AND id>? AND id<?)"),
    "hero": (
        RunCriteria(hero_type="t", hero_id="i", version=2),
        "run_hero (tenant=? AND hero_type=? AND hero_id=? AND id>? AND id<?)",
    ),
    "troubled": (
        RunCriteria(statuses=("failed",), error="e"),
        "run_troubled (tenant=? AND status=? AND id>? AND id<?)",
    ),
    "open": (RunCriteria(stages=("child",), now=1), "run_open (tenant=? AND stage=? AND id>? AND id<?)"),
}


@pytest.mark.parametrize("name", LOOKS)
async def test_sqlite_walks_along_the_index_of_each_lane(sqlite_store: SqliteStore, tmp_path: Path, name: str) -> None:
    await sqlite_store.now()
    where, index = LOOKS[name]
    for lane in lanes_of(where):
        values = values_of(where, [lane], 1, cursor=new_id(), end=new_id(), limit=5, skipped=4)
        clause = runs(where, [lane], cursor=True, oldest_first=False, end=True, what="listed")
        assert index in plan(tmp_path / "detent.db", clause, values), lane
        end = plan(tmp_path / "detent.db", lane_end(where, lane, cursor=True, oldest_first=False), values)
        assert index.split(" AND id>")[0] in end, lane
        assert "TEMP B-TREE" not in end


async def test_sqlite_counts_groups_and_open_runs_along_indexes(sqlite_store: SqliteStore, tmp_path: Path) -> None:
    await sqlite_store.now()
    path = tmp_path / "detent.db"
    for where, index in LOOKS.values():
        lanes = lanes_of(where)
        values = values_of(where, lanes, 1, cursor=new_id(), end=new_id(), limit=5)
        way = plan(path, run_statements.group_runs(where, lanes, cursor=True, end=True), values)
        assert index in way
        assert way.count("USING INDEX run_") == len(lanes), "the runs are read once, for values and labels"
    way = plan(path, run_statements.COUNT_OPEN, {"tenant": 1, "limit": 5})
    assert way.count("run_open (tenant=? AND stage=?)") == len(run_statements.STAGES)
    assert "SEARCH run USING INDEX sqlite_autoindex_run_1 (id=?)" in way


async def test_sqlite_finds_ids_ranges_heroes_and_late_runs_by_indexes(
    sqlite_store: SqliteStore, tmp_path: Path
) -> None:
    await sqlite_store.now()
    path, ids = tmp_path / "detent.db", RunCriteria(ids=(new_id(),))
    ranges = {"tenant": 1, "workflow": new_id(), "status": "failed", "stage": "child"}
    ranges |= {"lows": [first_id(0)], "highs": [new_id()]}
    few = [Lane("few")]
    wanted = {
        "autoindex_run_1 (id=?)": (runs(ids, few, cursor=False, oldest_first=False), values_of(ids, few, 1, limit=5)),
        "autoindex_run_1 (id=?) ": (statements.RUNS_AMONG, {"runs": [new_id()]}),
        "COVERING INDEX run_tenant (tenant=? AND id>?": (run_statements.count_in_ranges(Range()), ranges),
        "COVERING INDEX run_list (tenant=? AND workflow=? AND id>?": (
            run_statements.count_in_ranges(Range(new_id())),
            ranges,
        ),
        "run_troubled (tenant=? AND status=? AND id>?": (
            run_statements.count_in_ranges(Range(new_id(), status="failed")),
            ranges,
        ),
        "run_open (tenant=? AND stage=? AND id>?": (
            run_statements.count_in_ranges(Range(is_open=True, stage="child")),
            ranges,
        ),
        "run_page (tenant=? AND id>?": (run_statements.count_in_ranges(Range(new_id(), pages=True)), ranges),
        "run_hero (tenant=? AND hero_type=? AND hero_id>?": (
            run_statements.heroes(prefix=True, after=False),
            {"tenant": 1, "type": "t", "prefix": "p", "limit": 1},
        ),
        "run_hero (tenant=? AND hero_type>?": (run_statements.NEXT_HERO_TYPE, {"tenant": 1, "type": ""}),
        "run_due ((queue,priority)>(?,?))": (run_statements.NEXT_DUE_LANE, {"queue": "", "priority": 0}),
        "run_due (queue=? AND priority=? AND wake_at<?)": (
            run_statements.LATE,
            {"tenant": 1, "queue": "", "priority": 0, "before": 1, "limit": 1},
        ),
        "run_owner (owner>?)": (run_statements.NEXT_OWNER, {"owner": b""}),
        "run_ended (status=? AND ended_at>?)": (
            run_statements.FAILED_SINCE,
            {"tenant": 1, "status": "failed", "since": 1, "limit": 1},
        ),
    }
    for index, (clause, values) in wanted.items():
        assert index.strip() in plan(path, clause, values), index
