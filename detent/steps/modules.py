"""Loads the user's modules, which register actions when they are imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from pathlib import Path

from detent.errors import InvalidInput, Problem


def load_modules(names: Iterable[str]) -> None:
    """Import each, or InvalidInput; modules of the current folder are found too."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            problem = Problem("import", f"{name}: {type(error).__name__}: {error}")
            raise InvalidInput(f"cannot load the module {name}", [problem]) from error
