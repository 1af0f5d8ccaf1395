"""Nodes as processes: started, killed, stopped and always ended by their own process id."""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from detent.observe.failpoints import VARIABLE
from tests.servers import programs

#: Each life of a node is of another edition of its code.
EDITION_VARIABLE = "CHAOS_EDITION"
ROOT = Path(__file__).parents[2]
PATIENCE = 300.0


class NodeFailed(RuntimeError):
    """A node did not come up or did not end."""


class Node:
    """One process of `tests.chaos.node`. What it says is appended to its log, over all its lives."""

    def __init__(self, store: str, log: Path, *options: str, failpoint: str | None = None) -> None:
        self._command = [sys.executable, "-m", "tests.chaos.node", "--store", store, "--tied", *options]
        self.log, self.failpoint = log, failpoint
        self.process: programs.Process | None = None
        self.port = 0
        self.lives = 0
        self.is_barred = False

    def launch(self) -> None:
        """Start the process without waiting for it."""
        if self.is_barred:
            raise NodeFailed("everything is being ended")
        environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
        if self.failpoint:
            environment[VARIABLE] = self.failpoint
        environment[EDITION_VARIABLE] = str(self.lives)
        with self.log.open("ab") as log:
            self.process = programs.Process(
                self._command, cwd=ROOT, stdin=programs.PIPE, stdout=programs.PIPE, stderr=log,
                env=environment, start_new_session=True,
            )  # fmt: skip
        self.port = 0
        self.lives += 1

    def await_ready(self) -> bool:
        """Wait until it listens; false if it died before it could."""
        assert self.process is not None
        assert self.process.stdout is not None
        answer = self.process.stdout.readline().strip()
        self.port = int(answer or 0)
        return bool(answer)

    def start(self) -> Self:
        self.launch()
        if not self.await_ready():
            raise NodeFailed(f"the node did not start: {self.log.read_text()[-2000:]}")
        return self

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def send(self, how: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)

    def wait(self, seconds: float = PATIENCE) -> int:
        """Its exit status, once it has ended."""
        assert self.process is not None
        try:
            status = self.process.wait(timeout=seconds)
        except programs.TimeoutExpired:
            self.send(signal.SIGUSR1)
            time.sleep(0.5)
            raise NodeFailed(f"the node did not end: {self.log.read_text()[-8000:]}") from None
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe and not pipe.closed:
                pipe.close()
        self.port = 0
        return status

    def end(self, how: signal.Signals = signal.SIGKILL) -> int:
        """End it and wait for it; a stopped process is let go first, or it could not even die of SIGTERM."""
        if self.process is None:
            return 0
        self.send(how)
        self.send(signal.SIGCONT)
        return self.wait()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def ask(
        self, path: str, body: Any = None, *, timeout: float = 10.0, headers: Mapping[str, str] | None = None
    ) -> Any:
        """One request and its JSON answer; POST if there is a body."""
        data = None if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
        request = urllib.request.Request(self.url(path), data=data, headers=dict(headers or {}))
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as refused:
            refused.close()  # it has a socket, and a thread may hand it on in a cycle
            raise

    def save(self, definition: Mapping[str, Any] | None) -> None:
        """Store a workflow; null: it is code, and nodes store it themselves."""
        if definition is not None:
            self.ask("/workflows", definition)

    def begin(self, workflow: str, body: Any = None) -> str:
        """Start a run and give its id."""
        return str(self.ask(f"/workflows/{workflow}/start", body or {})["run"])

    def run(self, run: str) -> dict[str, Any]:
        document: dict[str, Any] = self.ask(f"/runs/{run}")
        return document

    def said(self, event: str) -> list[dict[str, Any]]:
        """What it logged of one event."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == event]


@dataclass
class Cluster:
    """Nodes on one store. Leaving it ends every one of them, whatever happened."""

    store: str
    folder: Path
    options: tuple[str, ...] = ()
    nodes: list[Node] = field(default_factory=list)

    def add(self, *options: str, failpoint: str | None = None) -> Node:
        """A new node, not started."""
        log = self.folder / f"node-{len(self.nodes)}.log"
        node = Node(self.store, log, *self.options, *options, failpoint=failpoint)
        self.nodes.append(node)
        return node

    def start(self, count: int) -> list[Node]:
        """Start so many nodes at once and wait for them."""
        added = [self.add() for _ in range(count)]
        for node in added:
            node.launch()
        for node in added:
            if not node.await_ready():
                raise NodeFailed(f"a node did not start: {node.log.read_text()[-2000:]}")
        return added

    def clear_up(self, left: Callable[[], int]) -> None:
        """Let one more node take over what others were that lost their lease while they stopped, as happens on a busy
        machine. `left` counts the nodes that the store knows."""
        node = self.add().start()
        eventually(PATIENCE, lambda: left() <= 1, every=0.2)
        node.end(signal.SIGTERM)

    def living(self) -> list[Node]:
        """Those that listen."""
        return [node for node in self.nodes if node.port and node.is_alive]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for node in self.nodes:
            node.is_barred = True  # a thread may be about to start it again
        for node in self.nodes:
            node.end()


def eventually(seconds: float, question: Any, *, every: float = 0.02) -> float:
    """Ask until the answer is true and give the seconds it took; AssertionError when the time is over."""
    began = time.monotonic()
    while not question():
        if time.monotonic() - began > seconds:
            raise AssertionError(f"not within {seconds:g} s")
        time.sleep(every)
    return time.monotonic() - began
