"""An HTTP server in a process of its own that writes every hit to a ledger: the witness outside the engine.

    with Target() as target:
        ... POST to target.url("/echo") ...
        assert [hit.key for hit in target.hits()] == [...]

A hit is in the ledger before its answer is sent, so an answer without a line in the ledger cannot be. The ledger is
appended with O_APPEND: it survives the target, and several targets may write one file.
"""

import argparse
import asyncio
import functools
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

MAX_BODY = 64 * 1024 * 1024
BOMB_MEGABYTES = 100


@dataclass(frozen=True)
class Hit:
    """One request as the target saw it."""

    time: float
    method: str
    path: str
    key: str | None
    attempt: str | None
    digest: str


class Ledger:
    """An append-only file of hits, one JSON line each."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def append(self, request: web.Request, body: bytes) -> None:
        line = {
            "time": time.time(),
            "method": request.method,
            "path": request.path_qs,
            "key": request.headers.get("Idempotency-Key"),
            "attempt": request.headers.get("Detent-Attempt"),
            "digest": hashlib.sha256(body).hexdigest(),
        }
        os.write(self._file, json.dumps(line).encode() + b"\n")


def read_ledger(path: Path) -> list[Hit]:
    """Every hit so far, oldest first."""
    return [Hit(**json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


class Target:
    """Runs the server; use as a context manager."""

    def __init__(self, ledger: Path | None = None) -> None:
        self._folder = None if ledger else tempfile.TemporaryDirectory(prefix="detent-target-")
        self.ledger = ledger or Path(self._folder.name if self._folder else "") / "ledger"
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if self._folder:
            self._folder.cleanup()

    @property
    def pid(self) -> int:
        assert self._process is not None, "the target is not running"
        return self._process.pid

    def start(self) -> None:
        """Start it, after a stop on the same port; return when it listens."""
        command = [sys.executable, "-m", "tests.servers.target", "--port", str(self.port), "--ledger", str(self.ledger)]
        root = Path(__file__).parents[2]
        self._process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert self._process.stdout is not None
        answer = self._process.stdout.readline().strip()
        if not answer:
            self.stop()
            raise RuntimeError(f"the target did not start: {' '.join(command)}")
        self.port = int(answer)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it by its own process id; its ledger stays."""
        if self._process is None:
            return
        self._process.send_signal(how)
        self._process.wait(timeout=300)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None

    def url(self, path: str = "") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def hits(self, path: str | None = None) -> list[Hit]:
        """The hits so far, all or those of one path (with its query)."""
        return [hit for hit in read_ledger(self.ledger) if path is None or hit.path == path]


async def _echo(request: web.Request) -> web.StreamResponse:
    body = await request.read()
    return web.Response(body=body or b"null", content_type=request.content_type if body else "application/json")


async def _status(request: web.Request) -> web.StreamResponse:
    return web.json_response({"status": int(request.match_info["code"])}, status=int(request.match_info["code"]))


async def _slow(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(int(request.match_info["ms"]) / 1000)
    return web.json_response({"slept_ms": int(request.match_info["ms"])})


class _SlowOnce:
    """Takes its time for the first request of each address, and answers the others at once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if request.path_qs not in self._seen:
            self._seen.add(request.path_qs)
            return await _slow(request)
        return web.json_response({"slept_ms": 0})


async def _bytes(request: web.Request) -> web.StreamResponse:
    return web.Response(body=b"x" * int(request.match_info["n"]), content_type="text/plain")


class _Flaky:
    """Fails the first n requests of each key, then succeeds."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        key = f"{request.path}:{request.headers.get('Idempotency-Key', '')}"
        self._seen[key] += 1
        failed = self._seen[key] <= int(request.match_info["n"])
        return web.json_response({"try": self._seen[key], "ok": not failed}, status=503 if failed else 200)


async def _retry_after(request: web.Request) -> web.StreamResponse:
    return web.json_response({}, status=503, headers={"Retry-After": request.match_info["seconds"]})


async def _redirect(request: web.Request) -> web.StreamResponse:
    status = int(request.query.get("status", "302"))
    return web.Response(status=status, headers={"Location": request.query["to"]})


async def _gzip_bomb(request: web.Request) -> web.StreamResponse:
    """A hundred megabytes of zeros in a hundred kilobytes, whether the client asked for gzip or not."""
    return web.Response(
        body=await asyncio.to_thread(_bomb), headers={"Content-Encoding": "gzip", "Content-Type": "application/json"}
    )


@functools.cache
def _bomb() -> bytes:
    packer = zlib.compressobj(6, wbits=31)
    block = bytes(1024 * 1024)
    return b"".join([*(packer.compress(block) for _ in range(BOMB_MEGABYTES)), packer.flush()])


async def _endless(request: web.Request) -> web.StreamResponse:
    return await _stream(request, b"x" * 65536, pause=0.001)


async def _drip(request: web.Request) -> web.StreamResponse:
    return await _stream(request, b"x", pause=1.0)


async def _stream(request: web.Request, block: bytes, *, pause: float) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await response.prepare(request)
    while True:  # until the client goes away, which ends this handler
        await response.write(block)
        await asyncio.sleep(pause)


async def _headers(request: web.Request) -> web.StreamResponse:
    many = {f"X-Filler-{number}": "x" * 100 for number in range(int(request.match_info["n"]))}
    return web.json_response({}, headers=many)


def build(ledger: Ledger) -> web.Application:
    """The target's application: each request is written down first, then answered."""

    @web.middleware
    async def write_down(request: web.Request, handler: Handler) -> web.StreamResponse:
        ledger.append(request, await request.read())
        return await handler(request)

    app = web.Application(middlewares=[write_down], client_max_size=MAX_BODY)
    routes = {
        "/echo": _echo, "/status/{code:\\d+}": _status, "/slow/{ms:\\d+}": _slow, "/bytes/{n:\\d+}": _bytes,
        "/flaky/{n:\\d+}": _Flaky().__call__, "/retry-after/{seconds}": _retry_after, "/redirect": _redirect,
        "/slow-once/{ms:\\d+}": _SlowOnce().__call__,
        "/gzip-bomb": _gzip_bomb, "/endless": _endless, "/drip": _drip, "/headers/{n:\\d+}": _headers,
    }  # fmt: skip
    for path, handler in routes.items():
        app.router.add_route("*", path, handler)
    return app


async def serve(port: int, ledger: Path) -> None:
    """Listen on loopback, print the port, and stay until a signal comes."""
    ended = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    runner = web.AppRunner(build(Ledger(ledger)), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, reuse_address=True)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await ended.wait()
    await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description="An HTTP target that writes down every hit.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ledger", type=Path, required=True)
    options = parser.parse_args()
    asyncio.run(serve(options.port, options.ledger))


if __name__ == "__main__":
    main()
