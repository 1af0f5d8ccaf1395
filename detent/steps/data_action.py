"""Runs actions that are data: renders the request of a manifest, sends it as an http step would, and judges the answer.

The same guard, limits, redirects and Idempotency-Key apply as for http steps (`steps/http/step.py`). An action with
pages sends one request after another within the time limit of its attempt. No secret is in an outcome.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import urlencode

import msgspec
from yarl import URL

from detent.catalog import mcp
from detent.catalog.connections import (
    EnvironmentConnections,
    MissingConnection,
    Scrubber,
    ServiceConnection,
    auth_headers,
    basic,
)
from detent.catalog.connector import AuthType, DataDefinition
from detent.catalog.data_action import (
    AnswerMismatch,
    BoundAction,
    DataAction,
    RequestParts,
    ServiceAnswer,
    ServiceFailure,
    WrittenRequest,
    put_mark,
)
from detent.catalog.request_body import InvalidParts
from detent.expressions import ExpressionError
from detent.instant import SECOND, Instant
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.steps.credentials.keeper import NO_CREDENTIALS
from detent.steps.credentials.opened import sign
from detent.steps.credentials.requests import AuthorizedAttempt, CredentialRequests
from detent.steps.errors import CredentialProblem
from detent.steps.http.request import HttpRequest, SharedHeaders, acting_headers, build_prepared
from detent.steps.http.response import HttpAnswer, ReceivedAnswer, encode_answer
from detent.steps.http.step import HttpExecutor, failure_of_request
from detent.tenants.limits import INSTALLATION
from detent.tenants.registry import NOT_ALLOWED, UNCONFINED, TenantRegistry
from detent.values.limits import BODY_LIMIT, PAGE_LIMIT

#: How many compiled actions a node keeps.
_KEPT: Final = 512
_LONGEST_MESSAGE: Final = 1_000
_LONGEST_CODE: Final = 100
#: A token that expires so soon is renewed.
_TOKEN_MARGIN: Final = 60.0
_TOKEN_LIFE: Final = 3_600.0
_NEXT: Final = re.compile(r'<([^<>]*)>\s*;[^,<]*?\brel="?[^",;]*\bnext\b')
_decode: Final = msgspec.json.Decoder().decode
_definition: Final = msgspec.json.Decoder(DataDefinition).decode
_encode: Final = msgspec.json.Encoder().encode


class StoredDefinition(NamedTuple):
    """The definition of an action as the catalog has it. `is_own` if its connector belongs to the tenant that asks, and
    not to the installation."""

    raw: bytes
    is_own: bool


#: Returns the definition of an action by tenant, id and version; `None` if the catalog does not have it.
Load = Callable[[int, str, str], Awaitable[StoredDefinition | None]]

_NO_ENVIRONMENT: Final = EnvironmentConnections({})


class SendRequest(Protocol):
    """Sends a request and returns its final answer."""

    def __call__(self, request: HttpRequest, *, limit: int) -> Awaitable[ReceivedAnswer]: ...


class TokenRefused(Exception):
    """A server issued no access token."""

    def __init__(self, message: str, *, retry: bool) -> None:
        super().__init__(message)
        self.retry = retry


class CatalogActions:
    """Runs the actions of the catalog that are data. `load` reads one that this node has not used yet."""

    def __init__(
        self,
        http: HttpExecutor,
        load: Load,
        connections: EnvironmentConnections,
        stored: CredentialRequests | None = None,
        tenants: TenantRegistry = UNCONFINED,
    ) -> None:
        self._http = http
        self._load = load
        self._connections = connections
        self._stored = stored
        self._tenants = tenants
        self._kept: dict[tuple[int, str, str], DataAction] = {}
        self._shared: set[DataAction] = set()  # those of the installation, which not every tenant may use
        self._ready: dict[DataAction, _ReadyAction] = {}
        self._tokens = _Tokens(http)
        self._sessions: dict[tuple[int, str], str] = {}  # of MCP servers, by tenant and connection

    def begin(self, call: StepCall) -> Coroutine[Any, Any, Outcome]:
        """Run one attempt. Every failure is a Fail."""
        return self._attempt(call)

    async def _attempt(self, call: StepCall) -> Outcome:
        used: list[AuthorizedAttempt] = []
        outcome = await self._perform(call, used)
        return used[0].scrub(outcome) if used else outcome

    async def _perform(self, call: StepCall, used: list[AuthorizedAttempt]) -> Outcome:
        """Run one attempt. Add what it uses of a stored credential to `used`."""
        limit = self._http.limit_of(call)
        deadline = asyncio.timeout(limit)
        scrubber = None
        try:
            async with deadline:
                parameters = call.parameters
                key = call.tenant, parameters["action"], parameters["version"]
                action = self._kept.get(key) or await self._find(*key)
                if action is None:
                    message = f"the catalog does not have version {key[2]} of the action {key[1]!r}"
                    return Fail(StepError("unknown_action", message), retry=False)
                if action in self._shared and (refused := self._tenants.refusal(call.tenant, key[1])) is not None:
                    return Fail(StepError(NOT_ALLOWED, refused), retry=False)
                given = parameters.get("with") or {}
                if problems := action.problems(given):
                    return _invalid(action, problems)
                ready, send = await self._connected(action, call, used)
                scrubber = ready.scrubber
                bound = ready.bind(given, call)
                parts = bound.render(ready.connection)
                if action.is_series:
                    return await _Exchange(send, ready, bound, call, self._sessions).run(parts)
                received = await send(ready.request(bound, parts, call), limit=PAGE_LIMIT)
                answer = ready.judge(bound, received)
                return ready.done(bound, answer) if isinstance(answer, ServiceAnswer) else answer
        except CredentialProblem as problem:
            return problem.outcome
        except MissingConnection as error:
            return Fail(StepError("missing_credential", str(error)), retry=False)
        except TokenRefused as error:
            return Fail(StepError("token_refused", str(error)), retry=error.retry)
        except mcp.McpRefused as error:
            return _scrubbed(Fail(StepError("tool_failed", str(error)), retry=False), scrubber)
        except (InvalidParts, ExpressionError) as error:
            message = error.message if isinstance(error, ExpressionError) else str(error)
            return _scrubbed(Fail(StepError("invalid_request", message), retry=False), scrubber)
        except Exception as error:  # noqa: BLE001 - every error is an outcome
            return _scrubbed(failure_of_request(error, deadline, limit), scrubber)

    async def _connected(
        self, action: DataAction, call: StepCall, used: list[AuthorizedAttempt]
    ) -> tuple[_ReadyAction, SendRequest]:
        """Return an action with its connection, and what sends its requests.

        A stored credential wins: the one that the step names, else the one with the name of the connector. Without it
        the environment has the connection. Raise CredentialProblem, MissingConnection or TokenRefused."""
        named = call.parameters.get("credential")
        definition = action.definition
        if self._stored is not None:
            name = definition.connector if named is None else str(named)
            attempt = await self._stored.begin(call, name, definition.auth, is_needed=named is not None)
            if attempt is not None:
                used.append(attempt)
                return self._with_stored(action, attempt, call.tenant), attempt.exchange
        if named is not None:
            raise CredentialProblem(Fail(StepError("missing_credential", NO_CREDENTIALS), retry=False))
        ready = self._ready.get(action) or self._connect(action, call.tenant)
        if action.has_token:
            found = await self._tokens.connection(definition, ready.connection, call)
            ready = _ReadyAction(action, *found, self._http.wall)
        return ready, partial(self._http.exchange, tenant=call.tenant)

    def _with_stored(self, action: DataAction, attempt: AuthorizedAttempt, tenant: int) -> _ReadyAction:
        """Return an action whose requests carry no authentication: the credential is added to each hop."""
        opened = attempt.opened
        definition = action.definition
        address = self._environment(action, tenant).address(definition.connector, definition.base_url)
        connection = ServiceConnection(address, opened.secrets, {}, opened.config.get("region"))
        return _ReadyAction(action.without_auth, connection, opened.scrubber, self._http.wall)

    def _connect(self, action: DataAction, tenant: int) -> _ReadyAction:
        definition = action.definition
        environment = self._environment(action, tenant)
        if environment is _NO_ENVIRONMENT and definition.auth.type is not AuthType.NONE:
            message = (
                f"the connector {definition.connector!r} of this tenant has no credential; store one with "
                f"`detent credentials set {definition.connector}`"
            )
            raise CredentialProblem(Fail(StepError("missing_credential", message), retry=False))
        found = environment.find(definition.connector, definition.base_url, definition.auth)
        ready = self._ready[action] = _ReadyAction(action, *found, self._http.wall)
        return ready

    def _environment(self, action: DataAction, tenant: int) -> EnvironmentConnections:
        """Return the connections that an action may use. Those of the operator are for connectors of the installation:
        another tenant could give its own connector the name of one, and any address."""
        is_guest = tenant != INSTALLATION and action not in self._shared
        return _NO_ENVIRONMENT if is_guest else self._connections

    async def _find(self, tenant: int, name: str, version: str) -> DataAction | None:
        """Load an action that this node has not used yet, or not for long."""
        stored = await self._load(tenant, name, version)
        if stored is None:
            return None
        found = DataAction(_definition(stored.raw))
        if len(self._kept) >= _KEPT:
            oldest = self._kept.pop(next(iter(self._kept)))
            self._ready.pop(oldest, None)
            self._shared.discard(oldest)
        self._kept[tenant, name, version] = found
        if not stored.is_own:
            self._shared.add(found)
        return found


class _ReadyAction:
    """An action with the connection of its connector: what all its attempts have in common. A bound action is one of
    them."""

    def __init__(
        self, action: DataAction, connection: ServiceConnection, scrubber: Scrubber, wall: Callable[[], Instant]
    ) -> None:
        self.action = action
        self.connection = connection
        self.scrubber = scrubber
        self._wall = wall
        self._headers = SharedHeaders(connection.headers, action.constant_headers)
        self._has_acting_user = action.definition.acting_user_headers

    def bind(self, given: dict[str, Any], call: StepCall) -> BoundAction:
        """Return the action with the parameters of an attempt."""
        view = call.view
        since = 0 if view is None else view.facts.started_at // SECOND
        return BoundAction(self.action, given, call.idempotency_key, since)

    def request(self, bound: BoundAction, parts: RequestParts, call: StepCall) -> HttpRequest:
        """Return a request as it is sent. Raise InvalidParts or InvalidHttpRequest."""
        acting = None
        if self._has_acting_user and call.view is not None:
            acting = acting_headers(call.view.facts)
        request = self._headers.build(bound.write(parts, self.connection), bound.key, call.attempt, acting)
        if self.action.is_signed:
            self._sign(request)
        return msgspec.structs.replace(request, bound=call.bound) if call.bound else request

    def _sign(self, request: HttpRequest) -> None:
        """Add the signature of a request, over what is sent."""
        service, region = str(self.action.definition.auth.service), str(self.connection.region)
        headers = sign(request, self.connection.secrets, service=service, region=region, now=self._wall())
        request.headers.update(headers)

    def judge(self, bound: BoundAction, received: ReceivedAnswer) -> ServiceAnswer | Fail:
        """Return the answer if it is a success, else the failure that it means."""
        value, is_cut = received.value()
        if is_cut:
            message = f"{received.request} answered more than {PAGE_LIMIT // 1024} KB; ask for less"
            return self._scrub(Fail(StepError("too_large", message), retry=False))
        response = ServiceAnswer(received.status, received.headers, value)
        try:
            failure = bound.failure(response)
        except AnswerMismatch as error:
            return self.unexpected(error, response)
        return response if failure is None else self._refused(failure, received)

    def _refused(self, failure: ServiceFailure, received: ReceivedAnswer) -> Fail:
        usual = f"{received.request} answered {received.status}{received.remark}"
        code = (failure.code or "http_status")[:_LONGEST_CODE]
        message = usual if failure.message is None else f"{failure.message[:_LONGEST_MESSAGE]} ({usual})"
        answer = received.stored()
        raw = encode_answer(answer)
        if len(raw) > 2 * BODY_LIMIT:
            raw = encode_answer(HttpAnswer(answer.status_code, answer.headers, None))
        return self._scrub(Fail(StepError(code, message), raw, retry=failure.retry, retry_after=received.wait))

    def done(self, bound: BoundAction, response: ServiceAnswer, items: list[Any] | None = None) -> Outcome:
        """Return the outcome of an answer that is a success."""
        try:
            output = bound.output(response, items)
            links = bound.links(items)
        except AnswerMismatch as error:
            return self.unexpected(error, response)
        raw = _encode({"output": output, "status_code": response.status})
        if len(raw) > BODY_LIMIT:
            message = f"the output takes {len(raw):,} bytes, more than {BODY_LIMIT // 1024} KB; ask for less"
            return self.fail(StepError("output_too_large", message), response)
        if self.scrubber.is_in(raw):
            raw = _encode(self.scrubber.value(_decode(raw)))
        return Done(raw, links)

    def unexpected(self, error: AnswerMismatch, response: ServiceAnswer) -> Fail:
        message = f"the answer of {self.action.name} is not as its manifest expects: {error}"
        return self.fail(StepError("unexpected_answer", message), response)

    def fail(self, error: StepError, response: ServiceAnswer) -> Fail:
        result = _encode({"output": None, "status_code": response.status})
        return self._scrub(Fail(error, result, retry=False))

    def _scrub(self, fail: Fail) -> Fail:
        return _scrubbed(fail, self.scrubber)


class _Exchange:
    """The requests of one attempt that needs several: of pages, or of a tool."""

    def __init__(
        self,
        send: SendRequest,
        ready: _ReadyAction,
        bound: BoundAction,
        call: StepCall,
        sessions: dict[tuple[int, str], str],
    ) -> None:
        self._sender = send
        self._ready = ready
        self._bound = bound
        self._call = call
        self._sessions = sessions

    async def run(self, parts: RequestParts) -> Outcome:
        return await (self._call_tool(parts) if self._ready.action.is_tool else self._pages(parts))

    async def _pages(self, parts: RequestParts) -> Outcome:
        """Send one request after another and gather the items of their answers."""
        ready = self._ready
        pages = ready.action.action.pagination
        assert pages is not None
        gathered: list[Any] = []
        seen: set[bytes] = set()
        origin = URL(ready.connection.base_url).origin()
        while True:
            found = await self._send(parts)
            if isinstance(found, Fail):
                return found
            try:
                items, mark = self._bound.page()
            except AnswerMismatch as error:
                return ready.unexpected(error, found)
            gathered += items
            if pages.link_header:
                mark = _next_link(found.headers.get("link"))
            is_last = len(seen) + 1 == pages.max_pages
            if mark is None or (is_last and pages.on_more == "stop"):
                return ready.done(self._bound, found, gathered)
            if is_last:
                message = f"{ready.action.name} has more than {pages.max_pages} pages; narrow what it asks for"
                return ready.fail(StepError("too_many_pages", message), found)
            spelled = _encode(mark)
            if spelled in seen:
                return ready.fail(StepError("endless_pages", "an answer names the same next page again"), found)
            seen.add(spelled)
            if pages.into is None or pages.into == "url":
                address = URL(parts.address).join(URL(str(mark)))
                if address.origin() != origin:
                    return ready.fail(StepError("foreign_page", "an answer names a next page on another server"), found)
                parts.address, parts.query = str(address), {}
            else:
                put_mark(parts, pages.into, mark)

    async def _call_tool(self, parts: RequestParts) -> Outcome:
        """Call a tool of an MCP server. A session that the server has forgotten is opened again, once."""
        ready, tool = self._ready, str(parts.body["tool"])
        place = self._call.tenant, self._call.parameters.get("credential") or ready.action.definition.connector
        parts.address = ready.connection.base_url
        for is_again in (False, True):
            session = self._sessions.get(place)
            if session is None:
                opened = await self._rpc(parts, mcp.initialize(), None)
                if isinstance(opened, Fail):
                    return opened
                mcp.read_result(opened.body, 1)
                session = self._sessions[place] = opened.headers.get(mcp.SESSION_HEADER.lower(), "")
                refused = await self._rpc(parts, mcp.initialized(), session)
                if isinstance(refused, Fail):
                    return refused
            found = await self._rpc(parts, mcp.call_tool(tool, self._bound.given), session)
            if isinstance(found, ServiceAnswer):
                result = mcp.read_result(found.body, 3)
                answer = ServiceAnswer(found.status, dict, mcp.output_of(result))
                self._bound.read(answer)
                return ready.done(self._bound, answer)
            status = _decode(found.result).get("status_code")
            if is_again or status not in (400, 404) or not session:
                return found
            del self._sessions[place]
        raise AssertionError("a tool is called at most twice")

    async def _rpc(self, parts: RequestParts, message: dict[str, Any], session: str | None) -> ServiceAnswer | Fail:
        headers = {**parts.headers, "Accept": mcp.ACCEPT, mcp.VERSION_HEADER: mcp.PROTOCOL_VERSION}
        if session:
            headers[mcp.SESSION_HEADER] = session
        return await self._send(RequestParts("POST", parts.address, {}, headers, message))

    async def _send(self, parts: RequestParts) -> ServiceAnswer | Fail:
        request = self._ready.request(self._bound, parts, self._call)
        return self._ready.judge(self._bound, await self._sender(request, limit=PAGE_LIMIT))


def _scrubbed(fail: Fail, scrubber: Scrubber | None) -> Fail:
    """Return a failure without secrets in its message, its code and its result."""
    if scrubber is None:
        return fail
    error = StepError(scrubber.text(fail.error.code), scrubber.text(fail.error.message))
    result = _encode(scrubber.value(_decode(fail.result))) if scrubber.is_in(fail.result) else fail.result
    return msgspec.structs.replace(fail, error=error, result=result)


def _invalid(action: DataAction, problems: list[Any]) -> Fail:
    found = [{"field": problem.field, "message": problem.message} for problem in problems]
    said = "; ".join(map(str, problems[:3]))
    message = f"the parameters do not fit the action {action.name!r}: {said}"
    return Fail(StepError("invalid_parameters", message, {"problems": found}), retry=False)


def _next_link(header: str | None) -> str | None:
    found = _NEXT.search(header[:8_000]) if header else None
    return found[1] if found else None


class _Tokens:
    """The access tokens of OAuth2 client credentials, fetched when they are needed and kept until they expire."""

    def __init__(self, http: HttpExecutor) -> None:
        self._http = http
        self._known: dict[str, tuple[float, ServiceConnection, Scrubber]] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def connection(
        self, definition: DataDefinition, given: ServiceConnection, call: StepCall
    ) -> tuple[ServiceConnection, Scrubber]:
        """Return the connection with a token. Raise InvalidParts if the server issues none."""
        loop = asyncio.get_running_loop()
        async with self._locks.setdefault(definition.connector, asyncio.Lock()):
            known = self._known.get(definition.connector)
            if known is None or known[0] <= loop.time():
                token, life = await self._fetch(definition, given, call)
                secrets = {**given.secrets, "token": token}
                until = loop.time() + max(1.0, life - _TOKEN_MARGIN)
                known = self._known[definition.connector] = (
                    until,
                    ServiceConnection(given.base_url, secrets, auth_headers(definition.auth, secrets)),
                    Scrubber(secrets),
                )
            return known[1], known[2]

    async def _fetch(self, definition: DataDefinition, given: ServiceConnection, call: StepCall) -> tuple[str, float]:
        """Return a token and how many seconds it lives. Raise TokenRefused."""
        auth, secrets = definition.auth, given.secrets
        form = {"grant_type": "client_credentials"} | ({"scope": " ".join(auth.scopes)} if auth.scopes else {})
        pair = basic(secrets["client_id"], secrets["client_secret"])
        headers = {"Authorization": f"Basic {pair}", "Content-Type": "application/x-www-form-urlencoded"}
        written = WrittenRequest("POST", str(auth.token_url), headers, urlencode(form).encode())
        request = build_prepared(written, call.idempotency_key, call.attempt)
        answer = await self._http.exchange(request, tenant=call.tenant)
        status, (found, _) = answer.status, answer.value()
        token = found.get("access_token") if isinstance(found, dict) and 200 <= status < 300 else None
        if not isinstance(token, str) or not token:
            raise TokenRefused(f"{auth.token_url} answered {status} and issued no token", retry=status >= 500)
        life = found.get("expires_in") if isinstance(found, dict) else None
        return token, float(life) if isinstance(life, int | float) and 0 < life < 10**9 else _TOKEN_LIFE
