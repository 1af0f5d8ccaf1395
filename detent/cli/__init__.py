"""The command line: one module per command, imported when the command is called.

So `detent --help` and a mistyped command answer at once, and `detent validate` does not load the web server.
"""

from __future__ import annotations

import difflib
import gc
import sys
from importlib import import_module
from typing import Final

from detent.version import VERSION

COMMANDS: Final = {
    "init": "Create a project: workflows that run, tests, and settings",
    "dev": "Try Detent: everything in one process on SQLite, with examples",
    "run": "Run a workflow here and now, and watch it",
    "validate": "Check workflow files and list all problems",
    "test": "Run the tests in text of workflow files",
    "rehearse": "Run a workflow file over the recorded runs of its workflow",
    "graph": "Draw a workflow file as text or Mermaid",
    "schema": "Print the JSON Schema of a form of definitions",
    "convert": "Write a workflow file in another form",
    "plan": "Say what applying a folder of workflow files would change",
    "apply": "Save workflow files: create workflows or new versions of them",
    "export": "Write the saved workflows as files",
    "trigger": "Start a run of a saved workflow",
    "runs": "List, show, control and repeat runs, and explain why one waits",
    "logs": "Show what happened in a run, line by line, live if you like",
    "waits": "List what waits for an answer, answer it, approve and reject",
    "eval": "Try an expression on the data of a run",
    "workflows": "List, show, publish, compare, archive and delete workflows",
    "templates": "List workflow templates, and make workflows of them",
    "documents": "Save document templates, and render documents",
    "rules": "List, show, save, activate and delete rules, and show which events match",
    "entities": "List, show, add, change and delete entities",
    "alerts": "List, acknowledge and resolve alerts",
    "triggers": "List, show, create, pause, fire and backfill triggers",
    "connectors": "List, show, add, test, enable and disable connectors",
    "actions": "List and show what steps can call",
    "credentials": "Set, list, show, connect and delete credentials",
    "secrets": "Set, list, rotate and delete secrets, and make an encryption key",
    "resources": "Find the runs that have resources of other systems",
    "blobs": "List and download large payloads that runs name",
    "dead-letters": "List, requeue and purge what Detent gave up",
    "events": "Send events, and changes of records, so that triggers and rules fire",
    "keys": "Create, list, rotate and revoke keys of the API",
    "login": "Store the key of a server on this machine",
    "logout": "Forget the key of a server",
    "whoami": "Say as what a server knows you, and what you may do",
    "users": "Add, list, change and disable people who sign in, and end their sessions",
    "audit": "List and export who changed what, and what was refused",
    "verify": "Check that sealed runs were not changed",
    "tenants": "Create, list, change, suspend, export and delete tenants",
    "serve": "Serve the API and run workflows",
    "worker": "Run workflows only, without the API",
    "migrate": "Bring the tables of a database up to date",
    "doctor": "Check settings, versions and the database",
}
#: Thresholds of the garbage collector. Imported modules are never freed. With the default thresholds, scanning them
#: during the imports takes a tenth of the time of a short command.
_COLLECTOR: Final = (50_000, 20, 100)
#: The exit code of a program that SIGINT ended.
INTERRUPTED: Final = 130
_USAGE: Final = "usage: detent COMMAND [OPTIONS]"


def main() -> None:
    """Run the program `detent`. Ctrl-C ends it without a traceback, also during the imports."""
    try:
        _main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _main() -> None:
    gc.set_threshold(*_COLLECTOR)
    arguments = sys.argv[1:]
    name = arguments[0] if arguments else "--help"
    if name in COMMANDS:
        import_module("detent.cli.main").call(name, arguments[1:])
    elif name in ("--help", "-h", "help"):
        print(_help())
    elif name in ("--version", "-V"):
        print(f"detent {VERSION}")
    elif name in ("--show-completion", "--install-completion"):
        sys.exit(import_module("detent.cli.completion").complete(name, next(iter(arguments[1:]), None)))
    else:
        near = [*_below(name), *difflib.get_close_matches(name, COMMANDS, n=1)][:3]
        hint = f" Did you mean {' or '.join(repr(one) for one in near)}?" if near else ""
        print(f"detent: there is no command {name!r}.{hint}\n{_USAGE}; `detent --help` lists them", file=sys.stderr)
        sys.exit(2)


def _below(name: str) -> list[str]:
    """Return the commands of groups that have this name: `runs history` for `history`."""
    command_of = import_module("detent.cli.main").command_of
    return [f"{group} {name}" for group in COMMANDS if name in getattr(command_of(group), "commands", ())]


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = (f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items())
    return (
        f"Detent {VERSION}, a durable workflow engine.\n\n{_USAGE}\n\n" + "\n".join(lines) + "\n\n"
        "`detent COMMAND --help` says more. Begin with `detent dev`, or with `detent init` in a folder of your own.\n"
        "`detent --install-completion bash|zsh|fish` lets your shell complete commands and options.\n"
        "Settings come from flags, then DETENT_* variables, then detent.toml; `detent doctor` lists them."
    )
