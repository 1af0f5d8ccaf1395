"""The two drivers of exchanges: `Driver` blocks, `AsyncDriver` is awaited. No other code runs an exchange.

An exchange is a generator that yields effects (`calls`): send this, wait so long. A driver performs each effect over a
transport and sends the result back into the generator, until the exchange has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing, closing
from dataclasses import dataclass
from threading import Event
from typing import Any, Final, Generic, TypeVar

from detent.client.calls import (
    Answer,
    Effect,
    ManyAnswers,
    OneAnswer,
    OpenStream,
    ReadStream,
    Request,
    RetryPolicy,
    Send,
    Wait,
    Yield,
)
from detent.client.errors import ClientClosed, NoConnection
from detent.client.transports import AsyncStream, AsyncTransport, Stream, Transport

T = TypeVar("T")
R = TypeVar("R")


class _Turns(Generic[T, R]):
    """An exchange, effect by effect. When `take` returns `None` the exchange has ended, and `result` is its result."""

    result: R

    def __init__(self, exchange: Generator[T, Any, R]) -> None:
        self._exchange = exchange

    def take(self, came: object = None) -> T | None:
        """Send the result of the last effect into the exchange. Return its next effect, or `None` at its end."""
        try:
            return self._exchange.throw(came) if isinstance(came, NoConnection) else self._exchange.send(came)
        except StopIteration as end:
            self.result = end.value
            return None


class Driver:
    """Runs exchanges in the caller's thread. It owns the transport. Any number of threads may share a driver."""

    def __init__(self, transport: Transport, policy: RetryPolicy) -> None:
        self.transport = transport
        self._policy = policy
        self._closed = Event()

    def ask(self, asked: OneAnswer[T]) -> T:
        """Run an exchange and return its result."""
        turns = _Turns(asked.talk(self._policy))
        with closing(_Effects(self)) as effects:
            effect = turns.take()
            while effect is not None:
                effect = turns.take(effects.do(effect))
        return turns.result

    def stream(self, asked: ManyAnswers[T]) -> Iterator[T]:
        """Run an exchange and yield its answers."""
        turns = _Turns(asked.stream(self._policy))
        with closing(_Effects(self)) as effects:
            effect = turns.take()
            while effect is not None:
                if isinstance(effect, Yield):
                    yield from effect.items
                    effect = turns.take()
                else:
                    effect = turns.take(effects.do(effect))

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def wait(self, seconds: float) -> object:
        """Wait until the time is over or the driver is closed. Return whether it is closed."""
        return self._closed.wait(seconds)

    def close(self) -> None:
        """Close the transport and end every wait for a retry."""
        self._closed.set()
        self.transport.close()


class _Effects:
    """Performs the effects of one exchange, and owns the stream that the exchange reads."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._stream: Stream | None = None

    def do(self, effect: Effect) -> object:
        """Perform an effect and return its result. A lost connection is a result too: the exchange decides whether to
        retry."""
        if self._driver.is_closed:
            raise ClientClosed
        try:
            match effect:
                case Send(request):
                    return self._driver.transport.send(request)
                case OpenStream(request):
                    return self._open(request)
                case ReadStream():
                    return self._stream.read() if self._stream else b""
                case Wait(seconds):
                    return self._driver.wait(seconds)
        except NoConnection as error:
            return error

    def _open(self, request: Request) -> Answer | None:
        self.close()
        opened = self._driver.transport.open_stream(request)
        if opened is None:
            return None
        answer, self._stream = opened
        return answer

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


@dataclass
class ProcessDrivers:
    """The drivers of handles that are built from an id alone. `detent.embed` sets them. They use the Detent that the
    settings of this process name."""

    sync: Driver | None = None
    awaited: AsyncDriver | None = None


PROCESS: Final = ProcessDrivers()


class AsyncDriver:
    """Runs exchanges on the caller's event loop. It owns the transport. `sync` returns the blocking driver of the same
    Detent."""

    def __init__(self, transport: AsyncTransport, policy: RetryPolicy, sync: Callable[[], Driver]) -> None:
        self.transport = transport
        self.sync = sync
        self._policy = policy
        self._is_closed = False

    async def ask(self, asked: OneAnswer[T]) -> T:
        """Run an exchange and return its result."""
        turns = _Turns(asked.talk(self._policy))
        async with aclosing(_AsyncEffects(self)) as effects:
            effect = turns.take()
            while effect is not None:
                effect = turns.take(await effects.do(effect))
        return turns.result

    async def stream(self, asked: ManyAnswers[T]) -> AsyncIterator[T]:
        """Run an exchange and yield its answers."""
        turns = _Turns(asked.stream(self._policy))
        async with aclosing(_AsyncEffects(self)) as effects:
            effect = turns.take()
            while effect is not None:
                if isinstance(effect, Yield):
                    for item in effect.items:
                        yield item
                    effect = turns.take()
                else:
                    effect = turns.take(await effects.do(effect))

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    async def close(self) -> None:
        """Close the transport."""
        self._is_closed = True
        await self.transport.close_async()


class _AsyncEffects:
    """Performs the effects of one exchange, and owns the stream that the exchange reads."""

    def __init__(self, driver: AsyncDriver) -> None:
        self._driver = driver
        self._stream: AsyncStream | None = None

    async def do(self, effect: Effect) -> object:
        """Perform an effect and return its result. A lost connection is a result too: the exchange decides whether to
        retry."""
        if self._driver.is_closed:
            raise ClientClosed
        try:
            match effect:
                case Send(request):
                    return await self._driver.transport.send_async(request)
                case OpenStream(request):
                    return await self._open(request)
                case ReadStream():
                    return await self._stream.read() if self._stream else b""
                case Wait(seconds):
                    return await asyncio.sleep(seconds, True)
        except NoConnection as error:
            return error

    async def _open(self, request: Request) -> Answer | None:
        await self.aclose()
        opened = await self._driver.transport.open_stream_async(request)
        if opened is None:
            return None
        answer, self._stream = opened
        return answer

    async def aclose(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None
