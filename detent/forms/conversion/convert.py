"""Convert a workflow to another form. The result has the same fingerprint, or the conversion is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from detent.errors import InvalidDefinition, NotConvertible, Problem
from detent.forms.compile import FORMS, compile_document
from detent.forms.compiled import Compiled, Limits
from detent.forms.conversion.graph import write_graph
from detent.forms.conversion.parts import Document, Source
from detent.forms.conversion.rule import write_rule
from detent.forms.conversion.steps import write_steps
from detent.graph.fingerprint import fingerprint
from detent.values.fields import Problems

_LIMITS: Final = Limits()
_WRITERS: Final[dict[str, Callable[[Source], Document]]] = {
    "steps": write_steps,
    "graph": write_graph,
    "rule": write_rule,
}
#: The forms that a workflow can be converted to.
TARGETS: Final = tuple(_WRITERS)


@dataclass(frozen=True, slots=True)
class Converted:
    """A workflow in another form. `is_same` says that it had that form already, and its document is unchanged."""

    document: Document
    form: str
    fingerprint: str
    is_same: bool = False


def convert(document: Mapping[str, Any], to: str, *, limits: Limits = _LIMITS, name: str | None = None) -> Converted:
    """Convert the document of a workflow to a form. Raise NotConvertible with every step and edge that the form cannot
    hold, and InvalidDefinition if the document itself is invalid. `name` is another name for the result."""
    if to not in _WRITERS:
        known = ", ".join(map(repr, _WRITERS))
        raise NotConvertible(
            "the workflow cannot be converted", [Problem("form", f"must be one of {known}, not {to[:80]!r}")]
        )
    compiled = compile_document(document, limits=limits)
    found = fingerprint(compiled.graph)
    if compiled.form == to and name in (None, compiled.name):
        return Converted(dict(document), to, found, is_same=True)
    written = write_document(compiled, document, to, name=name)
    try:
        again = compile_document(written, limits=limits)
    except InvalidDefinition as error:
        raise _refusal(compiled.name, to, error.problems) from None
    if fingerprint(again.graph) != found:
        raise _refusal(compiled.name, to, [Problem("", "its graph would not be the same; please report this workflow")])
    return Converted(written, to, found)


def write_document(compiled: Compiled, document: Mapping[str, Any], to: str, *, name: str | None = None) -> Document:
    """Write a compiled workflow as a document of a form. Raise NotConvertible. `document` is what it was compiled from;
    it has what no graph has: the trigger as it was written, the tests, and descriptions of steps."""
    steps = next((key for key in FORMS[compiled.form].keys if key in document), "steps")
    wanted = compiled if name is None else replace(compiled, name=name)
    source = Source(wanted, document, steps, Problems())
    written = _WRITERS[to](source)
    if source.problems.found:
        raise _refusal(compiled.name, to, source.problems.found)
    return written


def _refusal(name: str, to: str, problems: Any) -> NotConvertible:
    return NotConvertible(f"the workflow {name!r} cannot be written in the {to} form", problems)
