"""One engine per file: an operating-system lock, which ends with its process, however the process ends.

The lock file stores the pid and the address of the engine, so that other processes can call it instead of opening its
file.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any, Final

from detent.errors import StoreInUse

#: The list of all locks. Trying to take a lock would block another process that wants it at that moment.
_LOCKS: Final = Path("/proc/locks")  # of Linux


class FileLock:
    """The lock beside a database file."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}.lock")
        self._database = database
        self._file: int | None = None

    @property
    def held(self) -> bool:
        return self._file is not None

    def take(self) -> None:
        """Take the lock. Raise StoreInUse if another process has it."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            raise self.in_use() from None
        self._file = file
        self.announce(None)

    def announce(self, url: str | None, key: str | None = None, base_url: str | None = None) -> None:
        """Write the pid of this process, the address at which it answers, the key for it, and the address with which
        its callback URLs begin into the lock file.

        Only the owner of the file can read it."""
        if self._file is None:
            return
        note = json.dumps({"pid": os.getpid(), "url": url, "key": key, "base_url": base_url}).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, note, 0)

    def in_use(self) -> StoreInUse:
        """Return the error for a caller that wants the file while another process has it."""
        note = self._read()
        pid, url = note.get("pid"), note.get("url")
        where = f" and answers at {url}" if url else ""
        return StoreInUse(
            f"{self._database} is in use by another process of Detent (pid {pid}{where}); "
            "one engine writes to a SQLite file at a time",
            pid=pid,
            url=url,
            key=note.get("key"),
        )

    def release(self) -> None:
        if self._file is not None:
            os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = None

    def _read(self) -> dict[str, Any]:
        try:
            note = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        return note if isinstance(note, dict) else {}

    def base_url(self) -> str | None:
        """Return the address with which callback URLs of the owner of the file begin, if it has announced one."""
        found = self._read().get("base_url")
        return found if isinstance(found, str) else None

    def server(self) -> tuple[str, str | None] | None:
        """Return the address of the process that has the file, and the key for it.

        Return `None` if no process has it, or if that process has announced no address."""
        note = self._read()
        pid, url, key = note.get("pid"), note.get("url"), note.get("key")
        if not isinstance(url, str) or not self._is_held_by(pid):
            return None
        return url, key if isinstance(key, str) else None

    def is_in_use(self) -> bool:
        """Return whether the process that the lock file names has the file."""
        return self._is_held_by(self._read().get("pid"))

    def _is_held_by(self, pid: object) -> bool:
        try:
            inode = self._path.stat().st_ino
        except OSError:
            return False
        try:
            locks = _LOCKS.read_text().splitlines()
        except OSError:
            return isinstance(pid, int) and _is_alive(pid)  # macOS does not list locks; a note ends with its process
        # "6: FLOCK  ADVISORY  WRITE 2872 fe:00:2662338 0 EOF". A process that waits has "->" before the kind.
        held = [words for line in locks if len(words := line.split()) == 8 and words[1] == "FLOCK"]
        return any((words[4], words[5].rpartition(":")[2]) == (str(pid), str(inode)) for words in held)


def _is_alive(pid: int) -> bool:
    """Return whether there is a process with that id, also one of another user."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
