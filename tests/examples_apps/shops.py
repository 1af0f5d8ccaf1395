"""Starts the processes of an example project and sends it requests."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers import programs

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0


@dataclass(frozen=True)
class Project:
    """An example: how its tables are made, and how it is served and worked on."""

    folder: Path
    environment: dict[str, str]
    prepare: tuple[tuple[str, ...], ...]
    serve: tuple[str, ...]
    work: tuple[str, ...] | None  # `None`: the server works too
    test: tuple[str, ...]
    port: int | None = None  # of a server that must know it


def run(project: Project, *command: str) -> str:
    """Run a command of the project to its end, and give what it printed."""
    done = programs.run([sys.executable, *command], cwd=project.folder, env=project.environment, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def process(project: Project, command: tuple[str, ...]) -> Iterator[programs.Process]:
    """A process of the project, until the block ends."""
    log = (project.environment["SHOP_FOLDER"]) + f"/{command[-1].replace('/', '_')}.log"
    with Path(log).open("w") as output:
        found = programs.Process(
            [sys.executable, *command],
            cwd=project.folder,
            env=project.environment,
            stdin=programs.DEVNULL,
            stdout=output,
            stderr=programs.STDOUT,
        )
        try:
            yield found
        finally:
            found.terminate()
            try:
                found.wait(30)
            finally:
                found.kill()


@contextmanager
def served(project: Project) -> Iterator[str]:
    """The address of the project's server; a worker stands beside it."""
    with serving(project) as (url, _):
        yield url


@contextmanager
def serving(project: Project) -> Iterator[tuple[str, programs.Process]]:
    """The address of the project's server, and its process."""
    port = project.port or free_port()
    for command in project.prepare:
        run(project, *command)
    with ExitStack() as stack:
        server = stack.enter_context(process(project, tuple(word.format(port=port) for word in project.serve)))
        if project.work is not None:
            stack.enter_context(process(project, project.work))
        until = time.monotonic() + PATIENCE
        while not _answers(port):
            assert server.poll() is None, "the server has ended"
            assert time.monotonic() < until, "the server does not answer"
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}", server


def ask(url: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    """Status and document of an answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def until_shipped(url: str, wanted: str = "shipped") -> dict[str, Any]:
    """The order once it is shipped, or has another status."""
    end = time.monotonic() + PATIENCE
    while True:
        status, order = ask(url)
        assert status == 200, order
        if order["status"] == wanted:
            return order
        assert time.monotonic() < end, order
        time.sleep(0.1)


def environment(folder: Path, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DETENT_", "SHOP_", "DJANGO_"))}
    return {**kept, "PYTHONPATH": str(ROOT), "SHOP_FOLDER": str(folder), "PYTHONUNBUFFERED": "1", **variables}


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0
