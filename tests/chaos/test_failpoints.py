"""At every named place the process can die, and what follows is as if it had not, but for effects made again."""

import asyncio
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.observe import failpoints
from detent.observe.failpoints import FAILPOINTS, armed, parse
from detent.store.factory import migrate_store
from tests.chaos.cluster import Node
from tests.chaos.programs import chain
from tests.chaos.scene import Scene
from tests.servers.postgres import PostgresServer
from tests.servers.proxy import CutReplyAfter, FaultProxy

#: A call, a wait, a sleep that parks, a call: a run of it passes every place.
PROGRAM = chain("journey", "slow", "wait", "sleep", "call", c={"sleep": "700ms"})

Drive = Callable[[Scene, Node], None]


def only_start(scene: Scene, node: Node) -> None:
    scene.begin(node, PROGRAM)


def call_back_too(scene: Scene, node: Node) -> None:
    run = scene.begin(node, PROGRAM)
    if run:
        scene.call_back(node, run, "b")


def stop_in_the_middle(scene: Scene, node: Node) -> None:
    scene.begin(node, PROGRAM)
    scene.await_hits(1)
    node.send(signal.SIGTERM)


#: How each place is reached, and at which passing it is deadly.
WAYS: dict[str, tuple[int, Drive]] = {
    "after_start": (1, only_start),
    "after_claim": (1, call_back_too),
    "before_effect": (1, only_start),
    "after_effect": (1, only_start),
    "before_flush": (2, only_start),
    "after_flush": (2, only_start),
    "after_delivery": (1, call_back_too),
    "before_park": (1, only_start),
    "inside_drain": (1, stop_in_the_middle),
}
#: These need a past of their own.
APART = {"inside_recovery", "before_repeat"}
#: These are where triggers and entity events work; `tests/triggers/test_dying.py` and its neighbour go there.
OF_EVENTS = {"after_event", "after_match", "after_event_starts", "after_take"}
#: This is where tokens are renewed; `tests/steps/test_refresh_kills.py` goes there.
OF_CREDENTIALS = {"after_token_answer"}
OF_TRIGGERS = {"after_firing", "after_slots", "after_turn", "after_fired_start", *OF_EVENTS}
#: How often the target must hear of the first call where the answer is certain.
HITS = {"after_start": 1, "before_effect": 1, "after_effect": 2, "after_claim": 1, "before_park": 1}


def test_every_place_is_in_the_code_once_and_no_other_is() -> None:
    code = "\n".join(path.read_text() for path in Path(failpoints.__file__).parents[1].rglob("*.py"))
    assert sorted(re.findall(r'\breach\("(\w+)"\)', code)) == sorted(FAILPOINTS)


def test_every_place_is_reached_by_a_test() -> None:
    assert {*WAYS, *APART, *OF_TRIGGERS, *OF_CREDENTIALS} == set(FAILPOINTS)


def test_a_place_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no failpoint 'after_lunch'"):
        parse("after_effect:3,after_lunch")


def test_a_place_is_passed_until_its_count() -> None:
    reach = armed("after_effect:3")
    reach("after_effect")
    reach("before_effect")
    reach("after_effect")  # the third time would end this process


@pytest.mark.slow
@pytest.mark.case("A1", "A2", "A4")
@pytest.mark.parametrize("place", WAYS)
def test_a_run_survives_its_node_dying(place: str, tmp_path: Path) -> None:
    count, drive = WAYS[place]
    with Scene(f"sqlite:///{tmp_path}/detent.db", tmp_path, PROGRAM) as scene:
        node = scene.node(failpoint=f"{place}:{count}")
        drive(scene, node)
        assert node.wait() == -signal.SIGKILL
        assert f"failpoint {place}\n" in node.log.read_text()
        verdict, evidence = scene.settle(scene.node())
    assert verdict.broken == []
    assert len(evidence.runs) == 1
    assert place not in HITS or scene.hits("/slow") == HITS[place]


@pytest.mark.slow
def test_a_run_survives_its_node_dying_inside_recovery(tmp_path: Path) -> None:
    with Scene(f"sqlite:///{tmp_path}/detent.db", tmp_path, PROGRAM) as scene:
        first = scene.node()
        scene.begin(first, PROGRAM)
        scene.await_hits(1)
        first.end(signal.SIGKILL)
        second = scene.cluster.add(failpoint="inside_recovery:1")
        second.launch()
        second.await_ready()
        assert second.wait() == -signal.SIGKILL
        verdict, evidence = scene.settle(scene.node())
    assert verdict.broken == []
    assert len(evidence.runs) == 1


@pytest.mark.case("B2")
async def test_a_run_survives_its_node_dying_before_a_flush_of_unknown_fate_is_repeated(
    postgres: PostgresServer, postgres_database: str, tmp_path: Path
) -> None:
    await migrate_store(postgres_database)
    async with FaultProxy("127.0.0.1", postgres.port) as proxy:
        await asyncio.to_thread(_die_before_repeating, proxy, postgres_database, tmp_path)


def _die_before_repeating(proxy: FaultProxy, store: str, folder: Path) -> None:
    with Scene(store, folder, PROGRAM) as scene:
        node = Node(proxy.url(store), folder / "first.log", failpoint="before_repeat:1")
        scene.cluster.nodes.append(node.start())
        node.save(PROGRAM.definition)
        proxy.fault = CutReplyAfter(b"slept_ms")  # the journal gets the first call's result, the node no answer
        scene.begin(node, PROGRAM)
        assert node.wait() == -signal.SIGKILL
        verdict, evidence = scene.settle(scene.node())
        assert verdict.broken == []
        assert len(evidence.runs) == 1
        assert scene.hits("/slow") == 1  # what was committed is not done again
