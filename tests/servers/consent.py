"""The page of a provider on which a person agrees or refuses, for tests with a real browser."""

from __future__ import annotations

from html import escape
from urllib.parse import urlencode

from aiohttp import web

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Provider</title>
<h1>May Detent do this?</h1><p><a href="{agree}">Agree</a> <a href="{refuse}">Refuse</a></p></html>"""


def consent_page(back: str, agreed: dict[str, str]) -> web.Response:
    """Return the page. `back` is where the browser returns to, `agreed` is the query if the person agrees."""
    refused: dict[str, str] = {name: agreed[name] for name in ("state", "iss") if name in agreed}
    refused["error"] = "access_denied"
    links = {"agree": f"{back}?{urlencode(agreed)}", "refuse": f"{back}?{urlencode(refused)}"}
    html = _PAGE.format(**{name: escape(link) for name, link in links.items()})
    return web.Response(text=html, content_type="text/html")
