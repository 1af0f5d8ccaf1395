"""Runs `detent` in a process without the names and files that only Linux has, as a stand-in for macOS.

The packages that Detent needs are imported first: they choose what they use when they are imported, and on macOS they
are other builds. Detent itself is imported afterwards.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import sys
import time
import urllib.request  # noqa: F401 - it has another part on macOS
from importlib import import_module
from types import ModuleType
from typing import Any

from tests.architecture.linux_names import LINUX, PATHS

PACKAGES = (
    "aiohttp alembic.config argon2 asyncio cronsim cryptography httptools jsonschema_rs jwt litestar minijinja msgspec "
    "multidict rich.live sqlalchemy.dialects.sqlite structlog typer uuid_utils uvicorn uvloop watchfiles yaml yarl"
)
#: Without `select`: the loop of the standard library that was built for Linux uses it.
MODULES: tuple[ModuleType, ...] = (os, signal, socket, resource, time)


def hide(event: str, arguments: tuple[Any, ...]) -> None:
    """Hide the files of Linux."""
    is_look = event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str | os.PathLike)
    if is_look and PATHS.match(os.fspath(arguments[0])):
        raise FileNotFoundError(2, "No such file or directory", arguments[0])


def main() -> None:
    for package in PACKAGES.split():
        import_module(package)
    for module in MODULES:
        for name in [name for name in vars(module) if re.fullmatch(LINUX[module.__name__], name)]:
            delattr(module, name)
    sys.platform = "darwin"
    sys.addaudithook(hide)
    import_module("detent.cli").main()


if __name__ == "__main__":
    main()
