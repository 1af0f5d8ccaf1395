"""Which Detent this process means: what `configure` said, else what the environment and `detent.toml` say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from detent.errors import InvalidInput, Problem
from detent.settings import FIELDS, Settings, load_settings

_GIVEN: Final[dict[str, Any]] = {}


def configure(database_url: str | None = None, *, url: str | None = None, **settings: Any) -> None:
    """Say once, before the first start, where Detent is: its database, or the `url` of one that serves its API. Other
    settings by their names in `detent.toml`. What is not said comes from the environment and `detent.toml`."""
    given = {"database_url": database_url, **settings}
    unknown = sorted(set(given) - set(FIELDS))
    if unknown:
        raise InvalidInput("invalid settings", [Problem(name, "is not a setting of Detent") for name in unknown])
    load_settings(given, environ=os.environ, folder=Path.cwd())
    _GIVEN.clear()
    _GIVEN.update({name: value for name, value in given.items() if value is not None})
    if url is not None:
        _GIVEN["url"] = url


def configured() -> Mapping[str, Any]:
    """What `configure` said."""
    return _GIVEN


def settings_of(**more: Any) -> Settings:
    """The settings of this process."""
    flags = {name: value for name, value in _GIVEN.items() if name != "url"}
    flags |= {name: value for name, value in more.items() if value is not None}
    return load_settings(flags, environ=os.environ, folder=Path.cwd()).settings


def server_address() -> str | None:
    """The address of a Detent that serves, if the process was told one. A database that was named comes first."""
    if "url" in _GIVEN:
        return str(_GIVEN["url"])
    if "database_url" in _GIVEN or os.environ.get("DETENT_DATABASE_URL"):
        return None
    return os.environ.get("DETENT_URL") or None
