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
from detent.client.errors import NoConnection
from detent.client.runs import start as start_call
from detent.client.transports import Connections
from detent.documents.runs import ExecutionStarted, StartedDocument
from detent.embed.request import StartOrder
from detent.errors import NotFound
from detent.instant import as_datetime
from detent.steps.user_code import ThreadPool

T = TypeVar("T")

#: Threads of one process in which answers from elsewhere are waited for, on behalf of event loops.
_THREADS: Final = 256
_executed: Final = one(ExecutionStarted)


class Threads:
    """Blocking calls, awaited. What they raise is raised."""

    def __init__(self) -> None:
        self._pool = ThreadPool(_THREADS)

    async def call(self, function: Callable[[], T]) -> T:
        result, error = await self._pool.run(partial(_tried, function))
        if error is not None:
            raise error
        assert result is not None
        return result

    def close(self) -> None:
        self._pool.close()


def _tried(function: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001 - raised again where the call is awaited
        return None, error


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

    def start(self, order: StartOrder) -> StartedDocument:
        try:
            return told(start_request(order), RetryPolicy(), self.send)
        except NotFound as error:
            if order.registered is None:
                raise
            module = order.registered.place.partition(":")[0]
            raise NotFound(
                f"{error.message} at {self.url}; the engine there has it once it imports {module}, "
                f"as in `detent serve --import {module}`"
            ) from error

    async def begin(self, order: StartOrder) -> StartedDocument:
        """Start it, from any loop."""
        return await self._threads.call(partial(self.start, order))

    def close(self) -> None:
        self._connections.close()


def start_request(order: StartOrder) -> Call[StartedDocument]:
    """A start as a request. It is sent with an id, so that sending it again does not start two."""
    begins: Any = None
    if order.delay is not None:
        begins = duration(order.delay)
    elif order.start_at is not None:
        begins = instant(as_datetime(order.start_at))
    if order.priority is None and not order.allow_multiple:
        return start_call(
            order.workflow,
            order.body,
            request_id=order.request_id or order.id.hex(),
            start_at=begins,
            labels=order.labels,
            hero=order.hero,
        )
    envelope = {
        "requestId": order.request_id or order.id.hex(),
        "trigger": order.body,
        "priority": order.priority,
        "labels": dict(order.labels),
        "hero": None if order.hero is None else {"type": order.hero[0], "id": order.hero[1]},
        "allowMultiple": order.allow_multiple,
        "startAt": begins,
    }
    body = json_body({name: value for name, value in envelope.items() if value is not None})
    return Call("POST", url_path("workflows", order.workflow, "execute"), _read_execution, body=body, headers=JSON)


def _read_execution(answer: Answer) -> StartedDocument:
    found = _executed(answer)
    return StartedDocument(
        run_id=found.run_id, workflow_id=found.workflow_id, status=found.status, started_at=None, start_at=None
    )


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
