"""Renders an OpenAPI document for people: operations by tag, each with an example of everything it takes and gives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from detent.api.docs_style import STYLE
from detent.api.pages import page
from detent.api.shapes import Schemas, sketch, type_name

_METHODS: Final = ("get", "post", "put", "delete")
_TOKEN: Final = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\b\d+(?:\.\d+)?\b)')
_CODE: Final = re.compile(r"`([^`]+)`")
_SLOT: Final = re.compile(r"(\{[^}]+\})")


@dataclass(slots=True)
class _Entry:
    """One operation, at every path it has."""

    method: str
    paths: list[str]
    operation: dict[str, Any] = field(default_factory=dict)

    @property
    def anchor(self) -> str:
        return str(self.operation["operationId"])


def render_docs(document: dict[str, Any]) -> str:
    """The whole page."""
    schemas = document.get("components", {}).get("schemas", {})
    groups = _groups(document)
    menu = "".join(_menu(tag, entries) for tag, entries in groups.items())
    notes = {tag["name"]: tag.get("description", "") for tag in document.get("tags", ())}
    body = "".join(_group(tag, notes.get(tag, ""), entries, schemas) for tag, entries in groups.items())
    info = document["info"]
    head = (
        f"<header><h1>{escape(info['title'])} API</h1><p>{_prose(info.get('description', ''))}</p>"
        f'<p class="soft">version {escape(info["version"])} · <a href="/openapi.json">openapi.json</a> for programs '
        '· <a href="/">workflows and runs</a></p></header>'
    )
    return page("Detent API", f"<style>{STYLE}</style>{head}<div class=docs><nav>{menu}</nav><main>{body}</main></div>")


def _groups(document: dict[str, Any]) -> dict[str, list[_Entry]]:
    """Operations by tag. Those that differ in their path only are one entry, under the plainest of its paths."""
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
    """Plain paths first, then those with less in them; reading before changing."""
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
    """The only values there are, if they are few."""
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
    told = sorted(responses.items())
    good = "".join(_good(status, answer, schemas) for status, answer in told if status < "300")
    return f"<h5>Answers</h5>{good}{_errors([each for each in told if each[0] >= '300'])}"


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
    """JSON with its keys, texts and other values told apart."""
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
