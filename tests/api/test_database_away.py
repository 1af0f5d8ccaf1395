"""A database that goes away makes answers of 503, not of 500, and everything goes on when it is back."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from tests.api.server import PATIENCE, Answer, Detent, serving
from tests.servers.postgres import PostgresServer
from tests.servers.proxy import BlackHole, FaultProxy

WAIT = '{"name": "waits", "tasks": {"w": {"wait_for_webhook": {}}}}'
ECHO = '{"name": "echo", "tasks": {"a": {"action": "core.echo"}}}'


async def until_status(detent: Detent, method: str, place: str, *statuses: int, **options: Any) -> Answer:
    async with asyncio.timeout(PATIENCE):
        while True:
            answer = await detent.call(method, place, **options)
            if answer.status in statuses:
                return answer
            assert answer.status in (200, 201, 503), answer.text
            await asyncio.sleep(0.1)  # the world outside changes, and nothing tells us


async def started(detent: Detent, workflow: str) -> Any:
    """Start a run once. A node with a short lease may lose it on a busy machine, and is replaced: until then starts are
    refused with 503, and a caller tries again."""
    place, headers = f"/api/v1/workflows/{workflow}/trigger", {"Idempotency-Key": workflow}
    answer = await until_status(detent, "POST", place, 200, 201, json={}, headers=headers)
    return answer.json["data"]


@pytest.mark.slow
@pytest.mark.case("D7")
async def test_while_the_database_is_away_nothing_is_accepted_and_nothing_is_an_internal_error() -> None:
    server = PostgresServer()
    server.start()
    try:
        async with serving(server.create_database(), lease_seconds=2.0) as detent:
            await detent.save(ECHO)
            before = await started(detent, "echo")
            await detent.save(WAIT)
            waits = await started(detent, "waits")
            url = (await detent.until(waits, lambda run: run["tasks"]["w"]["status"] == "waiting"))["callbacks"][0][
                "url"
            ]
            await asyncio.to_thread(server.stop, "immediate")
            for method, place in (("GET", "/health/ready"), ("GET", "/api/v1/workflows/echo"), ("POST", url)):
                answer = await until_status(detent, method, place, 503)
                assert answer.json["error"] == "unavailable"
                assert "Retry-After" in answer.headers
                assert "127.0.0.1" not in answer.text
            assert (await detent.call("GET", "/health/live")).status == 200
            await asyncio.to_thread(server.start)
            await until_status(detent, "GET", "/health/ready", 200)
            assert (await detent.ended(before))["status"] == "completed"
            await until_status(detent, "POST", url, 200)
            assert (await detent.ended(waits))["status"] == "completed"
            later = await until_status(detent, "POST", "/api/v1/workflows/echo/trigger", 201)
            assert (await detent.ended(later.json["data"]))["status"] == "completed"
    finally:
        server.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"this test needs to mount a small disk: {done.stderr}"
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


@dataclass
class FullDisk:
    """A SQLite file on a disk that another file fills."""

    url: str
    disk: Path
    reads = 200
    reason = "the disk of the database is full"

    async def begin(self) -> None:
        with contextlib.suppress(OSError), (self.disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(1024))

    async def end(self) -> None:
        (self.disk / "filler").unlink()


@dataclass
class Stopped:
    """A PostgreSQL whose processes all stand still."""

    url: str
    server: PostgresServer
    reads = 503
    reason = ""

    async def begin(self) -> None:
        self._signal(signal.SIGSTOP)

    async def end(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, which: signal.Signals) -> None:
        postmaster = psutil.Process(self.server.pid)
        for process in (postmaster, *postmaster.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(which)


@dataclass
class Unreachable:
    """A server behind a network that forwards nothing."""

    url: str
    proxy: FaultProxy
    reads = 503
    reason = ""

    async def begin(self) -> None:
        self.proxy.fault = BlackHole()

    async def end(self) -> None:
        self.proxy.heal()


Outage = FullDisk | Stopped | Unreachable


KINDS = {"full disk": "small_disk", "stopped": None, "postgres": "postgres_database", "mariadb": "mariadb_database"}


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Path | str | None:
    """The small disk, the URL of a database that cannot be reached, or None for a server of the test's own."""
    name = KINDS[request.param]
    found: Path | str | None = None if name is None else request.getfixturevalue(name)
    return found


@asynccontextmanager
async def outage_of(place: Path | str | None) -> AsyncIterator[Outage]:
    if isinstance(place, Path):
        yield FullDisk(f"sqlite:///{place}/detent.db", place)
    elif place is None:
        with PostgresServer() as server:
            outage = Stopped(server.create_database(), server)
            try:
                yield outage
            finally:
                await outage.end()
    else:
        address = urlsplit(place)
        async with FaultProxy(str(address.hostname), int(address.port or 0)) as proxy:
            yield Unreachable(proxy.url(place), proxy)


#: Longer than any answer may take, for a machine that is busy.
HANGS = 40.0


async def started_with_key(detent: Detent, key: str) -> Answer:
    place = "/api/v1/workflows/echo/trigger"
    return await detent.call("POST", place, json={}, headers={"Idempotency-Key": key})


@pytest.mark.slow
async def test_while_the_database_cannot_be_written_every_request_is_answered_and_later_work_goes_on(
    place: Path | str | None,
) -> None:
    async with outage_of(place) as outage, serving(outage.url, lease_seconds=3.0) as detent:
        await detent.save(ECHO)
        await detent.save(WAIT)
        waits = await started(detent, "waits")
        waiting = await detent.until(waits, lambda run: run["tasks"]["w"]["status"] == "waiting")
        url = waiting["callbacks"][0]["url"]
        before = await started(detent, "echo")
        await detent.ended(before)
        await outage.begin()
        try:
            keys = [f"key {number}" for number in range(5)]
            async with asyncio.timeout(HANGS):
                read, ready, *refused = await asyncio.gather(
                    detent.call("GET", f"/api/v1/runs/{waits['run_id']}"),
                    detent.call("GET", "/health/ready"),
                    *(started_with_key(detent, key) for key in keys),
                    detent.call("POST", url, json={}),
                    detent.call("PUT", "/api/v1/workflows/other", data=ECHO.replace("echo", "other", 1)),
                    detent.call("POST", f"/api/v1/runs/{waits['run_id']}/cancel"),
                )
            for answer in (ready, *refused):
                assert (answer.status, answer.json["error"]) == (503, "unavailable"), answer.text
                assert "Retry-After" in answer.headers
                assert "127.0.0.1" not in answer.text
            assert read.status == outage.reads, read.text
            assert outage.reason in ready.json["message"]
        finally:
            await outage.end()
        await until_status(detent, "GET", "/health/ready", 200)
        later = await until_status(detent, "POST", "/api/v1/workflows/echo/trigger", 201)
        assert (await detent.ended(later.json["data"]))["status"] == "completed"
        for key, answer in zip(keys, refused, strict=False):
            if answer.json["code"] != "commit_unknown":
                assert await runs_with(detent, key) == [], "it was answered as not made"
        assert len(await runs_with(detent, "echo")) == 1
        await until_status(detent, "POST", url, 200)
        assert (await detent.ended(waits))["status"] == "completed"


async def runs_with(detent: Detent, key: str) -> list[Any]:
    answer = await detent.call("GET", "/api/v1/runs", params={"request_id": key})
    assert answer.status == 200, answer.text
    found: list[Any] = answer.json["data"]
    return found
