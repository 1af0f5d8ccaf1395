"""What is asked for again and again is found by an index of MariaDB, however much lies beside it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import ClauseElement

from detent.ids import new_id
from detent.store.rows import NO_ID, MessageKind, RunCriteria
from detent.store.sql import run_statements, statements
from detent.store.sql.mysql.connection import Wire
from detent.store.sql.mysql.flush import blob
from detent.store.sql.mysql.maintenance import OLD, ORPHANS
from detent.store.sql.mysql.statements import spoken
from detent.store.sql.mysql.store import MysqlStore
from detent.store.sql.verbs import WINDOW
from tests.store.make import NOON, WORKFLOW, Node, end, start
from tests.store.wires import wire

pytestmark = pytest.mark.slow

#: In every lane, one after the other: sleeping, owned by a living node, ended.
MANY_RUNS = """
insert into run (id, tenant, workflow, version, status, "trigger", input, owner, epoch, wake_at, queue, priority,
                 started_at, ended_at, fired_by)
select unhex(md5(concat(seq, {salt}))), 1, {workflow}, 1, {status}, 'api', '{{}}', {owner}, 1, {wake_at},
       if(seq % 2, 'default', 'other'), seq % 3, seq, {ended_at}, {fired_by} from seq_1_to_{count}"""
MANY_FIRINGS = """
insert into firing (id, tenant, "trigger", workflow, kind, state, due_at, slot, at)
select unhex(md5(seq)), 1, {trigger}, {workflow}, 'cron', if(seq % 2, 'due', 'started'),
       if(seq % 2, 4000000000000000, 1), seq, seq from seq_1_to_10000"""
MANY_TRIGGERS = """
insert into "trigger" (id, tenant, workflow, kind, enabled, config, next_at, owned, created_at, updated_at, deleted_at)
select unhex(md5(seq)), 1, {workflow}, 'cron', 1, '{{}}', if(seq % 2, 4000000000000000, 1), 0, 1, 1,
       if(seq % 2, null, 1) from seq_1_to_10000"""
FAR = 4_000_000_000_000_000
READS = "show session status like 'Handler_read%'"


async def rows_read(connection: Wire, work: Callable[[], Awaitable[Any]]) -> int:
    """How many rows the server touched for it."""
    await connection.send("flush local status")
    await work()
    [found] = await connection.send(READS)
    return sum(int(count) for _, count in found.rows)


async def _fill(connection: Wire, living: bytes) -> None:
    await connection.send("set session max_statement_time = 0")
    for salt, facts in enumerate(
        (
            {"status": "'running'", "owner": "null", "wake_at": FAR, "ended_at": "null", "count": 50_000},
            {"status": "'running'", "owner": blob(living), "wake_at": "null", "ended_at": "null", "count": 10_000},
            {"status": "'completed'", "owner": "null", "wake_at": "null", "ended_at": 5, "count": 10_000},
        )
    ):
        await connection.send(MANY_RUNS.format(salt=salt, workflow=blob(WORKFLOW), fired_by="null", **facts))


@pytest.mark.case("E9")
async def test_e9_a_claim_touches_a_few_rows_beside_fifty_thousand_that_sleep(
    mariadb_store: MysqlStore, mariadb_database: str
) -> None:
    node = await Node.register(mariadb_store)
    async with wire(mariadb_database) as connection:
        await _fill(connection, node.id)
    due = [start(queue=queue, priority=priority) for queue in ("default", "other") for priority in (0, 1, 2)]
    gone = await Node.register(mariadb_store)
    orphan = await gone.started()
    await node.flush(starts=due)
    await mariadb_store.retire(gone.id)

    claimed: list[bytes] = []

    async def claim() -> None:
        claimed.extend(run.id for run in await node.claim(limit=50))

    assert await rows_touched(mariadb_store, claim) < 200
    assert sorted(claimed) == sorted([orphan, *(run.id for run in due)])
    idle = await rows_touched(mariadb_store, claim)
    assert idle < 60, "when there is nothing to claim, a few hops along the index"


async def rows_touched(store: MysqlStore, work: Callable[[], Awaitable[Any]]) -> int:
    """How many rows the server touched for what the store does on the connection of its claims."""

    async def forget(claims: Wire) -> int:
        await claims.send("flush local status")
        return 0

    async def count(claims: Wire) -> int:
        [found] = await claims.send(READS)
        return sum(int(number) for _, number in found.rows)

    link = store.access.claims
    await link.call(forget)
    await work()
    return await link.call(count)


MAIL_FOR_ALL = """
insert into inbox (tenant, run, kind, data, at) select 1, id, 'signal', '{}', 1 from run where wake_at is null"""


@pytest.mark.parametrize("analyzed", [False, True])
async def test_polls_do_not_read_the_mail_of_runs_that_are_not_for_this_node(
    mariadb_store: MysqlStore, mariadb_database: str, analyzed: bool
) -> None:
    node, busy = await Node.register(mariadb_store), await Node.register(mariadb_store)
    async with wire(mariadb_database) as connection:
        await connection.send("set session max_statement_time = 0")
        facts = {"status": "'running'", "wake_at": "null", "ended_at": "null", "count": 10_000, "fired_by": "null"}
        for salt, owner in enumerate((blob(busy.id), "null")):
            await connection.send(MANY_RUNS.format(salt=salt, owner=owner, workflow=blob(WORKFLOW), **facts))
        await connection.send(MAIL_FOR_ALL)
        if analyzed:
            await connection.send("analyze table run, inbox")
    mine, free = await node.started(queue="mine"), start(wake_at=None, queue="mine")
    await node.flush(starts=[free])
    for run in (mine, free.id):
        await mariadb_store.send(1, run, MessageKind.SIGNAL, b"{}")
    found: list[bytes] = []

    async def claim() -> None:
        found.extend(run.id for run in await node.claim(limit=50, queues=["mine"]))

    async def look() -> None:
        found.extend(mail.run for mail in await mariadb_store.mail(node.id, limit=50))

    assert await rows_touched(mariadb_store, look) < 12 * WINDOW
    assert await rows_touched(mariadb_store, claim) < 12 * WINDOW
    assert found == [mine, free.id]


@pytest.mark.parametrize("analyzed", [False, True])
async def test_what_is_due_is_found_beside_ten_thousand_that_are_not(
    mariadb_store: MysqlStore, mariadb_database: str, analyzed: bool
) -> None:
    trigger, now = new_id(), await mariadb_store.now()
    asked = {"tenant": 1, "trigger": trigger, "firing": new_id(), "now": now, "farthest": now, "limit": 10, "before": 1}
    async with wire(mariadb_database) as connection:
        await connection.send("set session max_statement_time = 0")
        await connection.send(MANY_TRIGGERS.format(workflow=blob(WORKFLOW)))
        await connection.send(MANY_FIRINGS.format(workflow=blob(WORKFLOW), trigger=blob(trigger)))
        ended = {"status": "'completed'", "owner": "null", "wake_at": "null", "ended_at": 5, "count": 10_000}
        await connection.send(MANY_RUNS.format(salt=9, workflow=blob(WORKFLOW), fired_by=blob(trigger), **ended))
        if analyzed:
            await connection.send('analyze table run, firing, "trigger"')
        for clause, most in (
            (statements.DUE_TRIGGERS, 20),
            (statements.DUE_FIRINGS, 20),
            (statements.OTHERS_STARTING, 20),
            (statements.OTHERS_QUEUED, 20),
            (statements.OTHERS_DUE, 30),
            (statements.OPEN_RUNS, 20),
            (statements.OLD_FIRINGS, 20),
            (run_statements.runs(RunCriteria(statuses=("failed",)), cursor=False, oldest_first=False), 20),
            (run_statements.runs(RunCriteria(hero_type="h", hero_id="1"), cursor=False, oldest_first=False), 20),
            (run_statements.runs(RunCriteria(request_id="r"), cursor=False, oldest_first=False), 20),
        ):
            values = {**asked, "status_0": "failed", "hero_type": "h", "hero_id": "1", "request_id": "r"}
            touched = await rows_read(connection, lambda: _ask(connection, clause, values))  # noqa: B023
            assert touched <= most, str(clause)


FAMILIES = """
insert into run (id, tenant, workflow, version, status, "trigger", input, epoch, queue, priority, started_at, ended_at,
                 parent)
select unhex(md5(concat(seq, {status}))), 1, {workflow}, 1, {status}, 'api', '{{}}', 1, 'a', 0, 1, {ended_at}, {parent}
from seq_1_to_10000"""


@pytest.mark.parametrize("analyzed", [False, True])
async def test_orphans_and_spared_runs_are_found_beside_many_others(
    mariadb_store: MysqlStore, mariadb_database: str, analyzed: bool
) -> None:
    node = await Node.register(mariadb_store)
    parent, failed = await node.started(), await node.started()
    orphan = await node.started(parent=failed)
    await node.flush(ends=[end(failed, status="failed", ended_at=NOON)])
    async with wire(mariadb_database) as connection:
        await connection.send("set session max_statement_time = 0")
        for status, ended_at, of in (
            ("'completed'", "seq", blob(parent)),  # children of an open run
            ("'failed'", "5", "null"),  # of long ago
            ("'running'", "null", blob(parent)),
        ):
            facts = {"status": status, "ended_at": ended_at, "parent": of, "workflow": blob(WORKFLOW)}
            await connection.send(FAMILIES.format(**facts))
        if analyzed:
            await connection.send("analyze table run, inbox")
        orphans = ORPHANS.format(since=NOON, after=blob(NO_ID), limit=500)
        window = OLD.format(status="'completed'", before=NOON, ended_at=0, id=blob(NO_ID), size=100)
        for sql, most in ((orphans, 20), (window, 220)):
            assert await rows_read(connection, lambda: connection.send(sql)) <= most, sql  # noqa: B023
    assert [one.run for one in await mariadb_store.orphans(since=NOON, after=NO_ID, limit=9)] == [orphan]


async def _ask(connection: Wire, clause: ClauseElement, values: dict[str, Any]) -> None:
    await connection.send(spoken(clause).filled(values))


async def test_the_newest_runs_of_a_tenant_are_found_beside_newer_ones_of_another(mariadb_database: str) -> None:
    clause = run_statements.runs(RunCriteria(), cursor=False, oldest_first=False)
    async with wire(mariadb_database) as connection:
        await connection.send("set session max_statement_time = 0")
        ended = {"status": "'completed'", "owner": "null", "wake_at": "null", "ended_at": 5, "count": 10_000}
        await connection.send(MANY_RUNS.format(salt=9, workflow=blob(WORKFLOW), fired_by="null", **ended))
        await connection.send("update run set tenant = 2 order by id limit 3000")
        await connection.send("analyze table run")
        touched = await rows_read(connection, lambda: _ask(connection, clause, {"tenant": 2, "limit": 10}))
        assert touched <= 30
