"""What the URL of a database names, without importing anything of that database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from detent.errors import StoreError


def scheme(url: str) -> Literal["memory", "sqlite", "postgresql", "mysql"]:
    """Return which database a URL names. Raise StoreError if Detent does not support it."""
    match urlsplit(url).scheme:
        case "memory":
            return "memory"
        case "sqlite":
            return "sqlite"
        case "postgresql" | "postgres":
            return "postgresql"
        case "mysql" | "mariadb":
            return "mysql"
        case other if "+" in other:
            raise StoreError(f"{other!r} names a driver, and Detent has its own: write {other.partition('+')[0]}://...")
        case other:
            raise StoreError(
                f"{other or url!r} is not a database Detent supports; use sqlite:///path/to/detent.db, "
                "postgresql://user@host/database, mysql://user@host/database or memory://"
            )


def network_reason(error: Exception) -> str:
    """Return why a server cannot be reached, in plain words where the operating system has them."""
    if isinstance(error, TimeoutError) and not error.args:
        return "it did not answer in time"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno).lower() if error.errno > 0 else str(error.strerror or error).lower()
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def is_shared(url: str) -> bool:
    """Return whether several nodes can use that database."""
    return scheme(url) in ("postgresql", "mysql")


def sqlite_path(url: str) -> Path:
    """Return the file that a `sqlite:` URL names: three slashes and a relative path, or four and an absolute one."""
    parts = urlsplit(url)
    path = unquote(parts.path)[1:]
    if parts.netloc or not path:
        raise StoreError(f"{url!r} names no file; write sqlite:///detent.db, or sqlite:////var/lib/detent.db")
    return Path(path)
