"""Which Detent this process uses: the arguments of `configure`, else the environment and `detent.toml`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from detent.errors import InvalidInput, Problem
from detent.settings import FIELDS, Settings, load_settings

_GIVEN: Final[dict[str, Any]] = {}


def configure(
    database_url: str | None = None, *, url: str | None = None, key: str | None = None, **settings: Any
) -> None:
    """Set where Detent is: its database, or the `url` of its API. Call this once, before the first start.

    `key` is the key for the API at `url`, else that of DETENT_KEY, else the one that `detent login` stored.

    Other settings have the names of `detent.toml`. The environment and `detent.toml` set what is not passed here. Raise
    InvalidInput if a setting is unknown or invalid.
    """
    given = {"database_url": database_url, **settings}
    unknown = sorted(set(given) - set(FIELDS))
    if unknown:
        raise noted(InvalidInput("invalid settings", [Problem(name, "is not a setting of Detent") for name in unknown]))
    load_settings(given, environ=os.environ, folder=Path.cwd())
    _GIVEN.clear()
    _GIVEN.update({name: value for name, value in given.items() if value is not None})
    if url is not None:
        _GIVEN["url"] = url
    if key is not None:
        _GIVEN["key"] = key


def configured() -> Mapping[str, Any]:
    """Return the arguments of `configure`."""
    return _GIVEN


def settings_of(**more: Any) -> Settings:
    """Return the settings of this process. `more` overrides them."""
    flags = {name: value for name, value in _GIVEN.items() if name not in ("url", "key")}
    flags |= {name: value for name, value in more.items() if value is not None}
    try:
        return load_settings(flags, environ=os.environ, folder=Path.cwd()).settings
    except InvalidInput as error:
        raise noted(error) from None


def noted(error: InvalidInput) -> InvalidInput:
    """Return the error with its problems as notes: a program shows its user a traceback."""
    for problem in error.problems:
        error.add_note(str(problem))
    return error


def server_key() -> str | None:
    """Return the key that `configure` named for the API."""
    key = _GIVEN.get("key")
    return None if key is None else str(key)


def server_address() -> str | None:
    """Return the address of the API to use, or None to use the database.

    The `url` of `configure` comes first, then a named database, then DETENT_URL.
    """
    if "url" in _GIVEN:
        return str(_GIVEN["url"])
    if "database_url" in _GIVEN or os.environ.get("DETENT_DATABASE_URL"):
        return None
    return os.environ.get("DETENT_URL") or None
