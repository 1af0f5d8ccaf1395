"""`detent.Client`: the face whose methods return when they are done. Any number of threads may share one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import closing
from functools import partial
from inspect import signature
from threading import Event
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from detent.client import runs as run_calls
from detent.client import stream, triggers, workflows
from detent.client.calls import (
    Answer,
    Effect,
    ExchangeDriver,
    ManyAnswers,
    OneAnswer,
    OpenStream,
    ReadStream,
    Request,
    RetryPolicy,
    Send,
    Wait,
    Yield,
    server_url,
)
from detent.client.errors import ClientClosed, NoConnection
from detent.client.transports import Connections, Stream
from detent.documents.runs import StartedDocument

# The two faces of the client, from one description of each operation.
#
# An operation is a function that describes what is asked. As an attribute of a face it is a method with the same
# parameters: on a `Blocking` face it returns what was asked for, on an `Awaiting` one it returns an awaitable of it.
# The type checker knows both, and neither is written twice.


P = ParamSpec("P")
T = TypeVar("T")


class Line(Protocol):
    """A way to the server that blocks."""

    def ask(self, asked: OneAnswer[T]) -> T: ...

    def tell(self, told: ManyAnswers[T]) -> Iterator[T]: ...


class AsyncLine(Protocol):
    """A way to the server that is awaited."""

    async def ask(self, asked: OneAnswer[T]) -> T: ...

    def tell(self, told: ManyAnswers[T]) -> AsyncIterator[T]: ...


class Blocking:
    """A face whose methods return when they are done. `about` is what its operations are about, such as a run's id."""

    def __init__(self, line: Line, *about: str) -> None:
        self.line, self.about = line, about


class Awaiting:
    """A face whose methods are awaited."""

    def __init__(self, line: AsyncLine, *about: str) -> None:
        self.line, self.about = line, about


class _Method(Generic[P, T]):
    """An operation in the body of a face's class."""

    def __init__(self, describe: Callable[..., T], *, given: int = 0) -> None:
        self._describe, self.__doc__ = describe, describe.__doc__
        known = signature(describe)
        # What the face fills in itself is no parameter of the method.
        self._signature = known.replace(parameters=[*known.parameters.values()][given:])

    def __set_name__(self, kind: type, name: str) -> None:
        self.__name__ = name

    def bound(self, face: Blocking | Awaiting, act: Callable[[T], object]) -> Callable[P, object]:
        def method(*args: P.args, **options: P.kwargs) -> object:
            return act(self._describe(*face.about, *args, **options))

        method.__name__, method.__doc__ = self.__name__, self.__doc__
        method.__signature__ = self._signature  # type: ignore[attr-defined]
        return method


class Asks(_Method[P, OneAnswer[T]]):
    """An operation with one answer."""

    @overload
    def __get__(self, face: None, kind: type) -> Self: ...
    @overload
    def __get__(self, face: Blocking, kind: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, face: Awaiting, kind: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, face: Blocking | Awaiting | None, kind: type) -> object:
        return self if face is None else self.bound(face, face.line.ask)


class Tells(_Method[P, ManyAnswers[T]]):
    """An operation that gives one thing after the other."""

    @overload
    def __get__(self, face: None, kind: type) -> Self: ...
    @overload
    def __get__(self, face: Blocking, kind: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, face: Awaiting, kind: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, face: Blocking | Awaiting | None, kind: type) -> object:
        return self if face is None else self.bound(face, face.line.tell)


class Starts(_Method[P, OneAnswer[StartedDocument]]):
    """An operation that makes a run and gives its handle."""

    @overload
    def __get__(self, face: None, kind: type) -> Self: ...
    @overload
    def __get__(self, face: Blocking, kind: type) -> Callable[P, SyncRunHandle]: ...
    @overload
    def __get__(self, face: Awaiting, kind: type) -> Callable[P, Coroutine[Any, Any, RunHandle]]: ...
    def __get__(self, face: Blocking | Awaiting | None, kind: type) -> object:
        if face is None:
            return self
        if isinstance(face, Blocking):
            return self.bound(face, partial(_run, face.line))
        return self.bound(face, partial(_async_run, face.line))


def asks(describe: Callable[P, OneAnswer[T]]) -> Asks[P, T]:
    return Asks(describe)


def tells(describe: Callable[P, ManyAnswers[T]]) -> Tells[P, T]:
    return Tells(describe)


def starts(describe: Callable[P, OneAnswer[StartedDocument]]) -> Starts[P]:
    return Starts(describe)


def asks_of(describe: Callable[Concatenate[str, P], OneAnswer[T]]) -> Asks[P, T]:
    """An operation about what the face is about."""
    return Asks(describe, given=1)


def tells_of(describe: Callable[Concatenate[str, P], ManyAnswers[T]]) -> Tells[P, T]:
    return Tells(describe, given=1)


def starts_of(describe: Callable[Concatenate[str, P], OneAnswer[StartedDocument]]) -> Starts[P]:
    return Starts(describe, given=1)


class RunOperations:
    """What can be done with one run."""

    get = asks_of(run_calls.get)
    wait = asks_of(run_calls.wait)
    result = asks_of(run_calls.result)
    cancel = asks_of(run_calls.cancel)
    pause = asks_of(run_calls.pause)
    resume = asks_of(run_calls.resume)
    skip = asks_of(run_calls.skip)
    reattempt = asks_of(run_calls.reattempt)
    finish = asks_of(run_calls.finish)
    retry = starts_of(run_calls.retry)
    rerun = starts_of(run_calls.rerun)
    fork = starts_of(run_calls.fork)
    resolve = asks_of(run_calls.resolve)
    signal = asks_of(run_calls.signal)
    why = asks_of(run_calls.why)
    history = tells_of(run_calls.history)
    events = tells_of(stream.events)
    follow = tells_of(stream.follow)


class SyncRunHandle(RunOperations, Blocking):
    """A handle of one run. `started` is what its start was answered with, if this client started it."""

    def __init__(self, line: Line, id: str, started: StartedDocument | None = None) -> None:  # noqa: A002
        super().__init__(line, id)
        self.id, self.started = id, started

    def __repr__(self) -> str:
        return f"Run({self.id!r})"


class RunHandle(RunOperations, Awaiting):
    """A handle of one run. `started` is what its start was answered with, if this client started it."""

    def __init__(self, line: AsyncLine, id: str, started: StartedDocument | None = None) -> None:  # noqa: A002
        super().__init__(line, id)
        self.id, self.started = id, started

    def __repr__(self) -> str:
        return f"AsyncRun({self.id!r})"


def _run(line: Line, asked: OneAnswer[StartedDocument]) -> SyncRunHandle:
    started = line.ask(asked)
    return SyncRunHandle(line, started.run_id, started)


async def _async_run(line: AsyncLine, asked: OneAnswer[StartedDocument]) -> RunHandle:
    started = await line.ask(asked)
    return RunHandle(line, started.run_id, started)


class WorkflowOperations:
    """What can be done with workflows."""

    create = asks(workflows.create)
    save = asks(workflows.save)
    get = asks(workflows.get)
    list = tells(workflows.list_all)
    delete = asks(workflows.delete)
    enable = asks(workflows.enable)
    disable = asks(workflows.disable)


class Workflows(WorkflowOperations, Blocking):
    """`client.workflows`"""


class AsyncWorkflows(WorkflowOperations, Awaiting):
    """`client.workflows`"""


class TriggerOperations:
    """What can be done with triggers and their firings."""

    create = asks(triggers.create)
    get = asks(triggers.get)
    list = tells(triggers.list_all)
    update = asks(triggers.update)
    delete = asks(triggers.delete)
    fire = asks(triggers.fire)
    pause = asks(triggers.pause)
    resume = asks(triggers.resume)
    next = asks(triggers.coming)
    preview = asks(triggers.preview)
    backfill = asks(triggers.backfill)
    firings = tells(triggers.firings)
    firing = asks(triggers.firing)
    replay = asks(triggers.replay)


class Triggers(TriggerOperations, Blocking):
    """`client.triggers`"""


class AsyncTriggers(TriggerOperations, Awaiting):
    """`client.triggers`"""


class ClientOperations:
    """What can be done with a Detent as a whole."""

    start = starts(run_calls.start)
    runs = tells(run_calls.list_all)
    timeline = tells(run_calls.timeline)
    bulk = asks(run_calls.bulk)
    callback = asks(run_calls.callback)
    send_event = asks(run_calls.send_event)
    health = asks(run_calls.health)


class Client(ClientOperations, Blocking):
    """A Detent at `url` (else at DETENT_URL, else at http://127.0.0.1:8080).

    `timeout` seconds are for one request. What may be sent again is sent again, while nothing answers or the server
    says "not now", for at most `patience` seconds. `headers` go with every request."""

    def __init__(
        self,
        url: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 30.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.url = server_url(url)
        self._line = BlockingLine(self.url, RetryPolicy(timeout, patience, dict(headers or {})))
        super().__init__(self._line)
        self.workflows, self.triggers = Workflows(self._line), Triggers(self._line)

    def run(self, id: str) -> SyncRunHandle:  # noqa: A002
        """The handle of a run. Asks nothing yet."""
        return SyncRunHandle(self._line, id)

    def close(self) -> None:
        """Close the connections, and let nobody wait for another try."""
        self._line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class BlockingLine:
    """Carries conversations out in the caller's thread."""

    def __init__(self, url: str, terms: RetryPolicy) -> None:
        self._connections, self._terms, self._closed = Connections(url), terms, Event()

    def ask(self, asked: OneAnswer[T]) -> T:
        turns, hands = ExchangeDriver(asked.talk(self._terms)), _Hands(self._connections, self._closed)
        effect = turns.take()
        while effect is not None:
            effect = turns.take(hands.do(effect))
        return turns.result

    def tell(self, told: ManyAnswers[T]) -> Iterator[T]:
        turns = ExchangeDriver(told.tell(self._terms))
        with closing(_Hands(self._connections, self._closed)) as hands:
            effect = turns.take()
            while effect is not None:
                if isinstance(effect, Yield):
                    yield from effect.items
                    effect = turns.take()
                else:
                    effect = turns.take(hands.do(effect))

    def close(self) -> None:
        self._closed.set()
        self._connections.close()


class _Hands:
    """Does what one conversation wants, and holds the stream it listens to."""

    def __init__(self, connections: Connections, closed: Event) -> None:
        self._connections, self._closed = connections, closed
        self._stream: Stream | None = None

    def do(self, effect: Effect) -> object:
        """What came of it; an error of the connection is a result too."""
        if self._closed.is_set():
            raise ClientClosed
        try:
            match effect:
                case Send(request):
                    return self._connections.send(request)
                case OpenStream(request):
                    return self._listen(request)
                case ReadStream():
                    return self._stream.hear() if self._stream else b""
                case Wait(seconds):
                    return self._closed.wait(seconds)
        except NoConnection as error:
            return error

    def _listen(self, request: Request) -> Answer:
        self.close()
        answer, self._stream = self._connections.listen(request)
        return answer

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
