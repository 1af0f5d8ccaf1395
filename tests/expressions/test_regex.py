"""Regular expressions: what they match, in work that is linear in the text."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.expressions import EvaluationError, ExpressionLimitExceeded, SyntaxProblem, compile_expression
from detent.expressions.errors import Budget
from detent.expressions.regex import compile_pattern, matches
from detent.values.limits import WORK_LIMIT
from tests.expressions.scopes import value


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("abc", ["abc", "xabcx"], ["ab", "", "ABC"]),
        ("", ["", "x"], []),
        ("^abc$", ["abc"], ["xabc", "abcx", "abc\n"]),
        ("^$", [""], ["a"]),
        ("a.c", ["abc", "a-c", "aéc"], ["ac", "a\nc"]),
        ("a|b|cd", ["a", "b", "cd"], ["c", "d"]),
        ("^(a|b)*$", ["", "abba"], ["abc"]),
        ("^(?:ab)+$", ["ab", "abab"], ["", "aba"]),
        ("^ab?c$", ["ac", "abc"], ["abbc"]),
        ("^a{3}$", ["aaa"], ["aa", "aaaa"]),
        ("^a{2,}$", ["aa", "aaaaa"], ["a"]),
        ("^a{2,3}$", ["aa", "aaa"], ["a", "aaaa"]),
        ("^a{0}b$", ["b"], ["ab"]),
        ("^a*?b+?c??$", ["b", "aabbc"], ["ac"]),
        ("^[a-cx]+$", ["abcx"], ["d", ""]),
        ("^[^a-c]$", ["d", "\n"], ["a"]),
        ("^[]a]$".replace("[]", "[\\]"), ["]", "a"], ["["]),
        ("^[a-]$", ["a", "-"], ["b"]),
        ("^[\\d.,]+$", ["1.000,5"], ["1a"]),
        ("^[\\D]$", ["a"], ["1"]),
        ("^[.*+?()|{}$^]+$", [".*+?()|{}$^"], ["a"]),
        ("^\\d+\\s\\w+$", ["12 ab_9", "1\u00a0a"], ["a b", "1 é"]),
        ("^\\D\\S\\W$", ["ab-"], ["1b-", "a --", "abc"]),
        ("\\bcat\\b", ["cat", "a cat.", "cat-fish"], ["cats", "scat", "cat_"]),
        ("\\Bcat", ["scat"], ["cat", "a cat"]),
        ("^\\b$", [], ["", "a"]),
        ("^\\B$", [""], ["a"]),
        ("^\\.\\\\\\/\\$$", [".\\/$"], ["a\\/$"]),
        ("^\\n\\r\\t\\f\\v$", ["\n\r\t\f\v"], ["nrtfv"]),
        ("^\\u00e9\\x41$", ["éA"], ["eA"]),
        ("^(a*)*$", ["", "aaa"], ["b"]),
        ("^(a*|b)*c$", ["c", "abac"], ["abd"]),
        ("(^a|b$)", ["ac", "cb"], ["ca", "bc"]),
        ("^(|a)b$", ["b", "ab"], ["aab"]),
        ("^()*$", [""], ["a"]),
        ("^😀{2}$", ["😀😀"], ["😀"]),
        ("^[😀-😂]$", ["😁"], ["😄"]),
    ],
)
def test_a_pattern_matches_these_texts(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [matches(Budget(), text, pattern) for text in yes] == [True] * len(yes)
    assert [matches(Budget(), text, pattern) for text in no] == [False] * len(no)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("abc", "xABCx", True),
        ("[a-z]+", "ÀBC", True),
        ("^é$", "É", True),
        ("^[^a]$", "A", False),
        ("^\\w$", "ß", False),
        ("^ß$", "ß", True),
        ("^ss$", "ß", False),
    ],
)
def test_a_flag_ignores_case(pattern: str, text: str, found: bool) -> None:
    assert matches(Budget(), text, pattern, "i") is found


@pytest.mark.parametrize(
    ("pattern", "words", "place"),
    [
        ("(a", "'(' is not closed", 1),
        ("a)", "')' closes nothing", 2),
        ("[a", "'[' is not closed", 1),
        ("[]", "[] has no characters", 1),
        ("[z-a]", "a range is from a smaller to a larger character", 3),
        ("[a-\\d]", "a range is from a smaller to a larger character", 3),
        ("*a", "there is nothing to repeat", 1),
        ("a**", "there is nothing to repeat", 1),
        ("^*", "there is nothing to repeat", 1),
        ("a{", "a repetition is {3}", 3),
        ("a{2", "a repetition is {3}", 2),
        ("a{3,2}", "smaller number first", 2),
        ("a{1001}", "at most 1000 times", 3),
        ("a{99999999}", "at most 1000 times", 3),
        ("{", "there is nothing to repeat", 1),
        ("(?=a)", "only (...) and (?:...) are supported", 1),
        ("(?<n>a)", "only (...) and (?:...) are supported", 1),
        ("(a)\\1", "there are no backreferences", 4),
        ("\\q", "unknown escape '\\q'", 1),
        ("a\\", "unknown escape '\\'", 2),
        ("\\u12", "unknown escape '\\u'", 1),
        ("\\xzz", "unknown escape '\\x'", 1),
        ("(" * 51 + ")" * 51, "groups are nested more than 50", 51),
    ],
)
def test_a_broken_pattern_says_what_and_where(pattern: str, words: str, place: int) -> None:
    with pytest.raises(EvaluationError) as raised:
        compile_pattern(pattern)
    assert words in raised.value.message
    assert f"(at character {place} of the pattern)" in raised.value.message


def test_limits_of_a_pattern_are_errors_of_their_own() -> None:
    with pytest.raises(EvaluationError, match="longer than 1000 characters"):
        compile_pattern("a" * 1_001)
    for bomb in ("(a{1000}){1000}", "((((a{100}){100}){100}){100}){100}", "(a{0,1000}){0,1000}", "(ab|c){900}"):
        with pytest.raises(EvaluationError, match="too large"):
            compile_pattern(bomb)
    with pytest.raises(EvaluationError, match="there is no flag 'g'; there is 'i'"):
        compile_pattern("a", "g")


def test_a_pattern_in_the_text_is_checked_with_the_definition() -> None:
    with pytest.raises(SyntaxProblem, match="the pattern is not valid") as raised:
        compile_expression("matches(a.b, '(')")
    assert raised.value.position == 13
    with pytest.raises(SyntaxProblem, match="there is no flag"):
        compile_expression("a.matches('a', 'x')")
    with pytest.raises(EvaluationError, match=r"matches\(\): the pattern is not valid"):
        value("matches('a', p)", {"p": "("})
    with pytest.raises(EvaluationError, match="needs text, not a number"):
        value("matches('a', 1)")


def test_null_matches_nothing() -> None:
    assert value("matches(x, 'a')", {"x": None}) is False


BOMBS = [
    "(a+)+$",
    "(a|a)*$",
    "(a|aa)+$",
    "(a*)*b",
    "(.*.*)*b",
    "(a?){50}a{50}b",
    "((a+)+)+$|b",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
]


@pytest.mark.parametrize("pattern", BOMBS)
def test_a_bomb_costs_work_in_proportion_to_the_text(pattern: str) -> None:
    costs = []
    for length in (10_000, 20_000, 100_000):
        budget = Budget()
        matches(budget, "a" * length + "!", pattern)
        costs.append(WORK_LIMIT - budget.work)
    assert costs[2] - costs[1] <= 8 * (costs[1] - costs[0]) + 10


def test_a_text_that_always_meets_new_situations_is_cut_by_the_budget() -> None:
    # Each set of positions of the last 200 characters is a situation of its own.
    noise = "".join(random.Random(1).choices("ab", k=100_000))
    with pytest.raises(ExpressionLimitExceeded, match="too much data"):
        matches(Budget(), noise + "c", "(a|b)*a(a|b){200}x")


def test_the_work_does_not_depend_on_earlier_evaluations() -> None:
    costs = []
    for _ in range(3):
        budget = Budget()
        assert matches(budget, "x" * 1_000 + "order-17", "order-[0-9]+$")
        costs.append(budget.work)
    assert len(set(costs)) == 1
    shared = Budget()
    matches(shared, "x" * 1_000 + "order-17", "order-[0-9]+$")
    first = shared.work
    matches(shared, "x" * 1_000 + "order-17", "order-[0-9]+$")
    assert WORK_LIMIT - first > first - shared.work, "the second call uses what the first one found"


pieces = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "\\d", "\\w", "^", "$", "\\b", "(?:a|b)", "(?:ab|)", "1", " "])
repeats = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}", "{2,}"])


def _pattern(parts: list[tuple[str, str]]) -> str:
    return "".join(piece + ("" if piece in ("^", "$", "\\b") else repeat) for piece, repeat in parts)


flat = st.lists(st.tuples(pieces, repeats), max_size=5).map(_pattern)
patterns = st.recursive(
    flat, lambda inner: st.tuples(inner, inner, repeats).map(lambda p: f"(?:{p[0]}|{p[1]}){p[2]}"), max_leaves=3
)


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(pattern=patterns, text=st.text(alphabet="ab1 -\n", max_size=8), flags=st.sampled_from(["", "i"]))
def test_our_engine_agrees_with_the_one_of_python(pattern: str, text: str, flags: str) -> None:
    # In Python `$` also matches before a last line feed.
    theirs = re.compile(pattern.replace("$", r"\Z"), re.ASCII | (re.IGNORECASE if flags else 0))
    wanted = theirs.search(text) is not None
    assert matches(Budget(), text, pattern, flags) is wanted
