"""Large bodies in flight: the memory of a node, and what a kill leaves.

    python -m bench.large_bodies --bodies 50 --megabytes 100 --folder /path/with/room

Clients start a run each with a large body, all at the same time. The node is killed (SIGKILL) when `--kill` of the
bytes have been sent, and started again; clients without an answer send their body again under the same key. Then the
node stops, a sweep runs, and every row is compared: each run names a blob whose bytes are those that were sent, and no
byte is stored that no run names.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from detent.blobs.library import BlobLibrary
from detent.blobs.places import DirectoryPlace
from detent.blobs.sweep import BlobSweep
from detent.clock import SystemClock
from detent.store.factory import open_store
from detent.store.protocol import Store
from detent.values.blob import blobs_in

WORKFLOW = "name: takes\ntasks: {say: {action: core.echo, with: {got: '{{trigger.body}}'}}}\n"
PART = 64 * 1024
PATIENCE = 3_000.0


@dataclass
class Plan:
    """What is sent, and where it is stored. `kill` is the share of all bytes after which the node is killed."""

    bodies: int
    size: int
    folder: Path
    database: str
    blobs: str = "database"
    kill: float | None = None
    sent: int = 0
    hashes: dict[int, str] = field(default_factory=dict)
    reached: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Figures:
    """What was measured: the memory of the node in megabytes before and at most, and how long the bodies took."""

    before: float = 0.0
    most: float = 0.0
    seconds: float = 0.0


class Node:
    """`detent serve` on a port of its own. The port stays the same when it is started again."""

    def __init__(self, plan: Plan) -> None:
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            self.port = int(sock.getsockname()[1])
        self._plan = plan
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it and wait until it is ready."""
        plan = self._plan
        given = {"DATABASE_URL": plan.database, "BLOBS": plan.blobs, "ALLOW_LOOSE_AUTH": "true"}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DETENT_")}
        environ = {**kept, **{f"DETENT_{name}": value for name, value in given.items()}}
        with (plan.folder / "node.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "detent", "serve", "--migrate", "--port", str(self.port)],
                cwd=plan.folder, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        until = time.monotonic() + PATIENCE
        async with aiohttp.ClientSession() as session:
            while time.monotonic() < until:
                assert self.process.poll() is None, (plan.folder / "node.log").read_text()[-2000:]
                try:
                    async with session.get(f"{self.url}/health/ready") as answer:
                        if answer.status == 200:
                            return
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.1)
        raise TimeoutError("the node is not ready")

    def memory(self) -> float:
        """Return its resident memory in megabytes; 0 if it is not running."""
        assert self.process is not None
        try:
            text = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return 0.0
        line = next((line for line in text.splitlines() if line.startswith("VmRSS")), "VmRSS: 0 kB")
        return int(line.split()[1]) / 1024

    async def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            await asyncio.to_thread(self.process.wait, PATIENCE)


async def content(plan: Plan, number: int) -> AsyncIterator[bytes]:
    """Yield a body that no other one is like, and note what was sent of it."""
    whole, left = hashlib.sha256(), plan.size
    block = hashlib.shake_256(b"%d" % number).digest(PART)
    while left:
        part = block[:left]
        whole.update(part)
        left -= len(part)
        plan.sent += len(part)
        if plan.kill is not None and plan.sent >= plan.kill * plan.size * plan.bodies:
            plan.reached.set()
        yield part
    plan.hashes[number] = whole.hexdigest()


async def send(plan: Plan, node: Node, session: aiohttp.ClientSession, number: int) -> str:
    """Start a run with a body, again and again until there is an answer. Return the run."""
    headers = {"Idempotency-Key": f"body-{number}", "Content-Type": "application/octet-stream"}
    until = time.monotonic() + PATIENCE
    while True:
        try:
            sized = {**headers, "Content-Length": str(plan.size)}
            place = f"{node.url}/api/v1/workflows/takes/trigger"
            async with session.post(place, data=content(plan, number), headers=sized) as answer:
                document: Any = await answer.json()
                if answer.status in (200, 201):
                    return str(document["data"]["run_id"])
                assert answer.status == 503, document
        except (aiohttp.ClientError, ConnectionError):
            pass
        assert time.monotonic() < until, "no answer"
        await asyncio.sleep(0.2)


async def measure(plan: Plan) -> Figures:
    """Send the bodies, kill and restart the node if the plan says so, and verify what is stored."""
    node, figures = Node(plan), Figures()
    await node.start()
    sampling = None
    try:
        limits = aiohttp.TCPConnector(limit=0)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(connector=limits, timeout=timeout) as session:
            async with session.post(f"{node.url}/api/v1/workflows", data=WORKFLOW) as answer:
                assert answer.status in (200, 201), await answer.text()
            figures.before = node.memory()
            sampling = asyncio.create_task(_sample(node, figures))
            begun = time.monotonic()
            sending = [asyncio.create_task(send(plan, node, session, number)) for number in range(plan.bodies)]
            if plan.kill is not None:
                await plan.reached.wait()
                await node.stop(signal.SIGKILL)
                await node.start()
            runs = await asyncio.gather(*sending)
            figures.seconds = time.monotonic() - begun
            assert len(set(runs)) == plan.bodies
    finally:
        if sampling is not None:
            sampling.cancel()
        await node.stop()
    await verify(plan)
    return figures


async def _sample(node: Node, figures: Figures) -> None:
    while True:
        figures.most = max(figures.most, node.memory())
        await asyncio.sleep(0.1)


async def verify(plan: Plan) -> None:
    """Sweep, and raise AssertionError unless the runs name all blobs, and the blobs all bytes."""
    store = await open_store(plan.database, SystemClock())
    try:
        place = DirectoryPlace(Path(plan.blobs.removeprefix("directory:"))) if plan.blobs != "database" else None
        library = BlobLibrary(store, place)
        await BlobSweep(library, grace=-PATIENCE).sweep()
        assert await store.stale_uploads(before=2**62, limit=10) == [], "an upload was left"
        rows = await store.runs(1, limit=10 * plan.bodies)
        assert len(rows) == plan.bodies, f"{len(rows)} runs"
        named = set()
        for row in rows:
            [blob] = blobs_in(row.input)
            named.add(blob.id)
            whole = hashlib.sha256()
            async for part in library.read(await library.row(1, blob.id)):
                whole.update(part)
            assert whole.hexdigest() == blob.sha256
            assert blob.sha256 in plan.hashes.values(), "bytes that no client sent"
        assert named == {one.id for one in await store.blobs(1, limit=10 * plan.bodies)}, "a blob that no run names"
        await _verify_bytes(plan, store, named)
    finally:
        await store.close()


async def _verify_bytes(plan: Plan, store: Store, named: set[bytes]) -> None:
    """Raise AssertionError if there are bytes of anything but these blobs."""
    if plan.blobs != "database":
        folder = Path(plan.blobs.removeprefix("directory:"))
        assert {path.name for path in folder.rglob("*") if path.is_file()} == {one.hex() for one in named}
        return
    after: tuple[Any, ...] | None = None
    found = set()
    while True:
        rows, after = await store.owned_rows(1, "blob_chunk", limit=1, after=after)
        found |= {bytes(row["blob"]) for row in rows}
        if after is None:
            break
    assert found == named, "chunks of no blob"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, default=50)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--database", default=None, help="by default a SQLite file in the folder")
    parser.add_argument("--directory", action="store_true", help="store the bytes as files in the folder")
    parser.add_argument("--kill", type=float, default=None, help="such as 0.5: kill the node after half of the bytes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        plan = Plan(
            given.bodies,
            int(given.megabytes * 2**20),
            folder,
            given.database or f"sqlite:///{folder}/detent.db",
            f"directory:{folder}/blobs" if given.directory else "database",
            given.kill,
        )
        figures = asyncio.run(measure(plan))
        print(
            f"{plan.bodies} bodies of {given.megabytes:g} MB, {plan.blobs.partition(':')[0]}"
            f"{'' if plan.kill is None else ', killed'}: memory {figures.before:.0f} MB before, "
            f"{figures.most:.0f} MB at most, {figures.seconds:.0f} s; nothing left, nothing missing"
        )


if __name__ == "__main__":
    main()
