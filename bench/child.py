"""The parent's side of a process under measurement."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PATIENCE = 240.0
START_PATIENCE = 60.0


class ChildFailed(RuntimeError):
    """A process under measurement said an error, or ended."""


class Child:
    """One process: `ask` it and wait for its answer, or `send` and `receive` to have several work at once.

    It is waited for when it is first asked, so that several come up side by side."""

    def __init__(self, module: str, *arguments: str, log: Path, python: Path | str = sys.executable) -> None:
        self.name, self._log = module, log
        self._buffer = b""
        with log.open("wb") as errors:
            self._process = subprocess.Popen(
                [str(python), "-m", module, *arguments],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self._is_ready = False

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, do: str, *, patience: float = PATIENCE, **given: Any) -> Any:
        """Let it do something and give its answer."""
        self.send(do, **given)
        return self.receive(patience)

    def ready(self) -> None:
        """Wait until it is up."""
        if not self._is_ready:
            self._is_ready = bool(self.receive(START_PATIENCE))

    def send(self, do: str, **given: Any) -> None:
        assert self._process.stdin is not None
        self.ready()
        try:
            self._process.stdin.write(json.dumps({"do": do, "given": given}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise ChildFailed(f"{self.name} has ended\n{self._last_words()}") from None

    def receive(self, patience: float = PATIENCE) -> Any:
        """The answer to what was sent."""
        facts = json.loads(self._line(time.monotonic() + patience))
        if "error" in facts:
            raise ChildFailed(f"{self.name}: {facts['error']}")
        return facts["answer"]

    def _line(self, until: float) -> bytes:
        assert self._process.stdout is not None
        source = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([source], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                self.kill()
                raise ChildFailed(f"{self.name} did not answer in time\n{self._last_words()}")
            read = os.read(source, 1 << 16)
            if not read:
                raise ChildFailed(f"{self.name} has ended\n{self._last_words()}")
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def hang_up(self) -> None:
        """Let it end by itself."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def stop(self) -> None:
        """Let it end by itself, and end it if it does not."""
        assert self._process.stdout is not None
        self.hang_up()
        try:
            self._process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process.stdout.close()

    def kill(self) -> None:
        """What a crash is."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(timeout=10)

    def _last_words(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-30:])
