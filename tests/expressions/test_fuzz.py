"""Whatever the text and the data: our errors or a JSON value, and the same one every time."""

import json
import os
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from detent.expressions import (
    LANGUAGE,
    NOW,
    SEED,
    ExpressionError,
    Mode,
    Scope,
    compile_expression,
    compile_template,
)
from detent.expressions.functions import ALIASES, TABLE
from tests.expressions.scopes import SCOPE, Lazy

pytestmark = pytest.mark.slow

# DETENT_FUZZ_EXAMPLES=10000 is the long form: as many of hypothesis, and a hundred times as many of the quick kind.
EXAMPLES = int(os.environ.get("DETENT_FUZZ_EXAMPLES", "100"))
FUZZ = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == 100,
    database=None,
    suppress_health_check=list(HealthCheck),
)

NAMES = ("trigger", "tasks", "charge", "body", "a", "b-c", "$x", "length", "items", "__class__", "data")
WORDS = (
    *NAMES,
    *TABLE,
    *ALIASES,
    *("true", "false", "null", "in", "and", "0", "1", "2.5", "1e3", "-", "9223372036854775807", "''", "'a'", '"b"'),
    *("==", "!=", "===", "<", "<=", ">", ">=", "&&", "||", "!", "??", "?", ":", "+", "*", "/", "%"),
    *("=>", "a=>", "map(a=>"),
    *("(", ")", "[", "]", "{", "}", ".", ",", " ", "\n", "{{", "}}", "\\", "'", '"', "\\u00e9", "é", "\ud800"),
)
ARROWS = ("a", "$x", "items")
OPERATORS = ("==", "!=", "<", ">=", "in", "+", "-", "*", "/", "%", "&&", "||", "??")
LEAVES = (*NAMES, "1", "0", "2.5", "1e308", "9223372036854775807", "'a'", "''", "'1'", "true", "null", "[]")

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["2026-03-29T02:30", "(a|b)+$", "[^a", "Europe/Zurich", "days", "desc", "yyyy-MM"])
    | st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63), 10**400, "1", "true", "[1]", '{"a":1}'])
)
data = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
scopes = st.fixed_dictionaries(
    {NOW: st.just(1_772_400_000_000_000), SEED: st.binary(max_size=4)},
    optional={name: data | st.builds(Lazy, st.dictionaries(st.sampled_from(NAMES), data)) for name in NAMES},
)


def _call(name: str, arguments: list[str]) -> str:
    """A call of a function. An arrow hides a name of the scope, or of another arrow."""
    if TABLE[name].has_arrow:
        arguments = [arguments[0], f"{ARROWS[len(arguments[1]) % len(ARROWS)]} => {arguments[1]}", *arguments[2:]]
    if name == "matches":
        arguments = [arguments[0], "$x", *arguments[2:]]  # a pattern of the data: one in the text must be valid
    return f"{name}({', '.join(arguments)})"


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(OPERATORS)
    calls = st.sampled_from(sorted(TABLE)).flatmap(
        lambda name: st.lists(inner, min_size=TABLE[name].least, max_size=min(TABLE[name].most, 3)).map(
            lambda arguments: _call(name, arguments)
        )
    )
    return st.one_of(
        st.tuples(inner, operators, inner).map(lambda part: f"({part[0]} {part[1]} {part[2]})"),
        st.tuples(inner, inner, inner).map(lambda part: f"({part[0]} ? {part[1]} : {part[2]})"),
        st.tuples(st.sampled_from("!-"), inner).map(lambda part: f"({part[0]}{part[1]})"),
        st.tuples(inner, inner).map(lambda part: f"({part[0]})[{part[1]}]"),
        st.tuples(inner, st.sampled_from(NAMES)).map(lambda part: f"({part[0]}).{part[1]}"),
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, max_size=3).map(
            lambda items: "{" + ", ".join(f"a{n}: {item}" for n, item in enumerate(items)) + "}"
        ),
        calls,
    )


leaves = st.sampled_from(LEAVES)
well_formed = st.recursive(leaves, _grow, max_leaves=12)


def _answers(source: str, scope: Scope, mode: Mode, language: int = LANGUAGE) -> str:
    """What came of it, as text that can be compared; anything but our own errors gets through."""
    try:
        expression = compile_expression(source, mode, language)
    except ExpressionError as error:
        return f"{type(error).__name__}: {error.message} at {error.position}"
    try:
        answer = expression.evaluate(scope)
    except ExpressionError as error:
        return f"{type(error).__name__}: {error.message} at {error.position}"
    return json.dumps(answer)


@FUZZ
@given(
    source=st.lists(st.sampled_from(WORDS), max_size=25).map("".join) | st.text(max_size=40),
    scope=scopes,
    mode=st.sampled_from(Mode),
)
@pytest.mark.case("H6")
def test_any_text_is_answered_or_refused_in_our_own_words(source: str, scope: Scope, mode: Mode) -> None:
    assert _answers(source, scope, mode) == _answers(source, scope, mode)


@FUZZ
@given(source=well_formed, scope=scopes, mode=st.sampled_from(Mode))
def test_a_well_formed_expression_over_any_data_is_answered_or_refused_the_same_way_twice(
    source: str, scope: Scope, mode: Mode
) -> None:
    first = _answers(source, scope, mode)
    assert not first.startswith("SyntaxProblem")
    assert _answers(source, scope, mode) == first


@FUZZ
@given(source=well_formed, scope=scopes, mode=st.sampled_from(Mode))
def test_an_expression_means_the_same_in_every_revision_that_can_read_it(source: str, scope: Scope, mode: Mode) -> None:
    needed = compile_expression(source, mode).language
    newest = _answers(source, scope, mode)
    for language in range(1, LANGUAGE):
        if language >= needed:
            assert _answers(source, scope, mode, language) == newest
        else:
            assert "needs revision" in _answers(source, scope, mode, language)


@FUZZ
@given(text=st.lists(st.sampled_from(WORDS) | well_formed, max_size=8).map("".join), scope=scopes)
def test_any_templated_text_renders_or_fails_in_our_own_words(text: str, scope: Scope) -> None:
    try:
        template = compile_template({"x": [text, f"{{{{ {text} }}}}"]})
        template.render(scope)
    except ExpressionError:
        return
    assert template.render(scope) == template.render(scope)


@FUZZ
@given(source=well_formed)
def test_every_reference_is_where_it_says(source: str) -> None:
    for reference in compile_expression(source).references:
        assert source.startswith(reference.text, reference.position)
        assert reference.text.startswith(str(reference.path[0]))


def _random_expression(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(LEAVES)
    parts = [_random_expression(chance, depth - 1) for _ in range(3)]
    name = chance.choice(sorted(TABLE))
    count = chance.randint(TABLE[name].least, min(TABLE[name].most, 3))
    shapes = (
        f"({parts[0]} {chance.choice(OPERATORS)} {parts[1]})",
        f"({parts[0]} ? {parts[1]} : {parts[2]})",
        f"{chance.choice('!-')}({parts[0]})",
        f"({parts[0]})[{parts[1]}].{chance.choice(NAMES)}",
        f"[{parts[0]}, {{a: {parts[1]}}}]",
        _call(name, parts[:count]),
    )
    return chance.choice(shapes)


@pytest.mark.case("H6")
def test_a_hundred_random_expressions_for_each_example_raise_nothing_but_our_errors() -> None:
    chance = random.Random(EXAMPLES)
    answered = 0
    for _ in range(EXAMPLES * 50):
        soup = "".join(chance.choices(WORDS, k=chance.randint(1, 12)))
        _answers(soup, SCOPE, Mode.CONDITION)
        answered += "Error" not in _answers(_random_expression(chance, 3), SCOPE, Mode.CONDITION)
    assert answered > EXAMPLES
