"""Commands for tests, bound to a caller of the default tenant."""

from __future__ import annotations

from detent.app import App
from detent.auth.caller import local_caller
from detent.commands import Commands, EngineCommands
from detent.engine.engine import Engine


def commands_of(source: App | Engine, name: str = "test") -> Commands:
    """Return the commands of an app or an engine, as a caller of that name."""
    commands = source.commands if isinstance(source, App) else EngineCommands(source)
    return commands.for_caller(local_caller(name))
