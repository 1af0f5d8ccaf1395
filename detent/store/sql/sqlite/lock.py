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
_LOCKS: Final = Path("/proc/locks")


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

    def announce(self, url: str | None, key: str | None = None) -> None:
        """Write the pid of this process, the address at which it answers and the key for it into the lock file.

        Only the owner of the file can read it."""
        if self._file is None:
            return
        note = json.dumps({"pid": os.getpid(), "url": url, "key": key}).encode()
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

    def server(self) -> tuple[str, str | None] | None:
        """Return the address of the process that has the file, and the key for it.

        Return `None` if no process has it, or if that process has announced no address. It is also `None` where the
        operating system does not list the holders of locks. Then only an attempt to take the lock shows whether it is
        free."""
        note = self._read()
        pid, url, key = note.get("pid"), note.get("url"), note.get("key")
        if not isinstance(url, str) or not self._is_held_by(pid):
            return None
        return url, key if isinstance(key, str) else None

    def _is_held_by(self, pid: object) -> bool:
        try:
            inode, locks = self._path.stat().st_ino, _LOCKS.read_text().splitlines()
        except OSError:
            return False
        # "6: FLOCK  ADVISORY  WRITE 2872 fe:00:2662338 0 EOF". A process that waits has "->" before the kind.
        held = [words for line in locks if len(words := line.split()) == 8 and words[1] == "FLOCK"]
        return any((words[4], words[5].rpartition(":")[2]) == (str(pid), str(inode)) for words in held)
