"""`detent connectors` and `detent actions`, against a server and against services on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.cli.program import detent
from tests.cli.served import Served

pytestmark = pytest.mark.slow

MANIFEST = """
connector: crm
version: 1.0.0
title: Our CRM
base_url: https://crm.example.com
auth: {type: bearer}
probe: {request: {path: /me}}
actions:
  get-note:
    title: Get a note
    parameters: {type: object, required: [id], properties: {id: {type: string, description: Its id.}}}
    request: {path: "/notes/{id}"}
    effect: none
"""
TOKEN = "crm-token-77"
OPENAPI: dict[str, Any] = {
    "openapi": "3.0.0",
    "info": {"title": "Shop"},
    "servers": [{"url": "/v1"}],
    "paths": {
        "/orders": {"get": {"operationId": "listOrders"}},
        "/files": {"put": {"requestBody": {"content": {"image/png": {}}}}},
    },
}
TOOLS = [{"name": "find", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}]


class Service(BaseHTTPRequestHandler):
    """A service with a credential, an OpenAPI document, and an MCP server."""

    def do_GET(self) -> None:
        if self.path == "/openapi.json":
            self._send(200, OPENAPI)
        else:
            accepted = self.headers["Authorization"] == f"Bearer {TOKEN}"
            self._send(200 if accepted else 401, {"message": f"you sent {self.headers['Authorization']}"})

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        results = {"initialize": {"serverInfo": {"name": "Finder"}}, "tools/list": {"tools": TOOLS}}
        self._send(200, {"jsonrpc": "2.0", "id": message.get("id"), "result": results.get(message["method"], {})})

    def _send(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Print nothing."""


@contextmanager
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_connectors_are_listed_added_disabled_and_removed(served: Served) -> None:
    assert "slack" in served.says("connectors", "list")
    shown = served.says("connectors", "show", "slack")
    assert "CONNECTOR_SLACK_TOKEN" in shown
    assert "slack.post-message" in shown
    (served.folder / "crm.yaml").write_text(MANIFEST)
    assert served.says("connectors", "add", "crm.yaml").startswith("added  crm  1.0.0")
    assert served.says("connectors", "add", "crm.yaml").startswith("unchanged  crm  1.0.0")
    assert "crm.get-note" in served.says("actions", "list", "note")
    assert "id  string" in served.says("actions", "show", "crm.get-note")
    assert "disabled" in served.says("actions", "disable", "crm.get-note")
    assert "enabled" in served.says("actions", "enable", "crm.get-note")
    step = "{action: crm.get-note, with: {id: '1'}}"
    (served.folder / "notes.yaml").write_text(f"name: notes\ntasks: {{note: {step}}}\n")
    served.says("apply", "notes.yaml")
    (served.folder / "crm.yaml").write_text(MANIFEST.replace("1.0.0", "1.0.1"))
    served.says("connectors", "add", "crm.yaml")
    change = "note  crm.get-note  1.0.0 -> 1.0.1"
    rehearsed = served.says("connectors", "upgrade", "crm", "--dry-run")
    assert rehearsed.startswith("would upgrade  notes  version 1\n")
    assert change in rehearsed
    asked = detent(served.folder, "connectors", "upgrade", "crm", "--url", served.url)
    assert (asked.returncode, "--yes" in asked.stderr) == (1, True), "nothing is done without a terminal"
    assert served.says("connectors", "upgrade", "crm", "--yes").startswith("upgraded  notes  version 1 -> 2\n")
    assert "no active workflow" in served.says("connectors", "upgrade", "crm")
    assert "disabled" in served.says("connectors", "disable", "crm")
    assert "not set up" in served.says("connectors", "enable", "crm")
    assert "removed  crm" in served.says("connectors", "remove", "crm", "--yes")
    wrong = detent(served.folder, "connectors", "show", "crm", "--url", served.url)
    assert wrong.returncode == 1
    (served.folder / "bad.yaml").write_text("connector: X")
    bad = detent(served.folder, "connectors", "add", "bad.yaml", "--url", served.url)
    assert bad.returncode == 2
    assert "version" in bad.stderr


def test_a_credential_is_checked_with_the_probe_of_the_connector(served: Served) -> None:
    (served.folder / "crm.yaml").write_text(MANIFEST)
    served.says("connectors", "add", "crm.yaml")
    command = ("connectors", "test", "crm", "--url", served.url)
    allow = {"DETENT_EGRESS_ALLOW": "127.0.0.0/8"}
    with service() as url:
        good = detent(served.folder, *command, CONNECTOR_CRM_URL=url, CONNECTOR_CRM_TOKEN=TOKEN, **allow)
        bad = detent(served.folder, *command, CONNECTOR_CRM_URL=url, CONNECTOR_CRM_TOKEN="wrong-token", **allow)
    missing = detent(served.folder, *command)
    assert (good.returncode, good.stdout.split()[0]) == (0, "accepted")
    assert (bad.returncode, bad.stdout.split()[0]) == (1, "refused")
    assert missing.returncode == 2
    assert "CONNECTOR_CRM_TOKEN" in missing.stderr
    assert "wrong-token" not in bad.stdout + bad.stderr


def test_documents_and_mcp_servers_are_imported_from_their_addresses(served: Served) -> None:
    allow = {"DETENT_EGRESS_ALLOW": "127.0.0.0/8"}
    with service() as url:
        tried = detent(
            served.folder, "connectors", "add", "openapi", f"{url}/openapi.json", "--name", "shop", "--dry-run",
            "--url", served.url, **allow,
        )  # fmt: skip
        assert tried.returncode == 0, tried.stderr
        assert "would add  version 1.0.0  1 of 2 operations are actions" in tried.stdout
        assert "image/png" in tried.stdout
        (served.folder / "shop.json").write_text(json.dumps(OPENAPI))
        assert "added  version 1.0.0" in served.says("connectors", "add", "openapi", "shop.json", "--name", "shop")
        added = detent(
            served.folder, "connectors", "add", "mcp", f"{url}/mcp", "--name", "finder", "--url", served.url, **allow
        )
        assert added.returncode == 0, added.stderr
    assert "finder.find" in served.says("connectors", "show", "finder")
    for wrong in (
        ("openapi", "nothing.json", "--name", "x"),
        ("openapi", "shop.json"),
        ("mcp", "shop.json", "--name", "x"),
    ):
        assert detent(served.folder, "connectors", "add", *wrong, "--url", served.url).returncode == 2
