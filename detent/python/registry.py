"""The Python workflows of a node, by name: chains (classes) and durable functions.

Each workflow adds itself when its module is imported, with all that is computed from its code once: what is stored
(`compiled`, `source`), and what identifies the code (`fingerprint`).
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
    """The kind of a registered workflow."""

    CHAIN = "chain"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class Registered:
    """One workflow.

    `target` is the class, or the object that wraps the function. `place` is where it is defined, as
    `module:qualname`. `source` is the readable document that is stored with each version.
    """

    name: str
    kind: CodeKind
    target: Any
    compiled: Compiled
    source: str
    fingerprint: str
    place: str


class PythonRegistry:
    """The workflows by name. Two different workflows with one name are a Conflict.

    A module that is loaded again replaces its workflows. A workflow that is defined inside a function, as in tests, is
    replaced by the next one of its name: no other module could import it.
    """

    def __init__(self) -> None:
        self._known: dict[str, Registered] = {}
        self.find: Callable[[str], Registered | None] = self._known.get

    def add(self, one: Registered) -> None:
        """Register a workflow. Raise Conflict if its name is taken, InvalidDefinition if it cannot be stored."""
        try:
            one.source.encode()
        except UnicodeEncodeError:
            message = f"{one.place!r} cannot be a workflow: its text has half a character (a lone surrogate)"
            raise InvalidDefinition(message) from None
        known = self._known.get(one.name)
        if known is not None and known.place != one.place and "<locals>" not in known.place:
            raise Conflict(
                f"{one.place} cannot be the workflow {one.name!r}: {known.place} is; give one of them another `name`"
            )
        self._known[one.name] = one

    @contextmanager
    def scoped(self, keep: Callable[[Registered], bool]) -> Iterator[None]:
        """Know only the workflows that `keep` accepts inside the `with` block. Restore all of them afterwards."""
        before = dict(self._known)
        for name in [name for name, one in before.items() if not keep(one)]:
            del self._known[name]
        try:
            yield
        finally:
            self._known.clear()
            self._known.update(before)

    def all(self) -> tuple[Registered, ...]:
        """Return all workflows, sorted by name."""
        return tuple(self._known[name] for name in sorted(self._known))

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted."""
        return tuple(sorted(self._known))

    def serves(self) -> tuple[str, ...]:
        """Return what a node with this code can run, as `Compiled.code` spells it.

        Each workflow is there twice: by its name alone, and with the fingerprint of its code.
        """
        return tuple(code for one in self.all() for code in (code_name(one.name), code_name(one.name, one.fingerprint)))


def code_name(workflow: str, fingerprint: str | None = None) -> str:
    """Return the name of a workflow's code in `Compiled.code`. With a fingerprint it names only that code."""
    return f"workflow:{workflow}" if fingerprint is None else f"workflow:{workflow}@{fingerprint}"


registry: Final = PythonRegistry()
