"""Detent as `detent serve` runs it, in a process of its own: `python -m bench.http_node URL FOLDER`.
Load comes over HTTP from another process."""

import argparse
import asyncio
from pathlib import Path
from typing import Any

from bench.load import each
from bench.serving import Meter, Voice, serve
from detent.api.server.listener import listening
from detent.auth.caller import local_caller
from detent.commands.identity.keys import KeyRequest
from detent.observe import listen
from detent.process import App, bind, run_app, run_process
from detent.run.start import StartRequest
from detent.settings import Settings

WIDTH = 500


class HttpNode:
    """What the parent can ask for."""

    def __init__(self, app: App, folder: Path) -> None:
        self._app, self._folder = app, folder
        self._commands = app.commands.for_caller(local_caller("bench"))
        self._meter = Meter()
        self._ended = 0
        listen(self._note)

    def _note(self, name: str, facts: dict[str, Any]) -> None:
        self._ended += name == "run.ended"

    async def url(self) -> str:
        return self._app.local_url

    async def apply(self, document: str) -> str:
        row, _, _ = await self._commands.workflows.save(document, replace=True)
        return row.name

    async def key(self) -> str:
        """Make a key that may start runs, and return it."""
        return (await self._commands.keys.create(KeyRequest("bench", role="operator"))).key

    async def waiting(self, workflow: str, step: str, count: int) -> str:
        """Start runs that wait for a callback; gives the file that holds their tokens, one in a line."""
        tokens: list[str] = []

        async def one() -> None:
            started = await self._commands.starts.start(StartRequest(workflow, {}))
            tokens.append(self._app.engine.tokens.token(started.run, step))

        await each(one, count=count, width=WIDTH)
        path = self._folder / f"tokens-{count}.txt"
        path.write_text("\n".join(tokens) + "\n")
        self._ended = 0
        return str(path)

    async def begin(self) -> None:
        """Measure from now on."""
        self._meter = Meter()

    async def read(self) -> dict[str, float]:
        """What this process has used since then."""
        return self._meter.read()

    async def ends(self, count: int, within: float) -> int:
        """Wait until so many runs have ended; gives how many have."""
        for _ in range(round(within * 20)):
            if self._ended >= count:
                break
            await asyncio.sleep(0.05)
        return self._ended


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("database")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--strict", action="store_true", help="answer only callers with a key")
    arguments = parser.parse_args()
    voice = Voice()
    sock = bind("127.0.0.1", 0)
    address = (str(sock.getsockname()[0]), int(sock.getsockname()[1]))
    settings = Settings(database_url=arguments.database)
    async with (
        run_app(settings, address=address, migrate=True) as app,
        listening(app, sock, loose=not arguments.strict),
    ):
        node = HttpNode(app, arguments.folder)
        verbs = ("url", "apply", "key", "waiting", "begin", "read", "ends")
        await serve({verb: getattr(node, verb) for verb in verbs}, voice)


if __name__ == "__main__":
    run_process(main())
