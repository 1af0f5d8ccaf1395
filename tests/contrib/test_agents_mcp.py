"""An agent and a real server of the Model Context Protocol: its calls are steps, and a kill repeats only the one in
flight."""

from __future__ import annotations

import json
import signal
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import PATIENCE, started

pytestmark = pytest.mark.slow


def ask(url: str, method: str, path: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/api/v1{path}", data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)["data"]


def test_calls_of_an_mcp_server_are_steps_and_a_kill_repeats_the_one_in_flight(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    ledger.touch()
    options = ("serve", "--port", "0", "--import", "tests.contrib.mcp_support")
    given = {"MCP_LEDGER": str(ledger), "DETENT_LEASE_SECONDS": "3"}
    with started(tmp_path, *options, **given) as first:
        url = first.wait_for(r"answers at (http://\S+)")[1]
        run = ask(url, "POST", "/workflows/mcp-support/trigger", {})["run_id"]
        end = time.monotonic() + PATIENCE
        while "tools/call" not in ledger.read_text():
            assert time.monotonic() < end, ledger.read_text()
            time.sleep(0.02)  # noqa: TID251 - another process is waited for
        first.stop(signal.SIGKILL)
    (tmp_path / "open").touch()
    with started(tmp_path, *options, **given) as second:
        url = second.wait_for(r"answers at (http://\S+)")[1]
        ended = ask(url, "GET", f"/runs/{run}?wait=60")
        steps = [one["step"] for one in ask(url, "GET", f"/runs/{run}/history") if one["step"] != "mcp-support"]
        second.stop()
    assert (ended["status"], ended["output"]) == ("completed", "order 7 is on its way")
    assert steps == ["support.mcp.orders.tools", "support.model", "support.mcp.orders.call.look_up", "support.model#2"]
    notes = ledger.read_text().splitlines()
    assert [note for note in notes if note.startswith("request")] == [
        "request 0 with ['look_up']",
        "request 1 with ['look_up']",
    ], "a request of the model that was committed is not repeated"
    assert notes.count("tools/call") >= 2, "the call in flight is"
