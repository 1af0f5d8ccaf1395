"""The master keys of this process: from its settings, from a file beside a SQLite database, or none."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Final

from detent.errors import InvalidInput, Problem
from detent.settings import Settings
from detent.vault.sealing import Vault, new_key, read_key

#: What the file with the key of a SQLite database has behind the name of the database.
KEY_SUFFIX: Final = ".key"
_COMMAND_SECONDS: Final = 60.0
_LARGEST_FILE: Final = 64 * 1024
_SQLITE: Final = "sqlite:///"


def load_vault(settings: Settings) -> Vault:
    """Return the vault with the keys that the settings name, else with those of the file beside the database.

    Raise InvalidInput if a key cannot be read."""
    name, text = _written(settings)
    if text is None:
        return Vault(())
    try:
        keys = [read_key(part) for part in text.replace("\n", ",").split(",") if part.strip()]
    except InvalidInput as error:
        raise InvalidInput("invalid settings", [Problem(name, error.message)]) from None
    if not keys:
        raise InvalidInput("invalid settings", [Problem(name, "has no key in it; `detent secrets new-key` prints one")])
    return Vault(keys)


def make_key_file(settings: Settings) -> Path | None:
    """Make the file with a key beside a SQLite database, unless there is one or the settings name a key.

    Return its path if it was made. Only the user of this process can read it."""
    path = key_file(settings)
    if path is None or has_key(settings):
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        opened = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return None
    with os.fdopen(opened, "w") as file:
        file.write(f"{new_key()}\n")
    return path


def with_own_key(settings: Settings) -> Settings:
    """Return settings with a key: that of the file beside a SQLite database, else one that lives as long as the
    process. The file is made if it is missing."""
    make_key_file(settings)
    if has_key(settings) or key_file(settings) is not None:
        return settings
    return replace(settings, encryption_key=new_key())


def key_file(settings: Settings) -> Path | None:
    """Return where the key beside a SQLite database is; `None` for other databases."""
    path = settings.database_url.removeprefix(_SQLITE).partition("?")[0]
    if not settings.database_url.startswith(_SQLITE) or not path or path == ":memory:":
        return None
    return Path(path + KEY_SUFFIX)


def has_key(settings: Settings) -> bool:
    """Return whether a setting names the keys."""
    return any((settings.encryption_key, settings.encryption_key_file, settings.encryption_key_command))


def _written(settings: Settings) -> tuple[str, str | None]:
    """Return the name of what has the keys, and its text."""
    given = {
        "DETENT_ENCRYPTION_KEY": settings.encryption_key,
        "DETENT_ENCRYPTION_KEY_FILE": settings.encryption_key_file,
        "DETENT_ENCRYPTION_KEY_COMMAND": settings.encryption_key_command,
    }
    named = [name for name, value in given.items() if value]
    if len(named) > 1:
        problem = Problem(named[1], f"cannot be set together with {named[0]}; keep one of them")
        raise InvalidInput("invalid settings", [problem])
    if settings.encryption_key is not None:
        return named[0], settings.encryption_key
    if settings.encryption_key_file is not None:
        return named[0], _read_file(named[0], Path(settings.encryption_key_file))
    if settings.encryption_key_command is not None:
        return named[0], _run(named[0], settings.encryption_key_command)
    beside = key_file(settings)
    if beside is None or not beside.is_file():
        return "", None
    return str(beside), _read_file(str(beside), beside)


def _read_file(name: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST_FILE).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("invalid settings", [Problem(name, f"the file {path} cannot be read: {error}")]) from None


def _run(name: str, command: str) -> str:
    """Return what a command of the operator writes to its standard output."""
    try:
        # The command is the operator's own setting, such as `pass show detent`.
        done = subprocess.run(command, shell=True, capture_output=True, timeout=_COMMAND_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InvalidInput("invalid settings", [Problem(name, f"the command failed: {error}")]) from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-500:]
        message = f"the command {command!r} ended with {done.returncode}: {said or 'it wrote no error'}"
        raise InvalidInput("invalid settings", [Problem(name, message)])
    return done.stdout[:_LARGEST_FILE].decode(errors="replace")
