"""An action that is one HTTP request, compiled: parameters in, a request out; an answer in, an output or a failure out.

Nothing here does I/O. `steps/data_action.py` sends the requests.

A key of `query`, `headers` or `body` whose value is exactly `{{ with.NAME }}` is left out if that optional parameter is
not given. A parameter that is given as null is sent as null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from detent.catalog.action import EffectKind
from detent.catalog.connections import ServiceConnection
from detent.catalog.connector import AuthType, DataDefinition, KeyPlace, LinkSpec, Protocol
from detent.catalog.request_body import InvalidParts, body_writer, scalar
from detent.catalog.shape import ABSENT, LANGUAGE, compile_shape, path_of_body, read_path
from detent.errors import Problem
from detent.expressions import (
    Expression,
    ExpressionError,
    Headers,
    Template,
    compile_expression,
    compile_template,
)
from detent.forms.payload_schema import PayloadSchema
from detent.run.links import InvalidLink, Link

_PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")
_RETRIED_CLIENT_ERRORS: Final = frozenset({408, 425, 429})
_LONGEST_PART: Final = 2_000
_CREDENTIAL: Final = "credential."
#: Whether a text is the same in a path: nothing of it has to be quoted.
_is_plain: Final = re.compile(rf"[A-Za-z0-9_.~-]{{1,{_LONGEST_PART}}}").fullmatch
_USUAL_KEY: Final = "idempotency-key"
_encode: Final = msgspec.json.Encoder().encode


class RequestParts(msgspec.Struct):
    """A rendered request before it is written as text. `pagination` changes it from page to page."""

    method: str
    address: str  # without its query
    query: Mapping[str, Any]
    headers: Mapping[str, Any]
    body: Any


class WrittenRequest(msgspec.Struct, frozen=True):
    """A request as it is sent."""

    method: str
    url: str
    headers: Mapping[str, Any]
    body: bytes | None
    content_type: str | None = None  # if the headers do not have it


class ServiceAnswer(msgspec.Struct, frozen=True):
    """An answer as expressions read it. `read_headers` returns its headers; few actions need them."""

    status: int
    read_headers: Callable[[], Mapping[str, str]]
    body: Any

    @property
    def is_2xx(self) -> bool:
        return 200 <= self.status < 300

    @property
    def headers(self) -> Mapping[str, str]:
        return self.read_headers()

    def as_scope(self) -> dict[str, Any]:
        return {"status": self.status, "headers": Headers(self.headers), "body": self.body}


@dataclass(frozen=True, slots=True)
class ServiceFailure:
    """Why an answer is not a success. `None`: as for every HTTP answer."""

    code: str | None
    message: str | None
    retry: bool


class AnswerMismatch(ValueError):
    """The answer does not have what the manifest reads of it."""


class DataAction:
    """A compiled action. It is immutable and shared by all attempts. `bind` returns it with the parameters of one."""

    def __init__(self, definition: DataDefinition) -> None:
        action = definition.action
        self.definition = definition
        self.action = action
        self.name = f"{definition.connector}.{action.id}"
        required = action.parameters.get("required", ())
        optional = [name for name in action.parameters.get("properties", {}) if name not in required]
        self._schema = PayloadSchema(action.parameters, "parameters") if action.parameters else None
        self.blank = dict.fromkeys(optional)
        request = action.request
        declared = frozenset(action.parameters.get("properties", ()))
        self.request = request
        self.query = compile_shape(dict(request.query), declared)
        self.headers = compile_shape(dict(request.headers), declared)
        self.constant_headers = request.headers if self.headers is None else None
        self.body = compile_shape(request.body, declared)
        self.path = _compile_path(request.path)
        self.write_body = body_writer(request.encoding)
        self.success = _condition(action.success)
        self.success_path = None if action.success is None else path_of_body(f"{{{{{action.success}}}}}")
        self.retry = _condition(action.error.retry)
        self.code = _template(action.error.code)
        self.message = _template(action.error.message)
        self.output = compile_shape(action.output)
        self.links = tuple(_compile_link(link) for link in action.links)
        pages = action.pagination
        self.items = None if pages is None else compile_expression(pages.items, language=LANGUAGE)
        self.next = None if pages is None else _condition(pages.next)
        effect, auth = action.effect, definition.auth
        self.key_field = self.key_header = None
        if effect.kind is EffectKind.KEYED and effect.key is not None:
            is_field = effect.key.startswith("body.")
            self.key_field = effect.key[5:] if is_field else None
            self.key_header = None if is_field or _is_usual_key(effect.key, request.headers) else effect.key
        is_in_query = auth.type is AuthType.API_KEY and auth.place is KeyPlace.QUERY
        self.token_name = str(auth.name) if is_in_query else None
        self.has_token = auth.type is AuthType.OAUTH2_CLIENT  # that a server issues
        self.is_signed = auth.type is AuthType.AWS4
        self.is_tool = action.protocol is Protocol.MCP
        self.is_series = self.is_tool or pages is not None  # of requests

    @cached_property
    def without_auth(self) -> DataAction:
        """Return the action without the authentication of its connector: the sender adds its own."""
        found = copy(self)
        found.token_name = None
        found.has_token = found.is_signed = False
        return found

    def problems(self, given: Any) -> list[Problem]:
        """Return what is wrong with the parameters."""
        if not isinstance(given, dict):
            return [Problem("with", "must be an object of names to values")]
        schema = self._schema
        return [] if schema is None or schema.accepts_flat(given) else schema.problems(given, "with")

    def bind(self, given: dict[str, Any], key: str = "", since: int = 0) -> BoundAction:
        """Return the action with these parameters, the idempotency key of its step, and the second in which its run
        began."""
        return BoundAction(self, given, key, since)


class BoundAction:
    """An action with the parameters of one attempt."""

    body: Any = None  # of the answer that was read
    _scope: dict[str, Any] | None = None
    _secrets: Mapping[str, str] | None = None
    _response: ServiceAnswer | None = None
    _items: list[Any] | None = None

    def __init__(self, action: DataAction, given: dict[str, Any], key: str, since: int) -> None:
        self._action = action
        self.given = given
        self.key = key
        self._since = since

    def scope(self) -> Mapping[str, Any]:
        """Return what expressions read. Most actions take plain values only and never need it.

        The credential is in it only while a request is rendered: an output must not read it."""
        scope = self._scope
        if scope is None:
            scope = {"with": {**self._action.blank, **self.given}, "call": {"key": self.key, "since": self._since}}
            if self._secrets is not None:
                scope["credential"] = self._secrets
            if self._response is not None:
                scope["response"] = self._response.as_scope()
            if self._items is not None:
                scope["items"] = self._items
            self._scope = scope
        return scope

    def render(self, connection: ServiceConnection) -> RequestParts:
        """Render the request. Raise InvalidParts, or ExpressionError."""
        action = self._action
        request = action.request
        path = action.path if isinstance(action.path, str) else action.path(self.given, connection.secrets)
        self._secrets, self._scope = connection.secrets, None
        try:
            body = request.body if action.body is None else action.body(self)
            query = request.query if action.query is None else action.query(self)
            headers = request.headers if action.headers is None else action.headers(self)
        finally:
            self._secrets = self._scope = None
        return RequestParts(
            request.method, connection.base_url + path, query, headers, None if body is ABSENT else body
        )

    def write(self, parts: RequestParts, connection: ServiceConnection) -> WrittenRequest:
        """Write a request as text, with its authentication and its idempotency key. Raise InvalidParts."""
        action, url, headers, value = self._action, parts.address, parts.headers, parts.body
        if action.key_field is not None:
            value = {**(value or {}), action.key_field: self.key}
        elif action.key_header is not None:
            headers = {**headers, action.key_header: self.key}
        body, content_type = (None, None) if value is None else action.write_body(value, self.key)
        if parts.query or action.token_name is not None:
            query = _query(parts.query)
            if action.token_name is not None:
                query.append((action.token_name, connection.secrets["token"]))
            if query:
                url = f"{url}{'&' if '?' in url else '?'}{urlencode(query, quote_via=quote)}"
        return WrittenRequest(parts.method, url, headers, body, content_type)

    def read(self, response: ServiceAnswer) -> None:
        """Let the expressions read this answer from now on."""
        self._response = response
        self.body = response.body
        self._scope = None

    def failure(self, response: ServiceAnswer) -> ServiceFailure | None:
        """Read an answer. Return why it is a failure, or `None` if it is a success. Raise AnswerMismatch."""
        self.read(response)
        action = self._action
        if action.success is None:
            if response.is_2xx:
                return None
        elif action.success_path is not None and read_path(response.body, action.success_path) is True:
            return None
        else:
            try:
                if action.success.test(self.scope()):
                    return None
            except ExpressionError as error:
                if response.is_2xx:
                    raise AnswerMismatch(f"success: {_reason(error)}") from None
        scope = self.scope()
        is_retried = response.status >= 500 or response.status in _RETRIED_CLIENT_ERRORS
        if action.retry is not None:
            with suppress(ExpressionError):  # the answer has another shape than the condition expects
                is_retried = action.retry.test(scope)
        return ServiceFailure(_text(action.code, scope), _text(action.message, scope), is_retried)

    def output(self, response: ServiceAnswer, items: list[Any] | None = None) -> Any:
        """Return the output of the answer that was read. Raise AnswerMismatch."""
        action = self._action
        if action.output is None:
            if action.action.output is not None:
                return action.action.output
            return response.body if items is None else {"items": items}
        self._gather(items)
        try:
            return action.output(self)
        except ExpressionError as error:
            raise AnswerMismatch(f"output: {_reason(error)}") from None

    def links(self, items: list[Any] | None = None) -> tuple[Link, ...]:
        """Return the resources that the answer names. One whose id is null is left out. Raise AnswerMismatch."""
        makers = self._action.links
        if not makers:
            return ()
        self._gather(items)
        try:
            found = []
            for make in makers:
                link = make(self)
                if link is not None:
                    found.append(link)
            return tuple(found)
        except ExpressionError as error:
            raise AnswerMismatch(f"links: {_reason(error)}") from None
        except InvalidLink as error:
            raise AnswerMismatch(f"links: {error}") from None

    def page(self) -> tuple[list[Any], Any]:
        """Return the items of the page that was read and the mark of the next page, `None` at the end. Raise
        AnswerMismatch."""
        action = self._action
        assert action.items is not None
        try:
            items = action.items.evaluate(self.scope())
            mark = None if action.next is None else action.next.evaluate(self.scope())
        except ExpressionError as error:
            raise AnswerMismatch(f"pagination: {_reason(error)}") from None
        if not isinstance(items, list):
            raise AnswerMismatch("pagination.items: the value is not a list")
        return items, None if mark in ("", False) else mark

    def _gather(self, items: list[Any] | None) -> None:
        """Let the expressions read the items of all pages."""
        if items is not None and items is not self._items:
            self._items = items
            self._scope = None


def put_mark(parts: RequestParts, into: str, mark: Any) -> None:
    """Write the mark of the next page into a request. The parts that change are copied."""
    place, *keys = into.split(".")
    if place == "query":
        parts.query = {**parts.query, keys[0]: mark}
        return
    parts.body = body = dict(parts.body or {})
    for key in keys[:-1]:
        inner = body.get(key)
        body[key] = dict(inner) if isinstance(inner, dict) else {}
        body = body[key]
    body[keys[-1]] = mark


def _condition(text: str | None) -> Expression | None:
    return None if text is None else compile_expression(text, language=LANGUAGE)


def _template(value: Any) -> Template | None:
    return None if value is None else compile_template(value, LANGUAGE)


def _text(template: Template | None, scope: Mapping[str, Any]) -> str | None:
    if template is None:
        return None
    try:
        value = template.render(scope)
    except ExpressionError:
        return None
    return value if isinstance(value, str) else _encode(value).decode()


def _compile_link(spec: LinkSpec) -> Callable[[BoundAction], Link | None]:
    """Return the function that makes a link, or None if it has no id.

    An address that is empty, or no address at all, is left out: the resource is known by its id."""
    system, type_, id_, url = (compile_shape(text) for text in (spec.system, spec.type, spec.id, spec.url))

    def make(bound: BoundAction) -> Link | None:
        found = spec.id if id_ is None else id_(bound)
        if found is None:
            return None
        address = spec.url if url is None else url(bound)
        if address is not None and not (isinstance(address, str) and address.startswith(("http://", "https://"))):
            address = None
        return Link(
            spec.system if system is None else str(system(bound)),
            spec.type if type_ is None else str(type_(bound)),
            found if type(found) is str else str(found),
            address,
        )

    return make


def _reason(error: ExpressionError) -> str:
    """Return why an expression failed, without its text: that is in the manifest."""
    return error.message.rpartition("}}: ")[2]


def _is_usual_key(header: str, headers: Mapping[str, Any]) -> bool:
    """Return whether a key is in the header that all requests have, and the manifest does not write that header."""
    return header.lower() == _USUAL_KEY and _USUAL_KEY not in map(str.lower, headers)


# Paths. A value is one segment of the path, or a part of one, whatever is in it.


def _compile_path(path: str) -> str | Callable[[Mapping[str, Any], Mapping[str, str]], str]:
    pieces = _PLACEHOLDER.split(path)  # texts and names in turn
    if len(pieces) == 1:
        return path
    holes = [(index, pieces[index], pieces[index].startswith(_CREDENTIAL)) for index in range(1, len(pieces), 2)]

    def render(given: Mapping[str, Any], secrets: Mapping[str, str]) -> str:
        texts = pieces.copy()
        for index, name, is_secret in holes:
            value = secrets.get(name[len(_CREDENTIAL) :]) if is_secret else given.get(name)
            texts[index] = value if type(value) is str and _is_plain(value) else _segment(name, value)
        found = "".join(texts)
        if "/." in found and ("/./" in found or "/../" in found or found.endswith(("/.", "/.."))):
            raise InvalidParts("a parameter of the path makes a segment of dots, which would leave the path")
        return found

    return render


def _segment(name: str, value: Any) -> str:
    if isinstance(value, bool) or value is None or not isinstance(value, str | int | float):
        raise InvalidParts(f"with.{name} is part of the path and must be a text or a number")
    text = str(value)
    if not text or len(text) > _LONGEST_PART:
        raise InvalidParts(f"with.{name} is part of the path and must have 1 to {_LONGEST_PART} characters")
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise InvalidParts(f"with.{name} has half of a surrogate pair in it, which is not text") from None


def _query(query: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and values. A list is one pair for each element, and null is left out."""
    found: list[tuple[str, str]] = []
    for name, value in query.items():
        values = value if isinstance(value, list) else [value]
        found += [(name, scalar(name, one)) for one in values if one is not None]
    return found
