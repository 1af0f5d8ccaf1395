"""An OpenAPI 3.x or Swagger 2 document as a connector: each operation becomes an action.

Parameters of path, query and header are parameters of the action under their names; the body is its parameter `body`.
Schemas stay in their document's spelling as far as JSON Schema has it. References are followed inside the document
only, and never further than a limited depth and size: what is beyond is accepted as any value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from detent.catalog.action import ActionSource, Effect, EffectKind
from detent.catalog.connector import ActionSpec, Auth, AuthType, BodyEncoding, Connector, KeyPlace, RequestSpec
from detent.catalog.manifest import LONGEST_ACTION, LONGEST_DESCRIPTION, LONGEST_PATH, LONGEST_TITLE, MOST_ACTIONS
from detent.errors import InvalidDefinition, InvalidInput, Problem
from detent.forms.definition import read_foreign_document
from detent.forms.payload_schema import check_schema
from detent.values.http_body import is_header_name
from detent.values.limits import IMPORT_LIMIT

#: A schema of an action with more bytes is made shallower until it fits.
LARGEST_SCHEMA: Final = 16 * 1024
DEEPEST: Final = 6
MOST_PARTS: Final = 3_000
_METHODS: Final = ("get", "post", "put", "patch", "delete", "head", "options")
_READS: Final = {"get", "head", "options"}
_REPEATABLE: Final = {"put", "delete"}
_NOT_A_WORD: Final = re.compile(r"[^a-z0-9]+")
_PLACEHOLDER: Final = re.compile(r"\{([^{}]+)\}")
#: The keywords of a schema that are kept; others say nothing to JSON Schema, or mean something else there.
_KEPT: Final = frozenset(
    {
        *("type", "enum", "const", "description", "title", "default", "minimum", "maximum", "multipleOf"),
        *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"),
        *("required", "properties", "additionalProperties", "items", "allOf", "anyOf", "oneOf"),
    }
)
_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_BODIES: Final = (
    ("application/json", BodyEncoding.JSON),
    ("application/x-www-form-urlencoded", BodyEncoding.FORM),
    ("multipart/form-data", BodyEncoding.MULTIPART),
)
_CONTENT_TYPE: Final = re.compile(r"[a-z0-9.+_-]+/[a-z0-9.+_-]+")
_TEXTS: Final = re.compile(r"text/|application/(xml|.*\+xml|graphql|yaml|x-yaml|.*ndjson)")
_LONGEST_WORDS: Final = 1_000
#: Headers that the engine or the authentication sets.
_OWN_HEADERS: Final = frozenset(
    {"authorization", "content-type", "content-length", "accept-encoding", "host", "idempotency-key", "connection"}
)


@dataclass(frozen=True, slots=True)
class SkippedOperation:
    """An operation that did not become an action, and why."""

    operation: str
    reason: str


@dataclass(slots=True)
class Import:
    """What an import found: the connector, and the operations that it does not have."""

    connector: Connector
    operations: int
    skipped: list[SkippedOperation] = field(default_factory=list)


def read_openapi(
    data: bytes | str, name: str, *, filename: str | None = None, version: str = "1.0.0", source_url: str | None = None
) -> Import:
    """Return the connector of an OpenAPI or Swagger document. Raise InvalidInput with the problems of the document."""
    try:
        needs = "an OpenAPI document is a mapping with openapi (or swagger) and paths"
        document = read_foreign_document(data, filename=filename, needs=needs, limit=IMPORT_LIMIT)
    except InvalidDefinition as error:
        raise InvalidInput("the OpenAPI document cannot be read", error.problems) from None
    return import_openapi(document, name, version=version, source_url=source_url)


def import_openapi(
    document: Mapping[str, Any], name: str, *, version: str = "1.0.0", source_url: str | None = None
) -> Import:
    """Return the connector of a parsed document."""
    written = str(document.get("openapi") or document.get("swagger") or "")
    if not re.match(r"3\.|2\.", written):
        message = "must be 3.x of OpenAPI, or swagger must be 2.0"
        raise InvalidInput("this is not an OpenAPI document", [Problem("openapi", message)])
    if not isinstance(document.get("paths"), dict):
        raise InvalidInput("this is not an OpenAPI document", [Problem("paths", "must be a mapping of paths")])
    return _Importer(document, name, version, source_url, is_old=written.startswith("2.")).run()


class _Importer:
    def __init__(
        self, document: Mapping[str, Any], name: str, version: str, source_url: str | None, *, is_old: bool
    ) -> None:
        self._document = document
        self._name = name
        self._version = version
        self._source_url = source_url
        self._is_old = is_old
        self._skipped: list[SkippedOperation] = []
        self._names: set[str] = set()
        self._left = 0  # how many parts of a schema may still be read

    def run(self) -> Import:
        actions: list[ActionSpec] = []
        count = 0
        for path, item in self._document["paths"].items():
            item = self._followed(item)
            if not isinstance(item, dict):
                continue
            for method in _METHODS:
                operation = self._followed(item.get(method))
                if not isinstance(operation, dict):
                    continue
                count += 1
                place = f"{method.upper()} {path}"
                try:
                    if len(actions) == MOST_ACTIONS:
                        raise _Unsupported(f"a connector has at most {MOST_ACTIONS} actions")
                    actions.append(self._action(path, method, item, operation))
                except _Unsupported as reason:
                    self._skipped.append(SkippedOperation(place[:_LONGEST_WORDS], str(reason)))
        if not actions:
            raise InvalidInput("the document has no operation that can become an action", self._reasons())
        info = self._followed(self._document.get("info")) or {}
        connector = Connector(
            id=self._name,
            version=self._version,
            title=_words(info.get("title"), LONGEST_TITLE) or self._name,
            description=_words(info.get("description"), LONGEST_DESCRIPTION),
            base_url=self._base_url(),
            auth=self._auth(),
            actions=tuple(actions),
            source=ActionSource.OPENAPI,
        )
        return Import(connector, count, self._skipped)

    def _reasons(self) -> list[Problem]:
        return [Problem(one.operation, one.reason) for one in self._skipped[:20]] or [Problem("paths", "is empty")]

    # Operations.

    def _action(self, path: str, method: str, item: Mapping[str, Any], operation: Mapping[str, Any]) -> ActionSpec:
        if not path.startswith("/") or len(path) > LONGEST_PATH or "//" in path:
            raise _Unsupported("its path is not a plain path")
        plain = path.partition("?")[0].partition("#")[0]
        fields = _Fields(self)
        for given in (*_listed(item.get("parameters")), *_listed(operation.get("parameters"))):
            fields.add(self._followed(given))
        path_names = {name: fields.path.get(name) or fields.declare_path(name) for name in _PLACEHOLDER.findall(plain)}
        encoding, content_type = fields.read_body(operation, self._document)
        written = _PLACEHOLDER.sub(lambda found: f"{{{path_names[found[1]]}}}", plain)
        if re.search(r"[\s\\{}]", _PLACEHOLDER.sub("", written)) or any(
            part in (".", "..") for part in written.split("/")
        ):
            raise _Unsupported("its path is not a plain path")
        headers: dict[str, Any] = {name: f"{{{{ with['{key}'] }}}}" for name, key in fields.headers.items()}
        if content_type is not None:
            headers["Content-Type"] = content_type
        body = fields.body
        request = RequestSpec(
            method=method.upper(),
            path=written,
            query={name: f"{{{{ with['{key}'] }}}}" for name, key in fields.query.items()},
            headers=headers,
            body=body,
            encoding=encoding,
        )
        kind = EffectKind.NONE if method in _READS else EffectKind.UNKNOWN
        if method in _REPEATABLE:
            kind = EffectKind.IDEMPOTENT
        tags = [tag for tag in _listed(operation.get("tags")) if isinstance(tag, str) and tag.strip()]
        deprecated = operation.get("deprecated") is True
        return ActionSpec(
            id=self._id(method, plain, operation.get("operationId")),
            version=self._version,
            request=request,
            title=_words(operation.get("summary"), LONGEST_TITLE) or f"{method.upper()} {plain}"[:LONGEST_TITLE],
            description=_words(operation.get("description"), _LONGEST_WORDS),
            category=tags[0][:60] if tags else "",
            tags=tuple(tag[:LONGEST_TITLE] for tag in tags[:5]),
            parameters=self._fitting(fields.parameters(), "parameters"),
            output_schema=self._fitting(self._output(operation), "output_schema"),
            effect=Effect(kind),
            deprecation="the service calls this operation deprecated" if deprecated else None,
        )

    def _id(self, method: str, path: str, written: Any) -> str:
        """Return the id of an action: the operationId in small letters, else method and path. It is unique."""
        text = written if isinstance(written, str) and written.strip() else f"{method} {path}"
        text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
        base = _NOT_A_WORD.sub("-", text.lower()).strip("-")[: LONGEST_ACTION - 5].strip("-") or method
        name, number = base, 2
        while name in self._names:
            name, number = f"{base}-{number}", number + 1
        self._names.add(name)
        return name

    def _output(self, operation: Mapping[str, Any]) -> Mapping[str, Any]:
        responses = operation.get("responses")
        for status, given in responses.items() if isinstance(responses, dict) else ():
            if re.match(r"2\d\d|2XX|default", str(status)):
                answer = self._followed(given)
                if not isinstance(answer, dict):
                    continue
                if self._is_old:
                    return self.schema(answer.get("schema"))
                content = answer.get("content")
                for kind, media in content.items() if isinstance(content, dict) else ():
                    if "json" in kind and isinstance(media, dict):
                        return self.schema(media.get("schema"))
                return {}
        return {}

    # Schemas.

    def schema(self, given: Any, depth: int = DEEPEST) -> dict[str, Any]:
        """Return a schema without references, at most `depth` levels deep. What is beyond is any value.

        References can make a small schema explode. One that has too many parts is read less deep."""
        while True:
            self._left = MOST_PARTS
            found = self._schema(given, depth, ())
            if self._left > 0 or depth == 1:
                return found
            depth -= 1

    def _schema(self, given: Any, depth: int, seen: tuple[str, ...]) -> dict[str, Any]:
        self._left -= 1
        if not isinstance(given, dict) or depth <= 0 or self._left <= 0:
            return {}
        reference = given.get("$ref")
        if isinstance(reference, str):
            if reference in seen:
                return {}
            return self._schema(self._followed(given), depth, (*seen, reference))
        found: dict[str, Any] = {}
        for key in _KEPT & given.keys():
            value = self._keyword(key, given[key], depth, seen)
            if value is not None:
                found[key] = value
        if given.get("nullable") is True and isinstance(found.get("type"), str):
            found["type"] = [found["type"], "null"]
            if "enum" in found:
                found["enum"] = [*found["enum"], None]
        return found

    def _keyword(self, key: str, value: Any, depth: int, seen: tuple[str, ...]) -> Any:
        match key:
            case "properties":
                if isinstance(value, dict):
                    return {str(name): self._schema(inner, depth - 1, seen) for name, inner in value.items()}
            case "items" | "additionalProperties":
                if isinstance(value, dict):
                    return self._schema(value, depth - 1, seen)
                if isinstance(value, bool) and key == "additionalProperties":
                    return value
            case "allOf" | "anyOf" | "oneOf":
                if isinstance(value, list) and value:
                    inner = [self._schema(one, depth - 1, seen) for one in value]
                    return None if key == "oneOf" and {} in inner else inner
            case "type":
                types = value if isinstance(value, list) else [value]
                known = [one for one in types if one in _TYPES]
                return (known if isinstance(value, list) else known[0]) if len(known) == len(types) and known else None
            case "required":
                names = list(dict.fromkeys(one for one in _listed(value) if isinstance(one, str)))
                return names or None
            case "enum":
                return value if isinstance(value, list) and 0 < len(value) <= 200 else None
            case "description" | "title":
                return _words(value, 300) or None
            case "default" | "const":
                return value if not isinstance(value, dict | list) else None
            case "uniqueItems":
                return value if isinstance(value, bool) else None
            case _:
                is_number = isinstance(value, int | float) and not isinstance(value, bool)
                is_fitting = is_number and -(2**53) <= value <= 2**53
                return value if is_fitting and (value >= 0 or key in ("minimum", "maximum")) else None
        return None

    def _fitting(self, given: Mapping[str, Any], field_name: str) -> dict[str, Any]:
        """Return a schema of which nothing is left to refuse: made shallower until it is small and valid."""
        schema = dict(given)
        for depth in range(DEEPEST, 0, -1):
            small = _cut(schema, depth) if depth < DEEPEST else schema
            if len(json.dumps(small)) <= LARGEST_SCHEMA and not check_schema(small, field_name):
                return small
        required = [name for name in _listed(schema.get("required")) if isinstance(name, str)]
        properties: dict[str, Any] = {name: {} for name in schema.get("properties", {})}
        found = {"type": "object", "properties": properties, "required": required}
        return found if properties and len(json.dumps(found)) <= LARGEST_SCHEMA else {}

    def _followed(self, value: Any) -> Any:
        """Return the value that a local reference points to, through at most a few of them."""
        for _ in range(10):
            if not isinstance(value, dict) or not isinstance(value.get("$ref"), str):
                return value
            value = self._target(value["$ref"])
        return None

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#/"):
            return None
        found: Any = self._document
        for key in reference[2:].split("/"):
            key = key.replace("~1", "/").replace("~0", "~").replace("%7B", "{").replace("%7D", "}")
            if isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                found = found.get(key) if isinstance(found, dict) else None
        return found

    # Where and how.

    def _base_url(self) -> str | None:
        if self._is_old:
            host = self._document.get("host")
            if not isinstance(host, str) or not host:
                return None
            schemes = [one for one in _listed(self._document.get("schemes")) if one in ("https", "http")]
            base = self._document.get("basePath")
            path = base if isinstance(base, str) else ""
            return _plain_url(f"{'https' if 'https' in schemes or not schemes else 'http'}://{host}{path}")
        for server in _listed(self._document.get("servers")):
            if not isinstance(server, dict) or not isinstance(server.get("url"), str):
                continue
            variables = server.get("variables")
            values = {
                name: str(one.get("default", ""))
                for name, one in (variables.items() if isinstance(variables, dict) else ())
                if isinstance(one, dict)
            }
            url = server["url"]
            for name, value in values.items():
                url = url.replace(f"{{{name}}}", value)
            if self._source_url is not None:
                url = urljoin(self._source_url, url)
            if found := _plain_url(url):
                return found
        return None

    def _auth(self) -> Auth:
        """Return the authentication that most operations ask for, of those that can be written without a person."""
        components = self._document.get("components")
        schemes = self._document.get("securityDefinitions") if self._is_old else None
        if not self._is_old and isinstance(components, dict):
            schemes = components.get("securitySchemes")
        if not isinstance(schemes, dict):
            return Auth()
        wanted = [name for one in _listed(self._document.get("security")) if isinstance(one, dict) for name in one]
        ordered = [*wanted, *(name for name in schemes if name not in wanted)]
        found = [auth for name in ordered if (auth := self._scheme(self._followed(schemes.get(name)))) is not None]
        return found[0] if found else Auth()

    def _scheme(self, scheme: Any) -> Auth | None:
        if not isinstance(scheme, dict):
            return None
        name = scheme.get("name")
        match scheme.get("type"):
            case "http" if str(scheme.get("scheme", "")).lower() == "basic":
                return Auth(AuthType.BASIC)
            case "basic":
                return Auth(AuthType.BASIC)
            case "http" | "openIdConnect":
                return Auth(AuthType.BEARER)
            case "apiKey" if isinstance(name, str) and scheme.get("in") == "query" and name:
                return Auth(AuthType.API_KEY, name, KeyPlace.QUERY)
            case "apiKey" if isinstance(name, str) and scheme.get("in") == "header" and is_header_name(name):
                return Auth(AuthType.BEARER) if name.lower() == "authorization" else Auth(AuthType.API_KEY, name)
            case "oauth2":
                return self._oauth2(scheme)
        return None

    def _oauth2(self, scheme: Mapping[str, Any]) -> Auth:
        flows = scheme.get("flows")
        flow = flows.get("clientCredentials") if isinstance(flows, dict) else None
        if self._is_old and scheme.get("flow") == "application":
            flow = scheme
        url = flow.get("tokenUrl") if isinstance(flow, dict) else None
        if isinstance(url, str) and (plain := _plain_url(urljoin(self._source_url or "", url))):
            return Auth(AuthType.OAUTH2_CLIENT, token_url=plain)
        return Auth(AuthType.BEARER)  # a token that the operator has obtained


class _Unsupported(Exception):
    """Why an operation does not become an action."""


class _Fields:
    """The parameters of one operation. Each has one name in `with`, whatever place it is sent in."""

    def __init__(self, importer: _Importer) -> None:
        self._importer = importer
        self._properties: dict[str, Any] = {}
        self._required: list[str] = []
        self._places: dict[tuple[str, str], str] = {}
        self._form: dict[str, str] = {}
        self.path: dict[str, str] = {}
        self.query: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        self.body: Any = None

    def parameters(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": "object", "properties": self._properties, "additionalProperties": False}
        return found | ({"required": self._required} if self._required else {})

    def add(self, given: Any) -> None:
        """Add a parameter. A later one of the same name and place replaces the earlier one."""
        if not isinstance(given, dict) or not isinstance(given.get("name"), str) or not given["name"]:
            return
        name, place = given["name"], given.get("in")
        if place == "cookie" or (place == "header" and name.lower() in _OWN_HEADERS):
            return
        if place == "header" and not is_header_name(name):
            raise _Unsupported(f"the header {name[:80]!r} cannot be sent")
        if place == "body":
            self.declare("body", place, self._importer.schema(given.get("schema")), is_needed=given.get("required"))
            self.body = "{{ with.body }}"
            return
        key = self.declare(name, str(place), self._schema(given), is_needed=given.get("required") or place == "path")
        match place:
            case "path":
                self.path[name] = key
            case "query":
                self.query[name] = key
            case "header":
                self.headers[name] = key
            case "formData":
                self._form[name] = key

    def declare_path(self, name: str) -> str:
        """Declare a parameter of the path that the document forgot."""
        key = self.declare(name, "path", {"type": "string"}, is_needed=True)
        self.path[name] = key
        return key

    def declare(self, name: str, place: str, schema: dict[str, Any], *, is_needed: Any) -> str:
        """Declare a parameter and return its name in `with`. Names that templates cannot read are spelled plainly."""
        known = self._places.get((name, place))
        plain = re.sub(r"[^A-Za-z0-9_$-]", "_", name)[:100] or "_"
        key = known or plain
        number = 2
        while known is None and key in self._properties:
            key, number = f"{plain}_{place}" if number == 2 else f"{plain}_{place}_{number}", number + 1
        self._places[name, place] = key
        self._properties[key] = schema
        if is_needed is True and key not in self._required:
            self._required.append(key)
        return key

    def read_body(self, operation: Mapping[str, Any], document: Mapping[str, Any]) -> tuple[BodyEncoding, str | None]:
        """Read the body of an operation. Return how it is written, and its content type where that is not usual."""
        if self._form:
            consumed = _listed(operation.get("consumes")) or _listed(document.get("consumes"))
            self.body = {name: f"{{{{ with['{key}'] }}}}" for name, key in self._form.items()}
            return (BodyEncoding.MULTIPART if "multipart/form-data" in consumed else BodyEncoding.FORM), None
        if self.body is not None:
            return BodyEncoding.JSON, None
        given = self._importer._followed(operation.get("requestBody"))  # noqa: SLF001 - one algorithm in two classes
        content = given.get("content") if isinstance(given, dict) else None
        if not isinstance(content, dict) or not content:
            return BodyEncoding.JSON, None
        is_needed = given.get("required") is True
        kinds = {str(kind).partition(";")[0].strip().lower(): media for kind, media in content.items()}
        for wanted, encoding in _BODIES:
            if wanted in kinds:
                return self._take_body(kinds[wanted], is_needed=is_needed, encoding=encoding), None
        for plain, media in kinds.items():
            if plain.endswith(("+json", "/json")) and _CONTENT_TYPE.fullmatch(plain):
                return self._take_body(media, is_needed=is_needed, encoding=BodyEncoding.JSON), plain
        plain, media = next(iter(kinds.items()))
        if plain in ("*/*", "application/*"):
            return self._take_body(media, is_needed=is_needed, encoding=BodyEncoding.JSON), None
        if not _CONTENT_TYPE.fullmatch(plain) or not re.match(
            r"text/|application/(xml|.*\+xml|graphql|yaml|x-yaml|.*ndjson)", plain
        ):
            raise _Unsupported(f"its body is {plain[:80]}, which is not text")
        self.declare("body", "body", {"type": "string"}, is_needed=is_needed)
        self.body = "{{ with.body }}"
        return BodyEncoding.RAW, plain

    def _take_body(self, media: Any, *, is_needed: bool, encoding: BodyEncoding) -> BodyEncoding:
        schema = self._importer.schema(media.get("schema") if isinstance(media, dict) else None)
        if encoding in (BodyEncoding.FORM, BodyEncoding.MULTIPART):
            schema.setdefault("type", "object")
        key = self.declare("body", "body", schema, is_needed=is_needed)
        self.body = f"{{{{ with['{key}'] }}}}" if key != "body" else "{{ with.body }}"
        return encoding

    def _schema(self, given: Mapping[str, Any]) -> dict[str, Any]:
        schema = given.get("schema")
        content = given.get("content")
        if schema is None and isinstance(content, dict) and content:
            media = next(iter(content.values()))
            schema = media.get("schema") if isinstance(media, dict) else None
        found = self._importer.schema(given if schema is None else schema)
        for key in ("required", "description"):
            if schema is None:
                found.pop(key, None)
        if words := _words(given.get("description"), 300):
            found["description"] = words
        return found


def _cut(schema: Any, depth: int) -> Any:
    """Return a schema without what is deeper than `depth`, and without words."""
    if not isinstance(schema, dict) or depth <= 0:
        return {}
    found = {key: value for key, value in schema.items() if key not in ("description", "title", "default")}
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), dict):
            found[key] = _cut(found[key], depth - 1)
    for key in ("allOf", "anyOf", "oneOf"):
        if key in found:
            found[key] = [_cut(one, depth - 1) for one in found[key]]
            if key == "oneOf" and {} in found[key]:
                del found[key]
    if isinstance(found.get("properties"), dict):
        found["properties"] = {name: _cut(inner, depth - 1) for name, inner in found["properties"].items()}
    return found


def _plain_url(text: str) -> str | None:
    """Return an address that requests can be sent to, or `None`."""
    try:
        parts = urlsplit(text)
        is_plain = parts.scheme in ("http", "https") and parts.hostname and not re.search(r"[\s{}]", text)
    except ValueError:
        return None
    if not is_plain or "@" in parts.netloc or len(text) > LONGEST_PATH:
        return None
    return text.partition("?")[0].partition("#")[0].rstrip("/")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _words(value: Any, most: int) -> str:
    """Return a text for people: without control characters, and not longer than `most`."""
    if not isinstance(value, str):
        return ""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", " ", value).strip()
    return text if len(text) <= most else text[: most - 1] + "…"
