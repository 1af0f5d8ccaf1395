"""Calls one command: its options through Typer, its errors as a few plain lines and an exit code.

0 is success, 1 something went wrong, 2 what was given cannot be used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import typer

from detent.cli.terminal import say_error
from detent.errors import DetentError, InvalidInput


def call(name: str, arguments: Sequence[str]) -> None:
    """Load the command's module and run it. Does not return."""
    module = import_module(f"detent.cli.{name}")
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=False)
    module.add_to(app)
    try:
        app(args=list(arguments), prog_name=f"detent {name}")
    except InvalidInput as error:
        say_error(error)
        sys.exit(2)
    except DetentError as error:
        say_error(error)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read us has gone, as `| head` does
        sys.exit(1)
