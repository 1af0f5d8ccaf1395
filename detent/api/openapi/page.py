"""The documentation page of the API, rendered from its OpenAPI document. The page loads nothing from other servers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from litestar import Response, get
from litestar.openapi.plugins import OpenAPIRenderPlugin

from detent.api.context import prefix_of
from detent.api.request import AnyRequest
from detent.api.routes.pages import page

STYLE: Final = """
:root { --ink: #1f2328; --paper: #fff; --panel: #f6f7f9; --edge: #e3e6ea; --blue: #0b62c4; --green: #137333;
  --amber: #9a5b00; --red: #b3261e; --violet: #6b3fa0 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #14171b; --panel: #1c2026; --edge: #2d333b;
  --soft: #98a1ac; --blue: #7ab7ff; --green: #6fd08c; --amber: #e8b45a; --red: #ff8f86; --violet: #c6a5f5 } }
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem }
body { max-width: 78rem; margin: 0 auto; padding: 2.5rem 1.5rem 6rem; color: var(--ink); background: var(--paper) }
header { border-bottom: 1px solid var(--edge); padding-bottom: 1rem; margin-bottom: 1.5rem }
header h1 { font-size: 2rem; letter-spacing: -.02em } header p { margin: .4rem 0 }
.docs { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: 3.5rem }
nav { position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow-y: auto;
  font-size: .84rem; scrollbar-width: thin }
nav h4 { margin: 1.1rem 0 .3rem; text-transform: uppercase; letter-spacing: .06em; font-size: .72rem;
  color: var(--soft) }
nav h4:first-child { margin-top: 0 }
nav ul { list-style: none; margin: 0; padding: 0 }
nav a { display: flex; gap: .5rem; align-items: baseline; padding: .18rem .3rem; border-radius: .3rem; color: inherit;
  text-decoration: none }
nav a:hover { background: var(--panel) }
nav .verb { flex: none; width: 2.9rem; padding: 0; background: none; font-size: .66rem }
main h2 { font-size: 1.35rem; margin: 3rem 0 0; letter-spacing: -.01em } main h2:first-child { margin-top: 0 }
main > .soft { margin: .2rem 0 0 }
section { padding: 1.6rem 0 1.8rem; border-bottom: 1px solid var(--edge) }
section:target h3 { color: var(--blue) }
h3 { font-size: 1.05rem; margin: 0 0 .5rem } section p { margin: .55rem 0; max-width: 44rem }
h5 { margin: 1.2rem 0 .4rem; font-size: .72rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft) }
.place { display: flex; gap: .6rem; align-items: center; background: var(--panel); border: 1px solid var(--edge);
  border-radius: .45rem; padding: .45rem .6rem; max-width: none; overflow-x: auto }
.place code { font-size: .88rem; white-space: nowrap } em { font-style: normal; color: var(--violet) }
.also { font-size: .82rem; max-width: none } .also code { margin-right: .5rem; font-size: .78rem }
.verb { font: 700 .7rem ui-monospace, monospace; letter-spacing: .03em; padding: .15rem .4rem; border-radius: .3rem;
  background: color-mix(in srgb, currentColor 13%, transparent) }
.get { color: var(--blue) } .post { color: var(--green) } .put { color: var(--amber) } .delete { color: var(--red) }
section table { margin: .6rem 0; font-size: .88rem } section tr { border-color: var(--edge) }
td { vertical-align: top; padding: .4rem .8rem .4rem 0 } td:nth-child(3) { white-space: normal }
.parameters td:nth-child(3) { max-width: 9rem } .parameters td:last-child { width: 100% }
section code { background: var(--panel); border-radius: .25rem; padding: .05rem .25rem; font-size: .84em }
.place code, pre code { background: none; padding: 0 }
pre { background: var(--panel); border: 1px solid var(--edge); border-radius: .45rem; padding: .7rem .9rem;
  margin: .5rem 0;  max-height: 26rem; overflow: auto; font-size: .8rem; scrollbar-width: thin }
pre i { font-style: normal } .k { color: var(--blue) } .s { color: var(--green) } .n { color: var(--amber) }
details { margin: .35rem 0 } summary { cursor: pointer; font-size: .9rem } .line { font-size: .9rem; margin: .35rem 0 }
.status { font: 700 .78rem ui-monospace, monospace } .status.good { color: var(--green) }
.status.bad { color: var(--red) }
@media (max-width: 60rem) { .docs { display: block } nav { position: static; max-height: none; columns: 2 15rem;
  border-bottom: 1px solid var(--edge); padding-bottom: 1rem; margin-bottom: 2rem } }
@media (max-width: 40rem) { td, .parameters td:nth-child(3) { white-space: normal; max-width: none }
  .parameters tr { display: block; padding: .3rem 0 } .parameters td { display: inline-block; width: auto;
  padding: .1rem .5rem .1rem 0 } .parameters td:last-child { display: block; width: auto } }
"""


Schemas = dict[str, Any]
_DEEPEST: Final = 4


def type_name(schema: dict[str, Any]) -> str:
    """Return the type of a parameter in a word or two."""
    if schema.get("type") == "array":
        return f"{type_name(schema.get('items', {}))}, repeatable"
    kind = schema.get("format") or schema.get("type", "any")
    return " | ".join(kind) if isinstance(kind, list) else str(kind)


def sketch(schema: dict[str, Any], schemas: Schemas, depth: int = 0) -> Any:
    """Return a value with the shape of a schema, with names of types instead of values."""
    name = schema.get("$ref", "").rpartition("/")[2]
    schema = schemas.get(name, schema)
    if depth > _DEEPEST:
        return "…"
    if "properties" in schema:
        return {key: sketch(value, schemas, depth + 1) for key, value in schema["properties"].items()}
    if schema.get("type") == "array":
        return [sketch(schema.get("items", {}), schemas, depth + 1)]
    choices = schema.get("oneOf") or schema.get("anyOf")
    if choices:
        return _either([sketch(choice, schemas, depth + 1) for choice in choices])
    return type_name(schema)


def _either(choices: list[Any]) -> Any:
    """Return the first choice that is an object or an array. If there is none, join the names of the types."""
    large = [choice for choice in choices if isinstance(choice, dict | list)]
    return large[0] if large else " | ".join(map(str, choices))


_METHODS: Final = ("get", "post", "put", "patch", "delete")
_TOKEN: Final = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\b\d+(?:\.\d+)?\b)')
_CODE: Final = re.compile(r"`([^`]+)`")
_SLOT: Final = re.compile(r"(\{[^}]+\})")


@dataclass(slots=True)
class _Entry:
    """One operation with all its paths."""

    method: str
    paths: list[str]
    operation: dict[str, Any] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        return str(self.operation["operationId"])


def render_docs(document: dict[str, Any]) -> str:
    """Render the page: operations by tag, each with examples of its request body and its answers."""
    schemas = document.get("components", {}).get("schemas", {})
    groups = _groups(document)
    menu = "".join(_menu(tag, entries) for tag, entries in groups.items())
    notes = {tag["name"]: tag.get("description", "") for tag in document.get("tags", ())}
    body = "".join(_group(tag, notes.get(tag, ""), entries, schemas) for tag, entries in groups.items())
    info = document["info"]
    head = (
        f"<header><h1>{escape(info['title'])} API</h1><p>{_prose(info.get('description', ''))}</p>"
        f'<p class="soft">version {escape(info["version"])} · <a href="openapi.json">openapi.json</a> for programs '
        '· <a href="./">workflows and runs</a></p></header>'
    )
    return page("Detent API", f"<style>{STYLE}</style>{head}<div class=docs><nav>{menu}</nav><main>{body}</main></div>")


def _groups(document: dict[str, Any]) -> dict[str, list[_Entry]]:
    """Group the operations by tag. Operations that differ only in their path are one entry, under the plainest path."""
    found: dict[tuple[str, str], _Entry] = {}
    tags: dict[str, list[_Entry]] = {tag["name"]: [] for tag in document.get("tags", ())}
    for path, method, operation in sorted(_operations(document), key=_rank):
        key = (method, operation.get("summary", ""))
        if key in found:
            found[key].paths.append(path)
            continue
        entry = found[key] = _Entry(method, [path], operation)
        tags.setdefault((operation.get("tags") or ["other"])[0], []).append(entry)
    return {tag: entries for tag, entries in tags.items() if entries}


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document.get("paths", {}).items():
        yield from ((path, method, item[method]) for method in _METHODS if method in item)


def _rank(found: tuple[str, str, dict[str, Any]]) -> tuple[bool, bool, int, int, str]:
    """Return a sort key: plain paths first, then paths with fewer parameters, then GET before other methods."""
    path, method, _ = found
    is_nested = "/executions" in path or "}/runs" in path
    return is_nested, "/webhook" in path, path.count("{"), _METHODS.index(method), path


def _menu(tag: str, entries: Iterable[_Entry]) -> str:
    lines = (
        f'<li><a href="#{escape(entry.anchor)}">{_badge(entry.method)}'
        f"<span>{escape(entry.operation.get('summary', ''))}</span></a>"
        for entry in entries
    )
    return f"<h4>{escape(tag)}</h4><ul>{''.join(lines)}</ul>"


def _group(tag: str, note: str, entries: Iterable[_Entry], schemas: Schemas) -> str:
    head = f"<h2>{escape(tag.capitalize())}</h2><p class=soft>{_prose(note)}</p>"
    return head + "".join(_entry(entry, schemas) for entry in entries)


def _entry(entry: _Entry, schemas: Schemas) -> str:
    operation = entry.operation
    also = "".join(f"<code>{_path(path)}</code> " for path in entry.paths[1:])
    return (
        f'<section id="{escape(entry.anchor)}"><h3>{escape(operation.get("summary", ""))}</h3>'
        f"<p class=place>{_badge(entry.method)}<code>{_path(entry.paths[0])}</code></p>"
        + (f'<p class="soft also">also at {also}</p>' if also else "")
        + f"<p>{_prose(operation.get('description', ''))}</p>"
        + _parameters(operation.get("parameters", ()))
        + _body(operation.get("requestBody", {}), schemas)
        + _answers(operation.get("responses", {}), schemas)
        + "</section>"
    )


def _parameters(parameters: Iterable[dict[str, Any]]) -> str:
    lines = [
        f'<tr><td><code>{escape(each["name"])}</code><td class="soft">{escape(each["in"])}'
        f'<td class="soft">{escape(type_name(each.get("schema", {})))}'
        f"<td>{_prose(each.get('description', ''))}{_words(each.get('schema', {}))}{_sample(each.get('example'))}"
        for each in parameters
    ]
    return f"<table class=parameters>{''.join(lines)}</table>" if lines else ""


def _words(schema: dict[str, Any]) -> str:
    """Render the allowed values of an enum."""
    words = schema.get("enum") or schema.get("items", {}).get("enum") or ()
    return " One of " + ", ".join(f"<code>{escape(str(word))}</code>" for word in words) + "." if words else ""


def _sample(example: Any) -> str:
    if example is None:
        return ""
    shown = ", ".join(map(str, example)) if isinstance(example, list) else _plain(example)
    return f' <span class="soft">e.g.</span> <code>{escape(shown)}</code>'


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _body(body: dict[str, Any], schemas: Schemas) -> str:
    content = body.get("content", {})
    media: dict[str, Any] = next(iter(content.values()), {})
    if not media:
        return ""
    kinds = " or ".join(f"<code>{escape(kind)}</code>" for kind in content)
    note = _prose(media.get("schema", {}).get("description", ""))
    return f"<h5>Body</h5><p class=soft>{kinds} {note}</p>{_example(media, schemas)}"


def _answers(responses: dict[str, Any], schemas: Schemas) -> str:
    ordered = sorted(responses.items())
    good = "".join(_good(status, answer, schemas) for status, answer in ordered if status < "300")
    return f"<h5>Answers</h5>{good}{_errors([each for each in ordered if each[0] >= '300'])}"


def _good(status: str, answer: dict[str, Any], schemas: Schemas) -> str:
    media: dict[str, Any] = next(iter(answer.get("content", {}).values()), {})
    line = f'<b class="status good">{escape(status)}</b> {_prose(answer.get("description", ""))}'
    shown = _example(media, schemas) if media.get("schema") else ""
    if not shown:
        return f"<p class=line>{line}</p>"
    is_open = " open" if media.get("examples") else ""
    return f"<details{is_open}><summary>{line}</summary>{shown}</details>"


def _errors(bad: list[tuple[str, dict[str, Any]]]) -> str:
    if not bad:
        return ""
    lines = []
    for status, answer in bad:
        media: dict[str, Any] = next(iter(answer.get("content", {}).values()), {})
        value = _first_example(media) or {}
        message = f"<code>{escape(str(value.get('error', '')))}</code>" if value else ""
        lines.append(
            f'<tr><td><b class="status bad">{escape(status)}</b><td>{message}'
            f"<td>{_prose(answer.get('description', ''))}"
        )
    statuses = " ".join(status for status, _ in bad)
    head = f"<summary>Errors <span class=soft>{statuses}</span></summary>"
    return f"<details>{head}<table>{''.join(lines)}</table></details>"


def _example(media: dict[str, Any], schemas: Schemas) -> str:
    value = _first_example(media)
    if value is None:
        value = sketch(media.get("schema", {}), schemas)
    if not isinstance(value, dict | list):
        return ""
    return f"<pre>{_coloured(json.dumps(value, indent=2, ensure_ascii=False))}</pre>"


def _first_example(media: dict[str, Any]) -> Any:
    example: dict[str, Any] = next(iter((media.get("examples") or {}).values()), {})
    return example.get("value")


def _coloured(text: str) -> str:
    """Render JSON with different colours for keys, texts and other values."""
    parts, end = [], 0
    for found in _TOKEN.finditer(text):
        parts.append(escape(text[end : found.start()], quote=False))
        kind = "k" if found[2] else "s" if found[1] else "n"
        parts.append(f"<i class={kind}>{escape(found[1] or found[0], quote=False)}</i>{found[2] or ''}")
        end = found.end()
    return "".join([*parts, escape(text[end:], quote=False)])


def _badge(method: str) -> str:
    return f'<b class="verb {method}">{method.upper()}</b>'


def _path(path: str) -> str:
    return _SLOT.sub(r"<em>\1</em>", escape(path)) if "{" in path else escape(path)


def _prose(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


#: Litestar names a generic type `One_detent.documents.runs.RunDocument_`.
_GENERIC: Final = re.compile(r"(One|Many)_((?:\w+\.)*)([\w]+?)_$")
_PLACE: Final = "#/components/schemas/"


@get("/openapi.json", include_in_schema=False)
async def show_openapi(request: AnyRequest) -> Response[dict[str, Any]]:
    """Return the OpenAPI 3.1 document."""
    document = openapi_document(request.app.openapi_schema.to_schema())
    return Response({**document, "servers": [{"url": prefix_of(request.scope) or "/"}]})


def openapi_document(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI document in a stable order, with names that are valid in a generated client. An answer with
    one document is named `RunDocumentAnswer`, a page of them `RunDocumentPage`."""
    named: dict[str, Any] = _renamed(schema)
    components = named.get("components", {}).get("schemas", {})
    if components:
        named["components"]["schemas"] = {_name(name): components[name] for name in sorted(components, key=_name)}
    named["paths"] = {path: named["paths"][path] for path in sorted(named.get("paths", {}))}
    return named


def _name(name: str) -> str:
    found = _GENERIC.fullmatch(name)
    if found is None:
        return name
    inner = "".join(word[:1].upper() + word[1:] for word in found[3].split("_"))
    return inner + ("Answer" if found[1] == "One" else "Page")


def _renamed(value: Any) -> Any:
    match value:
        case dict():
            return {key: _renamed(part) for key, part in value.items()}
        case list():
            return [_renamed(part) for part in value]
        case str() if value.startswith(_PLACE):
            return _PLACE + _name(value.removeprefix(_PLACE))
        case _:
            return value


class DocsPage(OpenAPIRenderPlugin):
    """The plugin of Litestar that serves the documentation page."""

    def render(self, request: AnyRequest, openapi_schema: dict[str, Any]) -> bytes:
        return render_docs(openapi_document(openapi_schema)).encode()
