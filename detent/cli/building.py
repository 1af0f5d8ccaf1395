"""Commands as Typer makes them of their functions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer


def command_of(name: str) -> Any:
    """Load the module of a command and make the command of it, with those below it."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=False)
    import_module(f"detent.cli.{name}").add_to(app)
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
