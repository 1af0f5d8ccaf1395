"""The files of the page are served from memory: with the right headers, to the right paths, and nothing else is."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from litestar.types import ASGIApp, HTTPScope

from detent.api.app import ROUTES
from detent.web.page import API, POLICY, with_page

INDEX = (
    '<!doctype html><head><base href="/" /><script type="module" src="./assets/main-1a.js"></script></head>' + " " * 600
)
SCRIPT = "export const word = 'detent';\n" * 40
HTML = {"accept": "text/html,application/xhtml+xml;q=0.9"}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


async def passed_on(scope: Any, receive: Any, send: Any) -> None:
    """Stands for the API."""
    await send({"type": "http.response.start", "status": 299, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})


async def ask(app: ASGIApp, path: str, *, method: str = "GET", root_path: str = "", **headers: str) -> Answer:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError("the page reads no body")

    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    request = {"type": "http", "method": method, "path": path, "root_path": root_path, "query_string": b""}
    scope = cast("HTTPScope", {**request, "headers": pairs})
    await app(scope, receive, send)
    begin, *rest = sent
    found = {name.decode(): value.decode() for name, value in begin["headers"]}
    return Answer(begin["status"], found, b"".join(part["body"] for part in rest))


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A build: one page, one script in three encodings, one font, and a secret beside the folder."""
    folder = tmp_path / "built"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / ".stamp").write_text("1 2")
    (folder / "assets" / "main-1a.js").write_text(SCRIPT)
    (folder / "assets" / "main-1a.js.br").write_bytes(b"brotli of it")
    (folder / "assets" / "main-1a.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    (folder / "assets" / "geist-2b.woff2").write_bytes(b"font")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def page(built: Path) -> ASGIApp:
    return with_page(passed_on, "http://127.0.0.1:8080", built)


@pytest.mark.parametrize("path", ["/", "/runs", "/runs/run_01h455vb4pex5vsknk084sn02q/journal", "/workflows/a%20b"])
async def test_a_browser_gets_the_page_at_every_path_that_is_no_api(page: ASGIApp, path: str) -> None:
    answer = await ask(page, path, **HTML)
    assert answer.status == 200
    assert answer.body.decode() == INDEX
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["vary"] == "Accept-Encoding"


def test_the_policy_allows_nothing_inline_and_nothing_foreign() -> None:
    assert "unsafe" not in POLICY
    assert "http" not in POLICY
    assert "default-src 'none'" in POLICY


@pytest.mark.parametrize(
    "path", ["/api/v1/runs", "/wh/token", "/webhook/1", "/docs", "/openapi.json", "/health/ready", "/plain"]
)
async def test_the_api_keeps_its_paths(page: ASGIApp, path: str) -> None:
    answer = await ask(page, path, **HTML)
    assert (answer.status, answer.body) == (299, path.encode())


def test_every_route_of_the_api_is_known_to_the_page() -> None:
    paths = {path for handler in ROUTES for path in handler.paths}
    assert {path.split("/")[1] for path in paths} - {""} <= API


@pytest.mark.parametrize("accept", ["application/json", "*/*", ""])
async def test_a_program_gets_the_answer_of_the_api(page: ASGIApp, accept: str) -> None:
    assert (await ask(page, "/", accept=accept)).status == 299
    assert (await ask(page, "/runs", accept=accept)).status == 299


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_other_methods_go_to_the_api(page: ASGIApp, method: str) -> None:
    assert (await ask(page, "/assets/main-1a.js", method=method)).status == 299
    assert (await ask(page, "/", method=method, **HTML)).status == 299


@pytest.mark.parametrize(
    ("accepted", "encoding", "body"),
    [
        ("gzip, deflate, br, zstd", "br", b"brotli of it"),
        ("br;q=0, gzip", "gzip", None),
        ("gzip;q=0.0, br;q=0.000", None, SCRIPT.encode()),
        ("gzip;q=0.5", "gzip", None),
        ("*", "br", b"brotli of it"),
        ("*, br;q=0", "gzip", None),
        ("identity", None, SCRIPT.encode()),
        ("", None, SCRIPT.encode()),
    ],
)
async def test_an_asset_comes_in_the_encoding_that_is_accepted(
    page: ASGIApp, accepted: str, encoding: str | None, body: bytes | None
) -> None:
    answer = await ask(page, "/assets/main-1a.js", accept_encoding=accepted)
    assert answer.status == 200
    assert answer.headers.get("content-encoding") == encoding
    assert answer.body == body if body is not None else gzip.decompress(answer.body) == SCRIPT.encode()
    assert answer.headers["content-length"] == str(len(answer.body))
    assert answer.headers["cache-control"] == "max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_a_font_has_its_type_and_one_encoding(page: ASGIApp) -> None:
    answer = await ask(page, "/assets/geist-2b.woff2", accept_encoding="br")
    assert answer.headers["content-type"] == "font/woff2"
    assert "content-encoding" not in answer.headers
    assert answer.body == b"font"


@pytest.mark.parametrize("path", ["/runs", "/assets/main-1a.js"])
async def test_what_a_client_has_is_not_sent_again(page: ASGIApp, path: str) -> None:
    first = await ask(page, path, accept_encoding="gzip", **HTML)
    again = await ask(page, path, accept_encoding="gzip", if_none_match=f'"x", W/{first.headers["etag"]}', **HTML)
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    other = await ask(page, path, accept_encoding="gzip", if_none_match='"x"', **HTML)
    assert other.status == 200


async def test_each_encoding_has_an_etag_of_its_own(page: ASGIApp) -> None:
    every = [(await ask(page, "/assets/main-1a.js", accept_encoding=one)).headers["etag"] for one in ("br", "gzip", "")]
    assert len(set(every)) == 3


@pytest.mark.parametrize("path", ["/runs", "/assets/main-1a.js", "/assets/none.js"])
async def test_head_has_the_headers_of_get_and_no_body(page: ASGIApp, path: str) -> None:
    got = await ask(page, path, **HTML)
    head = await ask(page, path, method="HEAD", **HTML)
    assert (head.status, head.headers, head.body) == (got.status, got.headers, b"")


@pytest.mark.parametrize("path", ["/assets/main-0.js", "/assets/", "/assets/main-1a.js.br", "/assets/main-1a.js/"])
async def test_an_asset_that_is_not_there_is_never_the_page(page: ASGIApp, path: str) -> None:
    answer = await ask(page, path, **HTML)
    assert answer.status == 404
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.txt",
        "/../secret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "//secret.txt",
        "/assets/./main-1a.js",
        "/.stamp",
        "/index.html.gz",
    ],
)
async def test_no_path_leaves_the_folder(page: ASGIApp, path: str) -> None:
    answer = await ask(page, path, **HTML)
    assert b"secret" not in answer.body.replace(b"/", b"")
    assert b"1 2" not in answer.body
    assert answer.status == 404 or answer.body.decode() == INDEX


async def test_a_prefix_of_the_base_url_is_written_into_the_page(built: Path) -> None:
    page = with_page(passed_on, "https://tools.example/team/detent/", built)
    behind = await ask(page, "/runs", host="tools.example", **HTML)
    assert b'<base href="/team/detent/" />' in behind.body
    beside = await ask(page, "/runs", host="127.0.0.1:8080", **HTML)
    assert b'<base href="/" />' in beside.body
    assert behind.headers["etag"] != beside.headers["etag"]


async def test_a_prefix_cannot_break_out_of_its_attribute(built: Path) -> None:
    page = with_page(passed_on, 'https://tools.example/"><script>x', built)
    answer = await ask(page, "/", host="tools.example", **HTML)
    assert b"<script>x" not in answer.body


async def test_without_a_build_everything_goes_to_the_api(tmp_path: Path) -> None:
    page = with_page(passed_on, "http://127.0.0.1:8080", tmp_path / "nothing")
    assert (await ask(page, "/", **HTML)).status == 299
    assert (await ask(page, "/assets/main-1a.js", **HTML)).status == 299


async def test_the_prefix_of_a_host_application_is_written_into_the_page(built: Path) -> None:
    page = with_page(passed_on, "https://tools.example/detent", built)
    mounted = await ask(page, "/runs", host="127.0.0.1:8000", root_path="/tools/detent", **HTML)
    assert b'<base href="/tools/detent/" />' in mounted.body
