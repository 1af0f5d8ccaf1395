"""Serve the web page in front of the API.

The page is small (about 0.3 MB compressed), so its files are read into memory once, each with its headers and in the
encodings that the build wrote (`.br`, `.gz`). A path is looked up among these files; no path of a request ever reaches
the file system. Every other path that a browser opens and that is not part of the API is answered with `index.html`,
because the page has routes of its own. Without a build, every request goes to the API, which has a plain list at `/`.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast
from urllib.parse import quote, urlsplit

from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

#: Where the build writes the page. It is in the wheel, not in the repository.
BUILT: Final = Path(__file__).parent / "built"
#: Scripts, styles and data of this origin only; no inline script or style, no evaluated text.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
#: The first part of each path that the API answers.
API: Final = frozenset(
    {"api", "v1", "wh", "webhook", "health", "docs", "openapi.json", "plain", "login", "logout", "oauth"}
)

Headers = list[tuple[bytes, bytes]]

_ASSETS: Final = "/assets/"
_BASE: Final = b'<base href="/" />'
_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
#: Encodings in the order of preference, and the ending of such a file.
_ENCODINGS: Final = {b"br": ".br", b"gzip": ".gz"}
_IDENTITY: Final = b"identity"
_FOR_EVER: Final = "max-age=31536000, immutable"
_ASK_AGAIN: Final = "no-cache"


@dataclass(frozen=True, slots=True)
class Variant:
    """A file in one encoding, with the headers of its answer."""

    body: bytes
    etag: bytes
    headers: Headers


@dataclass(frozen=True, slots=True)
class File:
    """A file in each encoding that it has. Each has at least `identity`."""

    variants: Mapping[bytes, Variant]

    def accepted(self, header: bytes) -> Variant:
        """Return the best variant that a client accepts."""
        refused, named = _accepted(header)
        for encoding in _ENCODINGS:
            if encoding in self.variants and (encoding in named or (b"*" in named and encoding not in refused)):
                return self.variants[encoding]
        return self.variants[_IDENTITY]


class PageServer:
    """An ASGI application that answers requests for the page, and passes other requests on."""

    def __init__(self, app: ASGIApp, files: Mapping[str, File], text: bytes, named: Mapping[bytes, File]) -> None:
        """`text` is index.html, and `named` has the one for a host that has a prefix. In a scope with a `root_path`,
        the path does not have it: a host application serves the page below it."""
        self._app = app
        self._files = files
        self._text = text
        self._named = named
        self._index = _index(text, "/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = cast("HTTPScope", scope)  # this server has no WebSockets
        if http["method"] in ("GET", "HEAD"):
            file = self._file(http)
            if file is not None:
                await _answer(http, send, file)
                return
            if http["path"].startswith(_ASSETS):
                await _refuse(http, send)
                return
        await self._app(scope, receive, send)

    def _file(self, scope: HTTPScope) -> File | None:
        path = scope["path"]
        if path in self._files:
            return self._files[path]
        if path.split("/", 2)[1] in API or path.startswith(_ASSETS) or not _wants_html(scope):
            return None
        if scope.get("root_path"):
            return _index(self._text, f"{scope['root_path']}/")
        return self._named.get(_header(scope, b"host").lower(), self._index)


def with_page(app: ASGIApp, base_url: str, built: Path = BUILT) -> ASGIApp:
    """Return an application that serves the page in front of `app`; `app` itself if the page is not built.

    A path in `base_url` is the prefix that a proxy removes from each request."""
    index = built / "index.html"
    if not index.is_file():
        return app
    parts = urlsplit(base_url)
    prefix = quote(parts.path.strip("/"), safe="/")
    text = index.read_bytes()
    named = {parts.netloc.lower().encode(): _index(text, f"/{prefix}/")} if prefix else {}
    return PageServer(app, dict(_files(built)), text, named)


def _files(built: Path) -> Iterable[tuple[str, File]]:
    for path in sorted(built.rglob("*")):
        is_extra = path.suffix in _ENCODINGS.values() or path.name.startswith(".") or path.name == "index.html"
        if is_extra or not path.is_file():
            continue
        place = f"/{path.relative_to(built).as_posix()}"
        bodies = {_IDENTITY: path.read_bytes()}
        for encoding, ending in _ENCODINGS.items():
            encoded = path.with_name(path.name + ending)
            if encoded.is_file():
                bodies[encoding] = encoded.read_bytes()
        # The names below /assets/ have a hash of the content, so such a file never changes.
        yield place, _file(path.suffix, bodies, _FOR_EVER if place.startswith(_ASSETS) else _ASK_AGAIN)


def _index(text: bytes, prefix: str) -> File:
    body = text.replace(_BASE, f'<base href="{prefix}" />'.encode())
    return _file(".html", {_IDENTITY: body, b"gzip": gzip.compress(body, mtime=0)}, _ASK_AGAIN)


def _file(suffix: str, bodies: Mapping[bytes, bytes], cache: str) -> File:
    digest = hashlib.sha256(bodies[_IDENTITY]).hexdigest()[:20]
    return File({encoding: _variant(suffix, encoding, body, digest, cache) for encoding, body in bodies.items()})


def _variant(suffix: str, encoding: bytes, body: bytes, digest: str, cache: str) -> Variant:
    etag = f'"{digest}"' if encoding == _IDENTITY else f'"{digest}-{encoding.decode()}"'
    headers = {
        "content-type": _TYPES.get(suffix, "application/octet-stream"),
        "cache-control": cache,
        "etag": etag,
        "vary": "Accept-Encoding",
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
    }
    if encoding != _IDENTITY:
        headers["content-encoding"] = encoding.decode()
    return Variant(body, etag.encode(), [(name.encode(), value.encode()) for name, value in headers.items()])


async def _answer(scope: HTTPScope, send: Send, file: File) -> None:
    variant = file.accepted(_header(scope, b"accept-encoding"))
    if _is_known(_header(scope, b"if-none-match"), variant.etag):
        kept = [pair for pair in variant.headers if pair[0] not in (b"content-type", b"content-encoding")]
        await send({"type": "http.response.start", "status": 304, "headers": kept})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return
    headers = [*variant.headers, (b"content-length", str(len(variant.body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    body = variant.body if scope["method"] == "GET" else b""
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _refuse(scope: HTTPScope, send: Send) -> None:
    """Answer that there is no such file. A page of an older build asks for such files: it has to be loaded again."""
    body = b"there is no such file; the page was built again, so load it again\n"
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": body if scope["method"] == "GET" else b"", "more_body": False})


def _header(scope: HTTPScope, name: bytes) -> bytes:
    return b",".join(value for key, value in scope["headers"] if key == name)


def _wants_html(scope: HTTPScope) -> bool:
    return b"text/html" in _header(scope, b"accept").lower()


def _is_known(header: bytes, etag: bytes) -> bool:
    return any(one.strip().removeprefix(b"W/") in (etag, b"*") for one in header.split(b",") if one.strip())


def _accepted(header: bytes) -> tuple[set[bytes], set[bytes]]:
    """Return the encodings that a client refuses with `q=0`, and those that it accepts."""
    refused: set[bytes] = set()
    named: set[bytes] = set()
    for part in header.lower().split(b","):
        name, _, rest = part.strip().partition(b";")
        weight = rest.strip().replace(b" ", b"")
        (refused if weight.startswith(b"q=0") and not weight.strip(b"q=0.") else named).add(name.strip())
    return refused, named
