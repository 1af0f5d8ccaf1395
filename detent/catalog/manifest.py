"""Read a manifest: a connector that a person wrote as YAML or JSON. All problems are reported at once, with paths.

The templates of a request read `with` (the parameters) and `credential`, and nothing else. What is made of an answer
(`success`, `error`, `output`, `links`, `pagination`) reads `with`, `response.status`, `response.headers` and
`response.body`, and never the credential. `output` of an action with pages reads `items`, the items of all pages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from detent.catalog.action import Effect, EffectKind
from detent.catalog.connector import (
    SECRETS,
    ActionSpec,
    Auth,
    AuthType,
    BodyEncoding,
    Connector,
    ErrorSpec,
    KeyPlace,
    LinkSpec,
    Pagination,
    RequestSpec,
    rank_of,
)
from detent.errors import InvalidDefinition, InvalidInput, Problem
from detent.forms.definition import Syntax, read_document
from detent.forms.kinds import METHODS, MOST_HEADERS
from detent.forms.payload_schema import check_schema
from detent.forms.templates import Read, condition, template_reads
from detent.values.fields import Fields, Problems, described, inside, shown
from detent.values.http_body import is_header_name

MOST_ACTIONS: Final = 2_000
MOST_PAGES: Final = 100
MOST_LINKS: Final = 10
MOST_TAGS: Final = 20
LONGEST_ID: Final = 40
LONGEST_ACTION: Final = 80
LONGEST_TITLE: Final = 200
LONGEST_DESCRIPTION: Final = 10_000
LONGEST_TEXT: Final = 4_000
LONGEST_PATH: Final = 2_000
#: Detent's own actions have this prefix.
RESERVED: Final = ("core", "detent")

_ID: Final = re.compile(r"[a-z][a-z0-9-]*")
_ACTION: Final = re.compile(r"[a-z0-9][a-z0-9._-]*")
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_INTO: Final = re.compile(r"url|query\.[^.\s]+|body(\.[^.\s]+)+")
_CONNECTOR_FIELDS: Final = (
    *("connector", "version", "title", "description", "icon_url", "documentation_url", "base_url", "auth"),
    *("acting_user_headers", "probe", "actions"),
)
_AUTH_FIELDS: Final = ("type", "in", "name", "token_url", "scopes", "service", "region")
#: Which type of authentication each of them belongs to.
_AUTH_OWNERS: Final = {
    "name": AuthType.API_KEY,
    "in": AuthType.API_KEY,
    "token_url": AuthType.OAUTH2_CLIENT,
    "service": AuthType.AWS4,
    "region": AuthType.AWS4,
}
_ACTION_FIELDS: Final = (
    *("version", "title", "description", "category", "tags", "parameters", "output_schema", "request", "success"),
    *("error", "output", "links", "effect", "pagination", "deprecated"),
)
_REQUEST_FIELDS: Final = ("method", "path", "query", "headers", "body", "as")
_ERROR_FIELDS: Final = ("code", "message", "retry")
_LINK_FIELDS: Final = ("system", "type", "id", "url")
_EFFECT_FIELDS: Final = ("kind", "key", "probe")
_PAGE_FIELDS: Final = ("items", "next", "into", "link_header", "max_pages", "on_more")
_ON_MORE: Final = ("fail", "stop")
#: The schema of an action that takes no parameters.
_NO_PARAMETERS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": False}
_EXAMPLE: Final = "response.body.ok == true"
_REQUEST_NAMES: Final = ("with", "credential", "call")
_ANSWER_NAMES: Final = ("with", "response", "call")
_CALL_PARTS: Final = ("key", "since")
_RESPONSE_PARTS: Final = ("status", "headers", "body")


def read_manifest(data: bytes | str, *, filename: str | None = None, syntax: Syntax | None = None) -> Connector:
    """Return the connector of a manifest. Raise InvalidInput with every problem."""
    try:
        document = read_document(
            data, filename=filename, syntax=syntax, needs="a manifest is a mapping with a connector and its actions"
        )
    except InvalidDefinition as error:
        raise InvalidInput("the manifest cannot be read", error.problems) from None
    return build_connector(document)


def build_connector(document: Mapping[str, Any]) -> Connector:
    """Return the connector of a parsed manifest. Raise InvalidInput with every problem."""
    problems = Problems()
    connector = _Reader(Fields(document, "", problems)).connector()
    if problems.found:
        raise InvalidInput("the manifest is not valid", problems.found)
    return connector


def check_connector_id(name: str) -> None:
    """Raise InvalidInput if a connector cannot have this id."""
    if len(name) > LONGEST_ID or not _ID.fullmatch(name) or name in RESERVED:
        message = f"{shown(name)} must be small letters, digits and hyphens, such as my-crm, and not {RESERVED[0]!r}"
        raise InvalidInput("the name of the connector is not valid", [Problem("name", message)])


class _Reader:
    """Reads one manifest. Everything that is wrong becomes a problem; a part that cannot be read has its default."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._problems = fields.problems
        self._version = "1.0.0"
        self._secrets: tuple[str, ...] = ()

    def connector(self) -> Connector:
        fields = self._fields
        fields.refuse_unknown(_CONNECTOR_FIELDS)
        id_ = _name(fields, "connector", _ID, LONGEST_ID)
        if id_ in RESERVED:
            self._problems.add("connector", f"{id_!r} is the name of Detent's own actions; choose another one")
        self._version = _version(fields, "1.0.0", is_needed=True)
        auth = self._auth()
        self._secrets = SECRETS[auth.type]
        return Connector(
            id=id_,
            version=self._version,
            title=fields.text("title", most=LONGEST_TITLE) or id_,
            description=fields.text("description", most=LONGEST_DESCRIPTION, lines=True) or "",
            icon_url=_url(fields, "icon_url"),
            documentation_url=_url(fields, "documentation_url"),
            base_url=_url(fields, "base_url"),
            auth=auth,
            acting_user_headers=fields.boolean("acting_user_headers", True),
            actions=tuple(self._actions()),
            probe=self._probe(),
        )

    def _auth(self) -> Auth:
        block = self._fields.mapping("auth")
        if block is None:
            return Auth()
        fields = Fields(block, "auth", self._problems)
        fields.refuse_unknown(_AUTH_FIELDS)
        type_ = fields.choice("type", AuthType, AuthType.NONE)
        if fields.get("type") is None:
            self._problems.add("auth.type", f"is missing: one of {', '.join(AuthType)}")
        name = fields.text("name", most=LONGEST_TITLE)
        place = fields.choice("in", KeyPlace, KeyPlace.HEADER)
        for key, owner in _AUTH_OWNERS.items():
            if fields.get(key) is not None and type_ is not owner:
                self._problems.add(f"auth.{key}", f"has no meaning for {type_.value!r}, only for {owner.value!r}")
        if type_ is AuthType.API_KEY and name is None and fields.get("name") is None:
            self._problems.add("auth.name", "is missing: the header or query parameter that carries the key")
        elif type_ is AuthType.API_KEY and place is KeyPlace.HEADER and name and not is_header_name(name):
            self._problems.add("auth.name", f"{shown(name)} cannot be the name of a header")
        token_url = _url(fields, "token_url")
        if type_ is AuthType.OAUTH2_CLIENT and fields.get("token_url") is None:
            self._problems.add("auth.token_url", "is missing: the address that issues tokens")
        service, region = (
            self._aws_name(fields, key, is_needed=type_ is AuthType.AWS4) for key in ("service", "region")
        )
        return Auth(type_, name, place, token_url, tuple(_texts(fields, "scopes", MOST_TAGS)), service, region)

    def _aws_name(self, fields: Fields, key: str, *, is_needed: bool) -> str | None:
        """Read a word of a signature's scope."""
        found = fields.text(key, most=LONGEST_TITLE)
        if is_needed and fields.get(key) is None:
            self._problems.add(fields.at(key), "is missing: a signature names it, such as ses or eu-central-1")
        elif found is not None and not _ID.fullmatch(found):
            self._problems.add(fields.at(key), f"{shown(found)} must be small letters, digits and hyphens")
        return found

    def _actions(self) -> Iterator[ActionSpec]:
        block = self._fields.mapping("actions")
        if not block:
            if self._fields.get("actions") in (None, {}):
                self._problems.add("actions", "is missing: a connector needs at least one action")
            return
        if len(block) > MOST_ACTIONS:
            self._problems.add("actions", f"has {len(block)} actions; at most {MOST_ACTIONS} are allowed")
            return
        for name, value in block.items():
            path = inside("actions", name)
            if len(name) > LONGEST_ACTION or not _ACTION.fullmatch(name):
                self._problems.add(path, f"{shown(name)} cannot be the id of an action; write it like get-items")
            if isinstance(value, dict):
                yield self._action(name, Fields(value, path, self._problems), block)
            else:
                self._problems.add(path, f"an action is a mapping with a request, not {described(value)}")

    def _probe(self) -> ActionSpec | None:
        """Read the request that checks a credential. It has no parameters."""
        block = self._fields.mapping("probe")
        if block is None:
            return None
        fields = Fields(block, "probe", self._problems)
        fields.refuse_unknown(("request", "success", "error"))
        return self._action("probe", fields, ())

    def _action(self, name: str, fields: Fields, others: Collection[str]) -> ActionSpec:
        if name != "probe" or others:
            fields.refuse_unknown(_ACTION_FIELDS)
        parameters = _schema(fields, "parameters")
        if fields.get("parameters") is None:
            parameters = _NO_PARAMETERS
        scope = _Scope(self._problems, parameters.get("properties"), self._secrets)
        request = self._request(fields, scope)
        success, reads = condition(fields, "success", _EXAMPLE)
        scope.check(reads, _ANSWER_NAMES)
        pagination = self._pagination(fields, scope)
        answer_names = (*_ANSWER_NAMES, "items") if pagination else _ANSWER_NAMES
        scope.check(template_reads(fields.get("output"), fields.at("output"), self._problems), answer_names)
        return ActionSpec(
            id=name,
            version=_version(fields, self._version),
            request=request,
            title=fields.text("title", most=LONGEST_TITLE) or name,
            description=fields.text("description", most=LONGEST_DESCRIPTION, lines=True) or "",
            category=fields.text("category", most=LONGEST_TITLE) or "",
            tags=tuple(_texts(fields, "tags", MOST_TAGS)),
            parameters=parameters,
            output_schema=_schema(fields, "output_schema"),
            success=success,
            error=self._error(fields, scope),
            output=fields.get("output"),
            links=tuple(self._links(fields, scope, answer_names)),
            effect=self._effect(fields, others),
            pagination=pagination,
            deprecation=fields.text("deprecated", most=LONGEST_TEXT, lines=True),
        )

    def _request(self, fields: Fields, scope: _Scope) -> RequestSpec:
        block = fields.mapping("request")
        if block is None:
            if fields.get("request") is None:
                self._problems.add(fields.at("request"), "is missing: the method and the path of the request")
            return RequestSpec()
        inner = Fields(block, fields.at("request"), self._problems)
        inner.refuse_unknown(_REQUEST_FIELDS)
        method = inner.get("method") or "GET"
        if not isinstance(method, str) or method.upper() not in METHODS:
            self._problems.add(inner.at("method"), f"must be one of {', '.join(METHODS)}, not {described(method)}")
            method = "GET"
        encoding = inner.choice("as", BodyEncoding, BodyEncoding.JSON)
        query, headers = inner.mapping("query") or {}, inner.mapping("headers") or {}
        body = inner.get("body")
        for name in ("query", "headers", "body"):
            scope.check(template_reads(inner.get(name), inner.at(name), self._problems), _REQUEST_NAMES)
        if len(headers) > MOST_HEADERS:
            self._problems.add(inner.at("headers"), f"has {len(headers)} headers; at most {MOST_HEADERS} are allowed")
        for name in headers:
            if not is_header_name(name):
                self._problems.add(inside(inner.at("headers"), name), f"{shown(name)} cannot be the name of a header")
        is_form = encoding in (BodyEncoding.FORM, BodyEncoding.MULTIPART)
        if is_form and not (body is None or isinstance(body, dict) or str(body).startswith("{{")):
            self._problems.add(inner.at("body"), f"must be a mapping of names to values for {encoding.value!r}")
        if encoding is BodyEncoding.RAW and body is not None and not isinstance(body, str):
            self._problems.add(inner.at("body"), "must be text for 'raw'")
        if method.upper() in {"GET", "HEAD"} and body is not None:
            self._problems.add(inner.at("body"), f"a {method.upper()} has no body; use query")
        return RequestSpec(method.upper(), self._path(inner, scope), query, headers, body, encoding)

    def _path(self, fields: Fields, scope: _Scope) -> str:
        path = fields.text("path", most=LONGEST_PATH)
        if fields.get("path") is None:
            self._problems.add(fields.at("path"), "is missing: what follows the base_url, such as /items/{itemId}")
        if path is None:
            return "/"
        place = fields.at("path")
        if "{{" in path:
            self._problems.add(place, "a path has no templates; write {name} for a parameter")
        elif not path.startswith("/") or path.startswith("//"):
            self._problems.add(place, f"{shown(path)} must begin with one slash; the host is in base_url")
        elif re.search(r"[\s?#\\]", path) or any(part in (".", "..") for part in path.split("/")):
            self._problems.add(place, f"{shown(path)} must be a plain path, without blanks, ?, # and dots; use query")
        else:
            for name in _PLACEHOLDER.findall(path):
                scope.check_placeholder(name, place)
            if re.search(r"[{}]", _PLACEHOLDER.sub("", path)):
                self._problems.add(place, f"{shown(path)} has a brace that is not closed")
        return path

    def _error(self, fields: Fields, scope: _Scope) -> ErrorSpec:
        block = fields.mapping("error")
        if block is None:
            return ErrorSpec()
        inner = Fields(block, fields.at("error"), self._problems)
        inner.refuse_unknown(_ERROR_FIELDS)
        retry, reads = condition(inner, "retry", "response.status == 429")
        scope.check(reads, _ANSWER_NAMES)
        texts = [self._template(inner, name, scope, _ANSWER_NAMES) for name in ("code", "message")]
        return ErrorSpec(texts[0], texts[1], retry)

    def _template(self, fields: Fields, name: str, scope: _Scope, names: tuple[str, ...]) -> str | None:
        text = fields.text(name, most=LONGEST_TEXT, lines=True)
        scope.check(template_reads(text, fields.at(name), self._problems), names)
        return text

    def _links(self, fields: Fields, scope: _Scope, names: tuple[str, ...]) -> Iterator[LinkSpec]:
        value = fields.get("links")
        if value is None:
            return
        if not isinstance(value, list) or len(value) > MOST_LINKS:
            self._problems.add(fields.at("links"), f"must be a list of at most {MOST_LINKS} links")
            return
        for number, one in enumerate(value):
            path = f"{fields.at('links')}[{number}]"
            if not isinstance(one, dict):
                self._problems.add(path, f"a link is a mapping with system, type and id, not {described(one)}")
                continue
            inner = Fields(one, path, self._problems)
            inner.refuse_unknown(_LINK_FIELDS)
            for name in ("system", "type", "id"):
                if inner.get(name) is None:
                    self._problems.add(inner.at(name), "is missing")
            system, type_, id_, url = (self._template(inner, name, scope, names) for name in _LINK_FIELDS)
            yield LinkSpec(system or "", type_ or "", id_ or "", url)

    def _effect(self, fields: Fields, others: Collection[str]) -> Effect:
        value = fields.get("effect")
        if value is None:
            return Effect()
        block = value if isinstance(value, dict) else {"kind": value}
        inner = Fields(block, fields.at("effect"), self._problems)
        inner.refuse_unknown(_EFFECT_FIELDS)
        kind = inner.choice("kind", EffectKind, EffectKind.UNKNOWN)
        key = inner.text("key", most=LONGEST_TITLE)
        probe = inner.text("probe", most=LONGEST_ACTION)
        if key is not None and kind is not EffectKind.KEYED:
            self._problems.add(inner.at("key"), "has no meaning unless the effect is 'keyed'")
        elif key is not None and not key.startswith("body.") and not is_header_name(key):
            self._problems.add(inner.at("key"), f"{shown(key)} must be the name of a header, or body.FIELD")
        if kind is EffectKind.PROBED and probe is None:
            self._problems.add(inner.at("probe"), "is missing: the action that says whether the effect happened")
        elif probe is not None and probe not in others:
            hint = self._problems.did_you_mean(probe, others)
            self._problems.add(inner.at("probe"), f"there is no action {shown(probe)} in this connector{hint}")
        return Effect(kind, key, probe)

    def _pagination(self, fields: Fields, scope: _Scope) -> Pagination | None:
        block = fields.mapping("pagination")
        if block is None:
            return None
        inner = Fields(block, fields.at("pagination"), self._problems)
        inner.refuse_unknown(_PAGE_FIELDS)
        items, reads = condition(inner, "items", "response.body.items")
        following, more = condition(inner, "next", "response.body.next_cursor")
        scope.check([*reads, *more], _ANSWER_NAMES)
        if items is None and inner.get("items") is None:
            self._problems.add(inner.at("items"), "is missing: an expression for the list of one page")
        link_header = inner.boolean("link_header", False)
        into = inner.text("into", most=LONGEST_TITLE)
        if link_header and (following or into):
            self._problems.add(inner.path, "has link_header, so next and into have no meaning")
        elif not link_header and (inner.get("next") is None or inner.get("into") is None):
            self._problems.add(inner.path, "needs next and into, or link_header: true")
        if into is not None and not _INTO.fullmatch(into):
            self._problems.add(inner.at("into"), f"{shown(into)} must be query.NAME, body.PATH or url")
        on_more = inner.get("on_more") or "fail"
        if on_more not in _ON_MORE:
            self._problems.add(inner.at("on_more"), f"must be one of {', '.join(_ON_MORE)}, not {described(on_more)}")
        most = inner.integer("max_pages", least=1, most=MOST_PAGES)
        return Pagination(items or "[]", following, into, link_header, most or 10, str(on_more))


class _Scope:
    """What the templates of one action may read. `declared` are its parameters; `None` means any."""

    def __init__(self, problems: Problems, declared: Collection[str] | None, secrets: tuple[str, ...]) -> None:
        self._problems, self._declared, self._secrets = problems, declared, secrets

    def check(self, reads: list[Read], names: tuple[str, ...]) -> None:
        for read in reads:
            if message := self._problem(tuple(map(str, read.reference.path)), names):
                self._problems.add(read.field, f"{shown(read.reference.text)}: {message}")

    def check_placeholder(self, name: str, place: str) -> None:
        path = tuple(name.split(".")) if name.startswith("credential.") else ("with", name)
        if message := self._problem(path, _REQUEST_NAMES):
            self._problems.add(place, f"{{{name}}}: {message}")

    def _problem(self, path: tuple[str, ...], names: tuple[str, ...]) -> str | None:
        root, rest = path[0], path[1:]
        if root not in names:
            hint = self._problems.did_you_mean(root, names)
            return f"only {', '.join(names[:-1])} and {names[-1]} can be read here{hint}"
        known: Collection[str] | None = None
        match root:
            case "with":
                known = self._declared
            case "credential":
                known = self._secrets
            case "response":
                known = _RESPONSE_PARTS
            case "call":
                known = _CALL_PARTS
        if root != "with" and root != "items" and not rest:
            return f"name a part: {', '.join(f'{root}.{part}' for part in known or ())}"
        if known is None or not rest or rest[0] in known:
            return None
        hint = self._problems.did_you_mean(rest[0], known) or (
            f"; there is {', '.join(sorted(known))}" if known else ""
        )
        noun = {"with": "parameter", "credential": "part of the credential", "call": "part of a call"}.get(
            root, "part of an answer"
        )
        return f"there is no {noun} {shown(rest[0])}{hint}"


def _name(fields: Fields, name: str, pattern: re.Pattern[str], most: int) -> str:
    text = fields.text(name, most=most)
    if fields.get(name) is None:
        fields.problems.add(fields.at(name), "is missing")
    elif text is not None and not pattern.fullmatch(text):
        fields.problems.add(fields.at(name), f"{shown(text)} must be small letters, digits and hyphens, such as my-crm")
    return text or ""


def _version(fields: Fields, default: str, *, is_needed: bool = False) -> str:
    value = fields.get("version")
    if value is None:
        if is_needed:
            fields.problems.add(fields.at("version"), "is missing: three numbers such as 1.0.0")
        return default
    try:
        rank_of(value if isinstance(value, str) else "")
    except ValueError as error:
        fields.problems.add(fields.at("version"), f"{error}, not {described(value)}")
        return default
    return str(value)


def _url(fields: Fields, name: str) -> str | None:
    text = fields.text(name, most=LONGEST_PATH)
    if text is None:
        return None
    try:
        parts = urlsplit(text)
        is_plain = parts.scheme in ("http", "https") and parts.hostname and not re.search(r"\s", text)
        has_more = bool(parts.query or parts.fragment) and name != "documentation_url" and name != "icon_url"
        if is_plain and not has_more and "@" not in parts.netloc and "{{" not in text:
            return text.rstrip("/") if name == "base_url" else text
    except ValueError:
        pass
    fields.problems.add(fields.at(name), f"{shown(text)} must be an address such as https://api.example.com/v1")
    return None


def _texts(fields: Fields, name: str, most: int) -> Iterator[str]:
    value = fields.get(name)
    if value is None:
        return
    if not isinstance(value, list) or not all(isinstance(one, str) and 0 < len(one) <= LONGEST_TITLE for one in value):
        fields.wrong(name, "a list of texts")
    elif len(value) > most:
        fields.problems.add(fields.at(name), f"has {len(value)} texts; at most {most} are allowed")
    else:
        yield from value


def _schema(fields: Fields, name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    if value is None:
        return {}
    found: list[Problem] = check_schema(value, fields.at(name))
    if name == "parameters" and isinstance(value, dict) and value.get("type", "object") != "object":
        found.append(Problem(inside(fields.at(name), "type"), "must be object: parameters are written by name"))
    for problem in found:
        fields.problems.add(problem.field, problem.message)
    return value if isinstance(value, dict) and not found else {}
