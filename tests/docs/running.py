"""Runs an example: a real engine on the memory store, and in the place of the hosts it names a server on loopback."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from aiohttp import web

from detent.auth.caller import local_caller
from detent.clock import SystemClock
from detent.commands import Commands, EngineCommands, StartAnswer
from detent.documents.answers import as_json
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.forms.compile import name_in
from detent.graph.model import StepKind
from detent.ids import RUN, new_id, show
from detent.run.start import StartRequest
from detent.run.status import TERMINAL
from detent.steps.action_step import ActionExecutor
from detent.steps.actions import registry
from detent.steps.egress import EgressPolicy
from detent.steps.http.step import HttpExecutor
from detent.steps.links import Reservations
from detent.store.memory.store import MemoryStore
from detent.store.rows import Receipt

_HOST: Final = re.compile(r"https?://[a-z0-9.-]+(:[0-9]+)?")
LONGEST_RUN: Final = 20.0


class EchoServer:
    """Answers as the example says, and with what it was sent where the example says nothing."""

    def __init__(self, answers: list[str]) -> None:
        self._answers = dict(self._parsed(answer) for answer in answers)
        self.paths: list[str] = []
        self.url = ""

    @staticmethod
    def _parsed(answer: str) -> tuple[str, tuple[int, Any]]:
        path, status, body = answer.split(" ", 2)
        return path, (int(status), json.loads(body))

    async def _handle(self, request: web.Request) -> web.Response:
        self.paths.append(request.path)
        text = await request.text()
        echo = json.loads(text) if request.content_type == "application/json" and text else text
        status, body = self._answers.get(request.path, (200, echo))
        return web.json_response(body, status=status)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        try:
            yield
        finally:
            await runner.cleanup()


def local(document: dict[str, Any], server: str) -> dict[str, Any]:
    """The definition with the server in the place of every host, and with sleeps that a test can wait for. A sleep in
    a race stays as it is: a call of the page is to win."""
    if "nodes" in document:
        return document | {"nodes": [_local_node(node, server) for node in document["nodes"]]}
    if "actions" in document:
        return document | {"actions": [_local_action(action, server) for action in document["actions"]]}
    racing = {name for step in document["tasks"].values() for name in step.get("first_of", ())}
    tasks = {name: _local_step(step, server, name in racing) for name, step in document["tasks"].items()}
    return document | {"tasks": tasks}


def _local_node(node: dict[str, Any], server: str) -> dict[str, Any]:
    given = node.get("parameters", {})
    match node.get("actionType"):
        case "core.http.request":
            return node | {"parameters": given | {"url": _HOST.sub(server, given["url"], count=1)}}
        case "core.delay":
            return node | {"parameters": {"duration": "20ms"}}
    return node


def _local_action(action: dict[str, Any], server: str) -> dict[str, Any]:
    given = action["action_config"]
    match action.get("action_type"):
        case "call":
            return action | {"action_config": given | {"url": _HOST.sub(server, given["url"], count=1)}}
        case "delay" if "{{" not in str(given):
            return action | {"action_config": {"duration": "20ms"}}
    return action


def _local_step(step: dict[str, Any], server: str, is_racing: bool) -> dict[str, Any]:
    changed = dict(step)
    if "url" in step:
        changed["url"] = _HOST.sub(server, step["url"], count=1)
    if "sleep" in step and not is_racing:
        changed["sleep"] = "20ms"
    return changed


@asynccontextmanager
async def commands() -> AsyncIterator[Commands]:
    """The commands of an engine that has every registered action."""
    clock = SystemClock()
    policy = EgressPolicy.from_texts(["127.0.0.0/8"])
    store = MemoryStore(clock)
    engine = Engine(
        store,
        clock=clock,
        tokens=CallbackTokens("key", "http://127.0.0.1"),
        executors={
            StepKind.ACTION: ActionExecutor(reservations=Reservations(store)),
            StepKind.HTTP: HttpExecutor(policy),
        },
        serves=registry.names(),
        new_id=new_id,
    )
    await engine.start()
    try:
        yield EngineCommands(engine, find_action=registry.find).for_caller(local_caller("test"))
    finally:
        await engine.stop()


async def run(
    document: dict[str, Any],
    *,
    given: Any,
    answers: list[str],
    calls: list[str],
    children: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Run a definition to its end, and give the document of the run. Its steps may start the `children`."""
    server = EchoServer(answers)
    async with asyncio.timeout(LONGEST_RUN), server.serving(), commands() as known:
        for definition in (*children, document):
            await known.workflows.save(json.dumps(local(definition, server.url)), filename="example.json")
        started = await known.starts.start(StartRequest(name_in(document), given))
        for call in calls:
            await _call_back(known, started, call)
        while (shown := await known.runs.get(show(RUN, started.run))).status not in TERMINAL:  # noqa: ASYNC110 - as a reader would
            await asyncio.sleep(0.01)
        return as_json(shown)


async def _call_back(known: Commands, started: StartAnswer, call: str) -> None:
    step, body = call.split(" ", 1)
    shown = await known.runs.get(show(RUN, started.run))
    [url] = [callback.url for callback in shown.callbacks if callback.step == step]
    token = urlsplit(url).path.rpartition("/")[2]
    receipt, *_ = await known.callbacks.deliver(token, body=json.loads(body), headers={}, query={}, message_id=None)
    assert receipt in {Receipt.ACCEPTED, Receipt.EARLY}
