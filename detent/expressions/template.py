"""Templates: JSON values whose texts contain `{{ expression }}`.

A text that is exactly one `{{ expression }}` becomes the value itself, with its type, also null. Inside other text,
null becomes an empty text and every other value its compact JSON (a text stays as it is). Keys are never templated. A
literal `{{` is written `{{ '{{' }}`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from detent.expressions.cache import kept
from detent.expressions.compiler import Mode, build
from detent.expressions.errors import Budget, EvaluationError, Place, SyntaxProblem, TruncatedValue, UnresolvedTemplate
from detent.expressions.functions import TABLE
from detent.expressions.lexer import tokenize_template
from detent.expressions.parser import LANGUAGE, Parsed, Reference, parse
from detent.expressions.paths import Evaluate, Scope
from detent.expressions.sealed import SECRETS_LANGUAGE, LateCall, Sealed, SecretName, sealed_names
from detent.expressions.values import as_text, measured, settled, utf8_length

CACHED_TEXTS = 4_096
Render = Callable[[Scope, Budget], object]


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A compiled JSON value that can be rendered many times. Parts without `{{ }}` are reused, never copied.

    `language` is the lowest revision of the language that has everything in it. `room` is how many bytes may be
    rendered in addition to the constant parts.
    """

    source: object
    references: tuple[Reference, ...]
    language: int
    room: int
    run: Render | None = field(repr=False)

    @property
    def is_constant(self) -> bool:
        return self.run is None

    def render(self, scope: Scope) -> object:
        """Return the value with every `{{ }}` resolved. A constant value is returned unchanged."""
        if self.run is None:
            return self.source
        budget = Budget()
        budget.size = self.room
        return self.run(scope, budget)


@dataclass(frozen=True, slots=True)
class _Hole:
    """One `{{ expression }}`: `text` is the expression as written, without blanks around it."""

    text: str
    position: int
    run: Evaluate
    has_secrets: bool


class ResolvedHole(NamedTuple):
    """One `{{ expression }}` of a template: the path of its text, the expression, and its value or why it has none."""

    at: Place
    source: str
    value: object
    error: EvaluationError | None


@dataclass(frozen=True, slots=True)
class _Text:
    """A text, split into constant pieces and holes."""

    pieces: tuple[str | _Hole, ...]
    references: tuple[Reference, ...]
    language: int


def compile_template(value: object, language: int = LANGUAGE) -> Template:
    """Compile a JSON value to a template. Raise the first SyntaxProblem in it."""
    template, problems = examine_template(value, language)
    if problems:
        raise problems[0]
    return template


def template_problems(value: object, language: int = LANGUAGE) -> tuple[SyntaxProblem, ...]:
    """Return every problem of a template, each with its path `at` in the value."""
    return examine_template(value, language)[1]


def language_of_text(text: str) -> int:
    """Return the lowest revision of the language that has every expression of a text. Raise SyntaxProblem."""
    return kept(_compiled_text, text, LANGUAGE).language


def examine_template(value: object, language: int = LANGUAGE) -> tuple[Template, tuple[SyntaxProblem, ...]]:
    """Compile a JSON value to a template. Return it with every problem in it."""
    builder = _Builder([], [], [], budget := Budget(), language)
    render: Render | None = None
    try:
        measured(value, budget)
        render = builder.value(value, ())
    except EvaluationError as error:
        builder.problems.append(SyntaxProblem(error.message))
    needed = max(builder.needed, default=1)
    return Template(value, tuple(builder.references), needed, budget.size, render), tuple(builder.problems)


@dataclass(frozen=True, slots=True)
class _Builder:
    """Compiles a value recursively. Each method returns None for a constant part."""

    references: list[Reference]
    needed: list[int]  # revisions of the language
    problems: list[SyntaxProblem]
    budget: Budget
    language: int

    def value(self, value: object, at: Place) -> Render | None:
        if isinstance(value, str):
            return self.text(value, at)
        if isinstance(value, dict):
            return self.entries(value, at)
        if isinstance(value, list):
            return self.items(value, at)
        return None

    def text(self, text: str, at: Place) -> Render | None:
        if "{{" not in text:
            return None
        try:
            compiled = kept(_compiled_text, text, self.language)
        except SyntaxProblem as problem:
            self.problems.append(SyntaxProblem(problem.message, problem.position, at))
            return None
        self.references.extend(Reference(one.path, one.position, one.text, at) for one in compiled.references)
        self.needed.append(compiled.language)
        self.budget.size += utf8_length(text)
        return _render_text(compiled.pieces, at)

    def entries(self, entries: dict[str, object], at: Place) -> Render | None:
        changing = [(key, render) for key, value in entries.items() if (render := self.value(value, (*at, key)))]
        if not changing:
            return None

        def render_object(scope: Scope, budget: Budget) -> object:
            result = dict(entries)
            for key, render in changing:
                result[key] = render(scope, budget)
            return result

        return render_object

    def items(self, items: list[object], at: Place) -> Render | None:
        changing = [(index, render) for index, value in enumerate(items) if (render := self.value(value, (*at, index)))]
        if not changing:
            return None

        def render_array(scope: Scope, budget: Budget) -> object:
            result = list(items)
            for index, render in changing:
                result[index] = render(scope, budget)
            return result

        return render_array


def resolve_holes(template: Template, scope: Scope) -> Iterator[ResolvedHole]:
    """Yield every `{{ expression }}` of a template with its value in that scope, in the order in which it is rendered.

    All of them share the budget of one rendering, so this costs no more than to render the template.
    """
    budget = Budget()
    budget.size = template.room
    for at, text in _texts(template.source, ()):
        for piece in _compiled_text(text, template.language).pieces:
            if isinstance(piece, _Hole):
                try:
                    yield ResolvedHole(at, piece.text, _fill(piece, at, scope, budget, measured), None)
                except EvaluationError as error:
                    yield ResolvedHole(at, piece.text, None, error)


def _texts(value: object, at: Place) -> Iterator[tuple[Place, str]]:
    """Yield the texts of a value that have a hole, with their paths."""
    if isinstance(value, str):
        if "{{" in value:
            yield at, value
        return
    inner: Iterable[tuple[Any, object]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, item in inner:
        yield from _texts(item, (*at, key))


def _render_text(pieces: tuple[str | _Hole, ...], at: Place) -> Render:
    alone = pieces[0]
    if len(pieces) == 1 and isinstance(alone, _Hole):
        return lambda scope, budget: _fill(alone, at, scope, budget, measured)

    if any(isinstance(piece, _Hole) and piece.has_secrets for piece in pieces):
        return _render_sealed(pieces, at)

    def render(scope: Scope, budget: Budget) -> object:
        filled = [piece if isinstance(piece, str) else _fill(piece, at, scope, budget, as_text) for piece in pieces]
        return measured("".join(filled), budget)  # type: ignore[arg-type]

    return render


def _render_sealed(pieces: tuple[str | _Hole, ...], at: Place) -> Render:
    """Compile a text with secrets in it."""

    def render(scope: Scope, budget: Budget) -> object:
        filled = [piece if isinstance(piece, str) else _fill(piece, at, scope, budget, _as_part) for piece in pieces]
        parts = [part for piece in filled for part in (piece.parts if isinstance(piece, Sealed) else (piece,))]
        budget.take(sum(utf8_length(part) for part in parts if isinstance(part, str)))
        return Sealed(*parts) if any(not isinstance(part, str) for part in parts) else "".join(parts)  # type: ignore[arg-type]

    return render


def _as_part(value: object, budget: Budget) -> object:
    """Return a value as a part of a text that may have secrets."""
    value = settled(value, budget)
    if isinstance(value, Sealed):
        return value
    return Sealed(LateCall("json", (value,))) if any(sealed_names(value)) else as_text(value, budget)


def _fill(hole: _Hole, at: Place, scope: Scope, budget: Budget, shape: Callable[[object, Budget], object]) -> object:
    """Return the value of a hole. Raise an error that begins with the source of the hole."""
    budget.at = at
    try:
        return shape(hole.run(scope, budget), budget)
    except TruncatedValue as error:
        error.at = at
        raise
    except EvaluationError as error:
        message = f"Failed to resolve {{{{{hole.text}}}}}: {error.message}"
        raise UnresolvedTemplate(message, hole.position, at) from error


@lru_cache(maxsize=CACHED_TEXTS)
def _compiled_text(text: str, language: int) -> _Text:
    found: list[Parsed] = []
    pieces = tuple(_pieces(text, language, found))
    references = tuple(reference for parsed in found for reference in parsed.references)
    return _Text(pieces, references, max((parsed.language for parsed in found), default=1))


def _pieces(text: str, language: int, found: list[Parsed]) -> Iterator[str | _Hole]:
    end = 0
    while (start := text.find("{{", end)) >= 0:
        if start > end:
            yield text[end:start]
        tokens, end = tokenize_template(text, start + 2)
        parsed = parse(text, tokens, language)
        found.append(parsed)
        run = build(parsed.node, Mode.TEMPLATE, may_have_secrets=True)
        yield _Hole(text[start + 2 : end - 2].strip(), start, run, parsed.language >= SECRETS_LANGUAGE)
    if end < len(text):
        yield text[end:]


# Opening sealed values: the values of secrets are put in, and the late functions are called.


def unsealed(value: object, secrets: Mapping[str, str], budget: Budget | None = None) -> object:
    """Return a value with every secret opened. Raise EvaluationError if a late function refuses its arguments.

    `secrets` has the value of each secret by its name; a name that is missing raises KeyError."""
    budget = budget or Budget()
    if isinstance(value, Sealed):
        parts = [_opened(part, secrets, budget) for part in value.parts]
        text = "".join(parts)
        budget.take(len(text))
        return text
    if isinstance(value, Mapping):
        return {key: unsealed(item, secrets, budget) for key, item in value.items()}
    if isinstance(value, list):
        return [unsealed(item, secrets, budget) for item in value]
    return value


def _opened(part: str | SecretName | LateCall, secrets: Mapping[str, str], budget: Budget) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, SecretName):
        return secrets[part.name]
    arguments = [unsealed(argument, secrets, budget) for argument in part.arguments]
    return as_text(TABLE[part.function].run(budget, *arguments), budget)
