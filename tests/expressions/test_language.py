"""What expressions mean: one table per rule."""

import pytest

from detent.expressions import FUNCTIONS, EvaluationError, Mode, Scope, SyntaxProblem, compile_expression
from detent.expressions.functions import TABLE
from tests.expressions.scopes import SCOPE, Counted, value


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1", 1),
        ("1.5", 1.5),
        ("2e3", 2000.0),
        ("2E+3", 2000.0),
        ("2e-1", 0.2),
        ("9223372036854775807", 2**63 - 1),
        ("-5", -5),
        ("- 5", -5),
        ("true", True),
        ("false", False),
        ("null", None),
        ("'a'", "a"),
        ('"a\'b"', "a'b"),
        (r"'\n\r\t\b\f\/\\\'\"\u00e9'", "\n\r\t\b\f/\\'\"é"),
        (r"'\ud83d\ude00'", "😀"),
        ("'größe'", "größe"),
        ("[]", []),
        ("[1, 'a', [true]]", [1, "a", [True]]),
        ("{}", {}),
        ("{a: 1, 'b c': {d: 2}, in: 3}", {"a": 1, "b c": {"d": 2}, "in": 3}),
        ("{__proto__: 1}", {"__proto__": 1}),
    ],
)
def test_a_literal_is_its_value(source: str, expected: object) -> None:
    result = value(source)
    assert result == expected
    assert type(result) is type(expected)


EQUAL = [
    ("1", "1.0"),
    ("0", "-0.0"),
    ("'a'", "'a'"),
    ("null", "null"),
    ("true", "true"),
    ("[1, [2]]", "[1.0, [2]]"),
    ("{a: 1, b: [true]}", "{b: [true], a: 1}"),
    ("[null]", "[null]"),
]
UNEQUAL = [
    ("1", "'1'"),
    ("200", "'200'"),
    ("1", "true"),
    ("0", "false"),
    ("0", "null"),
    ("''", "null"),
    ("''", "false"),
    ("'a'", "'A'"),
    ("[1]", "[true]"),
    ("[]", "{}"),
    ("[]", "false"),
    ("[1]", "[1, 2]"),
    ("{a: 1}", "{b: 1}"),
    ("{a: 1}", "{a: 1, b: 2}"),
    ("{a: 1}", "{a: '1'}"),
    ("{a: 1}", "[1]"),
    ("[0]", "[[]]"),
]


@pytest.mark.parametrize("signs", ["== !=", "=== !=="])
@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_equal_values_are_equal_both_ways_with_both_spellings(left: str, right: str, signs: str) -> None:
    same, other = signs.split()
    for a, b in ((left, right), (right, left), (f"[{left}][0]", f"[{right}][0]")):
        assert value(f"{a} {same} {b}") is True
        assert value(f"{a} {other} {b}") is False


@pytest.mark.parametrize("signs", ["== !=", "=== !=="])
@pytest.mark.parametrize(("left", "right"), UNEQUAL)
@pytest.mark.case("H7")
def test_unlike_values_are_unequal_and_nothing_is_converted(left: str, right: str, signs: str) -> None:
    same, other = signs.split()
    for a, b in ((left, right), (right, left), (f"[{left}][0]", f"[{right}][0]")):
        assert value(f"{a} {same} {b}") is False
        assert value(f"{a} {other} {b}") is True


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 < 2", True),
        ("2 <= 2.0", True),
        ("2.5 > 2", True),
        ("2 >= 3", False),
        ("'a' < 'b'", True),
        ("'Z' < 'a'", True),
        ("'10' < '9'", True),
        ("'\uffff' < '😀'", True),
        *((f"null {sign} 1", False) for sign in ("<", "<=", ">", ">=")),
        *((f"1 {sign} null", False) for sign in ("<", "<=", ">", ">=")),
        ("null <= null", False),
        ("1 in [1, 2]", True),
        ("true in [1, 2]", False),
        ("[1] in [[1.0]]", True),
        ("'a' in {a: null}", True),
        ("'b' in {a: null}", False),
        ("'el' in 'hello'", True),
        ("1 in null", False),
        ("'content-type' in trigger.headers", True),
        ("'charge' in tasks", True),
    ],
)
@pytest.mark.case("H7")
def test_comparisons_follow_the_table(source: str, expected: bool) -> None:
    assert value(source) is expected


@pytest.mark.parametrize(
    "source",
    [
        "1 < '2'",
        "'a' < 1",
        "true < 2",
        "1 < true",
        "true < false",
        "[] < []",
        "{} > 1",
        "1 in 'a1'",
        "1 in {a: 1}",
        "1 in 5",
        "'a' in true",
    ],
)
def test_comparing_unlike_types_is_an_error_and_never_false(source: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        value(source)
    assert caught.value.position is not None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 2 - 3", 5),
        ("8 / 2 / 2", 2),
        ("1 / 4", 0.25),
        ("1.5 + 1.5", 3),
        ("5 % 3", 2),
        ("-5 % 3", -2),
        ("5 % -3", 2),
        ("5.5 % 2", 1.5),
        ("-trigger.body.n", -3),
        ("2 - -3", 5),
        ("1e300 * 10", 1e301),
        ("'a' + 'b'", "ab"),
        ("'n: ' + 5 + true", "n: 5true"),
        ("1.5 + 'x'", "1.5x"),
        ("trigger.body.n - 1", 2),
        ("trigger.body.n -1", 2),
        ("5-3", 2),
    ],
)
def test_arithmetic_gives_whole_numbers_where_it_can(source: str, expected: object) -> None:
    result = value(source)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    "source",
    [
        "1 / 0",
        "1 % 0",
        "1.5 % 0.0",
        "9223372036854775807 + 1",
        "9223372036854775807 * 9223372036854775807",
        "1e308 * 10",
        "1e308 + 1e308",
        "-(-9223372036854775807 - 1)",
        "1 + null",
        "1 + true",
        "true - 1",
        "'a' - 1",
        "'a' + null",
        "'a' + []",
        "{} + 'a'",
        "[] + []",
        "-'a'",
        "-null",
        "huge + 1",
        "1.5 * huge",
    ],
)
def test_arithmetic_that_has_no_number_is_an_error_with_a_position(source: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        value(source, {"huge": 10**400})
    assert caught.value.position is not None


FALSY = ["null", "false", "0", "0.0", "''"]
TRUTHY = ["true", "1", "-1", "0.1", "'0'", "'false'", "[]", "{}"]


@pytest.mark.parametrize("source", FALSY)
def test_null_false_zero_and_empty_text_are_false(source: str) -> None:
    assert compile_expression(source).test({}) is False
    assert value(f"!{source}") is True
    assert value(f"{source} ? 1 : 2") == 2
    assert value(f"{source} && 1") == value(source)
    assert value(f"{source} || 'other'") == "other"


@pytest.mark.parametrize("source", TRUTHY)
def test_everything_else_is_true_even_when_empty(source: str) -> None:
    assert compile_expression(source).test({}) is True
    assert value(f"!{source}") is False
    assert value(f"!!{source}") is True
    assert value(f"{source} ? 1 : 2") == 1
    assert value(f"{source} && 'last'") == "last"
    assert value(f"{source} || 1") == value(source)


def test_not_a_number_in_the_data_counts_as_false() -> None:
    assert compile_expression("x").test({"x": float("nan")}) is False


@pytest.mark.parametrize(
    "source", ["false && nothing.here", "true || nothing.here", "1 ?? nothing.here", "true ? 1 : no.x"]
)
def test_an_operand_that_does_not_matter_is_not_read(source: str) -> None:
    value(source)


@pytest.mark.parametrize(
    ("source", "grouped"),
    [
        ("true || false && false", "true || (false && false)"),
        ("0 ?? 1 || 2", "(0 ?? 1) || 2"),
        ("1 && null ?? 3", "1 && (null ?? 3)"),
        ("null ?? 1 == 1", "null ?? (1 == 1)"),
        ("1 == 2 < 3", "1 == (2 < 3)"),
        ("1 + 2 < 4", "(1 + 2) < 4"),
        ("2 + 3 * 4 - 6 / 3", "(2 + (3 * 4)) - (6 / 3)"),
        ("!true == false", "(!true) == false"),
        ("false ? 1 : true ? 2 : 3", "false ? 1 : (true ? 2 : 3)"),
        ("true ? false ? 1 : 2 : 3", "true ? (false ? 1 : 2) : 3"),
        ("1 || 2 ? 3 : 4", "(1 || 2) ? 3 : 4"),
        ("- 2 + 3", "(-2) + 3"),
    ],
)
def test_operators_bind_as_in_javascript(source: str, grouped: str) -> None:
    assert value(source) == value(grouped)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("contains('hello', 'ell')", True),
        ("'hello'.includes('x')", False),
        ("contains([1, 2], 2)", True),
        ("contains({a: 1}, 'a')", True),
        ("contains(null, 'a')", False),
        ("startsWith('hello', 'he')", True),
        ("'hello'.endsWith('lo')", True),
        ("startsWith(null, 'a')", False),
        ("endsWith(null, 'a')", False),
        ("lower('ÀB')", "àb"),
        ("'ab'.toUpperCase()", "AB"),
        ("' a '.trim()", "a"),
        ("' A '.trim().lower().size()", 1),
        ("lower(null)", None),
        ("'a,b'.split(',')", ["a", "b"]),
        ("join(['a', 1, null, true, [2]])", "a,1,,true,[2]"),
        ("['a', 'b'].join('')", "ab"),
        ("[].join()", ""),
        ("replace('a-b-c', '-', '+')", "a+b+c"),
        ("'abcd'.slice(1)", "bcd"),
        ("'abcd'.slice(1, 3)", "bc"),
        ("[1, 2, 3].slice(-2)", [2, 3]),
        ("[1, 2, 3].slice(0, -1)", [1, 2]),
        ("size('größe')", 5),
        ("size([1])", 1),
        ("size({a: 1})", 1),
        ("size(null)", None),
        ("keys({b: 1, a: 2})", ["b", "a"]),
        ("values({b: 1, a: 2})", [1, 2]),
        ("first([1, 2])", 1),
        ("last([1, 2])", 2),
        ("first([])", None),
        ("last([])", None),
        ("number('12')", 12),
        ("number(' -1.50 ')", -1.5),
        ("number('1e3')", 1000),
        ("number(5)", 5),
        ("number(null)", None),
        ("boolean('true')", True),
        ("boolean('false')", False),
        ("boolean(true)", True),
        ("string(null)", ""),
        ("string({a: [1, 'x', true, null]})", '{"a":[1,"x",true,null]}'),
        ("5.5.toString()", "5.5"),
        ("json(null)", "null"),
        ("json('é\"')", '"é\\""'),
        ("parseJson('{\"a\": [1]}').a[0]", 1),
        ("round(2.5)", 3),
        ("round(-2.5)", -3),
        ("round(1.005, 2)", 1.01),
        ("round(7, 2)", 7),
        ("round(1e300)", 1e300),
        ("floor(-1.5)", -2),
        ("ceil(1.2)", 2),
        ("abs(-3)", 3),
        ("min(3, 1.5, 2)", 1.5),
        ("max([1, 5])", 5),
        ("min([])", None),
        ("max(4)", 4),
        ("sum([1, 2.5, 0.5])", 4),
        ("urlEncode('a b/é?&')", "a%20b%2F%C3%A9%3F%26"),
        ("encodeURIComponent(7)", "7"),
    ],
)
def test_functions_answer_as_their_table_says(source: str, expected: object) -> None:
    result = value(source)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("source", "part"),
    [
        ("lower(1)", "lower(): needs text, not a number"),
        ("startsWith('a', null)", "startsWith(): needs text, not null"),
        ("contains('a', 1)", "contains(): cannot look for a number in text"),
        ("split('a', '')", "not empty"),
        ("replace('a', '', 'b')", "not empty"),
        ("join('a')", "needs an array, not text"),
        ("slice(1, 2)", "needs text or an array"),
        ("slice('abc', 1.5)", "needs a whole number"),
        ("slice('abc', 'a')", "needs a number, not text"),
        ("size(5)", "needs text, an array or an object"),
        ("keys([1])", "needs an object, not an array"),
        ("first({})", "needs an array, not an object"),
        ("number('abc')", "not a number"),
        ("number('')", "not a number"),
        ("number('1_000')", "not a number"),
        ("number('nan')", "not a number"),
        ("number('--1')", "not a number"),
        ("number('1e999')", "too large"),
        ("number('99999999999999999999')", "too large"),
        ("number(true)", "needs a number, not a boolean"),
        ("boolean('yes')", "needs a boolean"),
        ("boolean(1)", "needs a boolean"),
        ("parseJson('{')", "not JSON"),
        ("parseJson('NaN')", "not JSON"),
        ("round(1.5, 16)", "0 to 15 digits"),
        ("round(1.5, -1)", "0 to 15 digits"),
        ("floor(1e300)", "too large"),
        ("min('a')", "needs a number"),
        ("sum([1, null])", "needs a number, not null"),
        ("sum([9223372036854775807, 1])", "too large"),
    ],
)
def test_a_function_refuses_what_it_cannot_answer(source: str, part: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        value(source)
    assert part in caught.value.message
    assert caught.value.position is not None


def test_every_function_is_described_in_one_line() -> None:
    assert set(FUNCTIONS) == set(TABLE)
    assert all(text and "\n" not in text for text in FUNCTIONS.values())


@pytest.mark.parametrize(
    ("source", "message", "position"),
    [
        ("", "empty", 0),
        ("  ", "empty", 2),
        ("a =", "unexpected character '='; use == to compare", 2),
        ("a & b", "use &&", 2),
        ("a | b", "use ||", 2),
        ("`a`", "write text as '...'", 0),
        ("a and b", "unexpected and; use &&", 2),
        ("a 'and'", "unexpected 'and'", 2),
        ("not a", "unexpected not; use !", 0),
        ("x == undefined", "use null", 5),
        ("in", "unexpected in", 0),
        ("a b", "unexpected b", 2),
        ("a +", "ends too early", 3),
        ("(a", "ends too early; expected ')'", 2),
        ("a ? b", "ends too early; expected ':'", 5),
        ("a ?.b", "there is no ?.", 2),
        ("a.", "ends too early", 2),
        ("a.0", "expected a name, or [0]", 2),
        ("a[0", "expected ']'", 3),
        ("a ]", "unexpected ]", 2),
        ("* 2", "unexpected *", 0),
        ("2 ** 3", "unexpected *", 3),
        ("1 < 2 < 3", "do not chain", 6),
        ("1 == 2 != 3", "do not chain", 7),
        ("[1, ]", "unexpected ]", 4),
        ("[1 2]", "unexpected 2; expected ','", 3),
        ("{a 1}", "expected ':'", 3),
        ("{1: 2}", "expected a key", 1),
        ("{a: 1 b: 2}", "expected ','", 6),
        ("{{ a }}", "without {{ }}", 0),
        ("'abc", "not closed", 0),
        (r"'\x41'", "unknown escape '\\x'", 1),
        (r"'\u12'", "unknown escape '\\u'", 1),
        (r"'\u12zz'", "unknown escape '\\u'", 1),
        ("'\\", "unknown escape '\\'", 1),
        (r"'\ud800'", "half a surrogate pair", 0),
        ("'\ud800'", "half a surrogate pair", 0),
        ("1abc", "malformed", 0),
        ("0x10", "malformed", 0),
        ("1e", "malformed", 0),
        ("1e+", "malformed", 0),
        ("007", "may not begin with 0", 0),
        ("9223372036854775808", "too large", 0),
        ("9" * 400, "too large", 0),
        ("1e999", "too large", 0),
        ("a\u00a0b", "unexpected character U+00A0", 1),
        ("a\\u0062", "unexpected character", 1),
        ("a; b", "unexpected character ';'", 1),
        ("lowr(a)", "no function 'lowr'; did you mean 'lower'?", 0),
        ("a.exec('x')", "no function 'exec'", 2),
        ("a.b.c()", "no function 'c'", 4),
        ("lower()", "lower() takes 1 argument, not 0", 0),
        ("lower(a, b)", "lower() takes 1 argument, not 2", 0),
        ("join(a, b, c)", "join() takes 1 to 2 arguments, not 3", 0),
        ("contains(a)", "takes 2 arguments, not 1", 0),
        ("min()", "takes 1 or more arguments, not 0", 0),
        ("5()", "unexpected (", 1),
        ("a" * 4097, "longer than 4096", 0),
    ],
)
def test_a_syntax_problem_says_what_and_where(source: str, message: str, position: int) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        compile_expression(source)
    assert message in caught.value.message
    assert caught.value.position == position


def test_an_expression_must_be_text() -> None:
    with pytest.raises(SyntaxProblem, match="must be text"):
        compile_expression(["a"])  # type: ignore[arg-type]


def test_compiling_the_same_text_again_gives_the_same_object() -> None:
    assert compile_expression("1 + 1") is compile_expression("1 + 1")
    assert compile_expression("1 + 1", Mode.TEMPLATE) is not compile_expression("1 + 1")


def test_references_name_every_path_up_to_its_first_computed_index() -> None:
    source = (
        "tasks.charge.body['x y'][0].z == wait.a-b.url || "
        "$execution.n.resume_url in tasks[trigger.k].body && lower(v.w) "
    )
    found = [(ref.path, ref.text) for ref in compile_expression(source).references]
    assert found == [
        (("tasks", "charge", "body", "x y", 0, "z"), "tasks.charge.body['x y'][0].z"),
        (("wait", "a-b", "url"), "wait.a-b.url"),
        (("$execution", "n", "resume_url"), "$execution.n.resume_url"),
        (("tasks",), "tasks[trigger.k].body"),
        (("trigger", "k"), "trigger.k"),
        (("v", "w"), "v.w"),
    ]
    assert [source[ref.position :].startswith(ref.text) for ref in compile_expression(source).references] == [True] * 6


def test_the_path_before_a_method_is_a_reference_without_the_method() -> None:
    (reference,) = compile_expression("tasks.a.body . trim().length").references
    assert (reference.path, reference.text) == (("tasks", "a", "body"), "tasks.a.body")


@pytest.mark.parametrize(
    "source",
    [
        "trigger.body == trigger.body",
        "trigger.body.items",
        "json(tasks.charge)",
        "keys(tasks)",
        "[trigger.body.n, {a: trigger.body.amount}]",
    ],
)
def test_the_same_scope_gives_the_same_answer(source: str) -> None:
    expression = compile_expression(source)
    assert expression.evaluate(SCOPE) == expression.evaluate(SCOPE)


def test_a_whole_value_is_given_out_without_markers_and_plain_data_is_not_copied() -> None:
    scope: Scope = {"a": {"b": [Counted({"c": Counted(1)}), 2], "d": 3}, "plain": {"x": [1, {"y": 2}]}}
    assert value("a", scope) == {"b": [{"c": 1}, 2], "d": 3}
    assert value("[a.b][0]", scope) == [{"c": 1}, 2]
    assert value("plain", scope) is scope["plain"]
    assert value("a == {b: [{c: 1}, 2], d: 3}", scope) is True
    assert value("{c: 1} in a.b", scope) is True
    assert value("first(a.b).c", scope) == 1
    assert value("values(a)", scope) == [[{"c": 1}, 2], 3]
