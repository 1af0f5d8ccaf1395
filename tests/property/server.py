"""A whole Detent in a process of its own, which can call nothing but this machine.

`python -m tests.property.server DATABASE_URL` says where it answers and stays until it is told to end.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from detent.api.server.listener import listening
from detent.observe import listen
from detent.process import bind, run_app, wait_for_signal
from detent.settings import Settings
from tests.servers import programs

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0
MISTAKES = frozenset({"api.failed", "engine.error", "engine.lost", "run.quarantined"})
#: What a poller says on a machine that is too busy for its database. It asks again.
TOO_SLOW = "statement timeout"
THIS_MACHINE = ("127.", "::1", "localhost")


def stay_home(event: str, arguments: tuple[Any, ...]) -> None:
    """Python tells this of every name it looks up and every address it connects to. What is elsewhere is refused."""
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if host is not None and not str(host).startswith(THIS_MACHINE):
        raise PermissionError(f"the server under test does not leave this machine: {event} {host!r}")


def tell(name: str, facts: dict[str, Any]) -> None:
    """No request, however strange, may bring these about."""
    if name in MISTAKES and TOO_SLOW not in str(facts.get("error")):
        said = {key: str(value) for key, value in facts.items()}
        print(json.dumps({"event": name, **said}), file=sys.stderr, flush=True)


async def serve(url: str) -> None:
    stop_telling = listen(tell)
    with closing(bind("127.0.0.1", 0)) as sock:
        address = sock.getsockname()[:2]
        async with (
            run_app(Settings(database_url=url), address=address, migrate=True) as app,
            listening(app, sock, loose=True),
        ):
            print(json.dumps({"url": app.local_url}), flush=True)
            await wait_for_signal()
    stop_telling()


@contextmanager
def served(url: str, log: Path) -> Iterator[str]:
    """A Detent on that database for as long as the block lasts; gives its address. What it says goes to `log`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DETENT_")}
    command = [sys.executable, "-m", "tests.property.server", url]
    with log.open("wb") as errors:
        process = programs.Process(
            command, cwd=ROOT, env=environment, stdin=programs.DEVNULL, stdout=programs.PIPE, stderr=errors
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, f"the server did not come up: {log.read_text()}"
        yield str(json.loads(line)["url"])
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=PATIENCE) == 0, f"the server did not end well: {log.read_text()}"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(timeout=PATIENCE)
        process.stdout.close()


if __name__ == "__main__":
    sys.addaudithook(stay_home)
    # Not uvloop: it looks up names where Python does not see it.
    asyncio.run(serve(sys.argv[1]))
