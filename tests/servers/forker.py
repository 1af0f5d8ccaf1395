"""Start Python programs by forking a process that has already imported Detent.

Such a program is a process like any other: it has its own pid, session, signals, files and exit code. It shares only
the import of Detent and its dependencies and the building of the routes, which cost a second of CPU per start.
`tests.servers.programs` starts this script and sends it one order per program.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import threading
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEPENDENCIES = ("aiohttp", "alembic.command", "asyncmy", "asyncpg", "psycopg", "pytest", "yaml")
#: Left out: the plugin, which pytest rewrites when it imports it, what a user may not have, and scripts of Alembic.
LEFT_OUT = ("detent.__main__", "detent.testing", "detent.contrib", "detent.examples", "detent.store.migrations")
#: The files of a program, in the sequence in which they come with its order.
FILES = ("status", "stdin", "stdout", "stderr")
LONGEST = 1_000_000


@dataclass(frozen=True)
class Order:
    """A program to start, as its first process sees it."""

    facts: dict[str, Any]
    files: list[int]


@dataclass(frozen=True)
class Living:
    """A program that runs: its process, and the file that its exit status is written to."""

    pid: int
    status: int


def preload() -> None:
    sys.path.insert(1, str(Path(__file__).parents[2]))  # the Detent of these tests, whichever the interpreter has
    import detent
    from detent import cli

    entry = cli.main
    for name in DEPENDENCIES:
        importlib.import_module(name)
    for found in pkgutil.walk_packages(detent.__path__, "detent."):
        if not found.name.startswith(LEFT_OUT):
            importlib.import_module(found.name)
    cli.main = entry  # the module of that name has replaced it
    # What a server builds first, too: the routes, and the statements that make its tables.
    from detent.api.app import build_routes
    from detent.store.migrations.plan import plan
    from detent.store.sql.schema import StoredRevision

    build_routes()
    plan("sqlite", StoredRevision(None))


class Forker:
    """Forks a program for each order, and reports its pid and exit status."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self._living: dict[int, Living] = {}

    def serve(self) -> Order | None:
        """Serve until the starter is gone, then return None. In a forked program, return its order."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is not self._control:
                    self._bury(key.fd)
                    continue
                message, files, _, _ = socket.recv_fds(self._control, LONGEST, len(FILES))
                if not message:
                    self._end_all()
                    return None
                if self._fork(files) == 0:
                    return Order(json.loads(message), files)

    def _fork(self, files: list[int]) -> int:
        pid = os.fork()
        if pid == 0:
            self._forget()
            return 0
        status, *rest = files
        for file in rest:
            os.close(file)
        pidfd = os.pidfd_open(pid)
        self._living[pidfd] = Living(pid, status)
        self._selector.register(pidfd, selectors.EVENT_READ)
        os.write(status, f"{pid}\n".encode())
        return pid

    def _forget(self) -> None:
        """Close what a program does not inherit."""
        self._selector.close()
        self._control.close()
        for pidfd, living in self._living.items():
            os.close(pidfd)
            os.close(living.status)

    def _bury(self, pidfd: int) -> None:
        living = self._living.pop(pidfd)
        self._selector.unregister(pidfd)
        os.close(pidfd)
        _, ended = os.waitpid(living.pid, 0)
        with suppress(BrokenPipeError):
            os.write(living.status, f"{os.waitstatus_to_exitcode(ended)}\n".encode())
        os.close(living.status)

    def _end_all(self) -> None:
        for living in self._living.values():
            with suppress(ProcessLookupError):
                os.kill(living.pid, signal.SIGKILL)


def become(order: Order, base: list[str]) -> None:
    """Make this process look as if its interpreter had been started with the order's arguments."""
    facts = order.facts
    if facts["session"]:
        os.setsid()
    os.chdir(facts["cwd"])
    os.environ.clear()
    os.environ.update(facts["env"])
    os.close(order.files[0])
    for number, file in enumerate(order.files[1:]):
        os.dup2(file, number)
        os.close(file)
    sys.stdin = os.fdopen(0, closefd=False, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", closefd=False, encoding="utf-8", buffering=1)
    sys.stderr = os.fdopen(2, "w", closefd=False, encoding="utf-8", buffering=1, errors="backslashreplace")
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    sys.orig_argv = facts["command"]
    paths = [path for path in facts["env"].get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [*paths, *base]
    importlib.invalidate_caches()
    # The tests may run in the background of a shell, which ignores SIGINT for them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    arm_failpoints()


def arm_failpoints() -> None:
    """Read the failpoint of this program, as `detent.observe.failpoints` does when it is imported."""
    failpoints = importlib.import_module("detent.observe.failpoints")
    if failpoints.VARIABLE in os.environ:
        idle, armed = failpoints.reach, failpoints.armed(os.environ[failpoints.VARIABLE])
        for module in list(sys.modules.values()):
            if getattr(module, "reach", None) is idle:
                vars(module)["reach"] = armed


def execute(arguments: list[str]) -> None:
    """Run what follows the name of the interpreter: `[-u] [-W ACTION]`, then `-m MODULE ...`, `-c CODE ...` or
    `FILE ...`."""
    while arguments[0] in ("-u", "-W"):
        if arguments.pop(0) == "-W":
            warnings.simplefilter(arguments.pop(0))  # type: ignore[arg-type]
    if arguments[0] == "-m":
        sys.path.insert(0, str(Path.cwd()))
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[0] == "-c":
        sys.path.insert(0, str(Path.cwd()))
        sys.argv = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


def exit_code(arguments: list[str]) -> int:
    """Run the program; return the code that its interpreter would exit with."""
    try:
        execute(arguments)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
        sys.excepthook(type(error), error, error.__traceback__)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as error:  # noqa: BLE001 - as an interpreter does
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def leave(code: int) -> None:
    """End as an interpreter does, without the half second in which it takes its modules apart."""
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - there is no public way
    atexit._run_exitfuncs()  # noqa: SLF001 - there is no public way
    gc.collect()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code & 0xFF)


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    base = sys.path[1:]
    preload()
    gc.collect()
    gc.freeze()
    order = Forker(control).serve()
    if order is None:
        control.close()
        return
    become(order, base)
    leave(exit_code(order.facts["command"][1:]))


if __name__ == "__main__":
    main()
