"""Starts `detent` as a person or a supervisor would: another process, its own folder, nothing of ours around it."""

from __future__ import annotations

import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers import programs

PATIENCE = 300.0


def environment(folder: Path, **variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DETENT_")}
    return {**kept, "HOME": str(folder), "PYTHONPATH": str(Path(__file__).parents[2]), "COLUMNS": "120", **variables}


def detent(folder: Path, *arguments: str, given: str | None = None, **variables: str) -> programs.CompletedProcess[str]:
    """Run a command to its end; `given` is what is typed into it."""
    command = [sys.executable, "-m", "detent", *arguments]
    return programs.run(command, cwd=folder, env=environment(folder, **variables), given=given or "", timeout=PATIENCE)


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


class Program:
    """A command that stays."""

    def __init__(self, process: programs.Process | subprocess.Popen[str]) -> None:
        self.process = process
        self.text = ""

    def wait_for(self, pattern: str, patience: float = PATIENCE) -> re.Match[str]:
        """Read what it prints until the pattern is there."""
        assert self.process.stdout is not None
        until = time.monotonic() + patience
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while not (found := re.search(pattern, self.text)):
                assert time.monotonic() < until, f"no {pattern!r} in:\n{self.text}"
                if selector.select(timeout=0.2):
                    read = os.read(self.process.stdout.fileno(), 65_536).decode()
                    assert read, f"it ended without {pattern!r}:\n{self.text}"
                    self.text += read
        return found

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to leave, and give its exit code; what it still prints is kept."""
        self.process.send_signal(how)
        rest, _ = self.process.communicate(timeout=PATIENCE)
        self.text += rest
        return self.process.wait()


@contextmanager
def started(folder: Path, *arguments: str, **variables: str) -> Iterator[Program]:
    """A command that stays until the block ends."""
    process = programs.Process(
        [sys.executable, "-u", "-m", "detent", *arguments],
        cwd=folder, env=environment(folder, **variables), stdin=programs.DEVNULL, stdout=programs.PIPE,
        stderr=programs.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        yield Program(process)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(timeout=PATIENCE)
        assert process.stdout is not None
        process.stdout.close()
