"""Actions: Python functions that steps call by name.

    @action("shop.charge")
    def charge(amount: int, currency: str = "EUR") -> dict[str, str]:
        ...

The `with` of the step becomes keyword arguments, and the return value becomes the step's output. A plain function runs
in a thread, an `async def` on the engine's loop. `inline=True` calls a plain function directly on the loop. It is for
work that takes no time: it blocks the whole node, and no time limit can end it. An action is trusted code: it may
connect anywhere, and the egress guard does not see it.

An exception fails the attempt, which is then retried by the step's retry policy. After `Permanent` it is not retried;
`RetryLater(seconds)` sets the shortest wait. An action may be called again after a crash with the same
`ActionContext.idempotency_key`.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from detent.errors import Conflict, InvalidInput, Problem
from detent.steps.arguments import ActionContext, Bind, compile_binding, innermost
from detent.steps.errors import ActionError, Permanent, RetryLater

__all__ = [
    "Action",
    "ActionContext",
    "ActionError",
    "Permanent",
    "Registry",
    "RetryLater",
    "action",
    "is_core",
    "registry",
]

Function = TypeVar("Function", bound=Callable[..., Any])

CORE_PREFIX: Final = "core."
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_LONGEST_NAME: Final = 128


@dataclass(frozen=True, slots=True)
class Action:
    """A registered function and how it is called."""

    name: str
    function: Callable[..., Any]
    bind: Bind
    is_async: bool
    is_inline: bool


class Registry:
    """The actions of a node, by name. Names that begin with `core.` belong to Detent."""

    def __init__(self, *, is_core: bool = False) -> None:
        self._actions: dict[str, Action] = {}
        self._is_core = is_core
        self.find: Callable[[str], Action | None] = self._actions.get

    def action(self, name: str, *, inline: bool = False) -> Callable[[Function], Function]:
        """Register the decorated function. The function itself is unchanged."""

        def register(function: Function) -> Function:
            self.add(name, function, inline=inline)
            return function

        return register

    def add(self, name: str, function: Callable[..., Any], *, inline: bool = False) -> None:
        """Register a function. Raise InvalidInput for an invalid name or function, Conflict if the name is taken."""
        if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name) or is_core(name) != self._is_core:
            raise InvalidInput(f"{name[:160]!r} cannot be the name of an action")
        is_async = inspect.iscoroutinefunction(innermost(function))
        if is_async and inline:
            raise InvalidInput(f"action {name!r}: only a plain function can be inline, not an async one")
        known = self._actions.get(name)
        if known is not None and not _is_same(known.function, function):
            raise Conflict(f"there is an action {name!r} already")
        self._actions[name] = Action(name, function, compile_binding(function), is_async, inline)

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted."""
        return tuple(sorted(self._actions))


def is_core(name: str) -> bool:
    """Return whether the action is one of Detent's own, which every node has."""
    return name.startswith(CORE_PREFIX)


def _is_same(known: Callable[..., Any], function: Callable[..., Any]) -> bool:
    """Return whether both are one function. A module that is loaded again defines the same function again."""
    if known is function:
        return True
    place = getattr(known, "__module__", None), getattr(known, "__qualname__", None)
    return None not in place and place == (function.__module__, getattr(function, "__qualname__", None))


registry: Final = Registry()
action: Final = registry.action


# The actions that every node has.


CORE: Final = Registry(is_core=True)


@CORE.action("core.echo", inline=True)
def echo(**parameters: Any) -> dict[str, Any]:
    """Return the parameters."""
    return parameters


@CORE.action("core.fail", inline=True)
def fail(message: str = "failed on purpose", code: str = "failed", retry: bool = False) -> Any:
    """Fail with this message and code. With `retry` the step may be retried."""
    raise (ActionError if retry else Permanent)(message, code=code)


# The user's modules register actions when they are imported.


def load_modules(names: Iterable[str]) -> None:
    """Import each module, also from the current folder. Raise InvalidInput if an import fails."""
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:
            problem = Problem("import", f"{name}: {type(error).__name__}: {error}")
            raise InvalidInput(f"cannot load the module {name}", [problem]) from error
