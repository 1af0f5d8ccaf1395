"""The zygote: a process that forks one process for each attempt of an isolated action.

    python -m detent.steps.isolation.zygote MODULE...

Its standard input is a socket to its node. It has one thread, so a fork is safe, and the modules of the actions are
loaded before the first one. It is the reaper of all processes below it. It ends when its node closes the socket or
dies, and takes everything below it along.
"""

from __future__ import annotations

import base64
import ctypes
import gc
import json
import os
import pickle
import select
import signal
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from detent.errors import InvalidInput
from detent.steps.actions import load_modules
from detent.steps.egress import EgressPolicy
from detent.steps.isolation import child
from detent.steps.isolation.frames import MOST_PROCESSES

#: How often the processes of attempts are counted, in seconds.
TICK: Final = 0.1
#: How often the processes that are left over are looked for, at most, before the next tick.
_ROUNDS: Final = 100
_SUBREAPER: Final = 36  # PR_SET_CHILD_SUBREAPER
_LINE: Final = 64 * 1024


def main(modules: list[str]) -> None:
    """Load the modules, then fork processes until the node is gone."""
    control = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # its node decides when it ends
    lines = _Lines(control)
    setup, _ = lines.next()
    sys.path[:] = setup["path"]
    problem = _load(modules)
    control.sendall(json.dumps({"failed": problem} if problem else {"ready": os.getpid()}).encode() + b"\n")
    if problem is None:
        policy: EgressPolicy = pickle.loads(base64.b64decode(setup["policy"]))
        Zygote(control, lines, policy).serve()


def _load(modules: list[str]) -> str | None:
    """Load the modules. Return what keeps this process from being forked, or `None`."""
    try:
        load_modules(modules)
    except InvalidInput as error:
        return "; ".join([error.message, *map(str, error.problems)])
    others = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    if others:
        return f"a module starts threads when it is imported ({', '.join(others)[:200]}), so it cannot be forked"
    gc.collect()
    gc.freeze()  # so that the collector of a process does not copy the pages that it shares
    return None


class _Lines:
    """Reads the orders of the node: one line of JSON each, some with a descriptor."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._buffer = b""
        self._files: deque[int] = deque()

    def next(self) -> tuple[dict[str, Any], int | None]:
        """Return the next order and its descriptor. Raise EOFError if the node is gone."""
        while b"\n" not in self._buffer:
            data, files, _, _ = socket.recv_fds(self._control, _LINE, 16)
            self._files.extend(files)
            if not data:
                raise EOFError
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        order: dict[str, Any] = json.loads(line)
        return order, self._files.popleft() if "fork" in order else None

    def has_more(self) -> bool:
        return b"\n" in self._buffer

    def close(self) -> None:
        """Close the socket and the descriptors of orders that were not followed yet. They belong to other attempts."""
        self._control.close()
        for file in self._files:
            os.close(file)


class Zygote:
    """Forks processes, ends them and reports their end. `_attempts` has the number of each, by its process id."""

    def __init__(self, control: socket.socket, lines: _Lines, policy: EgressPolicy) -> None:
        self._control = control
        self._lines = lines
        self._policy = policy
        self._pid = os.getpid()
        self._attempts: dict[int, int] = {}
        self._crowded: set[int] = set()
        self._is_alone = False  # the node is gone
        self._prctl = _find_prctl()
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._waker, False)

    def serve(self) -> None:
        """Follow the orders of the node until it is gone. Then end everything."""
        if self._prctl is not None:
            self._prctl(_SUBREAPER, 1)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        try:
            while True:
                self._turn()
        except (EOFError, ConnectionError):
            self._end_all()

    def _turn(self) -> None:
        control = self._control.fileno()
        ready, _, _ = select.select([control, self._woken], [], [], TICK if self._attempts else None)
        if self._woken in ready:
            with suppress(BlockingIOError):
                os.read(self._woken, _LINE)
        self._reap()
        while control in ready or self._lines.has_more():
            self._follow(*self._lines.next())
            ready = []
        self._count()
        self._sweep()

    def _follow(self, order: dict[str, Any], file: int | None) -> None:
        if file is not None:
            self._fork(order, file)
            return
        for pid, number in self._attempts.items():
            if number == order["kill"]:
                _kill_group(pid)

    def _fork(self, order: dict[str, Any], file: int) -> None:
        if order["module"] in sys.modules:
            with suppress(Exception):  # the process finds the same problem, and reports it as its result
                child.find_function(order["module"], order["function"])
        os.set_inheritable(file, False)
        pid = os.fork()
        if pid == 0:
            try:
                self._begin(order, file)
            finally:
                os._exit(1)
        os.close(file)
        self._attempts[pid] = order["fork"]
        self._tell({"began": order["fork"], "pid": pid})

    def _begin(self, order: dict[str, Any], file: int) -> None:
        """Run the process of an attempt. It never returns to the loop of the zygote."""
        signal.set_wakeup_fd(-1)
        self._lines.close()
        os.close(self._woken)
        os.close(self._waker)
        child.confine(order["memory"], self._pid, self._prctl)
        child.close_streams()
        with socket.socket(fileno=file) as channel:
            child.serve(channel, self._policy, reuse=order["reuse"])
        os._exit(0)

    def _reap(self) -> None:
        """Bury what has died. Of an attempt, kill the rest of its group first, while its id cannot be used again."""
        while (dead := _find_dead()) is not None:
            pid, status = dead
            number = self._attempts.pop(pid, None)
            if number is not None:
                _kill_group(pid)
            if status is None:
                _, status = os.waitpid(pid, 0)
            if number is not None:
                self._tell({"ended": number, "status": status, "crowded": pid in self._crowded})
                self._crowded.discard(pid)

    def _tell(self, fact: dict[str, Any]) -> None:
        if not self._is_alone:
            self._control.sendall(json.dumps(fact).encode() + b"\n")

    def _count(self) -> None:
        """Kill the attempts that have too many processes."""
        if not self._attempts:
            return
        groups = [_group_of(pid) for pid in _children_of(self._pid)]
        for pid in self._attempts:
            if _descendants(pid) + groups.count(pid) > MOST_PROCESSES:
                self._crowded.add(pid)
                _kill_group(pid)

    def _sweep(self) -> None:
        """Kill processes that left the group of their attempt and lost their parent: they were given to this one."""
        for _ in range(_ROUNDS):
            strays = [
                pid
                for pid in _children_of(self._pid)
                if pid not in self._attempts and _group_of(pid) not in self._attempts
            ]
            if not strays:
                return
            for pid in strays:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._reap()

    def _end_all(self) -> None:
        for pid in list(self._attempts):
            _kill_group(pid)
        self._attempts.clear()
        self._is_alone = True
        for _ in range(_ROUNDS):
            self._sweep()
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                return


def _find_dead() -> tuple[int, int | None] | None:
    """Return the id of a child that has died, or `None`. On macOS it is buried by that, and its status is known."""
    try:
        if sys.platform != "linux":
            pid, status = os.waitpid(-1, os.WNOHANG)
            return (pid, status) if pid else None
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if found is None else (found.si_pid, None)


def _find_prctl() -> Callable[..., int] | None:
    """Return the function of Linux that sets death signals and reapers. Other systems have none."""
    if sys.platform != "linux":
        return None
    found: Callable[..., int] = ctypes.CDLL(None).prctl
    return found


def _kill_group(pid: int) -> None:
    """Kill a process with all of its group. It may not have its own group yet."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0


def _children_of(pid: int) -> list[int]:
    """Return the children of a process, of all its threads. Without `/proc` none is known."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError, ValueError):
                found += map(int, (thread / "children").read_text().split())
    return found


def _descendants(pid: int) -> int:
    """Return how many processes are below a process. It stops counting above the limit."""
    seen = 0
    pending = _children_of(pid)
    while pending and seen <= MOST_PROCESSES:
        seen += 1
        pending += _children_of(pending.pop())
    return seen


if __name__ == "__main__":
    main(sys.argv[1:])
