"""Programs of Python as processes, started without the second that their imports cost: see `tests.servers.forker`.

`Process` and `run` take what `subprocess.Popen` and `subprocess.run` take, for commands that begin with the interpreter
of the tests and go on with `-m MODULE` or a file. A test of the start itself (what is imported, how long it takes, what
`python -c` does) uses `subprocess`.
"""

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, TypeAlias

PIPE = subprocess.PIPE
DEVNULL = subprocess.DEVNULL
STDOUT = subprocess.STDOUT
CompletedProcess = subprocess.CompletedProcess
TimeoutExpired = subprocess.TimeoutExpired

File: TypeAlias = int | IO[bytes] | IO[str] | None

#: Servers answer requests without a key unless a test says otherwise, because few tests are about identity.
LOOSE = {"DETENT_ALLOW_LOOSE_AUTH": "true"}


class _Forker:
    """The process that forks programs for this one. It ends, with its programs, when this one does."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DETENT_", "PYTHON"))}
        with theirs:
            command = [sys.executable, str(Path(__file__).with_name("forker.py")), str(theirs.fileno())]
            self._process = subprocess.Popen(
                command, pass_fds=(theirs.fileno(),), env=kept, stdin=DEVNULL, start_new_session=True
            )

    def send(self, order: Mapping[str, object], files: Sequence[int]) -> None:
        socket.send_fds(self._control, [json.dumps(order).encode()], list(files))

    def close(self) -> None:
        self._control.close()
        self._process.wait(timeout=300)


@cache
def _forker(owner: int) -> _Forker:
    """The forker of the process with that id; a fork of it has its own."""
    made = _Forker()
    atexit.register(lambda: made.close() if owner == os.getpid() else None)
    return made


class Process:
    """A program that was started; what of `subprocess.Popen` the tests use, in text mode."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: File = None,
        stdout: File = None,
        stderr: File = None,
        start_new_session: bool = False,
    ) -> None:
        self.args = [str(word) for word in command]
        assert self.args[0] == sys.executable, f"{self.args[0]} is not the interpreter of the tests"
        self.returncode: int | None = None
        self.stdin: IO[str] | None = None
        self.stdout: IO[str] | None = None
        self.stderr: IO[str] | None = None
        status, theirs = os.pipe()
        self._status = os.fdopen(status, encoding="ascii")
        self._status_file = status
        self._lock = threading.Lock()
        passed = [theirs, self._input(stdin), out := self._output(stdout, 1)]
        passed.append(os.dup(out) if stderr == STDOUT else self._output(stderr, 2))
        order = {
            "command": self.args,
            "cwd": str(cwd or Path.cwd()),
            "env": {**LOOSE, **(os.environ if env is None else env)},
            "session": start_new_session,
        }
        try:
            _forker(os.getpid()).send(order, passed)
        finally:
            for file in passed:
                os.close(file)
        self.pid = int(self._status.readline() or 0)
        assert self.pid, f"{self.args} was not started"

    def _input(self, given: File) -> int:
        if given != PIPE:
            return _copied(given, 0)
        theirs, ours = os.pipe()
        self.stdin = os.fdopen(ours, "w", encoding="utf-8")
        return theirs

    def _output(self, given: File, number: int) -> int:
        if given != PIPE:
            return _copied(given, number)
        ours, theirs = os.pipe()
        reader = os.fdopen(ours, encoding="utf-8")
        if number == 1:
            self.stdout = reader
        else:
            self.stderr = reader
        return theirs

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        ended = self._ended(timeout)
        if ended is None:
            raise TimeoutExpired(self.args, timeout or 0)
        return ended

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status_file], [], [], timeout)[0]:
            with self._lock:  # two threads may wait for it
                if self.returncode is None:
                    self.returncode = int(self._status.readline())
        return self.returncode

    def send_signal(self, how: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                os.kill(self.pid, how)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Read the output to its end, close the files and wait. Not for programs with a pipe for their errors."""
        assert self.stderr is None
        until = None if timeout is None else time.monotonic() + timeout
        read: list[bytes] = []
        if self.stdin is not None:
            self.stdin.close()
        if self.stdout is not None:
            while True:
                rest = None if until is None else max(0.0, until - time.monotonic())
                if not select.select([self.stdout], [], [], rest)[0]:
                    raise TimeoutExpired(self.args, timeout or 0)
                if not (chunk := os.read(self.stdout.fileno(), 65_536)):
                    break
                read.append(chunk)
            self.stdout.close()
        self.wait(None if until is None else max(0.0, until - time.monotonic()))
        return b"".join(read).decode(), None

    def __del__(self) -> None:
        self._status.close()


def _copied(given: File, number: int) -> int:
    if given == DEVNULL:
        return os.open(os.devnull, os.O_RDWR)
    if given is None:
        return os.dup(number)
    return os.dup(given if isinstance(given, int) else given.fileno())


def run(
    command: Sequence[str | Path],
    *,
    cwd: Path | str | None = None,
    env: Mapping[str, str] | None = None,
    given: str = "",
    timeout: float = 300.0,
) -> CompletedProcess[str]:
    """Run a program to its end, with `given` as its input, and return its exit code and everything it printed."""
    with tempfile.TemporaryFile() as inputs, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        inputs.write(given.encode())
        inputs.seek(0)
        process = Process(command, cwd=cwd, env=env, stdin=inputs, stdout=out, stderr=errors, start_new_session=True)
        try:
            code = process.wait(timeout)
        except TimeoutExpired:
            process.kill()
            process.wait(30)
            raise
        out.seek(0)
        errors.seek(0)
        return CompletedProcess(process.args, code, out.read().decode(), errors.read().decode())
