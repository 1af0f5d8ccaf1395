"""Call one command: Typer parses its options, and an error becomes a few plain lines and an exit code.

0 is success, 1 an error, 2 an invalid argument or option, 130 Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from copy import copy
from importlib import import_module
from typing import Any, Final

import typer
from rich.markup import escape

from detent.cli.output.terminal import err, plain, say_error
from detent.errors import DetentError, InvalidInput

#: The commands of each package below `commands`, as their modules are named. Others are modules of `commands` itself.
PACKAGES: Final = {
    "files": (
        *("init", "run", "validate", "test", "rehearse", "graph", "schema", "convert", "plan", "apply", "export"),
    ),
    "runs": ("trigger", "verify", "runs", "logs", "waits", "eval", "resources", "blobs", "dead_letters"),
    "workflows": ("workflows", "templates", "documents"),
    "rules": ("rules", "entities", "alerts"),
    "triggers": ("triggers", "events"),
    "catalog": ("connectors", "actions"),
    "vault": ("secrets", "credentials"),
    "identity": ("keys", "users", "tenants", "login", "logout", "whoami", "audit"),
    "node": ("dev", "serve", "worker", "migrate", "doctor"),
}
_PLACES: Final = {module: f"{package}.{module}" for package, modules in PACKAGES.items() for module in modules}


def module_of(name: str) -> Any:
    """Import the module of a command."""
    module = name.replace("-", "_")
    return import_module(f"detent.cli.commands.{_PLACES.get(module, module)}")


def command_of(name: str) -> Any:
    """Import the module of a command and build the Typer command with its subcommands."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=False)
    module_of(name).add_to(app)
    command: Any = typer.main.get_command(app)
    for one in (command, *commands_below(command).values()):
        one.context_settings["help_option_names"] = ["-h", "--help"]
        _add_key_option(one)
        _say_no_type_of_switches(one)
    return command


def commands_below(command: Any) -> dict[str, Any]:
    """Return the subcommands of a group by name, or an empty dict if the command is not a group."""
    return dict(getattr(command, "commands", {}))


def _add_key_option(command: Any) -> None:
    """Add `--key` to a command that talks to a server. It is the same for all of them, so it is written once."""
    for place, url in enumerate(command.params):
        if "--url" in url.opts:
            option = copy(url)  # a text too, and not required
            option.name, option.opts, option.metavar = "api_key", ["--key"], "KEY"
            option.help = "The key of the API; else DETENT_KEY, else that of `detent login`."
            option.expose_value, option.callback = False, _use_key
            command.params.insert(place + 1, option)
            return


def _use_key(_context: Any, _option: Any, key: str | None) -> None:
    if key is not None:
        import_module("detent.cli.client").use_key(key)


def _say_no_type_of_switches(command: Any) -> None:
    """Remove the type of options without a value: the help would show `<bool>` after them."""
    for option in (*command.params, command.get_help_option(typer.Context(command, **command.context_settings))):
        if getattr(option, "is_flag", False) and option.metavar is None:
            option.metavar = ""


#: The exception that Typer raises for invalid options or arguments.
_WRONG_USE: Final[Any] = typer.BadParameter.__base__


def call(name: str, arguments: Sequence[str]) -> None:
    """Run a command and exit the process with its exit code."""
    command = command_of(name)
    given = _with_values(arguments, getattr(module_of(name), "BARE", {}))
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
        sys.stderr.close()  # the reader of our output has closed the pipe, as `| head` does
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _with_values(arguments: Sequence[str], bare: Mapping[str, str]) -> list[str]:
    """Return the arguments. An option without its optional value gets its default value from `bare`."""
    given: list[str] = []
    for index, word in enumerate(arguments):
        following = arguments[index + 1] if index + 1 < len(arguments) else ""
        alone = word in bare and not following[:1].isdigit()
        given.append(f"{word}={bare[word]}" if alone else word)
    return given
