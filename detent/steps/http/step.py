"""The http step: one request, its redirects, one outcome.

An answer of 2xx is success. Any other final answer is a failure whose status, headers and body can be read. Of 4xx only
408, 425 and 429 are retried. No answer is a failure without a status. Only GET and HEAD follow redirects.
"""

from __future__ import annotations

import asyncio
import functools
import os
import ssl
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import BadHttpMessage, HttpProcessingError
from aiohttp.resolver import ThreadedResolver

from detent.clock import SystemClock
from detent.graph.model import Step, StepKind
from detent.instant import Instant
from detent.run.call import StepCall
from detent.run.outcomes import Fail, Outcome, StepError
from detent.steps.egress import EgressGuard, EgressPolicy, GuardedResolver, TenantEgress
from detent.steps.errors import CredentialProblem, EgressDenied
from detent.steps.http.blob_body import open_body
from detent.steps.http.request import FOLLOWING_METHODS, BlobBody, HttpRequest, InvalidHttpRequest, build_request
from detent.steps.http.response import (
    NO_ANSWER,
    BadAnswer,
    BeginUpload,
    ReceivedAnswer,
    outcome_of,
    read_answer,
)
from detent.steps.payloads.blobs import BlobPort
from detent.steps.protocol import Needs
from detent.tenants.registry import UNCONFINED, TenantRegistry
from detent.values.limits import BODY_LIMIT
from detent.vault.hosts import HostRules, rule_of

__all__ = ["HttpExecutor", "HttpSettings", "SessionPool", "failure_of_request"]

# The only HTTP client of Detent's steps: aiohttp behind the egress guard.
#
# It uses no proxy of the environment and no cookies, follows no redirects by itself, and always verifies certificates.


_MOST_INFORMATIONAL_ANSWERS: Final = 16
_LONGEST_HEADER_LINE: Final = 8190
_MOST_HEADERS: Final = 128
#: How many sessions of tenants with an egress list of their own are open at once, unless more are in use.
_MOST_SESSIONS: Final = 64


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Limits and timeouts of the HTTP client.

    `max_per_host` 0 means no limit per host. `ca_file` has certificates to trust in addition to the system's.
    """

    max_connections: int = 1000
    max_per_host: int = 0
    connect_timeout: float = 10.0
    default_timeout: float = 30.0
    keep_alive: float = 15.0
    ca_file: Path | None = None


def open_session(
    settings: HttpSettings, guard: EgressGuard, resolver: AbstractResolver | None
) -> aiohttp.ClientSession:
    """Return a session on the running loop. `resolver` replaces the system's; its answers are checked, too."""
    connector = _Connector(
        resolver=GuardedResolver(guard, resolver or ThreadedResolver()),
        # The cache has only answers that passed the guard, and the client connects only to those.
        ttl_dns_cache=10,
        socket_factory=guard.open_socket,
        ssl=tls_context(settings.ca_file),
        limit=settings.max_connections,
        limit_per_host=settings.max_per_host,
        keepalive_timeout=settings.keep_alive,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        auto_decompress=False,
        skip_auto_headers=("Content-Type",),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=settings.connect_timeout),
        max_line_size=_LONGEST_HEADER_LINE,
        max_field_size=_LONGEST_HEADER_LINE,
        max_headers=_MOST_HEADERS,
    )


class GuardedSession:
    """A session behind the guard of one egress policy, and how many requests use it now."""

    def __init__(self, client: aiohttp.ClientSession, guard: EgressGuard) -> None:
        self.client = client
        self.guard = guard
        self.used = 0


class SessionPool:
    """The sessions of the HTTP client, one for each egress policy: a connection that one tenant may open is not used
    for another that may not. They are opened when they are first used; the oldest idle ones are closed."""

    def __init__(self, egress: TenantEgress, settings: HttpSettings, resolver: AbstractResolver | None) -> None:
        self.egress = egress
        self._settings = settings
        self._resolver = resolver
        self._open: dict[EgressPolicy, GuardedSession] = {}
        self._usual: GuardedSession | None = None  # of the policy of the installation
        self._closing: set[asyncio.Task[None]] = set()

    @contextmanager
    def lease(self, tenant: int) -> Iterator[GuardedSession]:
        """Yield the session of a tenant. It stays open until the end of the block."""
        policy = self.egress.of(tenant)
        if policy is self.egress.policy:
            found = self._usual = self._usual or self._made(policy)
        else:
            kept = self._open.pop(policy) if policy in self._open else None
            found = self._open[policy] = self._made(policy) if kept is None else kept
            self._close_idle()
        found.used += 1
        try:
            yield found
        finally:
            found.used -= 1

    async def close(self) -> None:
        """Close all connections."""
        sessions = [*self._open.values(), *([self._usual] if self._usual is not None else [])]
        self._open.clear()
        self._usual = None
        await asyncio.gather(*(one.client.close() for one in sessions), *self._closing)

    def _close_idle(self) -> None:
        """Close the sessions that were used longest ago, as far as no request uses them."""
        surplus = len(self._open) - _MOST_SESSIONS
        idle = [policy for policy, one in self._open.items() if not one.used]
        for policy in idle[: max(0, surplus)]:
            closing = asyncio.get_running_loop().create_task(self._open.pop(policy).client.close())
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    def _made(self, policy: EgressPolicy) -> GuardedSession:
        guard = EgressGuard(policy)
        return GuardedSession(open_session(self._settings, guard, self._resolver), guard)


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """Return the rules for TLS: version 1.2 or later, and certificates are always verified."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    return context


class _Handler(ResponseHandler):
    """Ends a connection that sends endless informational answers (1xx). aiohttp would read them for ever."""

    _informational = 0

    def feed_data(self, data: Any, size: int = 0) -> None:
        is_informational = 100 <= data[0].code < 200
        self._informational = self._informational + 1 if is_informational else 0
        if self._informational > _MOST_INFORMATIONAL_ANSWERS:
            self._refuse()
        else:
            super().feed_data(data, size)

    def _refuse(self) -> None:
        if self.exception() is None:
            self.set_exception(BadHttpMessage("too many informational answers"))
        if self.transport is not None:
            self.transport.abort()


class _Connector(aiohttp.TCPConnector):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        handler: type[ResponseHandler] = _Handler
        self._factory = functools.partial(handler, loop=asyncio.get_running_loop())


class HostDenied(Exception):
    """A secret may not be sent to the host of a request, or of a redirect."""


MOST_REDIRECTS: Final = 5
#: The `large` of a step whose large responses become blobs.
LARGE_BLOB: Final = "blob"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_PERMANENT: Final = frozenset({"egress_denied", "invalid_request", "secret_host"})

# The first entry that matches the class of an error decides its code.
_CODES: Final[tuple[tuple[tuple[type[BaseException], ...], str], ...]] = (
    ((EgressDenied,), "egress_denied"),
    ((HostDenied,), "secret_host"),
    ((InvalidHttpRequest, aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError), "invalid_request"),
    ((BadAnswer, aiohttp.ClientResponseError, aiohttp.ClientPayloadError, HttpProcessingError), "protocol"),
    ((aiohttp.ClientConnectorDNSError,), "dns"),
    ((aiohttp.ClientSSLError, ssl.SSLError), "tls"),
    ((aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError), "connect"),
    ((aiohttp.ClientConnectionError, OSError), "disconnected"),
)


class HopAuth(Protocol):
    """Authenticates the hops of one request, each at the last moment."""

    def authorize(self, request: HttpRequest) -> HttpRequest:
        """Return a hop as it is sent. Raise CredentialProblem if it must not be sent."""


class RequestAuthorizer(Protocol):
    """Sends requests of attempts with stored credentials."""

    async def request(self, call: StepCall, credential: str, request: HttpRequest) -> Outcome:
        """Send the request of an http step with a credential, and return its outcome. Raise CredentialProblem."""

    async def close(self) -> None:
        """Wait for requests of its own that have begun."""


class HttpExecutor:
    """Sends requests under the egress policies of tenants. It owns their connections; `wall` is for dated Retry-After.

    `authorizer` is what sends requests with a credential; without it such steps fail."""

    kind: ClassVar[StepKind] = StepKind.HTTP

    def __init__(
        self,
        policy: EgressPolicy | None = None,
        settings: HttpSettings | None = None,
        *,
        wall: Callable[[], Instant] | None = None,
        resolver: AbstractResolver | None = None,
        tenants: TenantRegistry = UNCONFINED,
        blobs: BlobPort | None = None,
    ) -> None:
        self._settings = settings or HttpSettings()
        self.wall = wall or SystemClock().wall
        self._sessions = SessionPool(TenantEgress(policy or EgressPolicy(), tenants), self._settings, resolver)
        self.authorizer: RequestAuthorizer | None = None
        self.blobs = blobs or BlobPort()

    def needs(self, step: Step) -> Needs:
        return Needs.VIEW if "acting_user_headers" in step.config else Needs.NOTHING

    def begin(self, call: StepCall) -> Coroutine[Any, Any, Outcome]:
        return self._attempt(call)

    async def close(self) -> None:
        """Close all connections."""
        if self.authorizer is not None:
            await self.authorizer.close()
        await self._sessions.close()

    async def _attempt(self, call: StepCall) -> Outcome:
        limit = self.limit_of(call)
        deadline = asyncio.timeout(limit)
        try:
            async with deadline:
                request = build_request(call)
                credential = call.parameters.get("credential")
                if credential is not None:
                    return await self._authorized(call, credential, request)
                found = await self.exchange(request, tenant=call.tenant, save=self.saver(call))
                return outcome_of(found.stored(), found.request, found.remark, found.wait)
        except CredentialProblem as problem:
            return problem.outcome
        except Exception as error:  # noqa: BLE001 - every error is an outcome
            return failure_of_request(error, deadline, limit)

    async def _authorized(self, call: StepCall, credential: Any, request: HttpRequest) -> Outcome:
        if self.authorizer is None:
            message = f"this process has no store of credentials, so it cannot use {str(credential)[:80]!r}"
            return Fail(StepError("missing_credential", message), retry=False)
        return await self.authorizer.request(call, str(credential), request)

    def limit_of(self, call: StepCall) -> float:
        """Return how many seconds an attempt may take."""
        return self._settings.default_timeout if call.timeout is None else call.timeout

    def saver(self, call: StepCall) -> BeginUpload | None:
        """Return what stores a response of a call that is too large, or None if the step has it truncated."""
        if call.parameters.get("large") != LARGE_BLOB:
            return None
        return lambda type_: self.blobs.use().begin(call.tenant, type_, call.run_id)

    async def exchange(
        self,
        request: HttpRequest,
        *,
        tenant: int,
        limit: int = BODY_LIMIT,
        auth: HopAuth | None = None,
        save: BeginUpload | None = None,
    ) -> ReceivedAnswer:
        """Send a request of a tenant, follow its redirects, and return the final answer. Of its body at most `limit`
        bytes are read, unless `save` stores a larger one. `auth` authenticates each hop."""
        with self._sessions.lease(tenant) as session:
            for _ in range(MOST_REDIRECTS):
                response = await self._send(session, request, auth, tenant)
                try:
                    following = _following(request, response)
                    if not isinstance(following, HttpRequest):
                        return await self._read(request, response, following, limit, save)
                finally:
                    response.release()
                request = following
            response = await self._send(session, request, auth, tenant)
            try:
                return await self._read(request, response, f" after {MOST_REDIRECTS} redirects", limit, save)
            finally:
                response.release()

    async def _send(
        self, session: GuardedSession, request: HttpRequest, auth: HopAuth | None, tenant: int
    ) -> aiohttp.ClientResponse:
        if auth is not None:
            request = auth.authorize(request)
        target = request.target
        if request.bound:
            _check_bound(request)
        session.guard.check_host(target.host, target.port)
        headers, body = request.headers, request.body
        data: Any = body
        if isinstance(body, BlobBody):
            headers, data = await open_body(self.blobs, tenant, headers, body)
        with session.guard.towards(target.host):
            return await session.client.request(
                request.method, target.url, headers=headers, data=data, allow_redirects=False
            )

    def _read(
        self,
        request: HttpRequest,
        response: aiohttp.ClientResponse,
        remark: str,
        limit: int,
        save: BeginUpload | None,
    ) -> Coroutine[Any, Any, ReceivedAnswer]:
        if response.status < 200:
            raise BadAnswer(f"the server switched protocols (status {response.status})")
        return read_answer(request, response, limit, remark, self.wall, save)


def _check_bound(request: HttpRequest) -> None:
    """Raise HostDenied if a secret in the request may not be sent to its host."""
    host, port = request.target.host, request.target.port
    for name, hosts in request.bound:
        rules = HostRules(hosts)
        if not rules.allow(host, port):
            message = f"the secret {name!r} may be sent to {rules} only, and not to {rule_of(host, port)}"
            raise HostDenied(message)


def _following(request: HttpRequest, response: aiohttp.ClientResponse) -> HttpRequest | str:
    """Return the request that an answer redirects to, or a remark for the message if this answer is final."""
    if response.status not in _REDIRECTS or request.method not in FOLLOWING_METHODS:
        return ""
    location = response.headers.get("Location")
    if not location:
        return " without a location"
    try:
        return request.redirected(location, response.status)
    except InvalidHttpRequest as error:
        return f", {error}"


def _message(error: BaseException) -> str:
    match error:
        case EgressDenied():
            return str(error.strerror)
        case aiohttp.ClientConnectorCertificateError():
            return _no_connection(error, error.certificate_error, is_tls=True)
        case aiohttp.ClientConnectorError():
            return _no_connection(error, error.os_error, is_tls=error._conn_key.is_ssl)  # noqa: SLF001 - only there
    return str(error)


def _no_connection(
    error: aiohttp.ClientConnectorCertificateError | aiohttp.ClientConnectorError, reason: Exception, *, is_tls: bool
) -> str:
    """Return `cannot connect to http://host:port: connection refused`."""
    host = f"[{error.host}]" if error.host and ":" in error.host else error.host
    port = "" if error.port in (None, 443 if is_tls else 80) else f":{error.port}"
    number = reason.errno if isinstance(reason, OSError) and not isinstance(reason, ssl.SSLError) else None
    if isinstance(reason, ssl.SSLCertVerificationError):
        words = f"its certificate cannot be trusted: {reason.verify_message}"
    elif number is not None and number > 0:
        words = os.strerror(number).lower()
    else:
        words = str(getattr(reason, "strerror", None) or reason)
    return f"cannot connect to {'https' if is_tls else 'http'}://{host}{port}: {words}"


def failure_of_request(error: Exception, deadline: asyncio.Timeout, limit: float) -> Fail:
    """Return the failure of an attempt that raised. `deadline` is its time limit of `limit` seconds."""
    if deadline.expired() and isinstance(error, TimeoutError):
        return Fail(StepError("timeout", f"no complete answer within {limit:g} s"), NO_ANSWER, timed_out=True)
    cause: BaseException = error
    if isinstance(error.__cause__, EgressDenied):
        cause = error.__cause__
    code = next((code for kinds, code in _CODES if isinstance(cause, kinds)), "exception")
    message = _message(cause) or type(cause).__name__
    return Fail(StepError(code, message), NO_ANSWER, retry=code not in _PERMANENT)
