"""Both transports over real sockets: connections that are kept, lost, slow, cut off or refused."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from detent import Client
from detent.client import ClientClosed, NoConnection, Unavailable, UnexpectedAnswer
from detent.client.transports import MOST_IDLE
from tests.client import documents
from tests.client.playing import Play, Player, playing
from tests.steps.certificates import make_authority

WORKFLOW = {"data": documents.workflow()}
STARTED = {"data": documents.started()}
OK = Play(body=WORKFLOW)


def connections(player: Player) -> int:
    return len({one.connection for one in player.heard})


def test_one_connection_serves_one_request_after_the_other(player: Player, connect: Any) -> None:
    player.plays(OK)
    client = connect(player.url)
    for _ in range(5):
        assert client.workflows.get("order").id == "wf_1"
    assert connections(player) == 1


def test_an_error_does_not_cost_the_connection(player: Player, connect: Any) -> None:
    player.plays(Play(404, {"error": "not_found", "code": "not_found", "message": "no"}), OK)
    client = connect(player.url)
    with pytest.raises(Exception, match="no"):
        client.workflows.get("other")
    client.workflows.get("order")
    assert connections(player) == 1


def test_a_connection_that_the_server_closed_is_not_used_again(player: Player, connect: Any) -> None:
    player.plays(Play(body=WORKFLOW, close=True), OK)
    client = connect(player.url, patience=0.0)
    client.workflows.get("order")
    assert player.closed.acquire(timeout=300)
    client.workflows.get("order")
    assert connections(player) == 2


def test_an_answer_that_is_lost_is_asked_for_again(player: Player, connect: Any) -> None:
    player.plays(Play(cut=True), Play(body=WORKFLOW, claims=10_000, cut=True), OK)
    assert connect(player.url).workflows.get("order").name == "order"
    assert len(player.heard) == 3


def test_half_an_answer_is_none(player: Player, connect: Any) -> None:
    player.plays(Play(body=WORKFLOW, claims=10_000, cut=True))
    with pytest.raises(NoConnection) as caught:
        connect(player.url, patience=0.0).workflows.get("order")
    assert caught.value.sent


def test_a_start_whose_answer_is_lost_is_sent_again_under_the_same_key(player: Player, connect: Any) -> None:
    player.plays(Play(cut=True), Play(503, {"error": "unavailable", "message": "x"}), Play(201, STARTED))
    run = connect(player.url).start("order", {"n": 1})
    assert run.id == "run_1"
    assert [one.json for one in player.heard] == [{"n": 1}] * 3
    assert len({one.headers["idempotency-key"] for one in player.heard}) == 1


def test_the_socket_of_an_answer_that_stops_is_closed_whoever_holds_the_error(connect: Any) -> None:
    """An error holds the frames it came from. What they hold must not be left to the garbage collector."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        with ThreadPoolExecutor(1) as beside:
            client = connect(f"http://127.0.0.1:{server.getsockname()[1]}", timeout=0.5, patience=0.0)
            asked = beside.submit(server.accept)
            answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\nabc"
            answering = beside.submit(lambda: asked.result()[0].sendall(answer))
            with pytest.raises(NoConnection) as caught:
                client.workflows.get("order")
            answering.result()
        with asked.result()[0] as accepted:
            accepted.settimeout(60)
            while accepted.recv(65_536):  # the request, and then the end
                pass
    assert caught.value.__traceback__ is not None


def test_a_trigger_whose_answer_is_lost_is_not_made_again(player: Player, connect: Any) -> None:
    player.plays(Play(cut=True), OK)
    with pytest.raises(NoConnection):
        connect(player.url).triggers.create("order", "manual")
    assert len(player.heard) == 1


def test_a_server_that_does_not_answer_is_not_waited_for(player: Player, connect: Any) -> None:
    hold = threading.Event()
    player.plays(Play(body=WORKFLOW, hold=hold))
    with pytest.raises(NoConnection, match="in time"):
        connect(player.url, timeout=0.2, patience=0.0).workflows.get("order")
    hold.set()


def test_nobody_there_is_no_connection_and_nothing_was_sent(connect: Any) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(NoConnection, match="cannot connect") as caught:
        connect(f"http://127.0.0.1:{port}", patience=0.3).workflows.create({"name": "x"})
    assert not caught.value.sent


def test_a_server_that_comes_up_meanwhile_is_found(connect: Any) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as unused:
        port = unused.getsockname()[1]
    with ExitStack() as stack:
        timer = threading.Timer(0.3, lambda: stack.enter_context(playing(port)).plays(OK))
        timer.start()
        assert connect(f"http://127.0.0.1:{port}").workflows.get("order").name == "order"
        timer.join()


def test_not_now_is_told_when_patience_is_over(player: Player, connect: Any) -> None:
    player.plays(Play(503, {"error": "unavailable", "code": "unavailable", "message": "draining"}))
    with pytest.raises(Unavailable, match="draining"):
        connect(player.url, patience=1.0).workflows.get("order")
    assert len(player.heard) >= 2


@pytest.mark.parametrize(
    "play", [Play(raw=b"<html>hello</html>"), Play(302, headers={"Location": "http://127.0.0.1:1/"})]
)
def test_a_server_that_is_no_detent_is_told_apart(player: Player, connect: Any, play: Play) -> None:
    player.plays(play)
    with pytest.raises(UnexpectedAnswer):
        connect(player.url).workflows.get("order")
    assert len(player.heard) == 1


def test_a_large_answer_arrives_whole(player: Player, connect: Any) -> None:
    text = "x" * 3_000_000
    player.plays(Play(body={"data": documents.workflow(description=text)}))
    assert connect(player.url).workflows.get("order").description == text


def test_headers_and_a_path_of_the_address_go_with_every_request(player: Player, connect: Any) -> None:
    player.plays(OK)
    connect(f"{player.url}/behind/", headers={"Authorization": "Bearer t"}).workflows.get("a/b c?")
    [heard] = player.heard
    assert heard.target == "/behind/api/v1/workflows/a%2Fb%20c%3F"
    assert heard.headers["authorization"] == "Bearer t"


def test_threads_share_a_client_and_not_a_connection(player: Player) -> None:
    hold = threading.Event()
    player.plays(Play(body=WORKFLOW, hold=hold))
    with Client(player.url) as client, ThreadPoolExecutor(32) as threads:
        asked = [threads.submit(client.workflows.get, f"w{number}") for number in range(32)]
        while len(player.heard) < 32:
            threading.Event().wait(0.01)
        hold.set()
        assert [one.result().id for one in asked] == ["wf_1"] * 32
        assert connections(player) == 32
        again = [threads.submit(client.workflows.get, "w") for _ in range(64)]
        assert all(one.result() for one in again)
    assert connections(player) < 32 + 64
    assert sorted(player.targets())[:1] == ["/api/v1/workflows/w"]


def test_no_more_connections_are_kept_than_a_few(player: Player) -> None:
    hold = threading.Event()
    player.plays(Play(body=WORKFLOW, hold=hold))
    with Client(player.url) as client, ThreadPoolExecutor(MOST_IDLE + 8) as threads:
        asked = [threads.submit(client.workflows.get, "w") for _ in range(MOST_IDLE + 8)]
        while len(player.heard) < MOST_IDLE + 8:
            threading.Event().wait(0.01)
        hold.set()
        assert all(one.result() for one in asked)
        assert len(vars(client.driver)["transport"]._idle) == MOST_IDLE  # noqa: SLF001


def test_a_closed_client_asks_nothing(player: Player, connect: Any) -> None:
    player.plays(OK)
    client = connect(player.url)
    client.workflows.get("order")
    client.close()
    with pytest.raises(ClientClosed):
        client.workflows.get("order")
    assert len(player.heard) == 1


def test_closing_lets_go_who_waits_for_another_try(player: Player) -> None:
    player.plays(Play(503, {"error": "unavailable", "message": "x"}, headers={"Retry-After": "20"}))
    client = Client(player.url, patience=60.0)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(client.workflows.get, "order")
        while not player.heard:
            threading.Event().wait(0.01)
        client.close()
        with pytest.raises(ClientClosed):
            asked.result(timeout=300)


def test_a_connection_that_was_in_use_when_the_client_was_closed_is_closed_after_its_answer(player: Player) -> None:
    hold = threading.Event()
    player.plays(Play(body=WORKFLOW, hold=hold))
    client = Client(player.url)
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(client.workflows.get, "order")
        while not player.heard:
            threading.Event().wait(0.01)
        client.close()
        hold.set()
        assert asked.result(timeout=300).id == "wf_1"
    assert vars(client.driver)["transport"]._idle == []  # noqa: SLF001


def test_a_forked_process_does_not_share_its_parents_connections(player: Player) -> None:
    player.plays(OK)
    with Client(player.url) as client:
        client.workflows.get("order")
        pool = vars(client.driver)["transport"]
        assert len(pool._idle) == 1  # noqa: SLF001
        pool._process = os.getpid() + 1  # noqa: SLF001 - as a child sees what it got from its parent
        client.workflows.get("order")
    assert connections(player) == 2


def test_the_address_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, connect: Any) -> None:
    monkeypatch.setenv("DETENT_URL", "https://detent.example/")
    assert connect(None).url == "https://detent.example"
    assert connect("http://other").url == "http://other"
    monkeypatch.delenv("DETENT_URL")
    assert connect(None).url == "http://127.0.0.1:8080"
    with pytest.raises(Exception, match="not a valid address"):
        connect("ftp://x")


def test_a_certificate_that_is_not_accepted_says_what_to_set(tmp_path: Path, connect: Any) -> None:
    context = make_authority(tmp_path).server("localhost")
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
        server = threading.Thread(target=shake_hands, args=(listener, context), daemon=True)
        server.start()
        with pytest.raises(NoConnection, match=r"not accepted .*set SSL_CERT_FILE to the certificate"):
            connect(f"https://localhost:{port}", patience=0.0).workflows.get("order")
    server.join()


def shake_hands(listener: socket.socket, context: ssl.SSLContext) -> None:
    with suppress(OSError), closing(listener.accept()[0]) as accepted:
        context.wrap_socket(accepted, server_side=True).close()


def test_a_server_without_tls_is_named_as_one(player: Player, connect: Any) -> None:
    with pytest.raises(NoConnection, match=r"does not use TLS at this port; write http://"):
        connect(player.url.replace("http://", "https://"), patience=0.0).workflows.get("order")
