"""The keys of servers on this machine: `credentials.toml` in the folder of the user's settings.

A client takes its key from its argument, then from DETENT_KEY, then from this file, by the address of the server. The
file must be readable by its owner only.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from detent.client.calls import header_text
from detent.errors import InvalidInput

VARIABLE: Final = "DETENT_KEY"
_LARGEST: Final = 1024 * 1024
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def key_file() -> Path:
    """Return the path of the file, which may not exist."""
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "detent" / "credentials.toml"


def finder(url: str, key: str | None) -> Callable[[], str | None]:
    """Return a function that finds the key for a server: `key`, else DETENT_KEY, else that of the file."""
    if key is not None:
        return lambda: header_text(key)
    return lambda: header_text(found) if (found := os.environ.get(VARIABLE)) else stored_key(url)


def stored_key(url: str) -> str | None:
    """Return the key that the file has for a server. Raise InvalidInput if the file cannot be used."""
    return _read().get(address_of(url))


def store_key(url: str, key: str) -> Path:
    """Write the key of a server into the file, and return its path."""
    return _write({**_read(), address_of(url): header_text(key)})


def drop_key(url: str) -> bool:
    """Remove the key of a server from the file. Return whether it had one."""
    kept = _read()
    if kept.pop(address_of(url), None) is None:
        return False
    _write(kept)
    return True


def address_of(url: str) -> str:
    """Return the address of a server as the file has it: without a slash at its end, and its host in small letters."""
    parts = urlsplit(url)
    return parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower()).geturl().rstrip("/")


def _read() -> dict[str, str]:
    path = key_file()
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if os.name == "posix" and found.st_mode & _OTHERS:
                raise InvalidInput(f"{path} has keys and other users can read it; run: chmod 600 {path}")
            data = file.read(_LARGEST)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from None
    try:
        servers = tomllib.loads(data.decode()).get("servers", {})
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path} is not valid TOML: {error}") from None
    known = servers.items() if isinstance(servers, dict) else ()
    keys = {url: facts.get("key") for url, facts in known if isinstance(facts, dict)}
    return {address_of(url): key for url, key in keys.items() if isinstance(key, str)}


def _write(keys: Mapping[str, str]) -> Path:
    path = key_file()
    parts = [f"[servers.{json.dumps(url)}]\nkey = {json.dumps(key)}\n" for url, key in sorted(keys.items())]
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=path.parent, prefix=".credentials-")  # only its owner can read it
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write("\n".join(parts))
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from None
    return path
