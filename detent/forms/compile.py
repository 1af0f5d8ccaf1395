"""The forms of definitions: which form a document has, and the function that compiles it.

A form is a row of `FORMS`. Everything else about drafts, versions and publishing is the same for every form.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from detent.errors import InvalidDefinition, NotFound, Problem
from detent.expressions import keep_compiled
from detent.forms.compiled import Compiled, Limits, RuleFacts
from detent.forms.entity_trigger import read_start
from detent.forms.graph.form import compile_graph
from detent.forms.graph.schema import SCHEMA as GRAPH_SCHEMA
from detent.forms.names import read_name, slug
from detent.forms.rules.form import compile_rule, read_facts
from detent.forms.rules.schema import SCHEMA as RULE_SCHEMA
from detent.forms.steps.form import compile_steps
from detent.values.fields import Fields, Problems, described, shown

_LIMITS: Final = Limits()


class Compile(Protocol):
    """Compile a document of one form. Raise InvalidDefinition with all its problems."""

    def __call__(self, document: Mapping[str, Any], *, limits: Limits, actions: Collection[str] | None) -> Compiled: ...


@dataclass(frozen=True, slots=True)
class Form:
    """A form of definitions.

    A document without `form` has the form whose `keys` it has one of. `name_keys` are the fields that can have the name
    of the workflow. `is_live_at_save`: a save makes a version that is current at once. Otherwise a save writes a draft,
    which has to be published. `schema` is its published JSON Schema. `written` has the words of the form for fields of
    a graph, where they differ: `steps` and the keys of a step's config. `title_key` is the field of what people read: a
    document without a name has the slug of it as its name."""

    name: str
    keys: tuple[str, ...]
    compile: Compile
    name_keys: tuple[str, ...] = ("name",)
    is_live_at_save: bool = True
    schema: Mapping[str, Any] | None = None
    written: Mapping[str, str] = field(default_factory=dict)
    title_key: str | None = None

    def place(self, path: str, compiled: Compiled) -> str:
        """Return the field of a definition that a field of its graph was written in: `steps.a.workflow`."""
        for end in (len(path), *(place for place in range(len(path) - 1, 0, -1) if path[place] in ".[")):
            if (known := compiled.places.get(path[:end])) is not None:
                return known + path[end:]
        parts = path.split(".", 3)
        for place in (0, 2):
            if place < len(parts):
                parts[place] = self.written.get(parts[place], parts[place])
        return ".".join(parts)


#: The first form is that of a document that has the keys of none.
FORMS: Final[dict[str, Form]] = {
    "steps": Form("steps", ("tasks", "steps"), compile_steps, written={"steps": "tasks", "input": "with"}),
    "graph": Form(
        "graph",
        ("nodes",),
        compile_graph,
        name_keys=("id",),
        is_live_at_save=False,
        schema=GRAPH_SCHEMA,
        written={
            "steps": "nodes",
            "workflow": "workflowId",
            "version": "workflowVersion",
            "action": "actionType",
            "on_crash": "policies.onCrash",
            "with": "parameters",
            "input": "parameters",
        },
    ),
    "rule": Form("rule", ("actions",), compile_rule, name_keys=("key",), schema=RULE_SCHEMA, title_key="name"),
}


def form_of(document: Mapping[str, Any]) -> Form:
    """Return the form of a document. Raise InvalidDefinition if it names a form that does not exist."""
    written = document.get("form")
    if written is None:
        fitting = (form for form in FORMS.values() if not document.keys().isdisjoint(form.keys))
        return next(fitting, next(iter(FORMS.values())))
    if not isinstance(written, str) or written not in FORMS:
        given = shown(written) if isinstance(written, str) else described(written)
        *first, last = map(repr, FORMS)
        message = f"must be {', '.join(first)} or {last}, not {given}"
        raise InvalidDefinition(problems=[Problem("form", message + Problems().did_you_mean(str(written), FORMS))])
    return FORMS[written]


def compile_document(
    document: Mapping[str, Any], *, limits: Limits = _LIMITS, actions: Collection[str] | None = None
) -> Compiled:
    """Compile a document of any form. Raise InvalidDefinition with all its problems.

    `actions` are the names that may be called; `None` does not check them."""
    with keep_compiled():
        return form_of(document).compile(document, limits=limits, actions=actions)


def rule_facts(document: Mapping[str, Any], *, limits: Limits = _LIMITS) -> RuleFacts | None:
    """Return what a document says about the changes of records that start it, also if it is invalid otherwise. Raise
    InvalidDefinition if it cannot be read."""
    if form_of(document).compile is compile_rule:
        return read_facts(document, limits=limits)
    return read_start(Fields(document, "", Problems()))[1]


def schema_of(form: str) -> Mapping[str, Any]:
    """Return the JSON Schema of a form. Raise NotFound if there is none."""
    found = FORMS[form].schema if form in FORMS else None
    if found is None:
        known = ", ".join(name for name, one in FORMS.items() if one.schema is not None)
        raise NotFound(f"there is no JSON Schema of the form {form[:200]!r}; there is one of: {known}")
    return found


def is_code(form: str) -> bool:
    """Return whether workflows of this form are Python code and not documents."""
    return form not in FORMS


def is_live_at_save(form: str) -> bool:
    """Return whether a save of this form is live at once. Code always is."""
    return is_code(form) or FORMS[form].is_live_at_save


def name_in(document: Mapping[str, Any]) -> str:
    """Return the name of the workflow in a document, which may be invalid otherwise. Raise InvalidDefinition if it has
    no valid name."""
    form = form_of(document)
    keys = form.name_keys
    key = next((key for key in keys if document.get(key) is not None), keys[0])
    title = None if form.title_key is None or document.get(key) is not None else document.get(form.title_key)
    if isinstance(title, str) and slug(title):
        return slug(title)
    problems = Problems()
    name = read_name(Fields({"name": document.get(key)}, "", problems))
    try:
        problems.raise_if_any()
    except InvalidDefinition as error:
        raise InvalidDefinition(problems=[Problem(key, one.message) for one in error.problems]) from None
    return name
