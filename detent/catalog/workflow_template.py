"""Workflow templates: a definition with `${config.NAME}` in its texts, and the JSON Schema of its config.

The values go into the parsed definition, never into its text, so no value can add a step or change the structure:

- A text that is exactly one `${config.NAME}` becomes the value itself, with its type.
- In other text the value becomes text. A `{{` that a value brings is written as the literal `{{ '{{' }}`.
- In an expression (`{{ }}` and conditions) the value becomes a literal: a text with quotes around it.

So a config has values only, and never writes an expression.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from detent.errors import InvalidDefinition, InvalidInput, Problem
from detent.expressions.errors import SyntaxProblem
from detent.expressions.lexer import Token, TokenKind, tokenize, tokenize_template
from detent.expressions.paths import path_text
from detent.forms.compile import form_of
from detent.forms.payload_schema import PayloadSchema, check_schema
from detent.values.fields import Problems, shown
from detent.values.limits import DEFINITION_LIMIT, SMALLEST_INTEGER

Path = tuple[str | int, ...]

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
#: A place for a value, and everything that looks like one.
_PLACE: Final = re.compile(rf"\$\{{config((?:\.{_NAME}){{1,8}})\}}")
_NEARLY: Final = re.compile(r"\$\{\s*config\b[^}]{0,80}\}?")
_OPEN: Final = "{{"
_LITERAL_OPEN: Final = "{{ '{{' }}"
_LITERAL_BRACE: Final = "{{ '{' }}"
#: The field that has the title of a workflow, by form.
_TITLES: Final = {"graph": "displayName"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowTemplate:
    """A workflow template. `created_at` is `None` if it is part of Detent."""

    id: str
    title: str
    description: str
    category: str
    definition: Mapping[str, Any]
    config_schema: Mapping[str, Any]
    tags: Sequence[str] = ()
    author: str = ""
    thumbnail_url: str | None = None
    created_at: int | None = None

    @property
    def is_official(self) -> bool:
        return self.created_at is None

    def has_text(self, wanted: str) -> bool:
        """Return whether a text is in its id, title, description, category or tags, in any case."""
        words = (self.id, self.title, self.description, self.category, *self.tags)
        return any(wanted.lower() in word.lower() for word in words)

    def instantiate(self, name: str, title: str, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the definition of a workflow of that name. Raise InvalidInput with every problem of the config."""
        values = _completed(self.config_schema, config)
        found = PayloadSchema(self.config_schema).problems(values, "config")
        if found:
            raise InvalidInput(f"the config does not fit the template {self.id!r}", found)
        filled: dict[str, Any] = _Filler(values).fill(dict(self.definition), ())
        form = form_of(filled)
        facts = {form.name_keys[0]: name, _TITLES.get(form.name, "title"): title}
        return {**facts, **{key: value for key, value in filled.items() if key not in facts}}


def template_problems(definition: Mapping[str, Any], config_schema: object) -> list[Problem]:
    """Return everything that is wrong with the definition and the schema of a workflow template."""
    found = check_schema(config_schema, "config_schema")
    problems = Problems()
    try:
        form_of(definition)
    except InvalidDefinition as error:
        problems.found += [Problem(f"definition.{one.field}", one.message) for one in error.problems]
    known = config_schema.get("properties") if isinstance(config_schema, dict) else None
    names = list(known) if isinstance(known, dict) else []
    for path, text in _texts(definition, ()):
        for message in _text_problems(text, path, names, problems):
            problems.add(path_text(path, "definition"), message)
    return [*found, *problems.found]


def _text_problems(text: str, path: Path, names: Sequence[str], problems: Problems) -> Iterator[str]:
    if "${" not in text:
        return
    for match in _NEARLY.finditer(text):
        if not _PLACE.match(text, match.start()):
            yield f"{shown(match[0])} is not a place for a value; write ${{config.NAME}}"
    for match in _PLACE.finditer(text):
        name = match[1].split(".")[1]
        if name not in names:
            yield f"config.{name} is not in the properties of config_schema{problems.did_you_mean(name, names)}"
    try:
        pieces = list(_pieces(text, path))
    except SyntaxProblem as error:
        yield error.message
        return
    for piece in pieces:
        for match in _PLACE.finditer(text, piece.start, piece.end):
            if piece.tokens is not None and _is_quoted(match.start(), piece.tokens):
                yield f"{match[0]} becomes a literal with quotes of its own in an expression; remove those around it"


def _is_quoted(position: int, tokens: Sequence[Token]) -> bool:
    return any(token.kind is TokenKind.TEXT and token.position < position < token.end for token in tokens)


def _completed(schema: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with the defaults of its schema for what it leaves out."""
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    defaults = {name: one["default"] for name, one in known.items() if isinstance(one, dict) and "default" in one}
    return {**defaults, **config}


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a text: an expression with its tokens, or constant text without."""

    start: int
    end: int
    tokens: Sequence[Token] | None


def _pieces(text: str, path: Path) -> Iterator[_Piece]:
    """Split a text into expressions and the text around them. Raise SyntaxProblem."""
    if _is_condition(path):
        yield _Piece(0, len(text), tokenize(text))
        return
    end = 0
    while (start := text.find(_OPEN, end)) >= 0:
        yield _Piece(end, start, None)
        tokens, end = tokenize_template(text, start + len(_OPEN))
        yield _Piece(start, end, tokens)
    yield _Piece(end, len(text), None)


def _is_condition(path: Path) -> bool:
    """Return whether the whole text at this path of a definition is an expression."""
    match path:
        case ("trigger", "condition"):
            return True
        case ("tasks" | "steps" | "nodes", _, *rest):
            return rest in (["if"], ["expression"], ["repeat", "until"]) or (
                len(rest) == 3 and (rest[0], rest[2]) == ("edges", "condition")
            )
        case ("actions", _, *rest):
            return rest in (["action_config", "expression"], ["repeat", "until"])
        case _:
            return False


class _Filler:
    """Fills values into a definition. The result has at most DEFINITION_LIMIT characters in its texts."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config
        self._room = DEFINITION_LIMIT

    def fill(self, value: Any, path: Path) -> Any:
        match value:
            case str():
                return self._text(value, path) if "${config" in value else value
            case dict():
                return {key: self.fill(one, (*path, key)) for key, one in value.items()}
            case list():
                return [self.fill(one, (*path, number)) for number, one in enumerate(value)]
            case _:
                return value

    def _text(self, text: str, path: Path) -> Any:
        alone = _PLACE.fullmatch(text)
        if alone is not None and not _is_condition(path):
            value = self._value(alone)
            self._pay(len(json.dumps(value)))
            return _escaped(value)
        pieces = list(_pieces(text, path))
        written = [self._piece(text, piece) for piece in pieces]
        for number, piece in enumerate(pieces[1:]):
            # A brace before an expression would move the place where the expression begins.
            if piece.tokens is not None and written[number].endswith("{"):
                written[number] = written[number][:-1] + _LITERAL_BRACE
        return "".join(written)

    def _piece(self, text: str, piece: _Piece) -> str:
        write = _as_text if piece.tokens is None else _as_literal

        def written(match: re.Match[str]) -> str:
            found = write(self._value(match))
            self._pay(len(found))
            return found

        filled = _PLACE.sub(written, text[piece.start : piece.end])
        # The text outside of expressions has no `{{` of its own: every one that it has now came with a value.
        return filled.replace(_OPEN, _LITERAL_OPEN) if piece.tokens is None else filled

    def _value(self, match: re.Match[str]) -> Any:
        """Return the value of a place; `None` for a property that was left out."""
        value: Any = self._config
        for name in match[1].split(".")[1:]:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def _pay(self, size: int) -> None:
        self._room -= size
        if self._room < 0:
            message = f"the definition with its config filled in is larger than {DEFINITION_LIMIT} bytes"
            raise InvalidInput(message, [Problem("config", "has values that are too large for this template")])


def _escaped(value: Any) -> Any:
    """Return a value in which every `{{` of a text is a literal. Keys are never templates."""
    match value:
        case str():
            return value.replace(_OPEN, _LITERAL_OPEN)
        case dict():
            return {key: _escaped(one) for key, one in value.items()}
        case list():
            return [_escaped(one) for one in value]
        case _:
            return value


def _as_text(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case _:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _as_literal(value: Any) -> str:
    """Write a value as the expression language writes it: a negative number is an operator and a number."""
    match value:
        case dict():
            inner = (f"{json.dumps(key, ensure_ascii=False)}: {_as_literal(one)}" for key, one in value.items())
            return "{" + ", ".join(inner) + "}"
        case list():
            return "[" + ", ".join(map(_as_literal, value)) + "]"
        case int() if value == SMALLEST_INTEGER:
            return f"({value + 1} - 1)"
        case int() | float() if value < 0:
            return f"({json.dumps(value)})"
        case _:
            return json.dumps(value, ensure_ascii=False)


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    match value:
        case str():
            yield path, value
        case dict():
            for key, one in value.items():
                yield from _texts(one, (*path, key))
        case list():
            for number, one in enumerate(value):
                yield from _texts(one, (*path, number))
