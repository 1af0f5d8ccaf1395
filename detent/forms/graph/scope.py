"""The names an expression of the graph form may use, and which nodes it may read.

    trigger (the body of the start)  spec  headers  query  vars.NAME  run.id  workflow.name
    context.data['NODE']    its output; {error, errorNode} if it failed; null if it was skipped
    steps.NODE.status  .status_code  .headers  .body  .output  .error
    wait.NODE.url           the callback of a node with core.wait
    attempt.number  attempt.at                  (in parameters of a node that is tried)

Parameters and `if` read nodes before their own. The condition of an edge reads its own node too.
"""

from __future__ import annotations

from typing import ClassVar, Final

from detent.expressions import Reference
from detent.forms.scope import ScopeCheck
from detent.forms.templates import Read

_WHOLE: Final = ("trigger", "spec", "headers", "query")
_ROOTS: Final = (*_WHOLE, "context", "vars", "steps", "wait", "run", "workflow", "attempt")
_PARTS: Final = {"run": ("id",), "workflow": ("name",), "attempt": ("number", "at")}


class GraphScope(ScopeCheck):
    """Checks reads against the names of the graph form."""

    noun: ClassVar = "node"
    a_noun: ClassVar = "a node"
    map_key: ClassVar = "forEach"

    def check_planned(self, read: Read, reader: str, also: tuple[str, ...] = ()) -> None:
        """Report what is wrong with one read of an expression that is evaluated before `reader` has an attempt. Such an
        expression knows no item of a map either."""
        self._report(read, self._attempt(read.reference) or self._problem(read.reference, reader))

    def check_edge(self, read: Read, source: str) -> None:
        """Report what is wrong with one read of the condition of an edge from `source`."""
        match read.reference.path:
            case ("context", "data", str(name), *_) if name == source:
                return
            case _:
                super().check_edge(read, source)

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
                return self._variable(name)
            case ("vars",):
                return None
            case _:
                return self._unknown(reference)

    def _attempt(self, reference: Reference) -> str | None:
        """Return a problem if the reference reads the attempt, where there is none."""
        return (
            "only the parameters of a node that is tried know the attempt" if reference.path[0] == "attempt" else None
        )

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
