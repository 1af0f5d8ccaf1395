"""The Python workflows a node has, by name: chains (classes) and durable functions alike.

Whatever defines a workflow adds itself here when it is imported, with everything that was computed from its code once:
what is stored of it (`compiled`, `source`) and what tells its code from another's (`fingerprint`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from detent.errors import Conflict, InvalidDefinition
from detent.forms.compiled import Compiled


class CodeKind(StrEnum):
    """What a registered workflow is."""

    CHAIN = "chain"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Registered:
    """One workflow. `target` is the class, or whatever object stands for the function; `place` says where it was
    defined, as `module:qualname`; `source` is the readable document that is stored with each version."""

    name: str
    kind: CodeKind
    target: Any
    compiled: Compiled
    source: str
    fingerprint: str
    place: str


class PythonRegistry:
    """Workflows by name. Two different things of one name are a Conflict.

    A module that is loaded again replaces what it defined. What was defined inside a function, as tests do, gives way
    to the next of its name: nobody could import it anyway."""

    def __init__(self) -> None:
        self._known: dict[str, Registered] = {}
        self.find: Callable[[str], Registered | None] = self._known.get

    def add(self, one: Registered) -> None:
        """Let it be found by its name. InvalidDefinition if what is stored of it could not be."""
        try:
            one.source.encode()
        except UnicodeEncodeError:
            message = f"{one.place!r} cannot be a workflow: half a character (a lone surrogate) is in what it says"
            raise InvalidDefinition(message) from None
        known = self._known.get(one.name)
        if known is not None and known.place != one.place and "<locals>" not in known.place:
            raise Conflict(
                f"{one.place} cannot be the workflow {one.name!r}: {known.place} is; give one of them another `name`"
            )
        self._known[one.name] = one

    @contextmanager
    def scoped(self, keep: Callable[[Registered], bool]) -> Iterator[None]:
        """While this lasts only those are known that are to be kept; what is added meanwhile is forgotten again."""
        before = dict(self._known)
        for name in [name for name, one in before.items() if not keep(one)]:
            del self._known[name]
        try:
            yield
        finally:
            self._known.clear()
            self._known.update(before)

    def all(self) -> tuple[Registered, ...]:
        """Everything, by name."""
        return tuple(self._known[name] for name in sorted(self._known))

    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self._known))

    def serves(self) -> tuple[str, ...]:
        """What a node with this code can run, as `Compiled.code` spells it: each workflow whatever its code, and
        exactly the code that is here."""
        return tuple(code for one in self.all() for code in (code_name(one.name), code_name(one.name, one.fingerprint)))


def code_name(workflow: str, fingerprint: str | None = None) -> str:
    """How the code of a workflow is called in `Compiled.code`; with a fingerprint, that very code alone."""
    return f"workflow:{workflow}" if fingerprint is None else f"workflow:{workflow}@{fingerprint}"


registry: Final = PythonRegistry()
