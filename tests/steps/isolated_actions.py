"""Actions that are run in processes: useful ones, and those that try everything against their node.

The zygote of a test imports this module.
"""

import asyncio
import ctypes
import logging
import os
import signal
import socket
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from detent.run.links import Link
from detent.steps.actions import ActionContext, Registry
from detent.steps.errors import Skipped, Unauthorized

REGISTRY = Registry()
MEMORY = 128 * 1024 * 1024


@dataclass
class Row:
    number: int


@REGISTRY.action("good.double", isolation="process")
def double(row: Row, context: ActionContext) -> dict[str, Any]:
    context.log.info("row %d", row.number, at=row.number)
    context.progress(0.5, "half")
    context.heartbeat({"row": row.number})
    return {
        "twice": row.number * 2,
        "pid": os.getpid(),
        "attempt": context.attempt,
        "by": context.principal.user_id,
        "before": context.heartbeat_detail,
        "token": context.credential("good"),
        "environment": sorted(name for name in os.environ if name.startswith(("CONNECTOR_", "DETENT_"))),
        "files": sorted(int(file.name) for file in Path("/proc/self/fd").iterdir())[:-1],
    }


@REGISTRY.action("good.later", isolation="process")
async def later(number: int) -> int:
    await asyncio.sleep(0)
    logging.getLogger("shop").warning("later by %d", number)
    return number + 1


@REGISTRY.action("good.skip", isolation="process")
def skip() -> NoReturn:
    raise Skipped("nothing to do")


@REGISTRY.action("good.fail", isolation="process")
def fail(context: ActionContext) -> NoReturn:
    context.heartbeat(41)
    raise ValueError("no funds")


@REGISTRY.action("good.link", isolation="process")
def link(context: ActionContext) -> str:
    context.links.add(Link("shop", "order", "17"))
    return "linked"


@REGISTRY.action("good.dial", isolation="process")
def dial(host: str, context: ActionContext) -> None:
    context.connect(host, 80, timeout=1)


@REGISTRY.action("good.ask", isolation="pool")
async def ask(url: str, context: ActionContext) -> Any:
    headers = {"Authorization": f"Bearer {context.credential('good')}"}
    async with context.http.get(url, headers=headers) as response:
        if response.status == 401:
            raise Unauthorized
        return await response.json()


@REGISTRY.action("good.other-token", isolation="process")
def other_token(context: ActionContext) -> str:
    return context.credential("slack")


@REGISTRY.action("pool.where", isolation="pool")
def where() -> int:
    return os.getpid()


@REGISTRY.action("pool.hang", isolation="pool", timeout=0.5)
def hang() -> None:
    while True:
        time.sleep(60)  # noqa: TID251 - it is killed


# Hostile ones.


@REGISTRY.action("bad.loop", isolation="process", timeout=1.0)
def loop() -> None:
    while True:
        pass


@REGISTRY.action("bad.deaf", isolation="process", timeout=1.0)
def deaf() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        try:
            time.sleep(60)  # noqa: TID251 - it is killed
        except BaseException:  # noqa: BLE001 - it ignores whatever it can
            continue


@REGISTRY.action("bad.silent", isolation="process", heartbeat_timeout=1.0)
def silent(context: ActionContext) -> None:
    context.heartbeat("begun")
    time.sleep(600)  # noqa: TID251 - it is killed


@REGISTRY.action("bad.exit", isolation="process")
def leave() -> None:
    os._exit(3)


@REGISTRY.action("bad.sys-exit", isolation="process")
def leave_politely() -> NoReturn:
    sys.exit(3)


@REGISTRY.action("bad.patches", isolation="process")
def patches() -> str:
    os.getpid = lambda: -1
    sys.modules["json"] = None  # type: ignore[assignment]
    return "patched"


@REGISTRY.action("bad.threads", isolation="process")
def leaves_threads() -> str:
    for _ in range(3):
        threading.Thread(target=time.sleep, args=(600,)).start()  # noqa: TID251 - they are killed
    return "left threads"


class Reduced:
    """An object that runs a command where it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, ("false",)


@REGISTRY.action("bad.pickled", isolation="process")
def pickled() -> Any:
    return Reduced()


@REGISTRY.action("bad.prints", isolation="process")
def prints() -> str:
    line = "x" * (1024 * 1024)
    for _ in range(1024):
        sys.stdout.write(line)
        sys.stderr.write(line)
    return "printed"


@REGISTRY.action("bad.large", isolation="process")
def large() -> str:
    return "x" * 1024**3


@REGISTRY.action("bad.flood", isolation="process", timeout=60)
def flood(context: ActionContext) -> None:
    while True:
        context.log.info("x" * 4000)


@REGISTRY.action("bad.garbage", isolation="process")
def garbage() -> None:
    for number in range(3, 64):
        try:
            os.write(number, b"Garbage!" * 4096)
        except OSError:
            continue
    time.sleep(600)  # noqa: TID251 - it is killed


@REGISTRY.action("bad.memory", isolation="process", memory=MEMORY)
def memory() -> int:
    kept = []
    while True:
        kept.append(bytearray(1024 * 1024))


@REGISTRY.action("bad.segfault", isolation="process")
def segfault() -> None:
    ctypes.string_at(0)


@REGISTRY.action("bad.recursion", isolation="process")
def recursion() -> None:
    def deeper(n: int) -> int:
        return deeper(n + 1) + 1

    deeper(0)


@REGISTRY.action("bad.forks", isolation="process", timeout=60)
def forks() -> None:
    while True:
        if os.fork() == 0:
            time.sleep(0.02)  # noqa: TID251 - so that the machine can still work beside it


@REGISTRY.action("bad.closes", isolation="process")
def closes() -> str:
    os.closerange(0, 4096)
    return "closed"


@REGISTRY.action("bad.daemon", isolation="process")
def daemon() -> int:
    """Leave a process behind that has its own session, no parent and the socket to the node."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            while True:
                time.sleep(60)  # noqa: TID251 - it is killed
        os.write(writer, str(pid).encode())  # here: the other one may be killed before it could
        os._exit(0)
    return int(os.read(reader, 20))


@REGISTRY.action("bad.stays", isolation="process")
def stays() -> str:
    """Return while a child of its group still has the socket to the node."""
    if os.fork() == 0:
        time.sleep(600)  # noqa: TID251 - it is killed
    return "left"


@REGISTRY.action("bad.error", isolation="process")
def error() -> NoReturn:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("not even that")

    raise Odd


@REGISTRY.action("bad.listener", isolation="process")
def listener() -> None:
    """Write a whole result of its own, larger than one may be."""
    sock = socket.socket(fileno=next(n for n in range(3, 64) if _is_socket(n)))
    sock.sendall(b"R" + (2**31).to_bytes(4, "big") + b"x" * 1024)
    time.sleep(600)  # noqa: TID251 - it is killed


def _is_socket(number: int) -> bool:
    try:
        return str(Path(f"/proc/self/fd/{number}").readlink()).startswith("socket:")
    except OSError:
        return False
