"""Text becomes a document, or is refused with its place. Nothing odd gets through."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.errors import InvalidDefinition, InvalidInput, TooLarge
from detent.forms.definition import checked_document, read_definition
from detent.values.json import decode_json
from detent.values.limits import DEFINITION_LIMIT
from tests.graph.strategies import JSON

LIMIT = 256 * 1024


def refusal(data: bytes | str, **options: Any) -> str:
    with pytest.raises(InvalidDefinition) as caught:
        read_definition(data, **options)
    assert caught.value.problems
    return "\n".join(map(str, caught.value.problems))


def input_refusal(data: bytes) -> str:
    with pytest.raises(InvalidInput) as caught:
        decode_json(data, LIMIT)
    assert not isinstance(caught.value, InvalidDefinition)
    return caught.value.message


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{after}: &{after} [{','.join(['*' + before] * 9)}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)

# What no JSON text may hold, whether a definition or an input.
BAD_JSON = {
    "deep lists": (b"[" * 100_000, "nested deeper than 64 levels"),
    "deep mappings": (b'{"a":' * 65 + b"1" + b"}" * 65, "nested deeper than 64 levels"),
    "a deep list among many": (b'{"a":[[],[],' + b"[" * 63 + b"]" * 63 + b"]}", "nested deeper than 64 levels"),
    "a number of 5000 digits": (b'{"a":' + b"9" * 5000 + b"}", "does not fit in 64 bits"),
    "a number beyond 64 bits": (b'{"a":9223372036854775808}', "does not fit in 64 bits"),
    "a negative number beyond 64 bits": (b'{"a":-9223372036854775809}', "does not fit in 64 bits"),
    "a number that becomes infinite": (b'{"a":1e400}', "1e400 is too large"),
    "NaN": (b'{"a":NaN}', "NaN is not JSON"),
    "Infinity": (b'{"a":[-Infinity]}', "-Infinity is not JSON"),
    "a repeated key": (b'{"a":1,"b":{"c":1,"c":1}}', "the key 'c' is given twice"),
    "a repeated key in other letters": (b'{"a":1,"\\u0061":1}', "the key 'a' is given twice"),
    "half a character": (b'{"a":"\\ud800"}', "half a character"),
    "half a character in a key": (b'{"\\uDFFF":1}', "half a character"),
    "bytes that are no UTF-8": (b'{"a":"\xff"}', "not UTF-8: byte 6"),
    "half a character as bytes": (b'{"a":"\xed\xa0\x80"}', "not UTF-8"),
    "UTF-16": ('{"a":1}'.encode("utf-16"), "not UTF-8"),
    "a raw line end in a text": (b'{"a":"x\ny"}', "line 1, column 8"),
    "a comma too many": (b'{\n "a": 1,\n}', "line 3, column 1: not valid JSON"),
    "two values": (b"{} {}", "line 1, column 4"),
    "a single quote": (b"{'a': 1}", "line 1, column 2"),
    "a comment": (b'{"a": 1 // x\n}', "line 1, column 9"),
}


@pytest.mark.parametrize("case", BAD_JSON)
def test_json_that_others_could_not_read_is_refused_in_a_definition(case: str) -> None:
    data, message = BAD_JSON[case]
    assert message in refusal(data, syntax="json")


@pytest.mark.parametrize("case", BAD_JSON)
def test_json_that_others_could_not_read_is_refused_as_input(case: str) -> None:
    data, message = BAD_JSON[case]
    assert message in input_refusal(data)


@pytest.mark.parametrize("data", [b"", b"   ", b"tru", b'"', b"nul", b"[1,]", b"01", b"+1", b".5", b"\x00"])
def test_an_input_that_is_no_json_is_refused(data: bytes) -> None:
    assert "not valid JSON" in input_refusal(data)


def test_an_input_above_its_limit_is_too_large() -> None:
    with pytest.raises(TooLarge, match="the body has 7 bytes; at most 6 are allowed"):
        decode_json(b'"12345"', 6)
    assert decode_json(b'"12345"', 7) == "12345"


def test_an_escaped_nul_is_fine_in_an_input_and_refused_in_a_definition() -> None:
    assert decode_json(b'"\\u0000"', LIMIT) == "\x00"
    assert refusal(b'{"a":{"b":["\\u0000"]}}') == "a.b[0]: a NUL character is not text"
    assert "the key 'x\\x00': a NUL character" in refusal(b'{"a":{"x\\u0000":1}}')
    assert refusal("a: 'x\x00'") == "a NUL character is not text"


def test_what_is_allowed_comes_through_unchanged() -> None:
    assert decode_json(b"[" * 64 + b"]" * 64, LIMIT) == json.loads("[" * 64 + "]" * 64)
    data = '[9223372036854775807,-9223372036854775808,1e308,-0.0,"\\ud83d\\ude00 é \\ud800\\udc00"]'
    assert decode_json(data.encode(), LIMIT) == [2**63 - 1, -(2**63), 1e308, 0.0, "😀 é 𐀀"]
    assert decode_json(b"\xef\xbb\xbf{}", LIMIT) == {}


def test_a_wide_input_within_its_limit_is_read() -> None:
    wide = {f"k{number}": number for number in range(10_000)}
    assert decode_json(json.dumps(wide).encode(), LIMIT) == wide


@given(JSON)
def test_every_json_value_is_read_as_it_was_written(value: object) -> None:
    assert decode_json(json.dumps(value).encode(), LIMIT) == value
    assert decode_json(json.dumps(value, ensure_ascii=False).encode(), LIMIT) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_refused(data: bytes) -> None:
    try:
        value = decode_json(data, LIMIT)
    except InvalidInput:
        return
    assert json.loads(json.dumps(value, allow_nan=False)) == value


BAD_YAML = {
    "deep dashes": ("- " * 400_000, "line 1, column 129: nested deeper than 64 levels"),
    "deep questions": ("? " * 400_000, "line 1, column 3: a key must be text"),
    "deep brackets": ("a: " + "[" * 500_000, "nested deeper than 64 levels"),
    "deep braces": ("a: " + "{a: " * 100_000, "nested deeper than 64 levels"),
    "deep indents": ("".join(" " * depth + "a:\n" for depth in range(1_000)), "line 65, column 65: nested deeper"),
    "aliases that grow": (BOMB, "more than 200000 values, aliases included"),
    "an alias deeper than allowed": (
        f"a: &a {'[' * 40}{']' * 40}\nb: {'[' * 40}*a{']' * 40}",
        "nested deeper than 64 levels",
    ),
    "an alias of itself": ("a: &a [*a]", "line 1, column 8: the alias *a is inside its own anchor"),
    "an unknown alias": ("a: *x", "line 1, column 4: no anchor &x before this alias"),
    "an alias as a key that is no text": ("a: &n 1\n*n : 2", "line 2, column 1: a key must be text"),
    "a repeated key": ("a: 1\nb: 2\na: 3", "line 3, column 1: the key 'a' is given twice"),
    "a repeated key by alias": ("&k a: 1\n*k : 2", "line 2, column 1: the key 'a' is given twice"),
    "a number as key": ("tasks:\n  1: x", 'line 2, column 3: a key must be text; write "1":'),
    "colliding numbers as keys": (
        "".join(f"{number * (2**61 - 1)}: 1\n" for number in range(30_000)),
        "line 1, column 1: a key must be text",
    ),
    "null as key": ("~: x", "a key must be text"),
    "a template without quotes": ("url: {{ trigger.body.url }}", 'must be quoted: "{{ ... }}"'),
    "a merge key": ("a: &a {x: 1}\nb: {<<: *a}", "line 2, column 5: merge keys (<<) are not part of YAML 1.2"),
    "two documents": ("a: 1\n---\nb: 2", "line 2, column 1: a definition is one document"),
    "a tag": ("a: !!python/object:os.system x", "is not supported"),
    "tag directives": ("".join(f"%TAG !a{n}! x\n" for n in range(50_000)) + "---\na: 1", "tags are not supported"),
    "a set": ("a: !!set {b}", "is not supported"),
    "a tagged list": ("a: !x [1]", "the tag '!x' is not supported"),
    "NaN": ("a: .nan", "line 1, column 4: .nan is not a number that JSON can hold"),
    "infinity": ("a: -.INF", "-.INF is not a number"),
    "a number that becomes infinite": ("a: 1e400", "a: this is not a number that JSON can hold"),
    "a number beyond 64 bits": ("a: 9223372036854775808", "a: this number does not fit in 64 bits"),
    "a hexadecimal number beyond 64 bits": ("a: 0xffffffffffffffffff", "does not fit in 64 bits"),
    "a number of 5000 digits": ("a: " + "9" * 5000, "a number with too many digits"),
    "half a character": ('a: "\\ud800"', "line 1, column 7"),
    "an escaped NUL": ('a: "\\0"', "a: a NUL character is not text"),
    "a control character": ("a: \x07", "control characters are not allowed"),
    "a tab as indent": ("a:\n\tb: 1", "line 2, column 1"),
    "an open bracket": ("a: [1,", "not valid YAML"),
    "a colon too many": ("a: b: c", "line 1, column 5: not valid YAML: mapping values are not allowed"),
    "a text": ("hello", "a definition is a mapping with a name and tasks; this is a str"),
    "a list": ("- a", "this is a list"),
    "nothing": ("", "this is empty"),
    "only a comment": ("# nothing", "this is empty"),
}


@pytest.mark.parametrize("case", BAD_YAML)
def test_yaml_that_is_not_a_plain_document_is_refused(case: str) -> None:
    text, message = BAD_YAML[case]
    assert message in refusal(text, syntax="yaml")


def test_yaml_is_read_by_the_rules_of_1_2() -> None:
    text = """
    text: [no, yes, on, off, n, 12:30:00, 2026-01-01, 1_000, 0b1, "5", '6', !!str 7, ! 8, "", NaN, =]
    number: [0, 017, -1, +1, 0o17, 0x1F, 1e3, .5, 1., -0.5]
    word: [true, True, TRUE, false, ~, null, ]
    empty:
    block: |
      a
      b
    again: &again {a: 1}
    once-more: *again
    """
    assert read_definition(text) == {
        "text": [
            "no",
            "yes",
            "on",
            "off",
            "n",
            "12:30:00",
            "2026-01-01",
            "1_000",
            "0b1",
            "5",
            "6",
            "7",
            "8",
            "",
            "NaN",
            "=",
        ],
        "number": [0, 17, -1, 1, 15, 31, 1000.0, 0.5, 1.0, -0.5],
        "word": [True, True, True, False, None, None],
        "empty": None,
        "block": "a\nb\n",
        "again": {"a": 1},
        "once-more": {"a": 1},
    }


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (b'{"a": 1}', {}),
        (b"a: 1", {}),
        (b"\xef\xbb\xbfa: 1", {}),
        ('\ufeff{"a": 1}', {}),
        (b"%YAML 1.2\n---\na: 1\n...\n", {}),
        (b"{a: 1}", {"filename": "flow.YAML"}),
        (b"{a: 1}", {"filename": "x.json", "syntax": "yaml"}),
        (b'{"a": 1}', {"filename": "x.json"}),
        (b"a: 1", {"filename": "notes.txt"}),
        (b"? a\n: 1", {}),
        (b"&k a: 1", {}),
    ],
)
def test_the_syntax_is_known_by_word_name_or_look(data: bytes | str, options: dict[str, Any]) -> None:
    assert read_definition(data, **options) == {"a": 1}


def test_the_name_of_a_file_decides_before_its_look() -> None:
    assert "not valid JSON" in refusal(b"a: 1", filename="x.json")


def test_a_definition_above_one_megabyte_is_refused() -> None:
    text = "a: " + "x" * (DEFINITION_LIMIT - 3)
    assert len(read_definition(text)["a"]) == DEFINITION_LIMIT - 3
    assert "a definition has at most 1048576 bytes" in refusal(text + "x")


def test_half_a_character_in_a_python_text_is_refused() -> None:
    assert "half a character" in refusal("a: \ud800")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {1, 2}}, "a: JSON has no set"),
        ({1: "a"}, "the key 1: must be text"),
        ({"a": [math.nan]}, "a[0]: this is not a number that JSON can hold"),
        ({"a": {"b": 2**63}}, "a.b: this number does not fit in 64 bits; write it as text"),
        ({"a": "\ud800"}, "a: half a character (a lone surrogate) is not text"),
        ([], "a definition is a mapping with a name and tasks; this is a list"),
    ],
)
def test_a_document_that_did_not_come_as_text_keeps_the_same_rules(value: object, message: str) -> None:
    with pytest.raises(InvalidDefinition) as caught:
        checked_document(value)
    assert [str(problem) for problem in caught.value.problems] == [message]


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("-?:{}[]&*!|>'\"\n #,a1~<"), max_size=60))
def test_any_text_is_a_document_or_refused(text: str) -> None:
    try:
        document = read_definition(text, syntax="yaml")
    except InvalidDefinition:
        return
    assert json.loads(json.dumps(document, allow_nan=False)) == document
