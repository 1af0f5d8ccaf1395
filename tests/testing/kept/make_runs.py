"""Starts runs on a node of its own, twice: with the old code and with the new. Then it
keeps them as tests."""

import asyncio
import json
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx

import detent
from detent.auth.caller import local_caller
from detent.cli.main import call

logging.getLogger("detent").addHandler(logging.NullHandler())  # what the node says of failed steps is not shown
logging.getLogger("detent").propagate = False
shop: Any = import_module("shop_workflows")  # the old or the new one, in the folder where this runs
IDS = Path("ids.json")
YAML_KID = "name: kept_yaml_kid\ntasks:\n  a: {action: core.echo, with: {x: '{{trigger.body.a}}'}}\n"
YAML = """
name: kept_yaml
tasks:
  off: {if: "trigger.body.off == true", action: core.echo}
  here: {url: "http://127.0.0.1:PORT/here", method: GET, retries: 0}
  missing: {url: "http://127.0.0.1:PORT/nothing-here", method: GET, retries: 0}
  nap: {needs: [here], sleep: 200ms}
  ask: {needs: [nap], wait_for_webhook: {timeout: 1h}}
  made: {needs: [here], if: "tasks.here.status_code == 201", action: core.echo}
  asked: {needs: [ask], if: "tasks.ask.query.by == 'Bob'", action: core.echo, with: {b: "{{tasks.ask.body.b}}"}}
  late: {needs: [nap], wait_for_webhook: {timeout: 300ms}}
  broken: {needs: [here], action: core.fail, retries: 0}
  after: {needs: [missing], action: core.echo}
"""
FIRST: dict[str, tuple[Any, list[Any], dict[str, Any]]] = {
    "waits": (shop.kept_waits, [shop.Order("o\"1'", ["a\n", "\N{PILE OF POO}"])], {"note": '"""\\'}),
    "signals": (shop.kept_signals, [], {}),
    "race": (shop.kept_race, [], {}),
    "order": (shop.kept_order, [], {}),
    "unheard": (shop.kept_unheard, [], {}),
    "failures": (shop.kept_failures, [], {}),
    "children": (shop.kept_children, [], {}),
    "one_name": (shop.kept_one_name, [], {"hero": ("Thing", "5")}),
    "continued": (shop.kept_continued, [1], {}),
    "failed": (shop.kept_failed, [], {}),
    "paused": (shop.kept_paused, [], {}),
    "cancels": (shop.kept_cancels, [], {}),
    "asks_pause": (shop.kept_asks, ["pause"], {}),
    "asks_cancel": (shop.kept_asks, ["cancel"], {}),
    "asks_skip": (shop.kept_asks, ["skip"], {}),
    "asks_finish": (shop.kept_asks, ["finish"], {}),
    "expires": (shop.kept_expires, [], {}),
    "edited": (shop.kept_edited, [], {}),
    "chain": (shop.KeptChain, [], {"input": {"x": '"""\\'}}),
    **{f"verbs_{verb}": (shop.KeptVerbs, [], {"input": verb}) for verb in
       ("cancel", "pause", "finish", "raise", "late", "later", "code", "key", "plain")},
    "hero": (shop.KeptHero, [], {"hero": ("KeptUser", "7")}),
    "hero_gone": (shop.KeptHero, [], {"hero": ("KeptUser", "0")}),
    "hero_cancels": (shop.KeptHero, [], {"hero": ("KeptUser", "13")}),
    "expired": (shop.KeptExpires, [], {}),
    "tries": (shop.KeptTries, [], {}),
    "moved": (shop.KeptMoved, [], {}),
}  # fmt: skip
OPEN = {"edited", "moved"}
ENDS = ("completed", "failed", "cancelled", "timeout", "paused")


async def settled(run: Any, *words: str) -> None:
    for _ in range(2_400):
        if await run.status() in words:
            return
        await asyncio.sleep(0.05)
    raise TimeoutError(f"{run.id} is {await run.status()}")


async def answer(run: Any, body: Any, *, at: str, **query: str) -> None:
    """Call a wait back as soon as it is there."""
    async with asyncio.timeout(120), httpx.AsyncClient() as client:
        while True:
            for callback in (await run.get()).callbacks:
                if callback.step == at and callback.status == "active":
                    assert (await client.post(callback.url, json=body, params=query)).status_code < 300
                    return
            await asyncio.sleep(0.05)


class Server(BaseHTTPRequestHandler):
    """What a definition calls."""

    def do_GET(self) -> None:
        self.send_response(201 if self.path == "/here" else 404)
        self.send_header("Content-Length", "8")
        self.end_headers()
        self.wfile.write(b'{"n": 1}')

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def serving() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield str(server.server_port)
    server.shutdown()
    server.server_close()


async def first(port: str) -> dict[str, str]:
    node = detent.node(
        "sqlite:///d.db", listen=True, port=int(port), egress_allow=["127.0.0.0/8"], allow_loose_auth=True
    )
    with serving() as called:
        async with node as app:
            return await make(app.commands.for_caller(local_caller("test")), called)


async def make(commands: Any, called: str) -> dict[str, str]:
    for text in (YAML_KID, YAML.replace("PORT", called)):
        await commands.workflows.save(text)
    runs = {name: await detent.start(what, *args, **options) for name, (what, args, options) in FIRST.items()}
    runs["yaml"] = await detent.start("kept_yaml", input={"off": False})
    for number in (1, 2):
        await runs["signals"].signal("s", {"n": number})
        await runs["unheard"].signal("s", number)
    await answer(runs["order"], "b", at="@wait:b")
    await answer(runs["waits"], {"b": 1}, at="@wait:w")
    await answer(runs["waits"], None, at="@wait:w#2")
    await answer(runs["race"], "came", at="@wait:w")
    await runs["order"].signal("c", "c")
    await asyncio.sleep(0.2)
    await answer(runs["order"], "a", at="@wait:a")
    await answer(runs["yaml"], {"b": 1}, at="ask", by="Bob")
    await runs["one_name"].signal("same", "signal")
    await answer(runs["one_name"], "wait", at="@wait:same")
    await asyncio.sleep(1)
    for number in (3, 4):
        await runs["signals"].signal("s", number)
    await settled(runs["verbs_key"], "paused")
    await runs["verbs_key"].skip()
    for name, run in runs.items():
        await settled(run, *(("running", "waiting", "paused") if name in OPEN else ENDS))
    await settled(runs["moved"], "paused")
    return {name: run.id for name, run in runs.items()}


async def second(port: str) -> dict[str, str]:
    ids: dict[str, str] = json.loads(IDS.read_text())
    async with detent.node("sqlite:///d.db", listen=True, port=int(port), allow_loose_auth=True):
        moved, edited = (detent.RunHandle(ids[name]) for name in ("moved", "edited"))
        await moved.resume()
        await answer(edited, 5, at="@wait:w")
        for run in (moved, edited):
            await settled(run, "completed")
    return ids


def keep() -> None:
    """Write the tests, as a person would."""
    ids: dict[str, str] = json.loads(IDS.read_text())
    for name, id_ in ids.items():
        with suppress(SystemExit):
            call("runs", ["show", id_, "--as-test", "--output", f"test_{name}.py", "--database", "sqlite:///d.db"])


if __name__ == "__main__":
    if sys.argv[1] == "keep":
        keep()
    else:
        made = asyncio.run({"first": first, "second": second}[sys.argv[1]](sys.argv[2]))
        IDS.write_text(json.dumps(made))
