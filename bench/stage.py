"""The stage: one PostgreSQL server, a MariaDB if it is asked for, a folder for files, and the processes that are
measured on them."""

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil
from rich.console import Console

from bench.child import Child
from bench.peers.environment import peer_python
from bench.results import Results
from bench.sizes import Sizes
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

STORES = {"postgres": "PostgreSQL", "sqlite": "SQLite"}
#: As much as the other server has, and as it comes.
MARIADB = {"innodb-buffer-pool-size": "128M", "innodb-log-file-size": "96M"}


class Stage:
    """Whatever was started here ends with it."""

    def __init__(
        self, sizes: Sizes, console: Console, *, with_peer: bool, server: PostgresServer | None = None
    ) -> None:
        """`server` is one that runs already and goes on running."""
        self.sizes, self.console, self.results = sizes, console, Results()
        self.server = server or PostgresServer()
        self._owns_server = server is None
        self.with_peer = with_peer
        self._folder = Path(tempfile.mkdtemp(prefix="detent-bench-"))
        self._children: list[Child] = []
        self.databases: list[str] = []
        self._kept: dict[str, Child] = {}
        self._mariadb: MariadbServer | None = None
        self._count = 0
        self.peer_database = ""

    def __enter__(self) -> Self:
        if self._owns_server:
            self.server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
        if self._owns_server:
            self.server.close()
        else:
            for url in self.databases:
                self.server.drop_database(url)
        if self._mariadb:
            self._mariadb.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def clear(self) -> None:
        """End every process."""
        for child in self._children:
            child.hang_up()
        for child in self._children:
            child.stop()
        self._children.clear()
        self._kept.clear()

    # -- where

    def database(self) -> str:
        """A new database on the server."""
        self._count += 1
        url = self.server.create_database(f"bench_{os.getpid()}_{self._count}")
        self.databases.append(url)
        return url

    @property
    def mariadb(self) -> MariadbServer:
        """Started when it is first asked for."""
        if self._mariadb is None:
            self._mariadb = MariadbServer(settings=MARIADB)
            self._mariadb.start()
        return self._mariadb

    def mariadb_database(self) -> str:
        self._count += 1
        return self.mariadb.create_database(f"bench_{os.getpid()}_{self._count}")

    def file(self) -> str:
        """A new SQLite file."""
        self._count += 1
        return f"sqlite:///{self._folder / f'bench_{self._count}.db'}"

    def place(self, store: str) -> str:
        return self.file() if store == "sqlite" else self.database()

    @property
    def folder(self) -> Path:
        """For files that are needed on the way."""
        return self._folder

    # -- who

    def child(self, module: str, *arguments: str, python: Path | None = None) -> Child:
        """A new process that lives until `clear`."""
        self._count += 1
        log = self._folder / f"{module}.{self._count}.log"
        child = Child(module, *arguments, log=log, **({} if python is None else {"python": python}))
        self._children.append(child)
        return child

    def node(self, url: str, *options: str) -> Child:
        """A Detent node."""
        return self.child("bench.detent_node", url, *options)

    def peer(self) -> Child | None:
        """The peer, on a database of its own; null if it is not wanted."""
        if not self.with_peer:
            return None
        if "peer" not in self._kept:
            self.say("", "starting the peer")
            self.peer_database = self.database()
            self._kept["peer"] = self.child("bench.peers.dbos_peer", self.peer_database, python=peer_python())
        return self._kept["peer"]

    def leave(self, child: Child) -> None:
        """Let one process end."""
        self._children.remove(child)
        child.stop()

    def server_cpu(self) -> float:
        """CPU seconds that PostgreSQL has used so far."""
        return server_cpu(self.server)

    # -- progress

    def say(self, work: str, text: str) -> None:
        self.console.print(f"[bold cyan]{work:<8}[/] {text}", highlight=False)


def server_cpu(server: PostgresServer) -> float:
    """CPU seconds that a PostgreSQL has used so far, its ended processes included."""
    postmaster = psutil.Process(server.pid)
    own = postmaster.cpu_times()
    used = own.user + own.system + own.children_user + own.children_system
    for process in postmaster.children():
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        used += times.user + times.system
    return used
