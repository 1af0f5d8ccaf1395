"""`notify.send`: Apprise in a process of its own, with the targets of a connection."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from detent.catalog.connections import EnvironmentConnections
from detent.run.outcomes import Fail, Outcome
from detent.steps.action_step import ActionExecutor
from detent.steps.connectors import notify
from detent.steps.http.client import ActionServices
from detent.steps.isolation.processes import Processes
from tests.connectors.node import PATIENCE, SHIPPED, open_node
from tests.steps.calls import done, perform
from tests.steps.listeners import website

pytestmark = pytest.mark.slow


class Chat:
    """A service that Apprise knows as `json://`: it notes what it gets."""

    def __init__(self) -> None:
        self.url = ""
        self.received: list[dict[str, Any]] = []
        self.status = 200

    async def receive(self, request: web.Request) -> web.Response:
        self.received.append({"path": request.path, **await request.json()})
        return web.Response(status=self.status, text="token-in-the-path was not welcome")


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    made = Chat()
    async with website(made.receive) as url:
        made.url = url.replace("http://", "").rstrip("/")
        yield made


async def test_a_message_goes_to_all_targets_and_no_token_is_in_an_error(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = f"json://{chat.url}/token-in-the-path"
    environ = {
        "CONNECTOR_NOTIFY_URL": f"{target}?method=post {target}/second",
        "CONNECTOR_ON_CALL_URL": target,
        "CONNECTOR_SQL_URL": "postgresql://u:p@127.0.0.1/d",
        "CONNECTOR_ODD_URL": "nosuchthing://abc",
    }
    monkeypatch.setenv("CONNECTOR_NOTIFY_URL", "json://wrong")  # the process has none of the node's variables
    processes = Processes(lambda: [notify.__name__])
    services = ActionServices(connections=EnvironmentConnections(environ))
    executor = ActionExecutor(SHIPPED, services=services, processes=processes)

    async def send(**given: Any) -> Outcome:
        return await perform(executor, "notify.send", {"message": "It burns", **given}, timeout=PATIENCE)

    async def refused(**given: Any) -> tuple[str, str, bool]:
        outcome = await send(**given)
        assert isinstance(outcome, Fail), outcome
        return outcome.error.code, outcome.error.message, outcome.retry

    try:
        assert done(await send(title="Fire", kind="failure"))["output"] == {"targets": 2}
        assert sorted(one["path"] for one in chat.received) == ["/token-in-the-path", "/token-in-the-path/second"]
        assert {(one["title"], one["message"], one["type"]) for one in chat.received} == {
            ("Fire", "It burns", "failure")
        }
        assert done(await send(connection="on-call"))["output"] == {"targets": 1}
        assert len(processes._idle) == 1  # noqa: SLF001 - Apprise is loaded once

        chat.status = 500
        code, message, retry = await refused()
        assert (code, retry) == ("refused", True)
        assert "token-in-the-path" not in message
        code, message, retry = await refused(connection="nothing")
        assert (code, retry) == ("missing_credential", False)
        assert "set CONNECTOR_NOTHING_URL" in message
        for name in ("sql", "odd"):
            code, message, retry = await refused(connection=name)
            assert (code, retry) == ("invalid_connection", False)
            assert "is not one of Apprise" in message
        code, message, retry = await refused(title="a\r\nb")
        assert (code, retry) == ("invalid_parameters", False)
        code, message, retry = await refused(kind="fire")
        assert (code, retry) == ("invalid_parameters", False)
    finally:
        await executor.close()


async def test_a_node_without_the_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "apprise", None)
    async with open_node({"CONNECTOR_NOTIFY_URL": "json://h"}) as node:
        code, message = await node.refused("notify.send", message="x")
    assert (code, "pip install 'detent-workflows[notify]'" in message) == ("missing_extra", True)
