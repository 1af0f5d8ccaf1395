"""What is asked for again and again is found by an index, however much lies beside it."""

import json
import re
import sqlite3
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import ClauseElement

from detent.ids import new_id
from detent.store.rows import NO_ID, Flush, MessageKind, RunCriteria, SavedVersion, StartCheck
from detent.store.sql import run_statements, statements, workflow_statements
from detent.store.sql.compiler import compiled
from detent.store.sql.postgres.connection import DIALECT as POSTGRES
from detent.store.sql.postgres.connection import Address, Connection, connect
from detent.store.sql.postgres.flush import CHECKED_USUAL, usual_columns
from detent.store.sql.postgres.maintenance import ORPHANS, PRUNE
from detent.store.sql.postgres.node import OWN_MAIL
from detent.store.sql.postgres.store import PostgresStore
from detent.store.sql.sqlite.connection import DIALECT as SQLITE
from detent.store.sql.sqlite.maintenance import ORPHANS as SQLITE_ORPHANS
from detent.store.sql.sqlite.maintenance import WINDOW as SQLITE_WINDOW
from detent.store.sql.sqlite.node import CLAIM, FLUSH, _mail
from detent.store.sql.sqlite.store import SqliteStore
from detent.store.sql.verbs import WINDOW
from tests.store.make import HOUR, WORKFLOW, Node, end, entries, start, version
from tests.store.sessions import session
from tests.store.test_postgres import scans

MANY_TRIGGERS = """
insert into trigger (id, tenant, workflow, kind, enabled, config, next_at, owned, created_at, updated_at)
select gen_random_uuid(), 1, $1, 'cron', g % 3 > 0, '{}', now() + interval '1 day' + g * interval '1 s', false, now(),
       now() from generate_series(1, 100000) g"""
A_DUE_TRIGGER = """
insert into trigger (id, tenant, workflow, kind, enabled, config, next_at, owned, created_at, updated_at)
values ($1, 1, $2, 'cron', true, '{}', now() - interval '1 s', false, now(), now())"""
MANY_FIRINGS = """
insert into firing (id, tenant, trigger, workflow, kind, state, due_at, slot, at)
select gen_random_uuid(), 1, $1, $2, 'cron', case g % 2 when 0 then 'due' else 'started' end,
       now() + case g % 2 when 0 then interval '1 day' else interval '-1 day' end, now() + g * interval '1 s', now()
from generate_series(1, 100000) g"""
A_DUE_FIRING = """
insert into firing (id, tenant, trigger, workflow, kind, state, due_at, at)
values ($1, 1, $2, $3, 'cron', 'due', now() - interval '1 s', now())"""
MANY_RUNS = """
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, started_at, ended_at,
                 fired_by)
select gen_random_uuid(), 1, $1, 1, 'completed', 'cron', '{}', 1, 'a', 0, now(), now(), $2
from generate_series(1, 20000) g"""

WINDOW_NAMES = ("status", "before", "ended_at", "id", "size")
ALL_AT_ONCE = [
    statements.OTHERS_STARTING,
    statements.OTHERS_DUE,
    statements.OTHERS_QUEUED,
    statements.OPEN_RUNS,
]
TROUBLED = run_statements.runs(RunCriteria(statuses=("failed",)), cursor=False, oldest_first=False)
EVERY_RUN = run_statements.runs(RunCriteria(), cursor=False, oldest_first=False)
HEROES = run_statements.runs(RunCriteria(hero_type="h", hero_id="1"), cursor=False, oldest_first=False)


async def touched(connection: Connection, clause: ClauseElement, values: dict[str, Any]) -> tuple[int, set[str]]:
    """How many rows a statement looked at, and the ways it went."""
    statement = compiled(clause, POSTGRES)
    text = await connection.fetchval(f"explain (analyze, format json) {statement.text}", *statement.arguments(values))
    found = scans(json.loads(text)[0]["Plan"])
    return int(sum(rows for _, rows in found)), {kind for kind, _ in found}


@pytest.mark.slow
@pytest.mark.parametrize("analyzed", [False, True])
async def test_e9_what_is_due_is_found_beside_a_hundred_thousand_that_are_not(
    postgres_store: PostgresStore, postgres_database: str, analyzed: bool
) -> None:
    saved = await postgres_store.save_workflow(version(), replace=False)
    assert isinstance(saved, SavedVersion)
    busy, due = new_id(), new_id()
    async with session(postgres_database) as connection:
        await connection.execute("set statement_timeout = 0")  # filling the tables is not what is tested
        await connection.execute(MANY_TRIGGERS, saved.id)
        await connection.execute(A_DUE_TRIGGER, busy, saved.id)
        await connection.execute(MANY_FIRINGS, busy, saved.id)
        await connection.execute(A_DUE_FIRING, due, busy, saved.id)
        await connection.execute(MANY_RUNS, saved.id, busy)
        if analyzed:
            await connection.execute("analyze")
        now = await postgres_store.now()
        for clause in (statements.DUE_TRIGGERS, statements.DUE_FIRINGS):
            rows, ways = await touched(connection, clause, {"now": now, "limit": 100})
            assert rows < 20, (clause, rows, ways)
        asked = {"trigger": busy, "firing": due, "due_at": now, "now": now, "limit": 10}
        for clause in ALL_AT_ONCE:
            rows, _ = await touched(connection, clause, asked)
            assert rows <= 20, (clause, rows)
        rows, _ = await touched(connection, TROUBLED, {"tenant": 1, "status_0": "failed", "limit": 100})
        assert rows < 20, rows
    assert [row.id for row in await postgres_store.due_triggers(limit=9)] == [busy]
    assert [row.id for row in await postgres_store.due_firings(limit=9)] == [due]


@pytest.mark.slow
async def test_the_mail_of_own_runs_is_found_beside_thousands_of_messages_that_were_sent_at_once(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    mine, others = [start(owned=True) for _ in range(100)], [start() for _ in range(5_000)]
    await node.flush(starts=[*others, *mine])
    looking = await connect(Address.parse(postgres_database).for_lookups())
    try:
        sent = await postgres_store.send_many(1, [run.id for run in others], MessageKind.MOVE, b"{}")
        sent |= await postgres_store.send_many(1, [run.id for run in mine], MessageKind.MOVE, b"{}")
        assert len(sent) == 5_100
        await looking.execute(f"prepare mail (uuid, int) as {OWN_MAIL}")
        asked = f"explain (analyze, format json) execute mail ('{UUID(bytes=node.id)}', 500)"
        rows = sum(rows for _, rows in scans(json.loads(await looking.fetchval(asked))[0]["Plan"]))
    finally:
        await looking.close()
    assert rows < 1_000, rows
    assert {one.run for one in await postgres_store.mail(node.id, limit=200)} == {run.id for run in mine}


@pytest.mark.slow
async def test_the_newest_runs_of_a_tenant_are_found_beside_newer_ones_of_another(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    async with session(postgres_database) as connection:
        await connection.execute("set statement_timeout = 0")  # filling the tables is not what is tested
        await connection.execute(MANY_RUNS, new_id(), new_id())
        await connection.execute("update run set tenant = 2 where id in (select id from run order by id limit 3000)")
        await connection.execute("vacuum analyze run")
        rows, ways = await touched(connection, EVERY_RUN, {"tenant": 2, "limit": 10})
        assert rows < 30, (rows, ways)


@pytest.mark.slow
async def test_a_checked_flush_does_not_walk_through_runs_or_workflows(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    node = await Node.register(postgres_store)
    saved = await postgres_store.save_workflow(version(), replace=False)
    assert isinstance(saved, SavedVersion)
    async with session(postgres_database) as connection:
        await connection.execute("set statement_timeout = 0")  # filling the tables is not what is tested
        await connection.execute(MANY_RUNS, saved.id, new_id())
        await connection.execute(
            """insert into workflow (id, tenant, name, form, status, enabled, version, trigger, created_at, updated_at)
               select gen_random_uuid(), 1, g::text, 'steps', 'active', true, 1, '{}', now(), now()
               from generate_series(1, 5000) g"""
        )
    looking = await connect(Address.parse(postgres_database).for_lookups())
    checks = (StartCheck.CURRENT, StartCheck.CURRENT, StartCheck.CURRENT, StartCheck.STARTABLE, StartCheck.STORED)
    runs = [
        start(owned=True, workflow=saved.id, check=check, request_id=f"r{number}")
        for number, check in enumerate(checks)
    ]
    flush = Flush(starts=runs, entries=[found for run in runs for found in entries(run.id, 2)], ends=[end(new_id())])
    try:
        for again in (False, True):
            text = await looking.fetchval(
                f"explain (analyze, format json) {CHECKED_USUAL[again]}",
                node.id, 1, *usual_columns(flush, checked=True),
            )  # fmt: skip
            found = scans(json.loads(text)[0]["Plan"])
            assert sum(rows for _, rows in found) < 60, found
    finally:
        await looking.close()


FAMILIES = """
insert into run (id, tenant, workflow, version, status, trigger, input, epoch, queue, priority, started_at, ended_at,
                 parent)
select gen_random_uuid(), 1, $1, 1, $2, 'api', '{}', 1, 'a', 0, now(),
       now() - $3 * interval '1 h' - g * interval '1 ms', $4
from generate_series(1, 20000) g"""


@pytest.mark.slow
@pytest.mark.parametrize("analyzed", [False, True])
async def test_orphans_and_spared_runs_are_found_beside_many_others(
    postgres_store: PostgresStore, postgres_database: str, analyzed: bool
) -> None:
    node = await Node.register(postgres_store)
    parent, failed = await node.started(), await node.started()
    orphan = await node.started(parent=failed)
    now = await postgres_store.now()
    await node.flush(ends=[end(failed, status="failed", ended_at=now)])
    async with session(postgres_database) as connection:
        await connection.execute("set statement_timeout = 0")  # filling the tables is not what is tested
        # Nothing analyzes the table while it is filled: statistics of half a table are neither of the two cases.
        await connection.execute("alter table run set (autovacuum_enabled = false)")
        await connection.execute(FAMILIES, WORKFLOW, "completed", 9, parent)  # children of an open run
        await connection.execute(FAMILIES, WORKFLOW, "failed", 9, None)  # of long ago
        await connection.execute(FAMILIES, WORKFLOW, "running", None, parent)
        if analyzed:
            await connection.execute("analyze")
        await connection.execute("alter table run reset (autovacuum_enabled)")
        for sql, arguments, most in (
            (ORPHANS, (now - HOUR // 60, NO_ID, 500), 20),
            (PRUNE, ("completed", now, 0, NO_ID, 100, []), 500),
            (PRUNE, ("failed", now - 10 * HOUR, 0, NO_ID, 100, []), 20),
        ):
            looking = await connect(Address.parse(postgres_database).for_lookups())
            try:
                text = await looking.fetchval(f"explain (analyze, format json) {sql}", *arguments)
            finally:
                await looking.close()
            found = scans(json.loads(text)[0]["Plan"])
            assert sum(rows for _, rows in found) <= most, (sql, found)
    assert [one.run for one in await postgres_store.orphans(since=now, after=NO_ID, limit=9)] == [orphan]


@pytest.mark.slow
async def test_a_workflow_is_found_beside_many_with_its_version_and_its_draft(
    postgres_store: PostgresStore, postgres_database: str
) -> None:
    saved = await postgres_store.save_workflow(version(), replace=False)
    assert isinstance(saved, SavedVersion)
    async with session(postgres_database) as connection:
        await connection.execute(
            """insert into workflow (id, tenant, name, form, status, enabled, version, trigger, created_at, updated_at)
               select gen_random_uuid(), 1, g::text, 'steps', 'active', true, 1, '{}', now(), now()
               from generate_series(1, 5000) g"""
        )
        await connection.execute(
            """insert into workflow_version (workflow, version, tenant, source, graph, checksum, language, created_at)
               select id, 1, 1, '', '', 'c', 1, now() from workflow where name <> 'orders'"""
        )
        await connection.execute(
            """insert into draft (workflow, tenant, source, form, revision, problems, author, updated_at)
               select id, 1, '', 'steps', 1, '[]', 'a', now() from workflow where name <> 'orders'"""
        )
        await connection.execute("analyze")
        asked = {"tenant": 1, "key": "orders"}
        rows, ways = await touched(connection, workflow_statements.BY_NAME, asked)
        assert rows <= 3, (rows, ways)
        rows, ways = await touched(connection, workflow_statements.BY_ID, {**asked, "key": saved.id})
        assert rows <= 3, (rows, ways)
        values = {"id": saved.id, "checksum": "c1"}
        for clause in (workflow_statements.SAME_TEXT, workflow_statements.GREATEST):
            rows, ways = await touched(connection, clause, values)
            assert rows <= 3, (rows, ways)


def way(db: sqlite3.Connection, clause: ClauseElement) -> str:
    """How SQLite goes about a statement."""
    statement = compiled(clause, SQLITE)
    rows = db.execute(f"explain query plan {statement.text}", [None] * len(statement.names)).fetchall()
    return "\n".join(str(row[3]) for row in rows)


async def test_sqlite_writes_the_json_of_each_row_of_a_flush_once_and_not_for_each_of_its_columns(
    sqlite_store: SqliteStore,
) -> None:
    def count(db: sqlite3.Connection) -> int:
        """How often the machine of SQLite asks for a `value` of json_each."""
        return sum(row[1] == "VColumn" for row in db.execute(f"explain {FLUSH}", [None] * FLUSH.count("?")))

    assert await sqlite_store.access.write(count) <= 16  # of 12 lists; the columns are more than a hundred


MUCH_MAIL = """
with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < :count)
insert into run (id, tenant, workflow, version, status, "trigger", input, epoch, queue, priority, started_at, owner)
select cast(printf('%08d%08d', :salt, n) as blob), 1, x'00', 1, 'running', 'api', '{}', 1, 'elsewhere', 0, 1, :owner
from numbers"""
MAIL_FOR_ALL = """
insert into inbox (tenant, run, kind, data, at) select 1, id, 'signal', '{}', 1 from run where queue = 'elsewhere'"""


async def test_sqlite_polls_do_not_read_the_mail_of_runs_that_are_not_for_this_node(sqlite_store: SqliteStore) -> None:
    node, other = await Node.register(sqlite_store), await Node.register(sqlite_store)
    mine, free = await node.started(), start(wake_at=None)
    await node.flush(starts=[free])
    asked = {
        "node": node.id, "epoch": 1, "limit": 50, "queues": '["default"]', "serves": "[]", "until": 0,
        "after": bytes(16), "window": WINDOW, "favoured": 1,
    }  # fmt: skip

    def steps(db: sqlite3.Connection) -> list[int]:
        """How many steps of its machine SQLite takes for a claim and a look at the mail."""
        counted = []
        for look in (lambda: db.execute(CLAIM, asked).fetchall(), lambda: _mail(db, node.id, 50)):
            taken = [0]
            db.set_progress_handler(lambda: taken.__setitem__(0, taken[0] + 1), 100)  # noqa: B023
            look()
            db.set_progress_handler(None, 0)
            counted.append(taken[0])
        return counted

    def fill(db: sqlite3.Connection, salt: int, count: int) -> None:
        for number, owner in enumerate((other.id, None)):
            db.execute(MUCH_MAIL, {"salt": 2 * salt + number, "count": count, "owner": owner})
        db.execute("delete from inbox")
        db.execute(MAIL_FOR_ALL)

    await sqlite_store.access.write(lambda db: fill(db, 0, 1_000))
    before = await sqlite_store.access.write(steps)
    await sqlite_store.access.write(lambda db: fill(db, 1, 20_000))
    after = await sqlite_store.access.write(steps)
    assert all(now < 2 * was for was, now in zip(before, after, strict=True)), (before, after)
    for run in (mine, free.id):
        await sqlite_store.send(1, run, MessageKind.SIGNAL, b"{}")
    assert [mail.run for mail in await sqlite_store.mail(node.id, limit=9)] == [mine]
    assert [run.id for run in await node.claim(limit=9, queues=["default"])] == [free.id]


async def test_sqlite_finds_what_is_due_by_an_index(sqlite_store: SqliteStore, tmp_path: Path) -> None:
    expected = {
        "trigger_due": statements.DUE_TRIGGERS,
        "firing_due": statements.DUE_FIRINGS,
        "trigger_key": statements.LISTENERS,
        "firing_open": statements.OTHERS_STARTING,
        "run_fired": statements.OPEN_RUNS,
        "firing_settled": statements.OLD_FIRINGS,
        "run_tenant": EVERY_RUN,
        "run_troubled": TROUBLED,
        "run_hero": HEROES,
        "run_origin": run_statements.runs(RunCriteria(origin=new_id()), cursor=False, oldest_first=False),
        "run_parent": run_statements.runs(RunCriteria(parent=new_id()), cursor=False, oldest_first=False),
        "run_request": run_statements.count_runs(RunCriteria(request_id="r")),
    }
    db = sqlite3.connect(tmp_path / "detent.db")
    try:
        for index, clause in expected.items():
            plan = way(db, clause)
            assert re.search(rf"INDEX {index}\b", plan), (index, plan)
        for text, given in ((SQLITE_ORPHANS, [0, NO_ID, 1]), (SQLITE_WINDOW, dict.fromkeys(WINDOW_NAMES, 0))):
            rows = db.execute(f"explain query plan {text}", given).fetchall()
            assert not any(str(row[3]).startswith("SCAN") for row in rows), rows
    finally:
        db.close()
