"""`detent.AsyncClient`: the face whose methods are awaited, on aiohttp."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Self, TypeVar

import aiohttp
from yarl import URL

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
from detent.client.client import AsyncTriggers, AsyncWorkflows, Awaiting, ClientOperations, RunHandle
from detent.client.errors import ClientClosed, NoConnection
from detent.client.transports import LONGEST_IDLE

T = TypeVar("T")


class AsyncClient(ClientOperations, Awaiting):
    """A Detent at `url` (else at DETENT_URL, else at http://127.0.0.1:8080), for one event loop.

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
        self._line = AwaitingLine(self.url, RetryPolicy(timeout, patience, dict(headers or {})))
        super().__init__(self._line)
        self.workflows, self.triggers = AsyncWorkflows(self._line), AsyncTriggers(self._line)

    def run(self, id: str) -> RunHandle:  # noqa: A002
        """The handle of a run. Asks nothing yet."""
        return RunHandle(self._line, id)

    async def close(self) -> None:
        """Close the connections."""
        await self._line.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AwaitingLine:
    """Carries conversations out on the event loop. The session begins with the first of them."""

    def __init__(self, url: str, terms: RetryPolicy) -> None:
        self._url, self._terms, self._is_closed = url, terms, False
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, asked: OneAnswer[T]) -> T:
        turns, hands = ExchangeDriver(asked.talk(self._terms)), self._hands()
        effect = turns.take()
        while effect is not None:
            effect = turns.take(await hands.do(effect))
        return turns.result

    async def tell(self, told: ManyAnswers[T]) -> AsyncIterator[T]:
        turns = ExchangeDriver(told.tell(self._terms))
        async with aclosing(self._hands()) as hands:
            effect = turns.take()
            while effect is not None:
                if isinstance(effect, Yield):
                    for item in effect.items:
                        yield item
                    effect = turns.take()
                else:
                    effect = turns.take(await hands.do(effect))

    async def close(self) -> None:
        self._is_closed = True
        if self._session is not None:
            await self._session.close()

    def _hands(self) -> _Hands:
        if self._is_closed:
            raise ClientClosed
        if self._session is None:
            connector = aiohttp.TCPConnector(keepalive_timeout=LONGEST_IDLE, limit=0)
            self._session = aiohttp.ClientSession(connector=connector)
        return _Hands(self._session, self._url)


class _Hands:
    """Does what one conversation wants, and holds the stream it listens to."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session, self._url = session, url
        self._stream: aiohttp.ClientResponse | None = None

    async def do(self, effect: Effect) -> object:
        """What came of it; an error of the connection is a result too."""
        if self._session.closed:
            raise ClientClosed
        try:
            match effect:
                case Send(request):
                    return await self._send(request)
                case OpenStream(request):
                    return await self._listen(request)
                case ReadStream():
                    return await self._stream.content.readany() if self._stream else b""
                case Wait(seconds):
                    return await asyncio.sleep(seconds, True)
        except aiohttp.ClientConnectorError as error:
            return NoConnection(f"cannot connect to {self._url}: {error.os_error}", sent=False)
        except TimeoutError:
            return NoConnection(f"{self._url} did not answer: no answer in time", sent=True)
        except (aiohttp.ClientError, OSError) as error:
            return NoConnection(f"{self._url} did not answer: {str(error) or type(error).__name__}", sent=True)

    async def _send(self, request: Request) -> Answer:
        response = await self._asked(request, aiohttp.ClientTimeout(total=request.timeout))
        async with response:
            return _answer(response, await response.read())

    async def _listen(self, request: Request) -> Answer:
        await self.aclose()
        silence = aiohttp.ClientTimeout(total=None, sock_connect=request.timeout, sock_read=request.timeout)
        response = await self._asked(request, silence)
        if response.status == 200:
            self._stream = response
            return _answer(response, b"")
        async with response:
            return _answer(response, await response.read())

    async def _asked(self, request: Request, timeout: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        return await self._session.request(
            request.method,
            URL(self._url + request.target, encoded=True),
            headers=request.headers,
            data=request.body,
            timeout=timeout,
            allow_redirects=False,
        )

    async def aclose(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _answer(response: aiohttp.ClientResponse, body: bytes) -> Answer:
    return Answer(response.status, {name.lower(): value for name, value in response.headers.items()}, body)
