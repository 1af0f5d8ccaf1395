"""A private MariaDB on a free loopback port, with the durability a production server has by default.

    with MariadbServer() as server:
        url = server.create_database()

Its programs are Debian's (`mariadbd`, `mariadb-install-db`), or those of the folder that DETENT_TEST_MARIADB_BIN names.
`python -m tests.servers.mariadb` starts one for a developer, prints an address and stays until it is told to end.
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.servers.binaries import Account, unprivileged_account
from tests.servers.postgres import is_alive

FOLDER_PREFIX = "detent-mariadb-"
USER = "detent"
NEEDED = ("mariadbd", "mariadb-install-db", "mariadb")
SETTINGS: Mapping[str, str] = {
    "bind-address": "127.0.0.1",
    "character-set-server": "latin1",  # nothing of ours may depend on the server's taste
    "innodb-buffer-pool-size": "64M",
    "innodb-log-file-size": "32M",
    "innodb-flush-log-at-trx-commit": "1",
    "innodb-doublewrite": "1",
    "max-connections": "300",
    "performance-schema": "0",
    "skip-name-resolve": "1",
    "skip-log-bin": "1",
    "log-warnings": "1",
}


class NoMariadb(RuntimeError):
    """No MariaDB can be started here; tests that need it must fail, not skip."""


@dataclass(frozen=True)
class Place:
    """Where a server lives: enough for another process to find and stop it."""

    folder: Path
    port: int
    account: Account
    settings: Mapping[str, str]

    def to_json(self) -> str:
        facts = {"folder": str(self.folder), "port": self.port, "settings": dict(self.settings)}
        return json.dumps(facts | {"uid": self.account.uid, "gid": self.account.gid})

    @classmethod
    def from_json(cls, text: str) -> Self:
        facts = json.loads(text)
        account = Account(uid=facts["uid"], gid=facts["gid"])
        return cls(Path(facts["folder"]), int(facts["port"]), account, facts["settings"])


class MariadbServer:
    """One MariaDB of our own. Whoever starts it stops it; its folder goes with it."""

    def __init__(self, *, settings: Mapping[str, str] | None = None, owner: int | None = None) -> None:
        """`settings` adds options of the server; `owner` is the process it must not outlive (default: this)."""
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
            raise NoMariadb("this MariaDB was not started, or is stopped for good")
        return self._place

    @property
    def port(self) -> int:
        return self.place.port

    @property
    def socket(self) -> Path:
        return self.place.folder / "socket"

    @property
    def pid(self) -> int:
        """The process id of the server; raises when it is down."""
        try:
            pid = int((self.place.folder / "pid").read_text())
        except (FileNotFoundError, ValueError):
            raise NoMariadb("this MariaDB is down") from None
        if not is_alive(pid):
            raise NoMariadb("this MariaDB is down")
        return pid

    @property
    def version(self) -> str:
        return self.query("select version()")

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

    def kill(self) -> None:
        """End it as a crash of the machine would, and keep its data."""
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        while is_alive(pid):
            time.sleep(0.005)

    def restart_immediately(self) -> None:
        """Crash it and start it on the same port: open connections break, what was committed stays."""
        self.kill()
        self._launch()

    def revive(self) -> str:
        """Start it again if it is down, and return the end of its log; an empty text if it was up."""
        try:
            os.kill(self.pid, 0)
        except (NoMariadb, ProcessLookupError):
            words = self.log()[-4000:]
            self._launch()
            return words or "(no log)"
        return ""

    def close(self) -> None:
        """Stop it and remove its folder; twice is once."""
        if self._place is None:
            return
        with contextlib.suppress(NoMariadb):
            self.kill()
        for _ in range(100):  # the shell it ran in writes down how it ended, just now
            shutil.rmtree(self._place.folder, ignore_errors=True)
            if not self._place.folder.exists():
                break
            time.sleep(0.01)
        self._place = None

    def url(self, database: str) -> str:
        """The address of one of its databases."""
        return f"mysql://{USER}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str | None = None) -> str:
        """Make an empty database and return its address."""
        self._databases += 1
        chosen = name or f"test_{os.getpid()}_{self._databases}"
        self.query(f"create database `{chosen}`")
        return self.url(chosen)

    def drop_database(self, url: str) -> None:
        self.query(f"drop database if exists `{url.rsplit('/', 1)[1]}`")

    def query(self, sql: str, *, database: str = "") -> str:
        """Run statements with the server's own client and return their rows as text."""
        client: list[str | Path] = [binary("mariadb"), "--no-defaults", "-N", "-B", "-S", self.socket, "-u", USER]
        done = self.place.account.run(*client, "-e", sql, *([database] if database else []), cwd=self.place.folder)
        if done.returncode != 0:
            raise NoMariadb(f"{sql}: {done.stderr.strip()}")
        return done.stdout.strip()

    def log(self) -> str:
        """What the server wrote to its log."""
        with contextlib.suppress(FileNotFoundError):
            return (self.place.folder / "server.log").read_text(errors="replace")
        return ""

    def _create(self) -> Place:
        account = unprivileged_account()
        folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        account.own(folder)
        place = Place(folder, _free_port(), account, self._settings)
        done = account.run(
            binary("mariadb-install-db"), "--no-defaults", f"--datadir={folder}/data", f"--tmpdir={folder}",
            "--auth-root-authentication-method=normal", "--skip-test-db", cwd=folder,
        )  # fmt: skip
        if done.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            raise NoMariadb(f"mariadb-install-db failed: {done.stdout.strip()} {done.stderr.strip()}")
        users = "; ".join(
            f"create user '{USER}'@'{host}'; grant all on *.* to '{USER}'@'{host}' with grant option"
            for host in ("localhost", "127.0.0.1")
        )
        (folder / "users.sql").write_text(f"{users};\n".replace("; ", ";\n"))
        (folder / "users.sql").chmod(0o644)
        (folder / "owner").write_text(json.dumps({"pid": self._owner, "place": place.to_json()}))
        return place

    def _launch(self) -> None:
        place = self.place
        users = place.folder / "users.sql"
        options = [f"--{name}={value}" for name, value in place.settings.items()]
        if users.exists():
            options.append(f"--init-file={users}")
        command = [
            str(binary("mariadbd")), "--no-defaults", f"--datadir={place.folder}/data", f"--port={place.port}",
            f"--socket={place.folder}/socket", f"--pid-file={place.folder}/pid",
            f"--log-error={place.folder}/server.log", *options,
        ]  # fmt: skip
        ended = place.folder / f"ended-{time.monotonic_ns()}"  # of this start: an earlier one may end just now
        # Nobody's child: whoever finds the server in another process must be able to end it.
        script = f"({shlex.join(command)}; echo $? >{shlex.quote(str(ended))}) >/dev/null 2>&1 </dev/null &"
        place.account.run("setsid", "sh", "-c", script, cwd=place.folder)
        self._wait_until_it_answers(ended)
        users.unlink(missing_ok=True)

    def _wait_until_it_answers(self, ended: Path) -> None:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and not ended.exists():
            if _greets(self.port):
                return
            time.sleep(0.02)
        raise NoMariadb("MariaDB did not start:\n" + "\n".join(self.log().splitlines()[-20:]))


def _greets(port: int) -> bool:
    """A server that takes connections speaks first."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            return bool(connection.recv(5))
    except OSError:
        return False


def binary(name: str) -> Path:
    """A program of MariaDB: of the folder that is named, or Debian's."""
    chosen = os.environ.get("DETENT_TEST_MARIADB_BIN")
    places = [Path(chosen)] if chosen else [Path("/usr/sbin"), Path("/usr/bin"), Path("/usr/local/bin")]
    for place in places:
        if (place / name).exists():
            return place / name
    raise NoMariadb(
        f"there is no {name} in {', '.join(map(str, places))}; install mariadb-server, "
        "or set DETENT_TEST_MARIADB_BIN to a folder with it"
    )


def sweep() -> None:
    """Stop the servers whose owner was killed before it could, so that none is left behind for good."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            note = json.loads((folder / "owner").read_text())
            if not is_alive(int(note["pid"])):
                MariadbServer.attach(Place.from_json(note["place"])).close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> None:
    """Start a server, print the address of an empty database, and stay until a signal comes."""
    ended = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, ended)
    with MariadbServer() as server:
        print(server.create_database("detent"), flush=True)
        print(f"MariaDB {server.version}, started in {server.seconds_to_start:.1f} s", file=sys.stderr, flush=True)
        signal.sigwait(ended)


if __name__ == "__main__":
    main()
