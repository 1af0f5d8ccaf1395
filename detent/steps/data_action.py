"""Runs actions that are data: renders the request of a manifest, sends it as an http step would, and judges the answer.

The same guard, limits, redirects and Idempotency-Key apply as for http steps (`steps/http/step.py`). An action with
pages sends one request after another within the time limit of its attempt. No secret is in an outcome.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import msgspec
from multidict import CIMultiDict
from yarl import URL

from detent.catalog import aws4, mcp
from detent.catalog.connections import (
    EnvironmentConnections,
    MissingConnection,
    Scrubber,
    ServiceConnection,
    auth_headers,
    basic,
)
from detent.catalog.connector import DataDefinition
from detent.catalog.data_action import (
    AnswerMismatch,
    DataAction,
    RequestParts,
    ServiceAnswer,
    ServiceFailure,
    WrittenRequest,
    put_mark,
)
from detent.catalog.request_body import InvalidParts
from detent.expressions import ExpressionError
from detent.instant import SECOND
from detent.run.call import StepCall
from detent.run.outcomes import Done, Fail, Outcome, StepError
from detent.steps.acting_user import acting_user_headers
from detent.steps.http.request import HttpRequest, build_prepared, usual_headers
from detent.steps.http.response import HttpAnswer, encode_answer
from detent.steps.http.step import HttpExecutor, failure_of_request
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

#: Returns the definition of an action by tenant, id and version; `None` if the catalog does not have it.
Load = Callable[[int, str, str], Awaitable[bytes | None]]


class TokenRefused(Exception):
    """A server issued no access token."""

    def __init__(self, message: str, *, retry: bool) -> None:
        super().__init__(message)
        self.retry = retry


class CatalogActions:
    """Runs the actions of the catalog that are data. `load` reads one that this node has not used yet."""

    def __init__(self, http: HttpExecutor, load: Load, connections: EnvironmentConnections) -> None:
        self._http = http
        self._load = load
        self._connections = connections
        self._kept: dict[tuple[int, str, str], DataAction] = {}
        self._connected: dict[DataAction, _Connected] = {}
        self._tokens = _Tokens(http)
        self._sessions: dict[str, str] = {}  # of MCP servers, by connector

    def begin(self, call: StepCall) -> Coroutine[Any, Any, Outcome]:
        """Run one attempt. Every failure is a Fail."""
        return self._attempt(call)

    async def _attempt(self, call: StepCall) -> Outcome:
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
                given = parameters.get("with") or {}
                if problems := action.problems(given):
                    return _invalid(action, problems)
                connected = self._connected.get(action) or self._connect(action)
                scrubber = connected.scrubber
                if action.has_token:
                    found = await self._tokens.connection(action.definition, connected.connection, call)
                    connected = _connected(*found)
                    scrubber = connected.scrubber
                return await _Exchange(self._http, action, call, given, connected, self._sessions).run()
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

    def _connect(self, action: DataAction) -> _Connected:
        definition = action.definition
        found = _connected(*self._connections.find(definition.connector, definition.base_url, definition.auth))
        self._connected[action] = found
        return found

    async def _find(self, tenant: int, name: str, version: str) -> DataAction | None:
        """Load an action that this node has not used yet, or not for long."""
        raw = await self._load(tenant, name, version)
        if raw is None:
            return None
        found = DataAction(_definition(raw))
        if len(self._kept) >= _KEPT:
            self._connected.pop(self._kept.pop(next(iter(self._kept))), None)
        self._kept[tenant, name, version] = found
        return found


class _Connected(NamedTuple):
    """A connection, what removes its secrets, and the headers of all its requests."""

    connection: ServiceConnection
    scrubber: Scrubber
    headers: CIMultiDict[str]


def _connected(connection: ServiceConnection, scrubber: Scrubber) -> _Connected:
    return _Connected(connection, scrubber, usual_headers(connection.headers))


class _Exchange:
    """The requests of one attempt."""

    def __init__(
        self,
        http: HttpExecutor,
        action: DataAction,
        call: StepCall,
        given: dict[str, Any],
        connected: _Connected,
        sessions: dict[str, str],
    ) -> None:
        self._http = http
        self._sessions = sessions
        self._action = action
        self._call = call
        self._connection, self._scrubber, self._usual = connected
        self._key = call.idempotency_key
        self._given = given
        self._acting = None
        view = call.view
        if view is None:
            self._bound = action.bind(given, self._key)
        else:
            self._bound = action.bind(given, self._key, view.facts.started_at // SECOND)
            if action.definition.acting_user_headers:
                self._acting = acting_user_headers(view.facts)

    async def run(self) -> Outcome:
        parts = self._bound.render(self._connection)
        if self._action.is_tool:
            return await self._call_tool(parts)
        if self._action.items is not None:
            return await self._pages(parts)
        found = await self._http.exchange(self._request(parts), self._judge, limit=PAGE_LIMIT)
        return self._done(found, None) if isinstance(found, ServiceAnswer) else found

    async def _pages(self, parts: RequestParts) -> Outcome:
        """Send one request after another and gather the items of their answers."""
        pages = self._action.action.pagination
        assert pages is not None
        gathered: list[Any] = []
        seen: set[bytes] = set()
        origin = URL(self._connection.base_url).origin()
        while True:
            found = await self._send(parts)
            if isinstance(found, Fail):
                return found
            try:
                items, mark = self._bound.page()
            except AnswerMismatch as error:
                return self._unexpected(error, found)
            gathered += items
            if pages.link_header:
                mark = _next_link(found.headers.get("link"))
            is_last = len(seen) + 1 == pages.max_pages
            if mark is None or (is_last and pages.on_more == "stop"):
                return self._done(found, gathered)
            if is_last:
                message = f"{self._action.name} has more than {pages.max_pages} pages; narrow what it asks for"
                return self._fail(StepError("too_many_pages", message), found)
            spelled = _encode(mark)
            if spelled in seen:
                return self._fail(StepError("endless_pages", "an answer names the same next page again"), found)
            seen.add(spelled)
            if pages.into is None or pages.into == "url":
                address = URL(parts.address).join(URL(str(mark)))
                if address.origin() != origin:
                    return self._fail(StepError("foreign_page", "an answer names a next page on another server"), found)
                parts.address, parts.query = str(address), {}
            else:
                put_mark(parts, pages.into, mark)

    async def _call_tool(self, parts: RequestParts) -> Outcome:
        """Call a tool of an MCP server. A session that the server has forgotten is opened again, once."""
        tool, connector = str(parts.body["tool"]), self._action.definition.connector
        parts.address = self._connection.base_url
        for is_again in (False, True):
            session = self._sessions.get(connector)
            if session is None:
                opened = await self._rpc(parts, mcp.initialize(), None)
                if isinstance(opened, Fail):
                    return opened
                mcp.read_result(opened.body, 1)
                session = self._sessions[connector] = opened.headers.get(mcp.SESSION_HEADER.lower(), "")
                ready = await self._rpc(parts, mcp.initialized(), session)
                if isinstance(ready, Fail):
                    return ready
            found = await self._rpc(parts, mcp.call_tool(tool, self._given), session)
            if isinstance(found, ServiceAnswer):
                result = mcp.read_result(found.body, 3)
                answer = ServiceAnswer(found.status, {}, mcp.output_of(result))
                self._bound.read(answer)
                return self._done(answer, None)
            status = _decode(found.result).get("status_code")
            if is_again or status not in (400, 404) or not session:
                return found
            del self._sessions[connector]
        raise AssertionError("a tool is called at most twice")

    async def _rpc(self, parts: RequestParts, message: dict[str, Any], session: str | None) -> ServiceAnswer | Fail:
        headers = {**parts.headers, "Accept": mcp.ACCEPT, mcp.VERSION_HEADER: mcp.PROTOCOL_VERSION}
        if session:
            headers[mcp.SESSION_HEADER] = session
        return await self._send(RequestParts("POST", parts.address, {}, headers, message))

    async def _send(self, parts: RequestParts) -> ServiceAnswer | Fail:
        return await self._http.exchange(self._request(parts), self._judge, limit=PAGE_LIMIT)

    def _request(self, parts: RequestParts) -> HttpRequest:
        written = self._bound.write(parts, self._connection)
        request = build_prepared(written, self._key, self._call.attempt, self._usual, self._acting)
        if self._action.is_signed:
            self._sign(request)
        return request

    def _sign(self, request: HttpRequest) -> None:
        """Add the signature of a request, over what is sent."""
        url, connection = request.target.url, self._connection
        usual = {"http": 80, "https": 443}.get(url.scheme)
        headers = aws4.sign(
            request.method,
            str(url.raw_host) if url.port == usual else f"{url.raw_host}:{url.port}",
            url.raw_path,
            url.raw_query_string,
            request.body or b"",
            secrets=connection.secrets,
            service=str(self._action.definition.auth.service),
            region=str(connection.region),
            now=self._http.wall(),
        )
        request.headers.update(headers)

    def _judge(self, answer: HttpAnswer, request: str, remark: str, wait: float | None) -> ServiceAnswer | Fail:
        status, body = answer.status_code or 0, answer.body
        if answer.truncated:
            message = f"{request} answered more than {PAGE_LIMIT // 1024} KB; ask for less"
            return self._scrub(Fail(StepError("too_large", message), retry=False))
        value = _decode(body) if isinstance(body, msgspec.Raw) else body
        response = ServiceAnswer(status, answer.headers, value)
        try:
            failure = self._bound.failure(response)
        except AnswerMismatch as error:
            return self._unexpected(error, response)
        if failure is None:
            return response
        return self._refused(failure, answer, f"{request} answered {status}{remark}", wait)

    def _refused(self, failure: ServiceFailure, answer: HttpAnswer, usual: str, wait: float | None) -> Fail:
        code = (failure.code or "http_status")[:_LONGEST_CODE]
        message = usual if failure.message is None else f"{failure.message[:_LONGEST_MESSAGE]} ({usual})"
        raw = encode_answer(answer)
        if len(raw) > 2 * BODY_LIMIT:
            raw = encode_answer(HttpAnswer(answer.status_code, answer.headers, None))
        return self._scrub(Fail(StepError(code, message), raw, retry=failure.retry, retry_after=wait))

    def _done(self, response: ServiceAnswer, items: list[Any] | None) -> Outcome:
        try:
            output = self._bound.output(response, items)
            links = self._bound.links(items)
        except AnswerMismatch as error:
            return self._unexpected(error, response)
        raw = _encode({"output": output, "status_code": response.status})
        if len(raw) > BODY_LIMIT:
            message = f"the output takes {len(raw):,} bytes, more than {BODY_LIMIT // 1024} KB; ask for less"
            return self._fail(StepError("output_too_large", message), response)
        if self._scrubber.is_in(raw):
            raw = _encode(self._scrubber.value(_decode(raw)))
        return Done(raw, links)

    def _unexpected(self, error: AnswerMismatch, response: ServiceAnswer) -> Fail:
        message = f"the answer of {self._action.name} is not as its manifest expects: {error}"
        return self._fail(StepError("unexpected_answer", message), response)

    def _fail(self, error: StepError, response: ServiceAnswer) -> Fail:
        result = _encode({"output": None, "status_code": response.status})
        return self._scrub(Fail(error, result, retry=False))

    def _scrub(self, fail: Fail) -> Fail:
        return _scrubbed(fail, self._scrubber)


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
        answer = await self._http.exchange(request, lambda answer, *_: answer)
        status, body = answer.status_code or 0, answer.body
        found = _decode(body) if isinstance(body, msgspec.Raw) else None
        token = found.get("access_token") if isinstance(found, dict) and 200 <= status < 300 else None
        if not isinstance(token, str) or not token:
            raise TokenRefused(f"{auth.token_url} answered {status} and issued no token", retry=status >= 500)
        life = found.get("expires_in") if isinstance(found, dict) else None
        return token, float(life) if isinstance(life, int | float) and 0 < life < 10**9 else _TOKEN_LIFE
