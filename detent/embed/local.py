"""The API without a socket: requests go to the application in this process, on its event loop."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from threading import Thread, get_ident
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from detent.api.app import Api, api_caller, context_for
from detent.api.server.fast_path import FastPath
from detent.app import App, build_app
from detent.auth.authenticator import TrustedAuthenticator
from detent.client.calls import Answer, Request, ServerAddress
from detent.client.errors import Unavailable, refusal
from detent.embed.request import running_loop
from detent.errors import StoreInUse
from detent.python.registry import registry
from detent.settings import Settings
from detent.store.url import is_shared

T = TypeVar("T")

_HOST: Final = (b"host", b"localhost")
_START: Final = re.compile(r"/api/v1/workflows/([^/]+)/(?:trigger|execute)")


class InProcessTransport:
    """The transport to an application on an event loop of this process. `thread` is the loop's thread, if known.

    Without `can_wait` no node can run the runs of the application while a request waits. With `saves_code`, a start of
    a Python workflow that the database does not have saves the definition from this process first.
    """

    def __init__(
        self,
        app: App,
        loop: asyncio.AbstractEventLoop,
        thread: int | None = None,
        *,
        can_wait: bool = True,
        saves_code: bool = False,
    ) -> None:
        self.can_wait = can_wait
        self._loop = loop
        self._thread = thread
        self._saves_code = saves_code
        # This process has opened the database, so its requests are its operator's.
        self._context = context_for(app, TrustedAuthenticator(api_caller()), hosts=None)
        self._fast_path = FastPath(self._route, self._context)
        self._api: Api | None = None

    def send(self, request: Request) -> Answer:
        if running_loop() is self._loop or get_ident() == self._thread:
            raise RuntimeError(
                "detent.sync was called on the event loop that Detent itself runs on, which would block itself; "
                "await detent.start(...) instead, or call it from a thread"
            )
        return asyncio.run_coroutine_threadsafe(self._answer(request), self._loop).result()

    async def send_async(self, request: Request) -> Answer:
        if asyncio.get_running_loop() is self._loop:
            return await self._answer(request)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._answer(request), self._loop))

    def open_stream(self, request: Request) -> None:
        return None

    async def open_stream_async(self, request: Request) -> None:
        return None

    def close(self) -> None:
        """Do nothing: the application outlives its transports."""

    async def close_async(self) -> None:
        """Do nothing: the application outlives its transports."""

    async def _answer(self, request: Request) -> Answer:
        answer = await self._handle(request)
        if answer.status == 404 and self._saves_code and await self._save_code(request):
            answer = await self._handle(request)
        if request.key is not None and answer.status == 503:
            # The key was not sent, so sending the request again could start two runs. The caller decides.
            raise refusal(answer.status, answer.headers, answer.body) or Unavailable("try again later", status=503)
        return answer

    async def _handle(self, request: Request) -> Answer:
        status, headers, body = 500, dict[str, str](), bytearray()

        async def receive() -> Any:
            return {"type": "http.request", "body": request.body or b"", "more_body": False}

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers.update((name.decode().lower(), value.decode("latin-1")) for name, value in message["headers"])
            else:
                body.extend(message.get("body", b""))

        await self._fast_path(_scope(request), receive, send)
        return Answer(status, headers, bytes(body))

    async def _route(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle a request that the fast path does not take. The first such request builds the routes."""
        if self._api is None:
            self._api = Api(self._context)
        scope["headers"] = [_HOST, *scope["headers"]]
        await self._api(scope, receive, send)

    async def _save_code(self, request: Request) -> bool:
        """Save the Python workflow that a request starts. Return whether this process has it."""
        started = _START.fullmatch(request.target.partition("?")[0])
        known = None if started is None else registry.find(unquote(started[1]))
        if known is None:
            return False
        await self._context.bound(api_caller()).commands.workflows.save_python(known.compiled, known.source)
        return True


def _scope(request: Request) -> Any:
    path, _, query = request.target.partition("?")
    # The headers of a start are stored with its run, so `Accept`, which means nothing there, is not passed on.
    headers = [
        (name.lower().encode(), value.encode("latin-1")) for name, value in request.headers.items() if name != "Accept"
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": ("localhost", 80),
    }


# An event loop in its own thread, for programs that have no event loop or another one.


#: Seconds a thread gets to end by itself; it is a daemon, so a process never hangs on it.
_JOIN_PATIENCE: Final = 5.0


class LoopThread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever, name="detent", daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Run a coroutine there and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_JOIN_PATIENCE)
        if not self._thread.is_alive():
            self.loop.close()


# An app on a database that this process opens: it accepts starts, and other nodes run them. It has its own thread.
#
# So the caller can be plain code, and the node stays alive between two requests.


#: Seconds to wait for a file in use. A process that has just opened it soon publishes its address, or ends.
_BUSY_PATIENCE: Final = 3.0
_LOOK_AGAIN: Final = 0.1
#: Seconds that closing may take. A process that ends does not wait for a database that does not answer.
_CLOSE_TIMEOUT: Final = 5.0


class LocalApp:
    """An application without claims. It owns its thread and event loop until it is closed."""

    def __init__(self, settings: Settings, *, saves_code: bool = False) -> None:
        self._thread = LoopThread()
        self._stack = AsyncExitStack()
        try:
            app = self._open(settings)
            can_wait = is_shared(settings.database_url)  # else no other process can run its runs
            self.transport = InProcessTransport(app, self._thread.loop, can_wait=can_wait, saves_code=saves_code)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with suppress(TimeoutError):
            self._thread.call(self._stack.aclose(), _CLOSE_TIMEOUT)
        self._thread.close()

    def _open(self, settings: Settings) -> App:
        until = time.monotonic() + _BUSY_PATIENCE
        while True:
            try:
                return self._thread.call(self._stack.enter_async_context(build_app(settings)))
            except StoreInUse as error:
                if error.url is not None or time.monotonic() > until:
                    raise
            self._thread.call(asyncio.sleep(_LOOK_AGAIN))


@contextmanager
def open_here(settings: Settings, *, saves_code: bool = False) -> Iterator[InProcessTransport | ServerAddress]:
    """Open the database in this process and yield its transport, or yield the address of the process that has it.

    Raise StoreInUse if the process that has it does not serve an API.
    """
    try:
        opened = LocalApp(settings, saves_code=saves_code)
    except StoreInUse as error:
        if error.url is None:
            message = f"{error.message}. That process serves no API: use `detent serve`, or PostgreSQL or MariaDB"
            raise StoreInUse(message, pid=error.pid, url=None) from None
        yield ServerAddress(error.url, error.key)
        return
    try:
        yield opened.transport
    finally:
        opened.close()
