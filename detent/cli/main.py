"""Calls one command: its options through Typer, its errors as a few plain lines and an exit code.

0 is success, 1 something went wrong, 2 what was given cannot be used.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

import typer
from rich.markup import escape

from detent.cli.output.terminal import err, plain, say_error
from detent.errors import DetentError, InvalidInput

# Commands as Typer makes them of their functions.


def command_of(name: str) -> Any:
    """Load the module of a command and make the command of it, with those below it."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=False)
    import_module(f"detent.cli.commands.{name}").add_to(app)
    command: Any = typer.main.get_command(app)
    for one in (command, *commands_below(command).values()):
        _say_no_type_of_switches(one)
    return command


def commands_below(command: Any) -> dict[str, Any]:
    """The commands of a group by name; none if it is no group."""
    return dict(getattr(command, "commands", {}))


def _say_no_type_of_switches(command: Any) -> None:
    """Help would show `<bool>` behind an option that takes no value."""
    for option in (*command.params, command.get_help_option(typer.Context(command))):
        if getattr(option, "is_flag", False) and option.metavar is None:
            option.metavar = ""


#: What Typer raises when options or arguments cannot be used.
_WRONG_USE: Final[Any] = typer.BadParameter.__base__


def call(name: str, arguments: Sequence[str]) -> None:
    """Load the command's module and run it. Does not return."""
    command = command_of(name)
    given = _with_values(arguments, getattr(import_module(f"detent.cli.commands.{name}"), "BARE", {}))
    try:
        code = command.main(args=given, prog_name=f"detent {name}", standalone_mode=False)
    except _WRONG_USE as error:
        where = error.ctx.command_path if error.ctx else f"detent {name}"
        err.print(f"[red]error:[/] {plain(error.format_message())}\n`{escape(where)} --help` says how it is used")
        sys.exit(2)
    except InvalidInput as error:
        say_error(error)
        sys.exit(2)
    except DetentError as error:
        say_error(error)
        sys.exit(1)
    except typer.Abort:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read us has gone, as `| head` does
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _with_values(arguments: Sequence[str], bare: Mapping[str, str]) -> list[str]:
    """The arguments, where an option that may stand alone gets the value it then means."""
    given: list[str] = []
    for place, word in enumerate(arguments):
        following = arguments[place + 1] if place + 1 < len(arguments) else ""
        alone = word in bare and not following[:1].isdigit()
        given.append(f"{word}={bare[word]}" if alone else word)
    return given
