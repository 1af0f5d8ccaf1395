"""Detent as one ASGI application inside a web application: the API, callback URLs, the web page, and a node.

    workflows = detent.asgi("sqlite:///detent.db", base_url="http://127.0.0.1:8000/detent", workflows=["shop.flows"])
    app = FastAPI(lifespan=workflows.lifespan)
    app.mount("/detent", workflows)

The host application owns the event loop, the socket and the lifespan. An application that is mounted in another one
receives no lifespan events, so the host application enters `lifespan`; without it every request is answered with 503
and says so. Django has no lifespan: `wrap` puts Detent below a path of any application, and has a lifespan.

A host application shows the path below which it serves us in one of two forms: `root_path` has it and `path` too
(Starlette, FastAPI, `wrap`), or it was cut off from `path` (Litestar). `raw_path` is what the client sent, and tells
one from the other.

On a SQLite file the API also answers on a free port of the loopback interface, for the commands of this machine's
operator: a web framework does not tell an application the address of its socket, and its middleware may ask for a login
of its own.
"""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Iterable, MutableMapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from litestar.types import Receive, Send

from detent.api.errors import answer_of
from detent.api.server.fast_path import respond
from detent.api.server.listener import is_loopback, listening_for
from detent.api.server.served_api import ServedApi, open_api
from detent.auth.first_key import is_needed, make_first_key
from detent.embed.config import noted, settings_of
from detent.embed.lifespan import answer_lifespan, entered_lifespan
from detent.embed.node import load_workflows
from detent.engine.tuning import Tuning
from detent.errors import InvalidInput, Problem, StoreInUse, Unavailable
from detent.ids import RUN, show
from detent.observe import listen
from detent.observe.logs import log_through_logging
from detent.process import App, bind, run_app
from detent.python.registry import registry
from detent.run.call import wait_name
from detent.settings import FIELDS, Settings
from detent.store.url import is_shared, scheme
from detent.views.feeds import Feeds
from detent.web.page import with_page

_LOG: Final = logging.getLogger("detent")
#: Seconds between two looks at whether the server stops. It waits for our streams before it ends the lifespan.
_LOOK: Final = 0.25
_NEEDS_BASE_URL: Final = (
    "is missing: callback URLs begin with it, and a run may wait before the first request arrives. Pass base_url with "
    "the path of the mount, such as base_url='http://127.0.0.1:8000/detent', or set DETENT_BASE_URL"
)
_NOT_STARTED: Final = (
    "Detent was mounted but not started: a mounted application receives no lifespan events. Pass its `lifespan` to the "
    "application that serves it, such as FastAPI(lifespan=workflows.lifespan); Django needs `workflows.wrap(...)` and "
    "a server that sends lifespan events"
)
_ONE_PROCESS: Final = (
    "Serve the application with one worker process, or use PostgreSQL or MariaDB. If that process is `detent serve`, "
    "use it with detent.configure(...) instead"
)
_OTHER_LOOP: Final = "Detent was started on another event loop than the one that answers this request"
_NO_ENGINE: Final = "with engine=False no process runs the workflows: only one process can open %s"
_NO_KEY: Final = "Detent has no key yet; on this machine, run: detent keys create NAME --role instance-admin"
_MOVED: Final = (
    "Detent is served below %r, but its base_url is %s: callback URLs would not reach it. Let base_url end with the "
    "path of the mount"
)
_NOT_SERVED: Final = (
    "run %s waits for a callback of %r, but no server answers at %s, where its callback URL leads. Serve the "
    "application there, or set base_url to the address that it has"
)
_PORTS: Final = {"http": 80, "https": 443}
#: Seconds until the server that started us listens, on a slow machine.
_SETTLED: Final = 5.0
#: The keys of a scope that are part of ASGI. Others belong to the framework of the host application.
_KEPT: Final = ("type", "asgi", "http_version", "method", "scheme", "query_string", "headers", "client", "server")


def asgi(
    database_url: str | None = None,
    *,
    base_url: str | None = None,
    workflows: Iterable[str | ModuleType | Any] = (),
    engine: bool = True,
    page: bool = True,
    migrate: bool = False,
    tuning: Tuning | None = None,
    **settings: Any,
) -> MountedApp:
    """Return Detent as an ASGI application to mount in another one. It starts with `lifespan`.

    `base_url` is where the outside world reaches it, with the path of the mount; else the setting `base_url` has it.
    `workflows` are names of modules to import, or modules, classes and functions that are already imported. Without
    `engine` it accepts starts and callbacks, and other nodes of the database run the workflows. Without `page` it
    serves the API only. With `migrate` the tables are upgraded first (those of a SQLite file always are). Other
    settings have the names of `detent.toml`. Raise InvalidInput if one is unknown.
    """
    unknown = [Problem(name, "is not a setting of Detent") for name in sorted(set(settings) - set(FIELDS))]
    if unknown:
        raise noted(InvalidInput("invalid settings", unknown))
    given = {"database_url": database_url, "base_url": base_url, **settings}
    return MountedApp(_Options(given, tuple(workflows), engine, page, migrate, tuning))


@dataclass(frozen=True, slots=True)
class _Options:
    """The arguments of `asgi`."""

    settings: dict[str, Any]
    workflows: tuple[str | ModuleType | Any, ...]
    engine: bool
    page: bool
    migrate: bool
    tuning: Tuning | None

    def load(self) -> Settings:
        """Import the workflows and read the settings. Raise InvalidInput if there is no base URL."""
        load_workflows(self.workflows)
        found = settings_of(**self.settings)
        if found.base_url is None:
            raise noted(InvalidInput("invalid settings", [Problem("base_url", _NEEDS_BASE_URL)]))
        return found


@dataclass(slots=True)
class _Running:
    """A started application: what it serves, and where."""

    served: ServedApi
    loop: asyncio.AbstractEventLoop
    base_url: str
    netloc: str
    path: str  # of the base URL, without a slash at its end
    is_checked: bool = False  # whether a request was compared with the base URL


class MountedApp:
    """Detent as an ASGI application inside another one. It owns its node from the start of its lifespan to its end."""

    def __init__(self, options: _Options) -> None:
        self._options = options
        self._running: _Running | None = None
        self._is_starting = False
        self._has_complained = False

    @asynccontextmanager
    async def lifespan(self, host: object = None) -> AsyncIterator[None]:
        """Start Detent, and drain it at the end of the block: attempts in flight get time to end.

        Pass this method itself to the host application, which calls it with itself as `host`, or enter it in a lifespan
        of your own: `async with workflows.lifespan(): ...`. Raise InvalidInput if a setting is missing or invalid, and
        StoreInUse if another process has the SQLite file.
        """
        if self._is_starting:
            raise RuntimeError("this Detent is started already; one application enters its lifespan once")
        self._is_starting = True
        try:
            async with AsyncExitStack() as stack:
                self._running = await self._start(self._options.load(), stack)
                yield
        finally:
            self._running = None
            self._is_starting = False

    def wrap(self, application: Any, path: str = "/detent") -> WrappedApp:
        """Return an ASGI application that serves Detent below `path` and `application` everywhere else, such as that of
        Django. Both get lifespan events, as far as `application` knows them."""
        if not path.startswith("/") or not path.strip("/") or path.endswith("/"):
            raise InvalidInput(f"{path!r} is not a valid path of a mount; write it like /detent")
        return WrappedApp(self, application, path)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await answer_lifespan(self.lifespan(), receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})  # this API has no WebSockets

    async def _answer(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        running = self._running
        if running is None or running.loop is not asyncio.get_running_loop():
            await self._refuse(_NOT_STARTED if running is None else _OTHER_LOOP, scope, send)
            return
        prefix, path = split_path(scope)
        if not running.is_checked:
            running.is_checked = True
            if not running.path.endswith(prefix):
                _LOG.warning(_MOVED, prefix or "/", running.base_url)
        if _host(scope) == running.netloc:
            prefix = running.path  # a proxy in front may have cut off more
        prefix = quote(prefix, safe="/")
        if path == "" and scope["method"] in ("GET", "HEAD"):
            await _redirect(send, f"{prefix}/")
            return
        inner: Any = {name: scope[name] for name in _KEPT if name in scope}
        inner |= {"path": path or "/", "raw_path": quote(path or "/").encode(), "root_path": prefix, "state": {}}
        await running.served.application(inner, receive, send)

    async def _refuse(self, reason: str, scope: MutableMapping[str, Any], send: Send) -> None:
        if not self._has_complained:
            self._has_complained = True
            _LOG.error(reason)
        await respond(send, answer_of(Unavailable(reason), scope["method"], scope["path"]))

    async def _start(self, settings: Settings, stack: AsyncExitStack) -> _Running:
        """Start the node and what serves its API. The stack ends them, the node first."""
        stack.callback(log_through_logging())
        is_file = scheme(settings.database_url) == "sqlite"
        if not self._options.engine and not is_shared(settings.database_url):
            _LOG.warning(_NO_ENGINE, settings.database_url)
        sock = bind("127.0.0.1", 0) if is_file else None
        if sock is not None:
            stack.callback(sock.close)
        address = None if sock is None else sock.getsockname()[:2]
        try:
            app = await stack.enter_async_context(self._run_app(settings, address))
        except StoreInUse as error:
            message = f"{error.message}. {_ONE_PROCESS}"
            raise StoreInUse(message, pid=error.pid, url=error.url, key=error.key) from None
        app.engine.served.learn_from(registry.serves)  # workflows that are imported later are served too
        # Feeds of its own: they close when the server stops, and the program itself may still wait for its runs then.
        feeds = Feeds(app.store, app.clock)
        stack.push_async_callback(feeds.close)
        served = await stack.enter_async_context(
            open_api(app, front=with_page if self._options.page else None, feeds=feeds)
        )
        if sock is not None:
            await stack.enter_async_context(listening_for(served, app, sock))
        await _offer_first_key(app)
        stack.push_async_callback(app.drain)  # first: the API still takes callbacks meanwhile
        stack.push_async_callback(_ended, asyncio.create_task(_close_with_server(feeds)))
        stack.push_async_callback(_ended, asyncio.create_task(_look_at_first_wait(app.base_url)))
        parts = urlsplit(app.base_url)
        path = unquote(parts.path.rstrip("/"))
        return _Running(served, asyncio.get_running_loop(), app.base_url, parts.netloc.lower(), path)

    def _run_app(self, settings: Settings, address: tuple[str, int] | None) -> AbstractAsyncContextManager[App]:
        options = self._options
        return run_app(settings, address=address, claims=options.engine, migrate=options.migrate, tuning=options.tuning)


class WrappedApp:
    """An ASGI application that serves Detent below a path, and another application everywhere else."""

    def __init__(self, mounted: MountedApp, application: Any, path: str) -> None:
        self._mounted = mounted
        self._application = application
        self._path = path

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await answer_lifespan(self._lifespan(scope), receive, send)
            return
        prefix, path = split_path(scope)
        if path == self._path or path.startswith(f"{self._path}/"):
            await self._mounted({**scope, "root_path": prefix + self._path, "path": prefix + path}, receive, send)
        else:
            await self._application(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, scope: MutableMapping[str, Any]) -> AsyncIterator[None]:
        async with self._mounted.lifespan(), entered_lifespan(self._application, scope):
            yield


def split_path(scope: MutableMapping[str, Any]) -> tuple[str, str]:
    """Return the prefix below which a request reached us, and the rest of its path. The rest is empty for the prefix
    itself without a slash."""
    path: str = scope["path"]
    root = scope.get("root_path", "").rstrip("/")
    raw = scope.get("raw_path")
    sent = path if raw is None else unquote(raw.partition(b"?")[0].decode("latin-1"))
    if path == sent:
        is_inside = path == root or path.startswith(f"{root}/")
        return (root, path[len(root) :]) if is_inside else (root, path)
    rest = path.rstrip("/")  # Litestar appends a slash
    if sent.rstrip("/").endswith(rest):
        prefix = sent.rstrip("/").removesuffix(rest)
        return prefix, sent[len(prefix) :]
    return root, path


def _host(scope: MutableMapping[str, Any]) -> str:
    return b",".join(value for name, value in scope["headers"] if name == b"host").decode("latin-1").lower()


async def _redirect(send: Send, location: str) -> None:
    headers = [(b"location", location.encode()), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 307, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _offer_first_key(app: App) -> None:
    """Write the first key into the file that the settings name. Without one, log how the operator creates it."""
    if app.settings.allow_loose_auth or not await is_needed(app.store):
        return
    if app.settings.admin_key_file is None:
        _LOG.info(_NO_KEY)
    elif await make_first_key(app.store, Path(app.settings.admin_key_file)) is not None:
        _LOG.info("the first key of Detent, of the role instance-admin, is in %s", app.settings.admin_key_file)


async def _close_with_server(feeds: Feeds) -> None:
    """End streams and long polls as soon as uvicorn stops: it waits for them before it ends the lifespan. Its signal
    handler is a method of the server, which says whether it stops. Other servers have a time limit for open requests.
    """
    server: Any = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    if not isinstance(getattr(server, "should_exit", None), bool):
        return
    while not server.should_exit:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(_LOOK)
    await feeds.close()


async def _look_at_first_wait(base_url: str) -> None:
    """Log the first wait that opens in this process if its callback URL leads to a port of this machine that no server
    has."""
    parts = urlsplit(base_url)
    if parts.hostname is None or not is_loopback(parts.hostname):
        return
    opened: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    def hear(name: str, facts: dict[str, Any]) -> None:
        if name == "wait.opened" and not opened.done():
            opened.set_result(facts)

    stop = listen(hear)
    try:
        facts = await opened
    finally:
        stop()
    await asyncio.sleep(_SETTLED)
    try:
        async with asyncio.timeout(_SETTLED):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or _PORTS[parts.scheme])
    except (OSError, TimeoutError):
        _LOG.warning(_NOT_SERVED, show(RUN, facts["run"]), wait_name(facts["step"]), base_url)
    else:
        writer.close()


async def _ended(work: asyncio.Task[None]) -> None:
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
