"""One node per store for all tests of this folder, in a thread of its own: the tests are its users."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

import detent
from detent.engine.tuning import Tuning
from detent.process import App
from tests.parity import flows
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

T = TypeVar("T")

STORES = ("memory", "sqlite", "postgres", "mariadb")
#: Times that a test can wait for, and every queue but one.
QUICK = Tuning(
    poll=0.01, idle_poll=0.02, mail_poll=0.01, watch=0.5, drain=2.0, park_after=1.0, horizon=0.1, queues=flows.QUEUES
)


@dataclass
class Node:
    """A node, and the loop it lives on."""

    database: str
    app: App
    loop: asyncio.AbstractEventLoop

    def ask(self, question: Coroutine[Any, Any, T]) -> T:
        """What comes of a coroutine there."""
        return asyncio.run_coroutine_threadsafe(question, self.loop).result(timeout=300)


def new_database(request: pytest.FixtureRequest, folders: pytest.TempPathFactory, store: str) -> Iterator[str]:
    """The address of an empty database."""
    match store:
        case "memory":
            yield "memory://"
        case "sqlite":
            yield f"sqlite:///{folders.mktemp('parity')}/detent.db"
        case _:
            server: PostgresServer | MariadbServer = request.getfixturevalue(store)
            url = server.create_database()
            yield url
            server.drop_database(url)


@pytest.fixture(scope="package", params=STORES)
def store(request: pytest.FixtureRequest) -> str:
    """Each store in turn."""
    return str(request.param)


@pytest.fixture
def fresh_database(
    store: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A database of this test's own, without tables."""
    yield from new_database(request, tmp_path_factory, store)


@pytest.fixture(scope="package")
def database(store: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The database that the node is on."""
    yield from new_database(request, tmp_path_factory, store)


@pytest.fixture(scope="package")
def _node(database: str) -> Iterator[Node]:
    is_up: Future[Node] = Future()
    done = threading.Event()

    async def live() -> None:
        try:
            listening = detent.node(
                database, workflows=[flows], migrate=True, listen=True, port=0, tuning=QUICK, allow_loose_auth=True
            )
            async with listening as app:
                is_up.set_result(Node(database, app, asyncio.get_running_loop()))
                await asyncio.to_thread(done.wait)
        except BaseException as error:
            if not is_up.done():
                is_up.set_exception(error)
            raise

    thread = threading.Thread(target=lambda: asyncio.run(live()))
    thread.start()
    try:
        yield is_up.result(timeout=300)
    finally:
        done.set()
        thread.join(timeout=300)


@pytest.fixture
def node(_node: Node) -> Iterator[Node]:
    """The node that `detent.sync` finds, and heroes that no other test knows."""
    flows.SEEN.clear()
    with detent.heroes.scoped():
        flows.register_heroes()
        yield _node
    flows.open_every_gate()


@pytest.fixture
def user(node: Node) -> flows.User:
    """A user of this test's own."""
    return flows.new_user()
