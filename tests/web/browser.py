"""The tools of the page's own tests: its build, its packages, and Node to run them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from tests.cli.program import environment
from tests.servers import programs
from tests.servers.locks import exclusive

ROOT: Final = Path(__file__).parents[2]
WEB: Final = ROOT / "web"
TESTS: Final = WEB / "tests"
#: npm writes it last, so that it is there only when everything is.
_INSTALLED: Final = TESTS / "node_modules" / ".package-lock.json"
_SECONDS: Final = 1500.0
_STARTS: Final = 300.0


def build() -> None:
    """Build the page, if that was not done yet."""
    with _alone():
        run("scripts/web", folder=ROOT)


def install() -> None:
    """Build the page and fetch the packages of its tests, if that was not done yet."""
    build()
    with _alone():
        if not _INSTALLED.exists() or _INSTALLED.stat().st_mtime < (TESTS / "package-lock.json").stat().st_mtime:
            run("npm", "ci", "--no-progress", "--ignore-scripts")


@contextmanager
def serving(folder: Path, *options: str, **variables: str) -> Iterator[str]:
    """A server in a folder, on SQLite unless options say otherwise, and its address. It writes to a file: nothing reads
    a pipe while pages are tested, and a full pipe would stop it."""
    log = folder / "server.log"
    with log.open("wb") as out:
        process = programs.Process(
            [sys.executable, "-m", "detent", "serve", "--port", "0", *options],
            cwd=folder, env=environment(folder, **variables), start_new_session=True,
            stdin=programs.DEVNULL, stdout=out, stderr=programs.STDOUT,
        )  # fmt: skip
    try:
        until = time.monotonic() + _STARTS
        while not (found := re.search(r"answers at (http://\S+)", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.05)  # noqa: TID251 - another process is waited for
        yield found[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=_STARTS)


@contextmanager
def sharing() -> Iterator[str]:
    """A browser that tests share, as its address. Each file of tests has its own profile of it."""
    node = shutil.which("node", path=_path())
    assert node, "there is no node: scripts/setup requirements-dev.lock installs it"
    process = subprocess.Popen(
        [node, "share.js"], cwd=TESTS, env={**os.environ, "PATH": _path()}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdout, process:
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("ws://"), f"the browser did not start: {address}"
            yield address
        finally:
            process.stdin.close()
            process.wait(timeout=_STARTS)


def _path() -> str:
    # Where the machine's Node is too old, the build has put one beside Python.
    return f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"


def _alone() -> AbstractContextManager[None]:
    return exclusive(Path(tempfile.gettempdir()) / "detent-web-build")


def run(program: str, *arguments: str, folder: Path = TESTS, **environment: str) -> str:
    """What a command prints; AssertionError if it fails. It leaves no process behind."""
    path = _path()
    found = str(ROOT / program) if "/" in program else shutil.which(program, path=path)
    assert found, f"there is no {program}: scripts/setup requirements-dev.lock installs it"
    process = subprocess.Popen(
        [found, *arguments],
        cwd=folder, env={**os.environ, "PATH": path, **environment}, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        raise AssertionError(f"{program} {' '.join(arguments)} took longer than {_SECONDS:g} s:\n{said}") from None
    assert process.returncode == 0, f"{program} {' '.join(arguments)}:\n{said}"
    return said
