"""Strings that broke out of other expression languages, and bombs for memory and time."""

import json
import time
import tracemalloc

import pytest

from detent.expressions import (
    EvaluationError,
    ExpressionError,
    ExpressionLimitExceeded,
    Mode,
    Scope,
    SyntaxProblem,
    compile_expression,
    compile_template,
)
from detent.values.nearest import nearest
from tests.expressions.scopes import SCOPE, value

ESCAPES = [
    "''.__class__.__mro__[1].__subclasses__()",
    "''['__class__']['__mro__']",
    "().__class__.__bases__[0]",
    "[].__class__.__base__.__subclasses__()[59]",
    "trigger.__class__.__init__.__globals__['os'].popen('id').read()",
    "trigger['__cl' + 'ass__']",
    "trigger.body.items.__getattribute__('append')",
    "'{0.__class__}'.format(trigger)",
    "'{0.__class__.__init__.__globals__}'.format_map(trigger)",
    "'%s' % trigger.__dict__",
    "'a'.format",
    "('{0}' | attr('__class__'))",
    "self.__init__.__globals__.__builtins__",
    "cycler.__init__.__globals__.os",
    "lipsum.__globals__['os']",
    "config.items()",
    "request.application.__globals__",
    "''|attr('format')",
    "constructor.constructor('return process')()",
    "this.constructor.constructor('return process')()",
    "[]['constructor']['constructor']('return 1')()",
    "[][`constructor`]",
    "(() => 1)()",
    "(function(){ return process })()",
    "trigger.constructor.prototype.polluted",
    "trigger.__proto__.polluted",
    "Object.assign({}.__proto__, {a: 1})",
    "trigger.body.__lookupGetter__('x')",
    "process.mainModule.require('child_process').execSync('id')",
    "$('node').all()",
    "$items()",
    "$env.SECRET",
    "$evaluateExpression('1')",
    "global.process",
    "globalThis",
    "with (trigger) { body }",
    "new Function('return 1')()",
    "eval('1')",
    "exec('import os')",
    "import os",
    "__import__('os').system('id')",
    "open('/etc/passwd').read()",
    "getattr(trigger, '__class__')",
    "lambda: 1",
    "[x for x in (1, 2)]",
    "(lambda x: x)(1)",
    "f'{trigger}'",
    "print(1)",
    "range(10**10)",
    "(i => i)(1)",
    "[i => i][0](1)",
    "x = i => i",
    "[1].map(f => f(f))",
    "[1].map(i => j => i)",
    "[1].map(lower)",
    "a := 1",
    "trigger.body = 1",
    "trigger.body.n++",
    "delete trigger.body",
    "9 ** 9 ** 9",
    "'a' * 1000000000",
    "[0] * 1000000000",
    "1 << 100000",
    "\\u0063onstructor",
    "trigger.\\u005f\\u005fclass__",
    "trigger['\\u005f\\u005fclass\\u005f\\u005f']",
    "trigger.__class__",
    "/(a+)+$/.test('aaaa')",
    "'aaa'.match('(a+)+$')",
    "1; 2",
    "// comment",
    "a /* b */",
    "\x00",
    "tasks\u2024charge",
    "\uff54rigger.body",
    "trigger.body.items.sort(1)",
    "{% if 1 %}x{% endif %}",
    "${7*7}",
    "#{7*7}",
    "<%= 7*7 %>",
]


@pytest.mark.parametrize("source", ESCAPES)
@pytest.mark.case("H1", "H5")
def test_an_escape_known_from_elsewhere_is_refused(source: str) -> None:
    for mode in Mode:
        with pytest.raises(ExpressionError):
            compile_expression(source, mode).evaluate(SCOPE)
    with pytest.raises(ExpressionError):
        compile_template("{{ " + source + " }}").render(SCOPE)


#: Seconds of CPU, on a slow machine and under a tracer. A bomb that is not cut takes for ever.
SOON = 60.0

BIG_TEXT = "a" * (256 * 1024)
SCOPE_OF_BIG_VALUES: Scope = {
    "text": BIG_TEXT,
    "wide": "é" * (256 * 1024),
    "sharp": "ß" * (256 * 1024),
    "array": [0] * (128 * 1024 - 1),
    "other": [0] * (128 * 1024 - 1),
    "nested": [[0] * 100 for _ in range(1_000)],
    "object": {f"name_{index:058}": index for index in range(2_000)},
    "digits": "9" * 5_000,
    "brackets": "[" * 100_000,
    "commas": "," * (256 * 1024),
    "surrogate": "\ud800",
}

BOMBS = [
    "text + text",
    "'x' + text",
    "[" + ", ".join(["text.replace('a', text)"] * 100) + "]",
    "text.replace('a', 'aa')",
    "commas.split(',').join(text)",
    " + ".join(["'" + "a" * 30 + "'"] * 100),
    "[" + ", ".join(["wide.upper()"] * 300) + "]",
    "[" + ", ".join(["commas.split(',')"] * 200) + "]",
    "[" + ", ".join(["array"] * 500) + "]",
    "json([" + ", ".join(["array"] * 500) + "])",
    " && ".join(["array == other"] * 250),
    " || ".join(["1 in array"] * 350),
    " || ".join(["nested in nested"] * 200),
    " || ".join(["[array] in [other, other]"] * 100),
    " || ".join(["'b' in text"] * 300),
    " && ".join(["text == text"] * 250),
    "sum(array) + " * 200 + "0",
    "[" + ", ".join(["json(array)"] * 300) + "]",
    "[" + ", ".join(["urlEncode(wide)"] * 200) + "]",
    "urlEncode(wide)",
    "urlEncode(surrogate)",
    "sharp.upper()",
    "text.upper().upper().upper()",
    "number(digits)",
    "number(text)",
    "parseJson(digits)",
    "parseJson(brackets)",
    "parseJson(text)",
    "[" + ", ".join(["slice(array, 0)"] * 200) + "]",
    "[" + ", ".join(["values(object)"] * 200) + "]",
    "object.name_" + "0" * 40,
    "object['name_" + "0" * 57 + "x']",
    "(" * 2_000 + "1" + ")" * 2_000,
    "[" * 4_000,
    "!" * 4_000 + "1",
    "-" * 4_000 + "1",
    "- " * 2_000 + "1",
    "1 ? " * 1_000 + "1" + " : 1" * 700,
    "true ? 1 : " * 300 + "2",
    "lower(" * 600 + "'a'" + ")" * 600,
    "'a'" + ".trim()" * 580,
    "a[" * 1_300 + "0" + "]" * 1_300,
    "a" + ".b" * 2_000,
    "a" + "[0]" * 1_300,
    " + ".join(["1"] * 1_000),
    " && ".join(["1"] * 800),
    " ?? ".join(["x"] * 800),
    "(" * 64 + "1" + " * 1 + 1 < 1 == 1 ?? 1 && 1 || 1 ? 1 : 1)" * 64,
    "{a: " * 800 + "1" + "}" * 800,
    "a" * 4_096,
    "a-" * 2_048,
    "'" + "\\n" * 2_000 + "'",
    "1" * 4_096,
    "0." + "1" * 4_000,
    "1e" + "9" * 4_000,
]


@pytest.mark.parametrize("source", BOMBS, ids=range(len(BOMBS)))
@pytest.mark.case("H2", "H3")
def test_a_bomb_ends_quickly_with_a_small_value_or_our_error(source: str) -> None:
    tracemalloc.start()
    try:
        outcome = _outcome(source)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64_000_000
    assert len(json.dumps(outcome)) < 1_000_000
    assert _seconds(source) < SOON


def _outcome(source: str) -> object:
    try:
        return compile_expression(source).evaluate(SCOPE_OF_BIG_VALUES)
    except ExpressionError as error:
        return error.message


def _seconds(source: str) -> float:
    start = time.thread_time()
    _outcome(source)
    return time.thread_time() - start


@pytest.mark.parametrize(
    ("source", "limit"),
    [("text + 'x'", "256 KB"), (" && ".join(["array == other"] * 9), "too much data"), ("sharp.upper()", "256 KB")],
)
def test_going_over_a_limit_names_the_limit(source: str, limit: str) -> None:
    with pytest.raises(ExpressionLimitExceeded, match=limit):
        value(source, SCOPE_OF_BIG_VALUES)


def test_a_response_of_the_largest_allowed_size_can_be_passed_on_whole() -> None:
    assert value("array", SCOPE_OF_BIG_VALUES) is SCOPE_OF_BIG_VALUES["array"]
    assert compile_template("{{ array }}").render(SCOPE_OF_BIG_VALUES) is SCOPE_OF_BIG_VALUES["array"]
    assert compile_template("{{ text }}").render(SCOPE_OF_BIG_VALUES) is BIG_TEXT
    assert value("sum(array) + size(text)", SCOPE_OF_BIG_VALUES) == 256 * 1024


def test_a_template_of_many_holes_shares_one_budget() -> None:
    template = compile_template(["{{ size(json(nested)) }}"] * 1_000)
    start = time.thread_time()
    with pytest.raises(EvaluationError, match="too much data"):
        template.render(SCOPE_OF_BIG_VALUES)
    assert time.thread_time() - start < 2 * SOON


@pytest.mark.parametrize("depth", [20, 60])
def test_nesting_up_to_the_limit_is_fine(depth: int) -> None:
    assert value("(" * depth + "1" + ")" * depth) == 1


def test_chains_may_be_long_because_they_are_not_deep() -> None:
    assert value(" + ".join(["1"] * 1_000)) == 1_000
    assert value(" && ".join(["1"] * 800)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "(" * 65 + "1" + ")" * 65,
        "!" * 65 + "1",
        "'a'" + ".trim()" * 65,
        "(" * 12 + "1" + " * 1 + 1 < 1 == 1 ?? 1 && 1 || 1 ? 1 : 1)" * 12,
    ],
)
def test_nesting_over_the_limit_is_a_syntax_problem_of_its_own(source: str) -> None:
    with pytest.raises(SyntaxProblem, match="nested more than 64"):
        compile_expression(source)


def test_data_nested_without_end_is_our_error() -> None:
    endless: list[object] = []
    endless.append(endless)
    for source in ("x", "json(x)", "x == [x]", "x in x", "string(x)"):
        with pytest.raises(ExpressionLimitExceeded, match="nested"):
            value(source, {"x": endless})


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("chrage", ["send", "charge"], "charge"),
        ("order_id", ["orderId", "order"], "orderId"),
        ("Status-Code", ["status_code"], "status_code"),
        ("task", ["trigger", "tasks"], "tasks"),
        ("ab", ["ba"], "ba"),
        ("abc", ["xyz"], None),
        ("abcdef", ["abcxyz"], None),
        ("payment", ["pay"], None),
        ("abcdefghi", ["abcdefxyz", "abcdefghx"], "abcdefghx"),
        ("abc", ["abd", "abc"], "abc"),
        ("abc", ["abc", "abd"], "abc"),
        ("abc", ["abd", "abe"], "abd"),
        ("", ["a"], "a"),
        ("x", [], None),
        ("target", ["condition", "targetNode"], "targetNode"),
        ("target", ["targetNode", "targetWorkflow"], None),
        ("con", ["condition"], None),
        ("x" * 65, ["x" * 65], None),
        ("x" * 64, ["y" * 10_000], None),
    ],
)
def test_nearest_finds_what_was_meant(name: str, known: list[str], expected: str | None) -> None:
    assert nearest(name, known) == expected
