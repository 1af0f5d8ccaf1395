"""Detent mounted in web applications: in processes that uvicorn serves, and what it says where it is not started."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from traceback import format_exception
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

import detent
from detent.embed.asgi import MountedApp, split_path
from detent.errors import InvalidInput, StoreInUse
from detent.observe import listen
from tests.cli.program import detent as command
from tests.cli.program import environment, free_port
from tests.embed.asgi_hosts import HOSTS
from tests.servers import programs

PATIENCE = 300.0


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Any


class Site:
    """A web application in its own process, with Detent at `/detent`."""

    def __init__(self, process: programs.Process, port: int, folder: Path) -> None:
        self.process = process
        self.port = port
        self.folder = folder

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            found, text = {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
            is_json = found.get("content-type", "").startswith(("application/json", "text/plain")) and text
            return Reply(answer.status, found, json.loads(text) if is_json else text)
        finally:
            connection.close()

    def command(self, *arguments: str) -> str:
        done = command(self.folder, *arguments, DETENT_DATABASE_URL="sqlite:///detent.db")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def address(self) -> str:
        """The callback URL that the workflow wrote down, once it has."""
        wait_until((self.folder / "address").exists)
        return (self.folder / "address").read_text()


def wait_until(is_so: Any) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)  # noqa: TID251 - another process is waited for


def said_by_doctor(folder: Path) -> str:
    return " ".join(command(folder, "doctor", DETENT_DATABASE_URL="sqlite:///detent.db").stdout.split())


@contextmanager
def served(framework: str, folder: Path, port: int) -> Iterator[Site]:
    given = {
        "SHOP_FRAMEWORK": framework,
        "SHOP_FOLDER": str(folder),
        "SHOP_BASE_URL": f"http://127.0.0.1:{port}/detent",
        "DETENT_ALLOW_LOOSE_AUTH": "false",
    }
    words = [sys.executable, "-m", "uvicorn", "--factory", "tests.embed.asgi_hosts:host", "--port", str(port)]
    with (folder / "log").open("a") as log:
        process = programs.Process(words, cwd=folder, env=environment(folder, **given), stdout=log, stderr=log)
        site = Site(process, port, folder)
        try:
            wait_until(lambda: process.poll() is not None or _answers(site))
            assert process.poll() is None, (folder / "log").read_text()
            yield site
        finally:
            process.kill()
            process.wait(PATIENCE)


def _answers(site: Site) -> bool:
    try:
        return site.ask("GET", "/hello").status == 200
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("framework", HOSTS)
def test_a_mounted_detent_serves_api_callbacks_and_commands_and_drains_with_its_host(
    framework: str, tmp_path: Path
) -> None:
    port = free_port()
    with served(framework, tmp_path, port) as site:
        assert site.ask("GET", "/hello").body == "hello"
        run = site.ask("POST", "/orders").body["run"]
        url = site.address()
        assert url.startswith(f"http://127.0.0.1:{port}/detent/wh/")

        # The command line finds the process, and creates the first key.
        assert run in site.command("runs", "list")
        key = json.loads(site.command("keys", "create", "tests", "--role", "admin", "--json"))["key"]
        bearer = {"Authorization": f"Bearer {key}"}

        # The API: with a key only, below the prefix, with the prefix in what it answers.
        assert site.ask("GET", "/detent/api/v1/runs").status == 401
        assert [one["id"] for one in site.ask("GET", "/detent/api/v1/runs", **bearer).body["data"]] == [run]
        started = site.ask("POST", "/detent/api/v1/workflows/approval/trigger", {"item": "milk"}, **bearer)
        assert started.status == 201, started
        assert site.ask("GET", started.headers["location"], **bearer).status == 200
        assert site.ask("GET", "/detent/openapi.json", **bearer).body["servers"] == [{"url": "/detent"}]
        assert 'href="openapi.json"' in site.ask("GET", "/detent/docs", **bearer).body
        assert urlsplit(site.ask("GET", "/detent").headers["location"]).path == "/detent/"
        with detent.Client(f"http://127.0.0.1:{port}/detent", key=key) as client:
            assert client.run(run).status() == "running"

        # A session: the cookie of a login counts below the prefix.
        login = site.ask("POST", "/detent/login", {"key": key}, X_Detent="1", Content_Type="application/json")
        assert login.status == 204, login
        cookie = {"Cookie": login.headers["set-cookie"].partition(";")[0]}
        assert site.ask("GET", "/detent/api/v1/me", **cookie).body["data"]["base_path"] == "/detent/"

        # A callback, without a key.
        assert site.ask("POST", urlsplit(url).path, {"ok": True}).status == 200
        done = site.ask("GET", f"/detent/api/v1/runs/{run}?wait=60s", **bearer).body["data"]
        assert (done["status"], done["output"]) == ("completed", {"item": "tea", "answer": {"ok": True}})

        # Its host stops although a stream is open; the run that waits goes on at the next start.
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as stream:
            stream.request("GET", f"/detent/api/v1/runs/{started.body['data']['run_id']}/stream", headers=bearer)
            answer = stream.getresponse()
            assert answer.status == 200
            site.process.terminate()
            site.process.wait(PATIENCE)
        log = (tmp_path / "log").read_text()
        assert "Application shutdown complete" in log
        assert "Traceback" not in log
        assert log.count("Started server process") == 1


@pytest.mark.slow
def test_a_mounted_node_that_was_killed_goes_on_and_its_callback_url_stays_good(tmp_path: Path) -> None:
    port = free_port()
    with served("fastapi", tmp_path, port) as site:
        run = site.ask("POST", "/orders").body["run"]
        url = site.address()
        assert f"begin with http://127.0.0.1:{port}/detent, where Detent answers" in said_by_doctor(tmp_path)
        site.process.send_signal(signal.SIGKILL)
        site.process.wait(PATIENCE)
        # Without its process the command line opens the file itself.
        assert run in site.command("runs", "list", "--status", "running")
    with served("fastapi", tmp_path, port) as site:
        assert site.ask("POST", urlsplit(url).path, {"ok": True}).status == 200
        wait_until(lambda: run in site.command("runs", "list", "--status", "completed"))


# -- without a process


@pytest.mark.parametrize(
    ("scope", "found"),
    [
        ({"path": "/detent/api", "root_path": "/detent", "raw_path": b"/detent/api"}, ("/detent", "/api")),
        ({"path": "/detent/", "root_path": "/detent", "raw_path": b"/detent/"}, ("/detent", "/")),
        ({"path": "/detent", "root_path": "/detent", "raw_path": b"/detent"}, ("/detent", "")),
        ({"path": "/detent/api", "root_path": "/detent"}, ("/detent", "/api")),
        ({"path": "/api/api/v1", "root_path": "/api", "raw_path": b"/api/api/v1"}, ("/api", "/api/v1")),
        ({"path": "/a b/wh/x", "root_path": "/a b", "raw_path": b"/a%20b/wh/x?q"}, ("/a b", "/wh/x")),
        ({"path": "/wh/x", "root_path": "", "raw_path": b"/wh/x"}, ("", "/wh/x")),
        # Litestar cuts the mount off and adds a slash.
        ({"path": "/wh/x/", "root_path": "", "raw_path": b"/detent/wh/x"}, ("/detent", "/wh/x")),
        ({"path": "/", "root_path": "", "raw_path": b"/detent"}, ("/detent", "")),
        ({"path": "/", "root_path": "", "raw_path": b"/detent/"}, ("/detent", "/")),
        ({"path": "/api/v1/", "root_path": "/api", "raw_path": b"/api/d/api/v1"}, ("/api/d", "/api/v1")),
    ],
)
def test_the_prefix_of_a_mount_is_told_from_the_path_below_it(scope: dict[str, Any], found: tuple[str, str]) -> None:
    assert split_path(scope) == found


async def get(app: Any, path: str, method: str = "GET", body: bytes = b"") -> Reply:
    """Send a request to an ASGI application, as a server would."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http"}
    where = {"path": path, "raw_path": path.encode(), "root_path": "", "query_string": b"", "server": ("shop", 80)}
    await app({**scope, **where, "headers": [(b"host", b"shop")], "client": ("127.0.0.1", 1)}, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return Reply(sent[0]["status"], {}, json.loads(body))


def mounted(folder: Path, **given: Any) -> MountedApp:
    return detent.asgi(f"sqlite:///{folder}/detent.db", **{"base_url": "http://shop/detent", **given})


async def test_an_application_that_forgets_the_lifespan_is_told_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from fastapi import FastAPI

    app = FastAPI()
    app.mount("/detent", mounted(tmp_path))
    for _ in range(2):
        answer = await get(app, "/detent/api/v1/runs")
        assert answer.status == 503
        assert "FastAPI(lifespan=workflows.lifespan)" in answer.body["message"]
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 1


async def test_without_a_base_url_it_does_not_start_and_says_what_to_pass(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"invalid settings") as caught:
        async with mounted(tmp_path, base_url=None).lifespan():
            raise AssertionError("it has started")
    assert "base_url='http://127.0.0.1:8000/detent'" in "".join(format_exception(caught.value)[-1:])


def test_a_setting_that_does_not_exist_is_refused_before_the_start(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        mounted(tmp_path, baseurl="http://shop/detent")
    assert [problem.field for problem in caught.value.problems] == ["baseurl"]


async def test_a_base_url_that_leads_elsewhere_is_named_at_the_first_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    workflows = mounted(tmp_path, base_url="http://shop/jobs")
    async with workflows.lifespan():
        assert (await get(workflows.wrap(None, "/detent"), "/detent/health/live")).status == 200
        assert "served below '/detent', but its base_url is http://shop/jobs" in caplog.text


@detent.workflow(name="asgi-takes-a-scan")
async def takes_a_scan(run: detent.Run) -> Any:
    return await run.wait("scan", timeout="1d")


async def test_a_mounted_detent_stores_a_large_callback_as_a_blob(tmp_path: Path) -> None:
    workflows = mounted(tmp_path, workflows=[takes_a_scan])
    opened = asyncio.Event()
    stop = listen(lambda name, facts: opened.set() if name == "wait.opened" else None)
    try:
        async with workflows.lifespan():
            run = await detent.start(takes_a_scan)
            await opened.wait()
            [callback] = (await run.get()).callbacks
            path = urlsplit(callback.url).path.removeprefix("/detent")
            assert (await get(workflows, path, "POST", b"x" * 300_000)).status == 200
            assert (await run.result())["size"] == 300_000
    finally:
        stop()


async def test_a_second_process_or_lifespan_on_one_file_is_refused_and_a_later_one_is_not(tmp_path: Path) -> None:
    workflows = mounted(tmp_path)
    async with workflows.lifespan():
        with pytest.raises(RuntimeError, match="started already"):
            await workflows.lifespan().__aenter__()
        with pytest.raises(StoreInUse, match="one worker process"):
            await mounted(tmp_path).lifespan().__aenter__()
    async with workflows.lifespan():
        assert (await get(workflows, "/health/ready")).status == 200


class Server:
    """A server that runs the lifespan of an application."""

    def __init__(self, app: Any) -> None:
        self.answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._asked: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.work = asyncio.create_task(app({"type": "lifespan", "state": {}}, self._asked.get, self.answers.put))

    async def ask(self, name: str) -> dict[str, Any]:
        await self._asked.put({"type": f"lifespan.{name}"})
        return await self.answers.get()


async def test_a_wrapped_application_starts_after_detent_and_stops_before_it(tmp_path: Path) -> None:
    from starlette.applications import Starlette

    workflows = mounted(tmp_path)
    seen: list[int] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        seen.append((await get(workflows, "/health/ready")).status)
        yield
        seen.append((await get(workflows, "/health/ready")).status)

    server = Server(workflows.wrap(Starlette(lifespan=lifespan)))
    assert (await server.ask("startup"))["type"] == "lifespan.startup.complete"
    assert (await server.ask("shutdown"))["type"] == "lifespan.shutdown.complete"
    await server.work
    assert seen == [200, 200]
    assert (await get(workflows, "/health/ready")).status == 503


def open_cache() -> None:
    raise OSError("no cache")


async def test_a_server_learns_why_detent_or_the_wrapped_application_cannot_start(tmp_path: Path) -> None:
    from starlette.applications import Starlette

    @asynccontextmanager
    async def broken(_: Starlette) -> AsyncIterator[None]:
        open_cache()
        yield

    for app, reason in (
        (mounted(tmp_path, base_url=None).wrap(Starlette()), "base_url: is missing"),
        (mounted(tmp_path).wrap(Starlette(lifespan=broken)), "no cache"),
    ):
        server = Server(app)
        answer = await server.ask("startup")
        assert answer["type"] == "lifespan.startup.failed"
        assert reason in answer["message"]
        await asyncio.gather(server.work, return_exceptions=True)


@detent.workflow(name="asgi-patient")
async def patient(run: detent.Run) -> Any:
    return await run.wait("answer", timeout="1d")


@pytest.mark.parametrize("is_served", [False, True])
async def test_a_base_url_of_a_port_that_no_server_has_is_named_at_the_first_wait(
    is_served: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("detent.embed.asgi._SETTLED", 0.2)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))  # the port is taken, but it takes no connections
        server.settimeout(PATIENCE)
        if is_served:
            server.listen()
        port = server.getsockname()[1]
        async with mounted(tmp_path, base_url=f"http://127.0.0.1:{port}/detent").lifespan():
            run = await detent.start(patient)
            if is_served:
                (await asyncio.to_thread(server.accept))[0].close()
            end = asyncio.get_running_loop().time() + PATIENCE
            while not is_served and "no server answers" not in caplog.text:
                assert asyncio.get_running_loop().time() < end, "it is not named"
                await asyncio.sleep(0.02)
    said = f"run {run.id} waits for a callback of 'answer', but no server answers at http://127.0.0.1:{port}/detent"
    assert (said in caplog.text) is not is_served


@pytest.mark.parametrize(("base_url", "warnings"), [("http://shop/detent", 0), (None, 1)])
async def test_an_embedded_node_whose_callback_urls_no_process_serves_names_its_first_wait(
    base_url: str | None, warnings: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opened: asyncio.Queue[str] = asyncio.Queue()
    stop = listen(lambda name, facts: opened.put_nowait(facts["step"]) if name == "wait.opened" else None)
    try:
        async with detent.node(f"sqlite:///{tmp_path}/detent.db", base_url=base_url):
            for _ in range(2):
                await detent.start(patient)
                await opened.get()
            assert "its callback URLs have no answer" in await asyncio.to_thread(said_by_doctor, tmp_path)
    finally:
        stop()
    assert (
        len(
            [
                line
                for line in caplog.messages
                if "callback of 'answer', but this process serves no callback URLs" in line
            ]
        )
        == warnings
    )
