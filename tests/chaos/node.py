"""One node as a process of its own: the engine with its real executors, behind a few loopback routes.

    python -m tests.chaos.node --store sqlite:///chaos.db

It prints its port when it is up. A start is answered when it is durable and not before. Everything the engine has to
say of itself goes to the standard error, a JSON line each.
"""

import argparse
import asyncio
import faulthandler
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from aiohttp import web

from detent.auth.caller import local_caller
from detent.clock import SystemClock
from detent.commands import Commands, EngineCommands
from detent.documents.answers import as_json
from detent.engine import context
from detent.engine.cache import GraphCache, Version
from detent.engine.callbacks import CallbackTokens
from detent.engine.engine import Engine
from detent.engine.tuning import Tuning
from detent.errors import AlreadyActive, Conflict, DetentError, EngineError, StoreBusy, StoreInUse
from detent.graph import codec
from detent.graph.model import Graph, StepKind
from detent.ids import RUN, new_id, show
from detent.observe import listen
from detent.python.classes.executor import ClassExecutor
from detent.python.functions.executor import FunctionExecutor
from detent.python.functions.step_runner import StepRunner
from detent.python.registry import registry as python_registry
from detent.run.start import StartRequest
from detent.steps.action_step import ActionExecutor
from detent.steps.egress import EgressPolicy
from detent.steps.http.step import HttpExecutor
from detent.steps.protocol import StepExecutor
from detent.store.factory import open_store
from detent.store.protocol import Store
from detent.store.rows import RunCriteria
from detent.store.url import is_shared
from tests.chaos.actions import REGISTRY
from tests.chaos.tuning import CHAOS, SECRET

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

WORKFLOWS = "tests.chaos.python_workflows"
QUIET = frozenset({"entry.written", "flush.sent", "run.started", "run.ended"})


class Voice:
    """Counts what the engine says, and writes down what is not everyday."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def hear(self, name: str, facts: dict[str, Any]) -> None:
        self.counts[name] += 1
        if name not in QUIET:
            line = {key: value.hex() if isinstance(value, bytes) else str(value) for key, value in facts.items()}
            print(json.dumps({"event": name, "at": time.time(), **line}), file=sys.stderr, flush=True)


class Routes:
    """Each route is one command."""

    def __init__(self, engine: Engine, commands: Commands, voice: Voice) -> None:
        self._engine, self._commands, self._voice = engine, commands, voice

    async def save(self, request: web.Request) -> web.StreamResponse:
        row, _, _ = await self._commands.workflows.save(await request.read(), replace=True)
        return web.json_response({"name": row.name}, status=201)

    async def start(self, request: web.Request) -> web.StreamResponse:
        hero = request.query.get("hero")
        about = None if hero is None else ("Courier", hero)
        wanted = StartRequest(request.match_info["name"], await request.json(), hero=about)
        try:
            started = await self._commands.starts.start(wanted)
        except AlreadyActive as error:
            return web.json_response({"active": error.run}, status=409)
        return web.json_response({"run": show(RUN, started.run)}, status=201)

    async def show(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(as_json(await self._commands.runs.get(request.match_info["run"])))

    async def cancel(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(as_json(await self._commands.control.cancel(request.match_info["run"])))

    async def signal(self, request: web.Request) -> web.StreamResponse:
        where = request.match_info
        await self._commands.signals.send(where["run"], where["name"], await request.json())
        return web.json_response({})

    async def deliver(self, request: web.Request) -> web.StreamResponse:
        receipt, again, _ = await self._commands.callbacks.deliver(
            request.match_info["token"],
            body=await request.json(),
            headers={},
            query={},
            message_id=request.headers["webhook-id"],
        )
        return web.json_response({"receipt": str(receipt), "again": again})

    async def open(self, request: web.Request) -> web.StreamResponse:
        """The runs that have not ended, up to a thousand of each status."""
        store = self._engine.store
        rows = [
            row
            for status in ("running", "paused")
            for row in await store.runs(1, limit=1000, where=RunCriteria(statuses=(status,)))
        ]
        found = [{"run": show(RUN, row.id), "workflow": row.workflow_name, **json.loads(row.input)} for row in rows]
        return web.json_response({"open": found})

    async def facts(self, request: web.Request) -> web.StreamResponse:
        ready = self._engine.is_ready
        node = self._engine.node if ready else None
        owned, busy = (len(node.runner.owned), node.runner.busy) if node else (0, 0)
        found = {"ready": ready, "node": node.id.hex() if node else None, "held": owned, "busy": busy}
        return web.json_response({**found, "counts": self._voice.counts})


@web.middleware
async def tell_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """An error of Detent is an answer: 409 if the state forbids it for good, 503 for what may be tried again."""
    try:
        return await handler(request)
    except DetentError as error:
        status = 409 if isinstance(error, Conflict) else 503
        return web.json_response({"code": error.code, "message": error.message}, status=status)


def build(engine: Engine, commands: Commands, voice: Voice) -> web.Application:
    routes = Routes(engine, commands, voice)
    app = web.Application(middlewares=[tell_errors])
    app.router.add_post("/workflows", routes.save)
    app.router.add_post("/workflows/{name}/start", routes.start)
    app.router.add_get("/runs/{run}", routes.show)
    app.router.add_post("/runs/{run}/cancel", routes.cancel)
    app.router.add_post("/runs/{run}/signals/{name}", routes.signal)
    app.router.add_post("/wh/{token}", routes.deliver)
    app.router.add_get("/facts", routes.facts)
    app.router.add_get("/open", routes.open)
    return app


def where(waiting: Any) -> list[str]:
    """The places a coroutine is at, from the outermost to the innermost."""
    found = []
    while waiting is not None:
        frame = getattr(waiting, "cr_frame", None) or getattr(waiting, "gi_frame", None)
        found.append(f"{frame.f_code.co_qualname}:{frame.f_lineno}" if frame else type(waiting).__name__)
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)
    return found


def explain_on_request(loop: asyncio.AbstractEventLoop) -> None:
    """SIGUSR1 asks what everything here is waiting for; the answer is in the log."""

    def explain() -> None:
        stacks = Counter(" < ".join(reversed(where(waiting.get_coro()))) for waiting in asyncio.all_tasks(loop))
        for stack, count in stacks.items():
            print(f"{count} x {stack}", file=sys.stderr, flush=True)
        faulthandler.dump_traceback(sys.stderr)

    loop.add_signal_handler(signal.SIGUSR1, explain)


async def open_patiently(url: str, clock: SystemClock) -> Store:
    """The store, though the database may be starting, or the process that held the file may not be quite gone."""
    for _ in range(100):
        try:
            return await open_store(url, clock)
        except (StoreInUse, StoreBusy):
            await asyncio.sleep(0.05)
    return await open_store(url, clock)


async def patiently(act: Callable[[], Awaitable[Any]]) -> None:
    """Do it, though the database may be starting."""
    for _ in range(100):
        try:
            await act()
        except StoreBusy:
            await asyncio.sleep(0.05)
        else:
            return
    await act()


def load_python(options: argparse.Namespace, clock: SystemClock) -> dict[StepKind, StepExecutor]:
    """The workflows that are written in Python, and those who carry them out; nothing on a node without them."""
    if not options.python:
        return {}
    import_module(WORKFLOWS)
    keeper = None
    if is_shared(options.store):
        import_module("tests.chaos.python_booking").use_database(options.store)
        keeper = import_module("detent.python.transactions").keeper
    chain, function = (
        ClassExecutor(now=clock.wall, transactions=keeper),
        FunctionExecutor(clock=clock, steps=StepRunner(transactions=keeper)),
    )
    return {StepKind.PYTHON: chain, StepKind.FUNCTION: function}


def become_older() -> None:
    """Be a node of the release before `codec.FEATURES`: it serves no feature, and what it cannot read it pauses."""
    decode, load = codec.decode, GraphCache.load

    def decode_as_before(data: bytes) -> Graph:
        graph = decode(data)
        if codec.features(graph):
            raise EngineError("it has a field that this release does not know")
        return graph

    async def load_as_before(graphs: GraphCache, versions: Sequence[Version]) -> Any:
        found, _ = await load(graphs, versions)
        return found, {}

    for place, name, older in (
        (codec, "decode", decode_as_before),
        (GraphCache, "load", load_as_before),
        (context, "FEATURES", ()),
    ):
        setattr(place, name, older)


async def begin(engine: Engine, commands: Commands) -> None:
    """Be a node, and let the workflows be known whose code is here."""
    await patiently(engine.start)
    for one in python_registry.all():
        await patiently(partial(commands.workflows.save_python, one.compiled, one.source))


async def serve(options: argparse.Namespace, tuning: Tuning) -> None:
    """Be a node until a signal comes, then drain."""
    ended, voice, clock = asyncio.Event(), Voice(), SystemClock(options.skew)
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    listen(voice.hear)
    explain_on_request(asyncio.get_running_loop())
    if options.tied:
        asyncio.get_running_loop().add_reader(sys.stdin, os._exit, 1)
    store = await open_patiently(options.store, clock)
    http, action = HttpExecutor(EgressPolicy.from_texts(["127.0.0.0/8"])), ActionExecutor(REGISTRY)
    python = load_python(options, clock)
    engine = Engine(
        store,
        clock=clock,
        tokens=CallbackTokens(SECRET, "http://127.0.0.1"),
        executors={StepKind.HTTP: http, StepKind.ACTION: action, **python},
        serves=(*(REGISTRY.names() if options.actions else ()), *python_registry.serves()),
        tuning=tuning,
        new_id=new_id,
    )
    commands = EngineCommands(engine, actions=REGISTRY.names()).for_caller(local_caller("chaos"))
    await begin(engine, commands)
    runner = web.AppRunner(build(engine, commands, voice), access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await ended.wait()
    await engine.stop()
    if options.python:
        await import_module(WORKFLOWS).close()
    await runner.cleanup()
    await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="One node under chaos.")
    parser.add_argument("--store", required=True)
    parser.add_argument(
        "--tied", action="store_true", help="end when the standard input does: never outlive the starter"
    )
    parser.add_argument("--lease", type=float, default=CHAOS.lease)
    parser.add_argument("--drain", type=float, default=CHAOS.drain)
    parser.add_argument("--slots", type=int, default=CHAOS.slots)
    parser.add_argument("--park-after", type=float, default=CHAOS.park_after)
    parser.add_argument("--poison", type=int, default=CHAOS.poison_after)
    parser.add_argument("--poison-delay", type=float, default=CHAOS.poison_delay)
    parser.add_argument("--skew", type=float, default=0.0)
    parser.add_argument("--no-actions", dest="actions", action="store_false", help="serve none of the user actions")
    parser.add_argument("--python", action="store_true", help="have the workflows that are written in Python")
    parser.add_argument("--older", action="store_true", help="be a node of the release before the feature words")
    options = parser.parse_args()
    if options.older:
        become_older()
    scale = options.lease / CHAOS.lease
    tuning = replace(
        CHAOS, lease=options.lease, beat=CHAOS.beat * scale, margin=CHAOS.margin * scale, drain=options.drain,
        slots=options.slots, park_after=options.park_after, poison_after=options.poison,
        poison_delay=options.poison_delay,
    )  # fmt: skip
    asyncio.run(serve(options, tuning))


if __name__ == "__main__":
    main()
