"""One engine per file: a lock of the operating system, which ends with its process however that ends.

The lock file says who holds it, so that others can talk to the engine instead of to its file.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from detent.errors import StoreInUse


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
        """Hold the lock from now on, or StoreInUse."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            raise self.in_use() from None
        self._file = file
        self.announce(None)

    def announce(self, url: str | None) -> None:
        """Say who holds the lock and at which address he answers."""
        if self._file is None:
            return
        note = json.dumps({"pid": os.getpid(), "url": url}).encode()
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, note, 0)

    def in_use(self) -> StoreInUse:
        """What to say to somebody who wants the file while another process has it."""
        note = self._read()
        pid, url = note.get("pid"), note.get("url")
        where = f" and answers at {url}" if url else ""
        return StoreInUse(
            f"{self._database} is in use by another process of Detent (pid {pid}{where}); "
            "one engine writes to a SQLite file at a time",
            pid=pid,
            url=url,
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
