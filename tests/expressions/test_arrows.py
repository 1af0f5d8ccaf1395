"""Arrows and the functions of lists and objects: revision 2 of the language."""

import pytest

from detent.expressions import (
    EvaluationError,
    ExpressionLimitExceeded,
    Headers,
    MissingValue,
    Mode,
    Scope,
    SyntaxProblem,
    Truncated,
    TruncatedValue,
    compile_expression,
    compile_template,
    template_problems,
)
from detent.expressions.errors import Budget
from detent.values.limits import WORK_LIMIT
from tests.expressions.scopes import Counted, Lazy, value

ITEMS = [
    {"sku": "b", "qty": 2, "tags": ["x", "y"], "note": None},
    {"sku": "a", "qty": 0, "tags": []},
    {"sku": "c", "qty": 1.5, "tags": ["y"]},
]
SCOPE: Scope = {
    "items": ITEMS,
    "i": "outer",
    "nothing": None,
    "o": {"a": 1, "b": [2]},
    "lazy": Lazy({"a": Counted(1), "b": 2}),
    "late": [Counted({"n": 1}), Counted({"n": 2})],
    "cut": [1, Truncated("charge")],
    "headers": Headers({"X-Id": "7", "Accept": "*/*"}),
    "endless": [float("inf")],
    "large": [10**20, 1e20, 10**20 + 1],
}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("items.filter(i => i.qty > 0).map(i => i.sku)", ["b", "c"]),
        ("map(filter(items, (i) => i.qty), x => x.sku)", ["b", "c"]),
        ("items.map(i => {sku: i.sku, n: i.tags.length})[1]", {"sku": "a", "n": 0}),
        ("items.map(i => i.tags.map(t => i.sku + t))", [["bx", "by"], [], ["cy"]]),
        ("items.map(i => i.tags.map(i => i))", [["x", "y"], [], ["y"]]),
        ("items.map(x => i)", ["outer"] * 3),
        ("[items.map(i => 1), i]", [[1, 1, 1], "outer"]),
        ("[1, 2].map(x => [10, 20].map(y => [5].map(z => x + y + z)[0]))", [[16, 26], [17, 27]]),
        ("[1, 2].map(x => x > 1 ? 'large' : 'small')", ["small", "large"]),
        ("items.map(i => i.note ?? 'none')", ["none"] * 3),
        ("['a', 'b'].map(k => o[k])", [1, [2]]),
        ("items.find(i => i.qty < 2).sku", "a"),
        ("items.find(i => i.qty > 9)", None),
        ("items.any(i => i.qty == 0)", True),
        ("items.some(i => i.qty == 9)", False),
        ("items.all(i => i.qty >= 0)", True),
        ("items.every(i => i.qty > 0)", False),
        ("[].all(i => false)", True),
        ("[].any(i => true)", False),
        ("items.sortBy(i => i.sku).map(i => i.sku)", ["a", "b", "c"]),
        ("items.sortBy(i => i.qty, 'desc').map(i => i.sku)", ["b", "c", "a"]),
        ("[1, 2, 3, 4].sortBy(n => n % 2)", [2, 4, 1, 3]),
        ("[1, 2, 3, 4].sortBy(n => n % 2, 'desc')", [1, 3, 2, 4]),
        ("[3, null, 1].sortBy(n => n)", [1, 3, None]),
        ("[3, null, 1].sortBy(n => n, 'desc')", [3, 1, None]),
        ("['é', 'z', 'a'].sortBy(n => n)", ["a", "z", "é"]),
        ("[].sortBy(n => n)", []),
        ("[1, 2, 3].groupBy(n => n % 2 == 0 ? 'even' : 'odd')", {"odd": [1, 3], "even": [2]}),
        ("[1, 1.0, 2].groupBy(n => n)", {"1": [1, 1.0], "2": [2]}),
        ("[1.5].groupBy(n => n)", {"1.5": [1.5]}),
        ("[1, 2].groupBy(n => n > 1)", {"false": [1], "true": [2]}),
        ("[1, '1', 1.0, true, null, null, {a: [1]}, {a: [1.0]}, [1]].unique()", [1, "1", True, None, {"a": [1]}, [1]]),
        ("unique(['a', 'a,', 'a'])", ["a", "a,"]),
        ("unique(large)", [10**20, 10**20 + 1]),
        ("flatten([[1, 2], 3, [[4]], []])", [1, 2, 3, [4]]),
        ("[[1], [2]].flat()", [1, 2]),
        ("zip(['a', 'b'], [1, 2, 3])", [["a", 1], ["b", 2]]),
        ("zip([1], [2], [3])", [[1, 2, 3]]),
        ("range(3)", [0, 1, 2]),
        ("range(2, 5)", [2, 3, 4]),
        ("range(5, 0, -2)", [5, 3, 1]),
        ("range(3, 0)", []),
        ("range(-2)", []),
        ("merge(o, {b: 3, c: 4})", {"a": 1, "b": 3, "c": 4}),
        ("merge(nothing, {b: 3}, nothing)", {"b": 3}),
        ("merge(lazy, {b: 3})", {"a": 1, "b": 3}),
        ("pick(o, 'a', 'z')", {"a": 1}),
        ("o.pick(['b'])", {"b": [2]}),
        ("pick(headers, 'x-id')", {"x-id": "7"}),
        ("omit(o, 'a')", {"b": [2]}),
        ("o.omit(['a', 'b', 'c'])", {}),
        ("entries(o)", [["a", 1], ["b", [2]]]),
        ("entries(lazy)", [["a", 1], ["b", 2]]),
        ("late.map(x => x.n)", [1, 2]),
        ("late.find(x => x.n == 2)", {"n": 2}),
        ("nothing.map(x => x)", None),
        ("nothing.any(x => x)", False),
        ("nothing.all(x => x)", False),
        ("nothing.filter(x => x) ?? []", []),
        ("[headers['ACCEPT'], headers['x-ID']]", ["*/*", "7"]),
    ],
)
def test_a_list_function_returns_this(source: str, expected: object) -> None:
    for mode in Mode:
        if "nothing." not in source or mode is Mode.CONDITION:
            assert value(source, SCOPE, mode) == expected


@pytest.mark.parametrize(
    ("source", "words", "position"),
    [
        ("items.map(i => i.gone)", "'gone' is not in i (element 0 of map())", 15),
        (
            "items.map(i => i.tags.map(t => t.gone))",
            "t is text, so it has no 'gone' (element 0 of map()) (element 0",
            31,
        ),
        ("items.filter(i => i.qty < 'a')", "cannot compare a number < text (element 0 of filter())", 24),
        ("items.map(i => lower(i.qty))", "lower(): needs text, not a number (element 0 of map())", 15),
        ("(items.map(i => i.gone) ?? [])", "'gone' is not in i (element 0 of map())", 16),
        ("o.map(x => x)", "map(): needs an array, not an object", 2),
        ("items.sortBy(i => i.qty > 0 ? i.qty : i.sku)", "sortBy(): cannot order numbers and texts together", 6),
        ("items.sortBy(i => i.tags)", "sortBy(): needs an arrow that returns a number or text, not an array", 6),
        ("items.sortBy(i => true)", "not a boolean", 6),
        ("items.sortBy(i => 1, 'down')", "sortBy(): there is no order 'down'; there is asc, desc", 6),
        ("items.sortBy(i => 1, 2)", "there is no order a number", 6),
        ("endless.sortBy(i => i)", "a number of the data is not finite", 8),
        ("items.groupBy(i => i.tags)", "groupBy(): needs an arrow that returns text, a number or a boolean", 6),
        ("items.groupBy(i => null)", "not null", 6),
        ("range(1, 2, 0)", "range(): needs a step that is not 0", 0),
        ("range(1.5)", "needs a whole number", 0),
        ("zip([1], 2)", "zip(): needs an array, not a number", 0),
        ("merge(o, 1)", "merge(): needs an object, not a number", 0),
        ("pick(o, 1)", "pick(): needs text, not a number", 0),
        ("entries([1])", "entries(): needs an object, not an array", 0),
    ],
)
def test_an_error_of_a_list_function_says_where(source: str, words: str, position: int) -> None:
    with pytest.raises(EvaluationError) as raised:
        value(source, SCOPE)
    assert words in raised.value.message
    assert raised.value.position == position


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("items.map(1)", "map() takes an arrow with one parameter here, as in item => item.id"),
        ("items.map(lower)", "map() takes an arrow with one parameter here"),
        ("items.map(() => 1)", "map() takes an arrow with one parameter here"),
        ("items.map((a, b) => a)", "map() takes an arrow with one parameter here"),
        ("items.map((a => a))", "map() takes an arrow with one parameter here"),
        ("items.map(i => i, 1)", "map() takes 2 arguments, not 3"),
        ("items.map()", "map() takes 2 arguments, not 1"),
        ("map()", "map() takes 2 arguments, not 0"),
        ("items.map(i => )", "unexpected )"),
        ("items.map(i => i", "the expression ends too early; expected ','"),
        ("items.map(in => 1)", "'in' cannot be the parameter of an arrow"),
        ("items.map(null => 1)", "'null' cannot be the parameter of an arrow"),
        ("items.map(a-b => 1)", "'a-b' cannot be the parameter of an arrow"),
        ("items.map(i => i-1)", "'i-1' is one name; put blanks around - to subtract"),
        ("i => i", "unexpected =>; use >= to compare, or an arrow as the argument of a function"),
        ("lower(i => i)", "unexpected =>"),
        ("[i => i]", "unexpected =>"),
        ("items.map(i => j => i)", "unexpected =>"),
        ("a => 1 && b", "unexpected =>; use >= to compare"),
        ("now(1)", "now() takes 0 arguments, not 1"),
        ("items.mapp(i => i)", "there is no function 'mapp'; did you mean 'map'?"),
    ],
)
def test_an_arrow_is_only_an_argument_of_a_list_function(source: str, words: str) -> None:
    with pytest.raises(SyntaxProblem) as raised:
        compile_expression(source)
    assert words in raised.value.message


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        ("tasks.a.body.map(i => i.x)", ["tasks.a.body"]),
        ("tasks.a.body.map(i => i.x + tasks.b.body.y)", ["tasks.a.body", "tasks.b.body.y"]),
        ("a.map(i => b.map(j => i.x + j.y + c.z + i[d]))", ["a", "b", "c.z", "d"]),
        ("a.map(tasks => tasks.b)", ["a"]),
        ("a.map(i => 1) + i.x", ["a", "i.x"]),
        ("a.map(i => i.map(i => i.map(i => i)))", ["a"]),
        ("i.map(i => i.x)", ["i"]),
        ("a.sortBy(i => i.x, order)", ["a", "order"]),
        ("a.map(i => b[i.x].y)", ["a", "b"]),
        ("a.map(i => {i: i.x, j: j})", ["a", "j"]),
    ],
)
def test_the_parameter_of_an_arrow_is_not_a_reference(source: str, paths: list[str]) -> None:
    found = compile_expression(source).references
    assert [".".join(map(str, reference.path)) for reference in found] == paths
    assert all(source.startswith(reference.text, reference.position) for reference in found)
    template = compile_template([f"x {{{{ {source} }}}}"])
    assert [reference.path for reference in template.references] == [reference.path for reference in found]


def test_a_truncated_response_in_a_list_is_always_an_error() -> None:
    for source in ("cut.map(x => 1)", "cut.filter(x => true) ?? 1", "unique(cut)", "flatten(cut)", "flatten([cut])"):
        with pytest.raises(TruncatedValue, match="exceeded the 256KB limit"):
            value(source, SCOPE)


def test_a_condition_reads_through_null_in_an_arrow_and_a_template_does_not() -> None:
    assert value("[null].map(i => i.x)") == [None]
    with pytest.raises(MissingValue, match="i is null"):
        value("[null].map(i => i.x)", mode=Mode.TEMPLATE)


# Revisions.


@pytest.mark.parametrize(
    "source", ["items.map(i => i)", "now()", "'a'.matches('a')", "entries({})", "1 + size(range(2))"]
)
def test_revision_1_refuses_what_revision_2_brings(source: str) -> None:
    assert compile_expression(source).language == 2
    assert compile_template({"x": ["{{ 1 }}", f"{{{{ {source} }}}}"]}).language == 2
    with pytest.raises(SyntaxProblem, match="needs revision 2 of the language, and this definition has revision 1"):
        compile_expression(source, language=1)
    [problem] = template_problems({"x": ["{{ 1 }}", f"{{{{ {source} }}}}"]}, language=1)
    assert problem.at == ("x", 1)


@pytest.mark.parametrize("source", ["a.b", "lower(date) + range", "format ?? map", "[now, uuid, hash]", "{filter: 1}"])
def test_a_name_that_is_also_a_function_needs_only_revision_1(source: str) -> None:
    assert compile_expression(source).language == 1
    assert compile_template(f"{{{{ {source} }}}}").language == 1
    assert compile_expression(source, language=1).references == compile_expression(source).references


def test_a_constant_needs_only_revision_1() -> None:
    assert compile_template({"x": "items.map(i => i)"}).language == 1


# Work: everything ends, because everything is paid. None of this measures time.


class Counter(Budget):
    def spent(self) -> int:
        return WORK_LIMIT - self.work


def work(source: str, scope: Scope) -> int:
    budget = Counter()
    compile_expression(source).run(scope, budget)
    return budget.spent()


def test_the_work_of_a_loop_grows_with_its_elements_and_with_its_body() -> None:
    few, many = [{"list": list(range(count))} for count in (100, 1_000)]
    one, two = "list.map(i => i)", "list.map(i => i + i * i - i)"
    assert work(one, many) - work(one, few) >= 900
    assert work(two, many) - work(two, few) >= 4 * 900
    nested = "list.map(i => list.filter(j => j == i))"
    assert work(nested, few) >= 100 * 100


TEXT = "a" * (256 * 1024)
BIG: Scope = {
    "text": TEXT,
    "same": "a" * (256 * 1024 - 1) + "b",
    "list": list(range(100_000)),
    "texts": ["a" * 1_000 + str(number) for number in range(200)],
    "o": {f"k{number}": number for number in range(5_000)},
}


@pytest.mark.parametrize(
    "source",
    [
        "range(1000000)",
        "range(9223372036854775807)",
        "range(-9223372036854775807, 9223372036854775807)",
        "range(1000).map(i => range(1000).map(j => j))",
        "range(1000).map(i => range(1000).any(j => j < 0))",
        "range(60).map(a => range(60).map(b => range(60).map(c => a + b + c)))",
        "range(50000).map(i => slice(text, 1))",
        "range(50000).map(i => text)",
        "range(50000).map(i => [text]).flatten()",
        "range(50000).filter(i => text == same)",
        "range(50000).filter(i => text < same)",
        "range(50000).filter(i => startsWith(text, same))",
        "range(50000).map(i => 'aaaa'.replace('a', slice(text, 0, 60000)).length)",
        "range(50000).map(i => slice(text, 0, 200000) + i)",
        "range(50000).sortBy(i => text)",
        "range(50000).groupBy(i => text)",
        "range(50000).map(i => o.entries().length)",
        "range(50000).map(i => merge(o, o))",
        "range(50000).map(i => omit(o, 'a'))",
        "range(50000).map(i => zip(list, list))",
        "range(50000).map(i => unique(texts))",
        "range(50000).map(i => hash(text))",
        "range(50000).map(i => base64(slice(text, 0, 190000)))",
        "range(50000).map(i => matches(text, 'b'))",
        "range(50000).map(i => date('2026-01-01', 'Europe/Zurich').startOf('day', 'Asia/Tokyo'))",
        "list.sortBy(i => -i).map(i => i)",
        "list.groupBy(i => i)",
        "list.map(i => {a: i, b: [i]})",
        "zip(list, list, list)",
        "flatten([list, list, list])",
    ],
)
def test_a_loop_that_is_too_long_is_cut_by_its_budget(source: str) -> None:
    with pytest.raises(ExpressionLimitExceeded, match="reads too much data"):
        compile_expression(source).evaluate(BIG)


def test_a_deep_nest_of_arrows_is_refused_before_it_runs() -> None:
    with pytest.raises(SyntaxProblem, match="nested more than 64"):
        compile_expression("[1].map(a => " * 65 + "1" + ")" * 65)
    assert value("[1].map(a => " * 20 + "a" + ")" * 20) is not None


def test_a_large_list_can_be_used() -> None:
    assert value("list.groupBy(i => i % 2 == 0 ? 'even' : 'odd').even.length", {"list": list(range(20_000))}) == 10_000
    assert len(str(value("list.map(i => i)", {"list": list(range(50_000))}))) > 50_000
    assert value("list.sortBy(i => -i)[0]", {"list": list(range(40_000))}) == 39_999


def test_numbers_with_equal_hashes_are_told_apart_as_fast_as_others() -> None:
    modulus = 2**61 - 1
    colliding = [number * modulus for number in range(1, 10_000)]
    assert value("size(unique(n))", {"n": colliding}) == len(colliding)
