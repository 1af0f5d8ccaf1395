"""The user's modules, loaded where a person looks on: what is wrong with them is shown as Python shows it."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rich.markup import escape

from detent.cli.terminal import err
from detent.errors import InvalidInput
from detent.steps import modules

_OF_PYTHON: Final = "<frozen importlib"


def load_or_show(names: Iterable[str]) -> None:
    """Load the modules. An error of theirs is shown with its place before it is raised."""
    try:
        modules.load_modules(names)
    except InvalidInput as error:
        show_cause(error)
        raise


def show_cause(error: InvalidInput) -> None:
    """What went wrong in a module that could not be loaded, with its place."""
    if error.__cause__ is not None:
        err.print(escape(_trace(error.__cause__)), end="")


def _trace(error: BaseException) -> str:
    """The traceback without the frames that are ours or Python's own way to load a module."""
    told = traceback.TracebackException.from_exception(error)
    own = (_OF_PYTHON, modules.__file__, str(Path(traceback.__file__).parent / "importlib"))
    told.stack = traceback.StackSummary.from_list([frame for frame in told.stack if not frame.filename.startswith(own)])
    return "".join(told.format())
