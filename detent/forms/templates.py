"""Templates and conditions of a definition: what they read, and every problem of their syntax with its path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from detent.errors import Problem
from detent.expressions import (
    NOW,
    SECRETS,
    SECRETS_LANGUAGE,
    SEED,
    ExpressionError,
    Reference,
    compile_expression,
    compile_template,
    examine_template,
    language_of_text,
)
from detent.graph.model import Graph, StepKind
from detent.values.fields import Fields, Problems, inside

_WRAPPED: Final = re.compile(r"\s*\$?\{\{(?P<inner>.*)\}\}\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Read:
    """A path that a field of the definition reads."""

    field: str
    reference: Reference


def template_reads(value: Any, field: str, problems: Problems) -> list[Read]:
    """Return what a templated JSON value reads."""
    template, found = examine_template(value)
    for problem in found:
        problems.add(_placed(field, problem.at), _said(problem))
    return [Read(_placed(field, reference.at), reference) for reference in template.references]


def condition(
    fields: Fields, name: str, example: str = "tasks.charge.status_code == 200"
) -> tuple[str | None, list[Read]]:
    """Return the expression of a field, and what it reads. `{{ ... }}` around the whole expression is removed.

    A problem of a field that is not text shows the example."""
    value = fields.get(name)
    if isinstance(value, bool):
        return ("true" if value else "false"), []
    if value is None or not isinstance(value, str):
        if value is not None:
            fields.wrong(name, f'a condition, such as "{example}"')
        return None, []
    wrapped = _WRAPPED.fullmatch(value)
    text = wrapped["inner"].strip() if wrapped and "{{" not in wrapped["inner"] else value.strip()
    start = value.find(text)
    try:
        expression = compile_expression(text)
    except ExpressionError as error:
        fields.problems.add(fields.at(name), _said(error, start))
        return text, []
    reads = (replace(reference, position=start + reference.position) for reference in expression.references)
    return text, [Read(fields.at(name), reference) for reference in reads]


def needed_language(graph: Graph) -> int:
    """Return the lowest revision of the language that has every expression of a graph.

    So a definition that needs nothing new keeps its checksum. A text that cannot be compiled counts as 1: it is a
    problem of its own.
    """
    values: list[Any] = [*(dict(step.config) for step in graph.steps), graph.output]
    values += [value for step in graph.steps if step.each for value in (step.each.items, step.each.collect)]
    questions: tuple[str, ...] = tuple(
        step.config["expression"] for step in graph.steps if step.kind is StepKind.CONDITION
    )
    questions = (*questions, *(step.repeat.until for step in graph.steps if step.repeat))
    conditions = (*(step.guard for step in graph.steps), *(edge.condition for edge in graph.edges), *questions)
    found = [_language(text, language_of_text) for value in values for _, text in _texts(value, "")]
    found += [_language(text, _language_of_condition) for text in conditions if text is not None]
    return max(found, default=1)


def _language(text: str, language_of: Callable[[str], int]) -> int:
    try:
        return language_of(text)
    except ExpressionError:
        return 1


def _language_of_condition(text: str) -> int:
    return compile_expression(text).language


def used_secrets(graph: Graph) -> dict[str, str]:
    """Return the names of the secrets that the steps of a graph send, each with the first field that has it."""
    found: dict[str, str] = {}
    if graph.language < SECRETS_LANGUAGE:
        return found
    for step in graph.steps:
        template, _ = examine_template(dict(step.config), graph.language)
        for reference in template.references:
            if reference.path[0] == SECRETS:
                found.setdefault(str(reference.path[1]), _placed(f"steps.{step.name}", reference.at))
    return found


def constant_problems(graph: Graph) -> list[Problem]:
    """Return the templates of a graph that no input can render: they read nothing, and are an error all the same.

    A template that reads the trigger or a step may be rendered with the right values, so it is not judged."""
    problems = []
    for step in graph.steps:
        for place, text in _texts(dict(step.config), f"steps.{step.name}"):
            try:
                template = compile_template(text)
                if not template.references:
                    template.render({NOW: 0, SEED: b""})
            except ExpressionError as error:
                problems.append(Problem(place, _said(error)))
    return problems


def _texts(value: Any, field: str) -> Iterator[tuple[str, str]]:
    """Yield every text with a template in it, with its path."""
    pending = [(field, value)]
    while pending:
        place, one = pending.pop()
        if isinstance(one, str) and "{{" in one:
            yield place, one
        elif isinstance(one, dict):
            pending.extend((inside(place, key), child) for key, child in reversed(one.items()))
        elif isinstance(one, list):
            pending.extend((f"{place}[{number}]", child) for number, child in reversed(list(enumerate(one))))


def _placed(field: str, at: tuple[str | int, ...]) -> str:
    for key in at:
        field = f"{field}[{key}]" if isinstance(key, int) else inside(field, key)
    return field


def _said(error: ExpressionError, start: int = 0) -> str:
    where = f" (at character {start + error.position + 1})" if error.position is not None else ""
    return f"{error.message}{where}"
