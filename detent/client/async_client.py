"""`detent.AsyncClient`, whose methods are awaited, on aiohttp."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

import aiohttp
from yarl import URL

from detent.client.calls import Answer, Request, RetryPolicy, server_url
from detent.client.client import (
    AsyncActionTemplates,
    AsyncAlerts,
    AsyncAudit,
    AsyncConnectors,
    AsyncDocumentTemplates,
    AsyncEntities,
    AsyncKeys,
    AsyncLetters,
    AsyncRules,
    AsyncSecrets,
    AsyncStoredBlobs,
    AsyncStoredCredentials,
    AsyncTenants,
    AsyncTriggers,
    AsyncWorkflows,
    AsyncWorkflowTemplates,
    ClientOperations,
    RunHandle,
)
from detent.client.drivers import AsyncDriver, Driver
from detent.client.errors import ClientClosed, NoConnection
from detent.client.identity.key_file import finder
from detent.client.operations import Awaiting
from detent.client.transports import (
    LONGEST_IDLE,
    AsyncStream,
    HttpTransport,
    connect_reason,
    sent_headers,
    with_key,
)


class AsyncClient(ClientOperations, Awaiting):
    """A client of the Detent at `url`, else at DETENT_URL, else at http://127.0.0.1:8080. It belongs to one event loop
    and owns its connections.

    `timeout` is the limit of one request in seconds. A request that is safe to repeat is retried for at most `patience`
    seconds, if no server answers or the server is unavailable. `headers` are sent with every request. `key` is the key
    of the API, else that of DETENT_KEY, else the one that `detent login` stored."""

    def __init__(
        self,
        url: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 30.0,
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> None:
        self.url = server_url(url)
        self._find_key = finder(self.url, key)
        policy = RetryPolicy(timeout, patience, dict(headers or {}))
        self._sync: Driver | None = None
        super().__init__(
            AsyncDriver(AiohttpTransport(self.url, self._find_key), policy, lambda: self._sync_driver(policy))
        )
        self.workflows = AsyncWorkflows(self.driver)
        self.triggers = AsyncTriggers(self.driver)
        self.connectors = AsyncConnectors(self.driver)
        self.keys = AsyncKeys(self.driver)
        self.tenants = AsyncTenants(self.driver)
        self.secrets = AsyncSecrets(self.driver)
        self.audit = AsyncAudit(self.driver)
        self.credentials = AsyncStoredCredentials(self.driver)
        self.dead_letters = AsyncLetters(self.driver)
        self.blobs = AsyncStoredBlobs(self.driver)
        self.workflow_templates = AsyncWorkflowTemplates(self.driver)
        self.document_templates = AsyncDocumentTemplates(self.driver)
        self.rules = AsyncRules(self.driver)
        self.entities = AsyncEntities(self.driver)
        self.alerts = AsyncAlerts(self.driver)
        self.action_templates = AsyncActionTemplates(self.driver)

    def run(self, id: str) -> RunHandle:  # noqa: A002
        """Return the handle of a run. It sends no request yet."""
        return RunHandle(id, driver=self.driver)

    async def close(self) -> None:
        """Close the connections."""
        await self.driver.close()
        if self._sync is not None:
            self._sync.close()

    def _sync_driver(self, policy: RetryPolicy) -> Driver:
        """Return the driver of `run.sync`, which blocks."""
        if self._sync is None:
            self._sync = Driver(HttpTransport(self.url, self._find_key), policy)
        return self._sync

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AiohttpTransport:
    """HTTP to one server, on one event loop. It owns the session, which the first request opens."""

    def __init__(self, url: str, find_key: Callable[[], str | None]) -> None:
        self._url = url
        self._key = find_key()
        self._session: aiohttp.ClientSession | None = None

    async def send_async(self, request: Request) -> Answer:
        async with self.errors():
            response = await self._request(request, aiohttp.ClientTimeout(total=request.timeout))
            async with response:
                return _answer(response, await response.read())

    async def open_stream_async(self, request: Request) -> tuple[Answer, AsyncStream | None]:
        silence = aiohttp.ClientTimeout(total=None, sock_connect=request.timeout, sock_read=request.timeout)
        async with self.errors():
            response = await self._request(request, silence)
            if response.status == 200:
                return _answer(response, b""), _AiohttpStream(self, response)
            async with response:
                return _answer(response, await response.read()), None

    async def close_async(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _request(self, request: Request, timeout: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        if self._session is None:
            connector = aiohttp.TCPConnector(keepalive_timeout=LONGEST_IDLE, limit=0)
            self._session = aiohttp.ClientSession(connector=connector)
        if self._session.closed:
            raise ClientClosed
        return await self._session.request(
            request.method,
            URL(self._url + request.target, encoded=True),
            headers=with_key(sent_headers(request), self._key),
            data=request.body,
            timeout=timeout,
            allow_redirects=False,
        )

    @asynccontextmanager
    async def errors(self) -> AsyncIterator[None]:
        """Raise NoConnection for the errors of aiohttp."""
        try:
            yield
        except aiohttp.ClientConnectorError as error:
            raise NoConnection(f"cannot connect to {self._url}: {connect_reason(error.os_error)}", sent=False) from None
        except TimeoutError:
            raise NoConnection(f"{self._url} did not answer: no answer in time", sent=True) from None
        except (aiohttp.ClientError, OSError) as error:
            reason = str(error) or type(error).__name__
            raise NoConnection(f"{self._url} did not answer: {reason}", sent=True) from None


class _AiohttpStream:
    """The body of an answer, piece by piece."""

    def __init__(self, transport: AiohttpTransport, response: aiohttp.ClientResponse) -> None:
        self._transport, self._response = transport, response

    async def read(self) -> bytes:
        async with self._transport.errors():
            return await self._response.content.readany()

    def close(self) -> None:
        self._response.close()


def _answer(response: aiohttp.ClientResponse, body: bytes) -> Answer:
    return Answer(response.status, {name.lower(): value for name, value in response.headers.items()}, body)
