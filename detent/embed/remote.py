"""To a Detent that answers elsewhere, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any, Final, TypeVar

from detent.client.calls import (
    JSON,
    Answer,
    Call,
    Effect,
    ExchangeDriver,
    Request,
    RetryPolicy,
    Send,
    Wait,
    duration,
    instant,
    json_body,
    one,
    url_path,
)
from detent.client.documents import Started
from detent.client.errors import NoConnection
from detent.client.runs import start as start_call
from detent.client.transports import Connections
from detent.errors import NotFound
from detent.ids import new_id
from detent.instant import as_datetime
from detent.python.registry import registry
from detent.run.start import StartRequest
from detent.steps.user_code import ThreadPool

T = TypeVar("T")

#: Threads of one process in which answers from elsewhere are waited for, on behalf of event loops.
_THREADS: Final = 256
_STARTED: Final = one(Started)


class Threads:
    """Blocking calls, awaited. What they raise is raised."""

    def __init__(self) -> None:
        self._pool = ThreadPool(_THREADS)

    async def call(self, function: Callable[[], T]) -> T:
        result, error = await self._pool.submit(lambda: (function(), None), lambda error: (None, error))
        if error is not None:
            raise error
        assert result is not None
        return result

    def close(self) -> None:
        self._pool.close()


class HttpTransport:
    """To the Detent at an address."""

    def __init__(self, url: str, threads: Threads) -> None:
        self.url = url
        self._connections, self._threads = Connections(url), threads

    def send(self, request: Request) -> Answer:
        """The whole answer."""
        return self._connections.send(request)

    async def deliver(self, request: Request) -> Answer:
        """The whole answer, from any loop."""
        return await self._threads.call(partial(self.send, request))

    def start(self, order: StartRequest) -> Started:
        try:
            return told(start_request(order), RetryPolicy(), self.send)
        except NotFound as error:
            known = registry.find(order.workflow)
            if known is None:
                raise
            module = known.place.partition(":")[0]
            raise NotFound(
                f"{error.message} at {self.url}; the engine there has it once it imports {module}, "
                f"as in `detent serve --import {module}`"
            ) from error

    async def begin(self, order: StartRequest) -> Started:
        """Start it, from any loop."""
        return await self._threads.call(partial(self.start, order))

    def close(self) -> None:
        self._connections.close()


def start_request(order: StartRequest) -> Call[Started]:
    """A start as a request. It is sent with an id, so that sending it again does not start two."""
    begins: Any = None
    request_id = order.request_id or (order.id or new_id()).hex()
    if order.delay is not None:
        begins = duration(order.delay)
    elif order.start_at is not None:
        begins = instant(as_datetime(order.start_at))
    if order.priority is None and not order.allow_multiple:
        return start_call(
            order.workflow,
            order.body,
            request_id=request_id,
            start_at=begins,
            labels=order.labels,
            hero=order.hero,
        )
    envelope = {
        "requestId": request_id,
        "trigger": order.body,
        "priority": order.priority,
        "labels": dict(order.labels),
        "hero": None if order.hero is None else {"type": order.hero[0], "id": order.hero[1]},
        "allowMultiple": order.allow_multiple,
        "startAt": begins,
    }
    body = json_body({name: value for name, value in envelope.items() if value is not None})
    return Call("POST", url_path("workflows", order.workflow, "execute"), _STARTED, body=body, headers=JSON)


def told(call: Call[T], terms: RetryPolicy, send: Callable[[Request], Answer]) -> T:
    """What comes of a call, with its tries."""
    turns: ExchangeDriver[Effect, T] = ExchangeDriver(call.talk(terms))
    effect = turns.take()
    while effect is not None:
        effect = turns.take(carried_out(effect, send))
    return turns.result


def carried_out(effect: Effect, send: Callable[[Request], Answer]) -> object:
    """What came of what a conversation wants; an error of the connection is a result too."""
    match effect:
        case Send(request):
            try:
                return send(request)
            except NoConnection as error:
                return error
        case Wait(seconds):
            return pause(seconds)
        case _:
            raise TypeError(f"a door cannot do {effect!r}")


def pause(seconds: float) -> bool:
    """Let so many seconds pass."""
    return Event().wait(seconds)
