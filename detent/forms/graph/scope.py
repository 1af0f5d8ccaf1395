"""The names an expression of the graph form may use, and which nodes it may read.

    trigger (the body of the start)  spec  headers  query  vars.NAME  run.id  workflow.name
    context.data['NODE']    its output; {error, errorNode} if it failed; null if it was skipped
    steps.NODE.status  .status_code  .headers  .body  .output  .error
    wait.NODE.url           the callback of a node with core.wait
    attempt.number  attempt.at                  (in parameters of a node that is tried)

Parameters and `if` read nodes before their own. The condition of an edge reads its own node too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from detent.expressions import Reference
from detent.forms.scope import ScopeCheck
from detent.forms.templates import Read
from detent.graph.check import Upstream
from detent.graph.model import StepKind
from detent.values.fields import Problems, shown

_WHOLE: Final = ("trigger", "spec", "headers", "query")
_ROOTS: Final = (*_WHOLE, "context", "vars", "steps", "wait", "run", "workflow", "attempt")
_PARTS: Final = {"run": ("id",), "workflow": ("name",), "attempt": ("number", "at")}


class GraphScope(ScopeCheck):
    """Checks reads against the names of the graph form."""

    noun: ClassVar = "node"
    a_noun: ClassVar = "a node"
    map_key: ClassVar = "forEach"

    def __init__(
        self, kinds: Mapping[str, StepKind | None], upstream: Upstream, variables: Collection[str], problems: Problems
    ) -> None:
        super().__init__(kinds, upstream, problems)
        self._vars = variables

    def check_planned(self, read: Read, reader: str) -> None:
        """Report what is wrong with one read of an expression that is evaluated before `reader` has an attempt."""
        self._report(read, self._attempt(read.reference) or self._problem(read.reference, reader))

    def check_edge(self, read: Read, source: str) -> None:
        """Report what is wrong with one read of the condition of an edge from `source`."""
        match read.reference.path:
            case ("context", "data", str(name), *_) if name == source:
                return
            case ("steps", str(name), *rest) if name == source:
                self._report(read, self._part(f"steps.{name}", rest, self._parts_of(name)))
            case _:
                self.check_planned(read, source)

    def _problem(self, reference: Reference, reader: str | None) -> str | None:
        match reference.path:
            case (root, *_) if root in _WHOLE:
                return None
            case ("run" | "workflow" as root, *rest):
                return self._part(root, rest, _PARTS[root])
            case ("attempt", *rest):
                return self._attempt(reference) if reader is None else self._part("attempt", rest, _PARTS["attempt"])
            case ("context", "data", str(name), *_):
                return self._unread(name, reader)
            case ("steps", str(name), *rest):
                return self._unread(name, reader) or self._part(f"steps.{name}", rest, self._parts_of(name))
            case ("wait", str(name), "url"):
                return self._callback(name)
            case ("vars", str(name), *_):
                hint = self._problems.did_you_mean(name, self._vars) or "; write it under vars"
                return None if name in self._vars else f"no variable {shown(name)}{hint}"
            case ("vars",):
                return None
            case _:
                return self._unknown(reference)

    def _attempt(self, reference: Reference) -> str | None:
        """Return a problem if the reference reads the attempt, where there is none."""
        return (
            "only the parameters of a node that is tried know the attempt" if reference.path[0] == "attempt" else None
        )

    def _unneeded(self, name: str, reader: str) -> str:
        return f"no path of edges leads from {name!r} to {reader!r}, so its result may not be there"

    def _unknown(self, reference: Reference) -> str:
        root = str(reference.path[0])
        match root:
            case "context":
                return "write context.data['NODE'] with the id of a node"
            case "steps":
                return "name a node and a part of its result: steps.NODE.output"
            case "wait":
                return "write wait.NODE.url with the id of a node that waits"
        if root in self._kinds:
            return f"write context.data['{root}'] to read the output of that node"
        return self._unknown_name(root, _ROOTS)
