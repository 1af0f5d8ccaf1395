"""Several nodes on one PostgreSQL: who works on a run, and what becomes of it when that one is gone or seems to be."""

import asyncio
import signal
import time
from pathlib import Path

import asyncpg
import pytest

from detent.store.factory import migrate_store
from tests.chaos.cluster import PATIENCE, Node, eventually
from tests.chaos.evidence import Evidence
from tests.chaos.programs import chain
from tests.chaos.python_programs import python_programs
from tests.chaos.scene import Scene
from tests.chaos.tuning import LEASE
from tests.servers.postgres import PostgresServer

pytestmark = pytest.mark.slow

NAPS = chain("naps", *["nap"] * 6)
SLOW = chain("slow", "slow", "call", a={"url": "{{trigger.body.target}}/slow-once/1500?n={{trigger.body.n}}&step=a"})
SLOWER = chain("slower", "slow", "call", a={"url": "{{trigger.body.target}}/slow/1500?n={{trigger.body.n}}&step=a"})
[ERRANDS] = [program for program in python_programs(transactional=False) if program.name == "python_errands"]
LONGEST = "until = (select max(until) from lease)"
DOZING = chain("dozing", "sleep", "call", a={"sleep": "1s"})
STILL = chain("still", "echo", "call", a={"action": "chaos.stand_still", "with": {"ms": int(2500 * LEASE)}})


def worked(node: Node) -> int:
    """How many journal entries a node has written."""
    return int(node.ask("/facts")["counts"].get("entry.written", 0))


def adoptions(evidence: Evidence) -> list[float]:
    """When dead nodes' runs were taken, in seconds since the epoch."""
    return [entry.at / 1e6 for entries in evidence.journal.values() for entry in entries if entry.kind == "adopted"]


def execute(store: str, sql: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(store)
        await connection.execute(sql)
        await connection.close()

    asyncio.run(run())


def test_two_nodes_share_load_and_the_runs_of_a_killed_node_go_on(postgres_database: str, tmp_path: Path) -> None:
    with Scene(postgres_database, tmp_path, NAPS, options=("--slots", "6")) as scene:
        first, second = scene.node(), scene.node()
        for _ in range(50):  # more than the first one takes on
            scene.begin(first, NAPS)
        eventually(PATIENCE, lambda: worked(first) > 10 and worked(second) > 10)
        killed = time.time()
        first.end(signal.SIGKILL)
        verdict, evidence = scene.settle(second)
    assert verdict.broken == []
    assert len(evidence.runs) == 50
    assert max(adoptions(evidence)) > killed


@pytest.mark.case("A6")
def test_what_a_node_writes_after_it_was_stood_still_for_longer_than_its_lease_does_not_count(
    postgres_database: str, tmp_path: Path
) -> None:
    with Scene(postgres_database, tmp_path, SLOW) as scene:
        zombie, other = scene.node(), scene.node()
        for _ in range(5):
            scene.begin(zombie, SLOW)
        scene.await_hits(5)
        zombie.send(signal.SIGSTOP)
        scene.await_end(other)  # the other finishes everything
        zombie.send(signal.SIGCONT)
        eventually(
            PATIENCE, lambda: len(zombie.said("engine.started")) == 2
        )  # it noticed, and began anew under another id
        verdict, evidence = scene.settle(other)
    assert verdict.broken == []
    assert len(adoptions(evidence)) == 5
    assert zombie.said("engine.lost")


@pytest.mark.case("A7")
def test_a_node_that_wakes_up_before_an_effect_does_not_begin_it(postgres_database: str, tmp_path: Path) -> None:
    with Scene(postgres_database, tmp_path, DOZING) as scene:
        zombie, other = scene.node("--park-after", "10"), scene.node()
        for _ in range(5):
            scene.begin(zombie, DOZING)
        zombie.send(signal.SIGSTOP)  # while each run is about to wake and call
        scene.await_end(other)
        zombie.send(signal.SIGCONT)
        eventually(PATIENCE, lambda: len(zombie.said("engine.started")) == 2)
        verdict, evidence = scene.settle(other)
    assert verdict.broken == []
    assert len(adoptions(evidence)) == 5
    assert scene.hits() == 5


@pytest.mark.case("A6")
def test_a_node_that_does_not_know_it_was_removed_is_stopped_by_the_fence(
    postgres_database: str, tmp_path: Path
) -> None:
    with Scene(postgres_database, tmp_path, SLOWER) as scene:
        zombie = scene.node("--lease", "60")  # by its own clock it is sure for long
        other = scene.node()
        scene.begin(zombie, SLOWER)
        scene.await_hits(1)
        execute(postgres_database, f"update lease set until = now() - interval '1 second' where {LONGEST}")
        eventually(PATIENCE, lambda: zombie.said("engine.lost"))
        assert other.said("node.taken_over")
        verdict, evidence = scene.settle(other)
    assert verdict.broken == []
    assert len(adoptions(evidence)) == 1
    assert scene.hits("/slow") == 2  # what was in flight there is done here


@pytest.mark.case("A8")
def test_a_loop_that_stands_still_for_longer_than_the_lease_costs_nothing(
    postgres_database: str, tmp_path: Path
) -> None:
    with Scene(postgres_database, tmp_path, STILL) as scene:
        busy, other = scene.node(), scene.node()
        scene.begin(busy, STILL)
        scene.await_end(other)
        verdict, evidence = scene.settle(other)
    assert verdict.broken == []
    assert adoptions(evidence) == []
    assert scene.hits() == 1


@pytest.mark.case("A12")
def test_a_node_that_comes_back_is_another_node_and_rescues_what_it_left(
    postgres_database: str, tmp_path: Path
) -> None:
    with Scene(postgres_database, tmp_path, SLOW) as scene:
        node = scene.node()
        scene.begin(node, SLOW)
        scene.await_hits(1)
        node.end(signal.SIGKILL)
        node.start()  # the same command on the same host
        verdict, evidence = scene.settle(node)
    assert verdict.broken == []
    assert len(adoptions(evidence)) == 1
    assert len({said["node"] for said in node.said("engine.started")}) == 2


@pytest.mark.case("A14")
def test_runs_whose_code_only_a_dead_node_had_wait_until_it_is_back(postgres_database: str, tmp_path: Path) -> None:
    with Scene(postgres_database, tmp_path, ERRANDS, NAPS) as scene:
        able, unable = scene.node("--python"), scene.node()
        scene.begin(able, ERRANDS)
        able.end(signal.SIGKILL)
        scene.begin(unable, ERRANDS)
        for _ in range(5):
            scene.begin(unable, NAPS)
        eventually(PATIENCE, lambda: unable.said("node.taken_over"))
        eventually(PATIENCE, lambda: len(unable.ask("/open")["open"]) == 2)  # what it can do it does
        time.sleep(LEASE)
        assert {found["workflow"] for found in unable.ask("/open")["open"]} == {ERRANDS.name}
        able.start()
        verdict, evidence = scene.settle(unable)
    assert verdict.broken == []
    assert len(evidence.runs) == 7
    assert scene.hits("/status/503") >= 2


@pytest.mark.case("A18")
@pytest.mark.parametrize("wait_for", ["node.taken_over", "run.adopted"])
def test_a_database_that_crashes_while_a_dead_nodes_runs_are_recovered_strands_none(
    wait_for: str, tmp_path: Path
) -> None:
    with PostgresServer(settings={"recovery_init_sync_method": "syncfs"}) as server:
        store = server.create_database("recovery")
        asyncio.run(migrate_store(store))
        with Scene(store, tmp_path, SLOW) as scene:
            dying, other = scene.node(), scene.node()
            for _ in range(40):
                scene.begin(dying, SLOW)
            dying.end(signal.SIGKILL)
            eventually(PATIENCE, lambda: other.said(wait_for), every=0.001)
            server.restart_immediately()
            verdict, evidence = scene.settle(other)
        assert verdict.broken == []
        assert len(evidence.runs) == 40


@pytest.mark.case("B8")
def test_many_attempts_at_once_hold_no_connection_each(postgres_database: str, tmp_path: Path) -> None:
    with Scene(postgres_database, tmp_path, SLOW) as scene:
        node = scene.node()
        for _ in range(60):
            scene.begin(node, SLOW)
        scene.await_hits(60)
        connections = asyncio.run(count_connections(postgres_database))
        verdict, _ = scene.settle(node)
    assert verdict.broken == []
    assert 3 <= connections <= 10


async def count_connections(store: str) -> int:
    connection = await asyncpg.connect(store)
    sql = "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'detent'"
    found: int = await connection.fetchval(sql)
    await connection.close()
    return found
