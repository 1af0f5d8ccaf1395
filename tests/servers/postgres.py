"""A private PostgreSQL on a free loopback port, with the durability a production server has by default.

    with PostgresServer() as server:
        url = server.create_database()

`python -m tests.servers.postgres` starts one for a developer, prints an address and stays until it is told to end.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import psutil

from tests.servers.binaries import Account, NoPostgres, find_binaries, unprivileged_account
from tests.servers.locks import exclusive

StopMode = Literal["smart", "fast", "immediate"]

FOLDER_PREFIX = "detent-pg-"
USER = "detent"
MAINTENANCE = "postgres"
SETTINGS: Mapping[str, str] = {
    "listen_addresses": "'127.0.0.1'",
    "unix_socket_directories": "''",
    "max_connections": "200",
    "shared_buffers": "'128MB'",
    "fsync": "on",
    "synchronous_commit": "on",
    "timezone": "'UTC'",
    "log_timezone": "'UTC'",
}


@dataclass(frozen=True)
class Place:
    """Where a server lives: enough for another process to find and stop it."""

    folder: Path
    binaries: Path
    port: int
    account: Account

    def to_json(self) -> str:
        facts = {"folder": str(self.folder), "binaries": str(self.binaries), "port": self.port}
        return json.dumps(facts | {"uid": self.account.uid, "gid": self.account.gid})

    @classmethod
    def from_json(cls, text: str) -> Self:
        facts = json.loads(text)
        account = Account(uid=facts["uid"], gid=facts["gid"])
        return cls(Path(facts["folder"]), Path(facts["binaries"]), int(facts["port"]), account)


class PostgresServer:
    """One PostgreSQL of our own. Whoever starts it stops it; its folder goes with it."""

    def __init__(self, *, settings: Mapping[str, str] | None = None, owner: int | None = None) -> None:
        """`settings` adds lines to its configuration; `owner` is the process it must not outlive (default: this)."""
        self._settings = {**SETTINGS, **(settings or {})}
        self._owner = owner or os.getpid()
        self._place: Place | None = None
        self._databases = 0
        self.seconds_to_start = 0.0

    @classmethod
    def attach(cls, place: Place) -> Self:
        """The same server, seen from another process."""
        server = cls()
        server._place = place
        return server

    @property
    def place(self) -> Place:
        if self._place is None:
            raise NoPostgres("this PostgreSQL was not started, or is stopped for good")
        return self._place

    @property
    def data(self) -> Path:
        return self.place.folder / "data"

    @property
    def port(self) -> int:
        return self.place.port

    @property
    def pid(self) -> int:
        """The process id of the postmaster; raises when it is down."""
        try:
            return int((self.data / "postmaster.pid").read_text().splitlines()[0])
        except FileNotFoundError:
            raise NoPostgres("this PostgreSQL is down") from None

    @property
    def version(self) -> str:
        """What the server says of itself, such as `18.4`."""
        return self.query("show server_version")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start it, on its first start in a new folder; return when it answers."""
        began = time.monotonic()
        if self._place is None:
            sweep()
            self._place = self._create()
        self._launch()
        self.seconds_to_start = time.monotonic() - began

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop it and keep its data. `immediate` is what a crash of the machine leaves behind."""
        self._pg_ctl("stop", "-m", mode, "-w", "-t", "240")

    def restart_immediately(self) -> None:
        """Crash it and start it on the same port: open connections break, what was committed stays."""
        self.stop("immediate")
        self._launch()

    def revive(self) -> str:
        """Start it again if it is down, and return the end of its log; an empty text if it was up."""
        try:
            os.kill(self.pid, 0)
        except (NoPostgres, ProcessLookupError):
            words = self.log()[-4000:]
            self._launch()
            return words or "(no log)"
        return ""

    def close(self) -> None:
        """Stop it and remove its folder; twice is once."""
        if self._place is None:
            return
        with contextlib.suppress(NoPostgres):
            self.stop("immediate")
        shutil.rmtree(self._place.folder, ignore_errors=True)
        self._place = None

    def url(self, database: str = MAINTENANCE) -> str:
        """The address of one of its databases."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str | None = None, *, template: str | None = None) -> str:
        """Make a database, empty or a copy of `template`, and return its address."""
        self._databases += 1
        chosen = name or f"test_{os.getpid()}_{self._databases}"
        self.query(f'create database "{chosen}" template "{template or "template0"}"')
        return self.url(chosen)

    def drop_database(self, url: str) -> None:
        """Remove a database whoever may still be connected to it."""
        self.query(f'drop database if exists "{url.rsplit("/", 1)[1]}" with (force)')

    def make_template(self, name: str, prepare: Callable[[str], object]) -> str:
        """Prepare a database once (migrate it, say), whichever process comes first; the others copy it."""
        with exclusive(self.place.folder / f"template-{name}"):
            if not self.query(f"select 1 from pg_database where datname = '{name}' and datistemplate"):
                self.query(f'drop database if exists "{name}"')
                prepare(self.create_database(name))
                self.query(f'alter database "{name}" is_template true')
        return name

    def query(self, sql: str, *, database: str = MAINTENANCE) -> str:
        """Run one statement with psql and return its rows as text."""
        done = self.place.account.run(
            self.place.binaries / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
            "-d", self.url(database), "-c", sql, cwd=self.place.folder,
        )  # fmt: skip
        if done.returncode != 0:
            raise NoPostgres(f"{sql}: {done.stderr.strip()}")
        return done.stdout.strip()

    def log(self) -> str:
        """What the server wrote to its log."""
        return (self.place.folder / "server.log").read_text(errors="replace")

    def _create(self) -> Place:
        account = unprivileged_account()
        binaries = find_binaries(account)
        folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        account.own(folder)
        place = Place(folder, binaries, _free_port(), account)
        self._initialize(place)
        (folder / "owner").write_text(json.dumps({"pid": self._owner, "place": place.to_json()}))
        return place

    def _initialize(self, place: Place) -> None:
        done = place.account.run(
            place.binaries / "initdb", "-D", place.folder / "data", "-U", USER, "--auth=trust",
            "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions", cwd=place.folder,
        )  # fmt: skip
        if done.returncode != 0:
            shutil.rmtree(place.folder, ignore_errors=True)
            raise NoPostgres(f"initdb of {place.binaries} failed: {done.stderr.strip()}")
        lines = [f"{name} = {value}" for name, value in {**self._settings, "port": str(place.port)}.items()]
        with (place.folder / "data" / "postgresql.conf").open("a") as file:
            file.write("\n".join(["", *lines, ""]))

    def _launch(self) -> None:
        self._pg_ctl("start", "-w", "-t", "240", "-l", str(self.place.folder / "server.log"))

    def _pg_ctl(self, verb: str, *options: str) -> None:
        place = self.place
        try:
            done = place.account.run(place.binaries / "pg_ctl", verb, "-D", self.data, *options, cwd=place.folder)
        except subprocess.TimeoutExpired:
            raise NoPostgres(f"pg_ctl {verb} did not end within four minutes") from None
        if done.returncode != 0:
            raise NoPostgres(f"pg_ctl {verb} failed: {done.stdout.strip()} {done.stderr.strip()}\n{self._log_tail()}")

    def _log_tail(self) -> str:
        with contextlib.suppress(OSError):
            return "\n".join(self.log().splitlines()[-20:])
        return ""


def sweep() -> None:
    """Stop the servers whose owner was killed before it could, so that none is left behind for good."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            note = json.loads((folder / "owner").read_text())
            if not is_alive(int(note["pid"])):
                PostgresServer.attach(Place.from_json(note["place"])).close()


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not yet reaped does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    """Start a server, print the address of an empty database, and stay until a signal comes."""
    ended = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, ended)
    with PostgresServer() as server:
        print(server.create_database("detent"), flush=True)
        print(f"PostgreSQL {server.version}, started in {server.seconds_to_start:.1f} s", file=sys.stderr, flush=True)
        signal.sigwait(ended)


if __name__ == "__main__":
    main()
