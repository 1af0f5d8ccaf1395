"""A process that is told to stop finishes what it has begun, or leaves it to the next one; nothing happens twice."""

from __future__ import annotations

import json
import signal
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import PATIENCE, started
from tests.servers.target import Target

pytestmark = pytest.mark.slow


def call(url: str, body: Any = None, method: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=data, method=method), timeout=300) as answer:
        return json.load(answer)


def begin(url: str, target: Target, milliseconds: int, kind: str = "slow") -> str:
    """Start a run whose only step is in flight when this returns; give the run's address."""
    step = {"url": target.url(f"/{kind}/{milliseconds}"), "method": "GET", "timeout": "60s"}
    call(f"{url}/api/v1/workflows", {"name": "slow", "tasks": {"a": step}})
    run = call(f"{url}/api/v1/workflows/slow/trigger", {})["data"]["run_id"]
    until = time.monotonic() + PATIENCE
    while not target.hits():
        assert time.monotonic() < until
    return f"/api/v1/workflows/slow/runs/{run}"


def ended(url: str) -> Any:
    until = time.monotonic() + PATIENCE
    while (run := call(url)["data"])["status"] == "running":
        assert time.monotonic() < until
    return run


@pytest.fixture(params=["sqlite", "postgres"])
def options(request: pytest.FixtureRequest, folder: Path) -> tuple[str, ...]:
    url = "sqlite:///detent.db" if request.param == "sqlite" else str(request.getfixturevalue("postgres_database"))
    return ("serve", "--port", "0", "--migrate", "--database", url)


def test_an_attempt_in_flight_is_finished_before_the_process_leaves(folder: Path, options: tuple[str, ...]) -> None:
    with Target() as target:
        with started(folder, *options, DETENT_EGRESS_ALLOW="127.0.0.0/8") as server:
            place = begin(server.wait_for(r"answers at (http://\S+)")[1], target, 1500)
            assert server.stop(signal.SIGTERM) == 0
        with started(folder, *options, DETENT_EGRESS_ALLOW="127.0.0.0/8") as server:
            run = ended(server.wait_for(r"answers at (http://\S+)")[1] + place)
            assert run["status"] == "completed"
            assert len(target.hits()) == 1


def test_an_attempt_that_outlasts_the_grace_is_made_again_elsewhere_with_the_same_key(
    folder: Path, options: tuple[str, ...]
) -> None:
    settings = {"DETENT_EGRESS_ALLOW": "127.0.0.0/8", "DETENT_DRAIN_SECONDS": "1"}
    with Target() as target:
        with started(folder, *options, **settings) as server:
            place = begin(server.wait_for(r"answers at (http://\S+)")[1], target, 60_000, "slow-once")
            assert server.stop(signal.SIGTERM) == 0
            assert len(target.hits()) == 1
        with started(folder, *options, **settings) as server:
            run = ended(server.wait_for(r"answers at (http://\S+)")[1] + place)
            assert run["status"] == "completed"
            assert len(target.hits()) == 2
            assert len({hit.key for hit in target.hits()}) == 1


def test_while_it_drains_the_process_says_that_it_is_not_ready_and_starts_nothing(folder: Path) -> None:
    with Target() as target, started(folder, "serve", "--port", "0", DETENT_EGRESS_ALLOW="127.0.0.0/8") as server:
        url = server.wait_for(r"answers at (http://\S+)")[1]
        begin(url, target, 60_000)
        assert call(f"{url}/health/ready") == {"status": "ok"}
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("stopping")
        for place, body in (("/health/ready", None), ("/api/v1/workflows/slow/trigger", {})):
            with pytest.raises(urllib.error.HTTPError) as refused:
                call(url + place, body)
            refused.value.close()
            assert refused.value.code == 503
        target.stop(signal.SIGKILL)  # so the attempt in flight ends
        assert server.process.wait(timeout=300) == 0


def test_a_second_signal_ends_the_process_at_once(folder: Path) -> None:
    with Target() as target, started(folder, "serve", "--port", "0", DETENT_EGRESS_ALLOW="127.0.0.0/8") as server:
        begin(server.wait_for(r"answers at (http://\S+)")[1], target, 20_000)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("stopping")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=300) == 128 + signal.SIGTERM
