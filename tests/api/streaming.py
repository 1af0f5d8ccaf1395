"""The streams of a run over real HTTP, before a store that makes its entries when they are asked for.

`python -m tests.api.streaming PATIENCE` serves them in a process of its own, says where, and obeys what is written to
its standard input: `write 40` (entries, as a run at work would), `end`, `connections`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from typing import Any, Self, cast

import uvicorn

from detent.api.app import Api
from detent.api.context import ApiContext
from detent.api.server.guards import OwnNames
from detent.api.server.protocol import Connection
from detent.auth.authenticator import TrustedAuthenticator
from detent.auth.caller import Caller, local_caller
from detent.clock import SystemClock
from detent.ids import RUN, new_id, show
from detent.observe import emit
from detent.process import bind, run_process
from detent.run.journal import Entry, Kind
from detent.store.protocol import Store
from detent.store.rows import RunRow
from detent.views.feeds import Feeds
from tests.store.make import NOON

PACE = 0.02


def size_of(seq: int) -> int:
    """How long the result of an entry is: every fourth one is large."""
    return 100_000 if seq % 4 == 0 else 37 * seq % 8_000


class Tape:
    """One run. It keeps nothing, so that memory that grows is not its own."""

    def __init__(self) -> None:
        self.id = new_id()
        self.written = 0
        self.is_over = False

    @property
    def text(self) -> str:
        return show(RUN, self.id)

    def for_tenant(self, tenant: int) -> Self:
        return self

    async def write(self, count: int) -> None:
        for _ in range(count):
            self.written += 1
            emit("entry.written", run=self.id, entry=self._entry(self.written))
            await asyncio.sleep(PACE)

    def end(self) -> None:
        self.is_over = True
        emit("run.ended", run=self.id, status="completed")

    async def run(self, tenant: int, run: bytes) -> RunRow | None:
        nothing: list[Any] = [None] * len(RunRow._fields)
        row = RunRow(*nothing)._replace(id=run, status="completed" if self.is_over else "running")
        return row if run == self.id else None

    async def ended(self, tenant: int, runs: Sequence[bytes]) -> set[bytes]:
        return {run for run in runs if run != self.id or self.is_over}

    async def journal(self, tenant: int, run: bytes, *, after: int = 0, limit: int = 100_000) -> list[Entry]:
        return [self._entry(seq) for seq in range(after + 1, min(self.written, after + limit) + 1)]

    def _entry(self, seq: int) -> Entry:
        data = b'{"result":{"output":"%b"}}' % (b"x" * size_of(seq))
        return Entry(1, self.id, seq, NOON + seq, Kind.ENDED, f"s{seq}", 1, "success", data)


class Server(uvicorn.Server):
    """Says when it listens, and leaves signals to the test."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()
        self.lost = 0  # connections that have ended

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    @property
    def connections(self) -> int:
        return len(self.server_state.connections)


class Nothing:
    """Commands that the streams under test never use."""

    def for_caller(self, caller: Caller) -> Any:
        return None


@asynccontextmanager
async def streaming(store: object, *, patience: float = 30.0) -> AsyncIterator[tuple[str, Server]]:
    """The routes under test on a port of their own, before that store."""
    feeds = Feeds(cast(Store, store), SystemClock())

    class Impatient(Connection):
        def connection_lost(self, exc: Exception | None) -> None:
            server.lost += 1
            super().connection_lost(exc)

    Impatient.patience = patience
    nothing = cast("Any", None)
    api = Api(
        ApiContext(
            authenticator=TrustedAuthenticator(local_caller("test")),
            engine_commands=cast("Any", Nothing()),
            engine_triggers=cast("Any", Nothing()),
            public=local_caller("test"),
            auditor=nothing,
            feeds=feeds,
            build_hub=nothing,
            outage=nothing,
            check=nothing,
            names=OwnNames(None),
        )
    )
    config = uvicorn.Config(api, log_config=None, access_log=False, lifespan="off", http=Impatient)
    config.timeout_graceful_shutdown = 5
    server = Server(config)
    with closing(bind("127.0.0.1", 0)) as sock:
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        serving = asyncio.create_task(server.serve(sockets=[sock]))
        await server.is_up.wait()
        try:
            yield url, server
        finally:
            await feeds.close()
            server.should_exit = True
            await serving


async def main(patience: float) -> None:
    tape = Tape()
    async with streaming(tape, patience=patience) as (url, server):
        say(url=url, run=tape.text)
        while command := (await asyncio.to_thread(sys.stdin.readline)).split():
            match command:
                case ["write", count]:
                    await tape.write(int(count))
                case ["patience", seconds]:  # of readers that stop to read from now on
                    cast(type[Connection], server.config.http).patience = float(seconds)
                case ["end"]:
                    tape.end()
            say(connections=server.connections, lost=server.lost)


def say(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    run_process(main(float(sys.argv[1])))
