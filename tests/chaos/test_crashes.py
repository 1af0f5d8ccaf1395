"""One node at a time, on either store: what it leaves behind when it dies or is told to go, and how it comes back."""

import asyncio
import signal
import time
from pathlib import Path

import pytest

from detent.clock import SystemClock
from detent.ids import RUN, parse
from detent.instant import SECOND
from detent.store.factory import open_store
from detent.store.protocol import Store
from detent.store.rows import Flush, NewRun
from tests.chaos.cluster import PATIENCE, eventually
from tests.chaos.programs import chain, ten_echoes
from tests.chaos.scene import Scene
from tests.store.make import Node as Registered
from tests.store.make import start

pytestmark = pytest.mark.slow

ECHOES = ten_echoes()
SLOW = chain("slow", "slow", "call", a={"url": "{{trigger.body.target}}/slow/600?n={{trigger.body.n}}&step=a"})
LEFT = chain("left", "slow", "call", a={"url": "{{trigger.body.target}}/slow-once/30000?n={{trigger.body.n}}&step=a"})
SLEEPY = chain("sleepy", "sleep", "echo", a={"sleep": "900ms"})
POISON = chain("poison", "echo", "fail", b={"action": "chaos.abort"})
HELD = chain(
    "held",
    "echo",
    "echo",
    a={"action": "chaos.hold", "with": {"folder": "{{trigger.body.folder}}", "n": "{{trigger.body.n}}"}},
)
MANY = 3_000
RUNS, KILLS, STRIKES = 12, 12, 2


@pytest.mark.case("A15")
def test_a_step_that_kills_its_node_is_blamed_after_its_strikes_and_the_others_go_on(tmp_path: Path) -> None:
    with Scene(f"sqlite:///{tmp_path}/detent.db", tmp_path, POISON, ECHOES) as scene:
        node = scene.node("--poison", str(STRIKES))
        run = scene.begin(node, POISON)
        others = []
        for deaths in range(1, 2 + STRIKES + 1):
            assert node.wait() == -signal.SIGABRT, f"death {deaths}"
            node.start()
            others.append(scene.begin(node, ECHOES))
        assert run is not None
        document = scene.await_status(node, run, "failed")
        verdict, evidence = scene.settle(node)
    assert document["tasks"]["b"]["error"]["code"] == "poison"
    assert node.lives == 2 + STRIKES + 1
    assert verdict.broken == []
    assert others[-1] is not None, "after its last death nothing was in the way of a start"
    begun = {parse(RUN, other) for other in others if other is not None}  # it may have died before it answered
    assert {evidence.runs[other].status for other in begun} == {"completed"}


@pytest.mark.case("A19")
def test_a_node_told_to_go_finishes_what_is_in_flight(store_url: str, tmp_path: Path) -> None:
    with Scene(store_url, tmp_path, SLOW) as scene:
        node = scene.node()
        scene.begin(node, SLOW)
        scene.await_hits(1)
        assert node.end(signal.SIGTERM) == 0
        verdict, _ = scene.settle(scene.node())
    assert verdict.broken == []
    assert scene.hits("/slow") == 1
    assert verdict.counts["adopted"] == 0


@pytest.mark.case("A19")
def test_a_node_told_to_go_at_once_leaves_what_is_in_flight_to_the_next(store_url: str, tmp_path: Path) -> None:
    with Scene(store_url, tmp_path, LEFT) as scene:
        node = scene.node("--drain", "0.1")
        scene.begin(node, LEFT)
        scene.await_hits(1)
        assert node.end(signal.SIGTERM) == 0
        verdict, _ = scene.settle(scene.node(), releases=1)
    assert verdict.broken == []
    assert scene.hits("/slow-once") == 2
    assert verdict.counts["adopted"] == 0, "it was released, and not left to be adopted"


def begun(folder: Path) -> list[str]:
    """The runs whose step was begun, as often as it was."""
    note = folder / "begun"
    return note.read_text().split() if note.exists() else []


@pytest.mark.case("A19")
def test_a_step_that_outlasts_the_drain_of_four_graceful_stops_is_not_blamed(tmp_path: Path) -> None:
    with Scene(f"sqlite:///{tmp_path}/detent.db", tmp_path, HELD) as scene:
        node = scene.node("--drain", "0.1", "--poison", "1")
        run = scene.begin(node, HELD, folder=str(tmp_path))
        for stops in range(1, 5):
            eventually(PATIENCE, lambda stops=stops: len(begun(tmp_path)) == stops)
            assert node.end(signal.SIGTERM) == 0
            node.start()
        (tmp_path / "go").touch()
        verdict, evidence = scene.settle(node)
    assert verdict.broken == []
    assert verdict.counts["adopted"] == 0
    assert run is not None
    assert [(entry.kind, entry.attempt) for entry in evidence.journal[parse(RUN, run)]] == [("ended", 1), ("ended", 1)]


@pytest.mark.case("A15")
def test_twelve_kills_of_a_busy_node_fail_none_of_its_runs(tmp_path: Path) -> None:
    with Scene(f"sqlite:///{tmp_path}/detent.db", tmp_path, HELD) as scene:
        node = scene.node("--poison", "5", "--poison-delay", "60")
        for _ in range(RUNS):
            scene.begin(node, HELD, folder=str(tmp_path))
        eventually(PATIENCE, lambda: len(begun(tmp_path)) == RUNS)
        for _ in range(KILLS):
            before = len(begun(tmp_path))
            node.end(signal.SIGKILL)
            node.start()
            eventually(PATIENCE, lambda before=before: len(begun(tmp_path)) > before)
        (tmp_path / "go").touch()
        verdict, evidence = scene.settle(node)
    assert verdict.broken == []
    assert {run.status for run in evidence.runs.values()} == {"completed"}
    # All at once twice, then one at a time, and in the end each once more.
    assert len(begun(tmp_path)) <= 2 * RUNS + KILLS + RUNS


@pytest.mark.case("C4")
def test_a_sleep_that_ends_while_no_node_lives_ends_when_one_does(store_url: str, tmp_path: Path) -> None:
    with Scene(store_url, tmp_path, SLEEPY) as scene:
        node = scene.node()
        run = scene.begin(node, SLEEPY)
        began = time.time()
        node.end(signal.SIGKILL)
        eventually(PATIENCE, lambda: time.time() > began + 1.0)
        verdict, evidence = scene.settle(scene.node())
    assert verdict.broken == []
    assert run is not None
    [slept, _] = [entry for entry in evidence.journal[parse(RUN, run)] if entry.kind == "ended"]
    assert slept.at >= evidence.runs[parse(RUN, run)].started_at + 900_000


@pytest.mark.case("A16")
def test_thousands_of_runs_that_nobody_here_can_work_on_do_not_hold_up_the_others(
    store_url: str, tmp_path: Path
) -> None:
    with Scene(store_url, tmp_path, SLOW) as scene:
        node = scene.node()
        runs = [scene.begin(node, SLOW) for _ in range(20)]
        scene.await_hits(20)
        node.end(signal.SIGKILL)
        asyncio.run(leave_behind(store_url))
        after = scene.node()
        eventually(300, lambda: all(after.run(run or "")["status"] == "completed" for run in runs), every=0.2)
        left = after.ask("/open")["open"]
    assert len(left) == 1000  # as many as are listed; all of them are still there for a node that can


async def leave_behind(store_url: str) -> None:
    """A node that had many runs of an action nobody serves any more, and is gone."""
    store = await open_store(store_url, SystemClock())
    dead = await Registered.register(store)
    body = b'{"body":{"n":0}}'
    await insert(
        store,
        dead,
        [start(owned=True, code='["shop.gone"]', input=body, priority=9, workflow=b"w" * 16) for _ in range(MANY)],
    )
    await store.retire(dead.id)
    await store.close()


async def insert(store: Store, node: Registered, runs: list[NewRun]) -> None:
    for first in range(0, len(runs), 2000):
        assert await store.flush(node.id, node.epoch, Flush(starts=runs[first : first + 2000])) is not None


@pytest.mark.case("C6")
def test_thousands_of_sleeps_that_end_at_the_same_instant_all_end_once_and_none_early(
    store_url: str, tmp_path: Path
) -> None:
    with Scene(store_url, tmp_path, SLEEPY) as scene:
        node = scene.node()
        node.end(signal.SIGTERM)
        until = asyncio.run(put_to_sleep(store_url))
        node.start()
        eventually(300, lambda: not node.ask("/open")["open"], every=0.25)
        verdict, evidence = scene.settle(node)
    assert verdict.broken == []
    assert len(evidence.runs) == MANY
    assert min(entries[0].at for entries in evidence.journal.values()) >= until


async def put_to_sleep(store_url: str) -> int:
    """Many runs of the sleepy workflow that all wake at one instant, three seconds from now."""
    store = await open_store(store_url, SystemClock())
    node = await Registered.register(store)
    workflow = await store.workflow(1, SLEEPY.name)
    assert workflow is not None
    now = await store.now()
    until = now + 3 * SECOND
    opening = b'{"sleep":{"a":%d}}' % until
    runs = [
        start(workflow=workflow.id, opening=opening, wake_at=until, started_at=now, input=b'{"body":{"n":%d}}' % number)
        for number in range(MANY)
    ]
    await insert(store, node, runs)
    await store.retire(node.id)
    await store.close()
    return until
