"""A callback that was answered is never lost and never counts twice, whenever its node dies."""

import signal
from pathlib import Path
from typing import Any

import pytest

from detent.engine.callbacks import CallbackTokens
from detent.ids import RUN, parse
from tests.chaos.cluster import Node, eventually
from tests.chaos.programs import chain
from tests.chaos.scene import PATIENCE, Scene
from tests.chaos.tuning import SECRET

#: A call, a wait that parks, a call.
PROGRAM = chain("answered", "call", "wait", "call")
TOKENS = CallbackTokens(SECRET, "http://127.0.0.1")

pytestmark = pytest.mark.slow


@pytest.fixture
def scene(tmp_path: Path) -> Any:
    with Scene(f"sqlite:///{tmp_path}/detent.db", tmp_path, PROGRAM) as opened:
        yield opened


def begun(scene: Scene, node: Node) -> str:
    """A run that waits for its callback and has left the node's memory."""
    run = scene.begin(node, PROGRAM)
    assert run is not None
    eventually(PATIENCE, lambda: node.run(run)["tasks"]["b"]["status"] == "waiting")
    eventually(PATIENCE, lambda: node.ask("/facts")["held"] == 0)
    return run


def send(node: Node, run: str, message: str, body: Any) -> Any:
    """Answer the wait of a run."""
    token = TOKENS.token(parse(RUN, run), "b")
    return node.ask(f"/wh/{token}", body, headers={"webhook-id": message})


@pytest.mark.case("D5")
def test_a_sender_that_got_no_answer_sends_again_and_counts_once(scene: Scene) -> None:
    node = scene.node(failpoint="after_delivery:1")
    run = begun(scene, node)
    with pytest.raises(OSError):
        send(node, run, "m1", {"message": "first"})
    assert node.wait() == -signal.SIGKILL
    node = scene.node()
    again = send(node, run, "m1", {"message": "second"})
    assert again == {"receipt": "accepted", "again": True}
    ended = scene.await_status(node, run, "completed")
    assert ended["tasks"]["b"]["body"] == {"message": "first"}
    assert len(ended["tasks"]["b"]["attempts"]) == 1
    assert scene.hits() == 2


@pytest.mark.case("D6")
def test_a_callback_that_was_answered_is_not_lost_with_its_node(scene: Scene) -> None:
    node = scene.node(failpoint="after_claim:1")
    run = begun(scene, node)
    assert send(node, run, "m1", {"message": "kept"}) == {"receipt": "accepted", "again": False}
    assert node.wait() == -signal.SIGKILL
    ended = scene.await_status(scene.node(), run, "completed")
    assert ended["tasks"]["b"]["body"] == {"message": "kept"}
    assert scene.hits() == 2


@pytest.mark.case("D6")
def test_a_node_killed_as_soon_as_it_has_answered_keeps_every_callback(scene: Scene) -> None:
    for number in range(5):
        node = scene.node()
        run = begun(scene, node)
        assert send(node, run, "m1", {"message": number})["receipt"] == "accepted"
        assert node.end(signal.SIGKILL) == -signal.SIGKILL
        node = scene.node()
        ended = scene.await_status(node, run, "completed")
        assert ended["tasks"]["b"]["body"] == {"message": number}
        node.end(signal.SIGKILL)
    assert len({hit.key for hit in scene.target.hits()}) == 10


@pytest.mark.case("D15")
def test_a_run_that_waited_through_a_restart_goes_on_where_it_was(scene: Scene) -> None:
    node = scene.node()
    run = begun(scene, node)
    for how in (signal.SIGKILL, signal.SIGTERM):
        node.end(how)
        node = scene.node()
        assert node.run(run)["tasks"]["b"]["status"] == "waiting"
    assert send(node, run, "m1", {"message": "late"})["receipt"] == "accepted"
    ended = scene.await_status(node, run, "completed")
    assert [len(ended["tasks"][step]["attempts"]) for step in "abc"] == [1, 1, 1]
    assert scene.hits() == 2
