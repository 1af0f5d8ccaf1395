"""Actions: Python functions that steps call by name.

    @action("shop.charge", version="1.2.0", effect="keyed(Idempotency-Key)")
    def charge(amount: int, currency: str = "EUR") -> dict[str, str]:
        ...

The `with` of the step becomes keyword arguments, and the return value becomes the step's output. A plain function runs
in a thread, an `async def` on the engine's loop. `isolation` chooses another place: `inline` calls a plain function
directly on the loop. It is for work that takes no time: it blocks the whole node, and no time limit can end it.
`process` and `pool` run it in a process of its own (`steps/isolation/`). Elsewhere an action is trusted code: it may
connect anywhere, and the egress guard does not see it, unless it uses its context.

An exception fails the attempt, which is then retried by the step's retry policy. After `Permanent` it is not retried;
`RetryLater(seconds)` sets the shortest wait. An action may be called again after a crash with the same
`ActionContext.idempotency_key`.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, TypeVar, Unpack

import msgspec

from detent.catalog.action import ActionFacts, Effect, check_version, read_effect
from detent.errors import Conflict, InvalidInput, Problem
from detent.steps.action_context import ActionContext
from detent.steps.action_schema import output_schema, parameter_schema
from detent.steps.arguments import Bind, Signature, innermost, read_signature, unwrapped
from detent.steps.errors import ActionError, Permanent, RetriableFailure, RetryLater
from detent.steps.protocol import Needs
from detent.values.answer import RESPOND, answer_problems
from detent.values.durations import in_seconds

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
#: The connector of actions whose name has no dot.
NO_CONNECTOR: Final = "local"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_LONGEST_NAME: Final = 128


class Isolation(StrEnum):
    """Where the function of an action runs."""

    THREAD = "thread"
    LOOP = "loop"
    INLINE = "inline"
    PROCESS = "process"  # a process of its own for each attempt
    POOL = "pool"  # one of a few processes, used again


#: The places that a time limit can end hard, because they are processes.
PROCESSES: Final = (Isolation.PROCESS, Isolation.POOL)
#: How many bytes of memory a process of an action may have, unless the action says otherwise.
MEMORY: Final = 512 * 1024 * 1024
SMALLEST_MEMORY: Final = 64 * 1024 * 1024


@dataclass(frozen=True)
class Action:
    """A registered function and how it is called. Its limits are in seconds, `memory` in bytes.

    `described` has what its decorator says about it, beside what its signature says.
    """

    name: str
    function: Callable[..., Any]
    bind: Bind
    is_async: bool
    is_inline: bool
    isolation: Isolation
    needs: Needs
    signature: Signature
    described: ActionFacts
    timeout: float | None = None
    heartbeat_timeout: float | None = None
    memory: int = MEMORY

    @cached_property
    def facts(self) -> ActionFacts:
        """Return the description of the action with its schemas. They are built when they are first asked for."""
        parameters, output = parameter_schema(self.signature), output_schema(self.signature)
        return msgspec.structs.replace(self.described, parameters=parameters, output=output)

    def misfits(self, constants: Mapping[str, Any], *, is_whole: bool) -> Mapping[str, str | None]:
        """Return why each constant does not fit its parameter, or `None` if it does; see `Signature.misfits`.

        The code of a process is not run here, so its parameters are not judged."""
        return {} if self.isolation in PROCESSES else self.signature.misfits(constants, is_whole=is_whole)

    @property
    def takes_context(self) -> bool:
        """Return whether its code gets the context of its attempt."""
        return bool(self.signature.context)

    def unwrapped(self, given: Any) -> Any:
        """Return the `with` of a step as the schema describes it."""
        model = self.signature.model
        return unwrapped(given, model) if model is not None and isinstance(given, dict) else given


class ActionOptions(TypedDict, total=False):
    """What the decorator of an action can say about it.

    `effect` is what a repeated attempt does, `deprecated` says what to use instead. `timeout` and `heartbeat_timeout`
    are seconds, `memory` is a number of bytes. `inline=True` is another spelling of `isolation="inline"`.
    """

    inline: bool
    version: str
    title: str
    category: str
    tags: Sequence[str]
    effect: str | Effect
    deprecated: str | None
    isolation: str
    timeout: float | timedelta | None
    heartbeat_timeout: float | timedelta | None
    memory: int | None


class Registry:
    """The actions of a node, by name. Names that begin with `core.` belong to Detent."""

    def __init__(self, *, is_core: bool = False) -> None:
        self._actions: dict[str, Action] = {}
        self._is_core = is_core
        self._adopted: set[str] = set()
        self.find: Callable[[str], Action | None] = self._actions.get

    def action(self, name: str, **options: Unpack[ActionOptions]) -> Callable[[Function], Function]:
        """Register the decorated function. The function itself is unchanged."""

        def register(function: Function) -> Function:
            self.add(name, function, **options)
            return function

        return register

    def add(self, name: str, function: Callable[..., Any], **options: Unpack[ActionOptions]) -> None:
        """Register a function. Raise InvalidInput for an invalid name or function, Conflict if the name is taken."""
        if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name) or is_core(name) != self._is_core:
            raise InvalidInput(f"{name[:160]!r} cannot be the name of an action")
        known = self._actions.get(name)
        made = _make(name, function, options)
        if known is not None and name not in self._adopted and not _is_same(known.function, function):
            raise Conflict(f"there is an action {name!r} already")
        self._adopted.discard(name)
        self._actions[name] = made

    def adopt(self, other: Registry) -> None:
        """Take over the actions of another registry whose names are free. An action that is registered here later
        replaces one that was taken over."""
        for one in other.all():
            if self._actions.setdefault(one.name, one) is one:
                self._adopted.add(one.name)

    def with_action(self, name: str, function: Callable[..., Any], **options: Unpack[ActionOptions]) -> Registry:
        """Return a registry with the same actions, and this function under that name."""
        made = Registry(is_core=self._is_core)
        made._actions.update(self._actions)
        made.add(name, function, **options)
        return made

    def facts(self) -> list[ActionFacts]:
        """Return what the catalog lists of each action, by name."""
        return [self._actions[name].facts for name in self.names()]

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted."""
        return tuple(sorted(self._actions))

    def all(self) -> tuple[Action, ...]:
        """Return all actions, by name."""
        return tuple(self._actions[name] for name in self.names())


def _make(name: str, function: Callable[..., Any], options: ActionOptions) -> Action:
    is_async = inspect.iscoroutinefunction(innermost(function))
    place = _isolation(name, function, options, is_async=is_async)
    signature = read_signature(function)
    timeout = _seconds(name, "timeout", options.get("timeout"))
    heartbeat_timeout = _seconds(name, "heartbeat_timeout", options.get("heartbeat_timeout"))
    effect = options.get("effect", Effect())
    described = ActionFacts(
        id=name,
        connector=name.partition(".")[0] if "." in name else NO_CONNECTOR,
        version=check_version(name, options.get("version")),
        title=options.get("title") or name.rpartition(".")[2].replace("-", " ").replace("_", " ").capitalize(),
        description=inspect.getdoc(function) or "",
        category=options.get("category", ""),
        tags=tuple(options.get("tags", ())),
        effect=read_effect(effect) if isinstance(effect, str) else effect,
        deprecation=options.get("deprecated"),
    )
    return Action(
        name=name,
        function=function,
        bind=signature.binding(),
        is_async=is_async,
        is_inline=place is Isolation.INLINE,
        isolation=place,
        needs=_needs(signature, place, has_limit=timeout is not None or heartbeat_timeout is not None),
        signature=signature,
        described=described,
        timeout=timeout,
        heartbeat_timeout=heartbeat_timeout,
        memory=_memory(name, options.get("memory"), place),
    )


def _isolation(name: str, function: Callable[..., Any], options: ActionOptions, *, is_async: bool) -> Isolation:
    given, inline = options.get("isolation"), options.get("inline", False)
    if given is not None and given not in set(Isolation):
        raise InvalidInput(f"action {name!r}: {given!r} is not an isolation; it is one of {', '.join(Isolation)}")
    if inline and given not in (None, Isolation.INLINE):
        raise InvalidInput(f"action {name!r}: inline=True contradicts isolation={given!r}")
    usual = Isolation.LOOP if is_async else Isolation.INLINE if inline else Isolation.THREAD
    place = usual if given is None else Isolation(given)
    if is_async and (inline or place is Isolation.INLINE):
        raise InvalidInput(f"action {name!r}: only a plain function can be inline, not an async one")
    if is_async is not (place is Isolation.LOOP) and place not in (*PROCESSES, Isolation.INLINE):
        said = "an async function runs on the loop" if is_async else "a plain function would block the loop"
        raise InvalidInput(f"action {name!r}: isolation={place.value!r} is not possible: {said}")
    if place in PROCESSES:
        _check_process(name, function, place)
    return place


def _check_process(name: str, function: Callable[..., Any], place: Isolation) -> None:
    """Raise InvalidInput unless another process can find the function by its module and name."""
    if os.name != "posix":
        raise InvalidInput(f"action {name!r}: isolation={place.value!r} needs Linux or another POSIX system")
    module, path = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module in (None, "__main__") or not path or "<" in path:
        message = f"action {name!r}: isolation={place.value!r} needs a function at the top of a module"
        raise InvalidInput(f"{message}, because another process imports it; it is {path or function!r} of {module}")


def _needs(signature: Signature, place: Isolation, *, has_limit: bool) -> Needs:
    """Return what attempts need of the engine. An action that uses nothing costs nothing."""
    needs = Needs.VIEW if signature.context else Needs.NOTHING
    if place is not Isolation.INLINE and (signature.context or has_limit or place in PROCESSES):
        needs |= Needs.OWN_LIMIT
    return needs


def _seconds(name: str, field: str, given: float | timedelta | None) -> float | None:
    if given is None:
        return None
    try:
        found = in_seconds(given)
    except InvalidInput as error:
        raise InvalidInput(f"action {name!r}: {field}: {error.message}") from None
    if found <= 0:
        raise InvalidInput(f"action {name!r}: {field} must be more than 0 seconds, not {given!r}")
    return found


def _memory(name: str, given: Any, place: Isolation) -> int:
    if given is None:
        return MEMORY
    if place not in PROCESSES:
        raise InvalidInput(f"action {name!r}: only a process has a memory limit; write isolation='process'")
    if isinstance(given, bool) or not isinstance(given, int) or given < SMALLEST_MEMORY:
        least = SMALLEST_MEMORY // 1024**2
        raise InvalidInput(f"action {name!r}: memory is a number of bytes, at least {least} MB, not {given!r}")
    return int(given)


def isolated_modules() -> tuple[str, ...]:
    """Return the modules of the registered actions that run in processes."""
    return tuple(sorted({one.function.__module__ for one in registry.all() if one.isolation in PROCESSES}))


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
Level = Literal["debug", "info", "warning", "error"]


@CORE.action("core.echo", inline=True, effect="none", category="Test")
def echo(**parameters: Any) -> dict[str, Any]:
    """Return the parameters."""
    return parameters


@CORE.action("core.fail", inline=True, effect="none", category="Test")
def fail(message: str = "failed on purpose", code: str = "failed", retry: bool = False) -> Any:
    """Fail with this message and code. With `retry` the step may be retried."""
    raise (ActionError if retry else Permanent)(message, code=code)


@CORE.action("core.log", inline=True, effect="idempotent", category="Data")
def log(context: ActionContext, message: str, level: Level = "info", **facts: Any) -> None:
    """Write a line to the log of the node, with the run, the step and the attempt."""
    getattr(context.log, level)(message, **facts)


@CORE.action("core.transform", inline=True, effect="none", category="Data")
def transform(value: Any) -> Any:
    """Return the value. Its templates make another shape of what earlier steps returned."""
    return value


@CORE.action(RESPOND, inline=True, effect="none", category="Flow")
def respond(status: int = 200, headers: dict[str, Any] | None = None, body: Any = None) -> dict[str, Any]:
    """Answer the caller of the webhook that started the run, once; the run goes on. The output is the answer."""
    found = answer_problems(status, headers or {}, body)
    if found:
        raise Permanent("; ".join(f"{one.field}: {one.message}" for one in found), code="invalid_parameters")
    return {"status": status, "headers": headers or {}, "body": body}


@CORE.action("core.sometimes-fails", inline=True, effect="none", category="Test")
def sometimes_fails(context: ActionContext, failures: int = 2, **parameters: Any) -> dict[str, Any]:
    """Fail in the first attempts, `failures` of them, and return the other parameters and the attempt after that."""
    if context.attempt <= failures:
        raise RetriableFailure(f"attempt {context.attempt} fails on purpose", "failed_on_purpose")
    return {**parameters, "attempt": context.attempt}


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
